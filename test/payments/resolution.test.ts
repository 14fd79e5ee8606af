import { describe, expect, it } from '@jest/globals';
import type { Decision } from '../../src/payments/decision.js';
import type { PaymentOrder } from '../../src/payments/order.js';
import { ambiguous, openPayment, type PaymentState, underReview } from '../../src/payments/payment-state.js';
import { type Evidence, objection, resolve } from '../../src/payments/resolution.js';
import type { Transaction } from '../../src/payments/transaction.js';
import { begun, payoutOrder, START, terms, transactionOf, transId } from './orders.js';

const own = transactionOf(payoutOrder, { status: 'SUCCESSFUL' });
const listed = (...transactions: Transaction[]): Evidence => ({ listed: { kind: 'listed', transactions } });
const status = (transaction: Transaction): Evidence => ({ status: { kind: 'found', transaction } });
const silent = { kind: 'unavailable', reason: 'no answer' } as const;

/** Nobody knows whether it was taken. */
function unclear(order: PaymentOrder = payoutOrder): PaymentState {
  return underReview(ambiguous(openPayment(order, terms, START), 'reset', START).state, 'not shown', START)
    .state;
}

/** The provider has it, and doesn't decide. */
function undecided(): PaymentState {
  return underReview(begun(payoutOrder), 'no outcome for a day', START).state;
}

const decide = (state: PaymentState, decision: Decision, evidence: Evidence) =>
  resolve(state, { decision, by: 'ops', why: 'seen in the provider’s portal', at: START + 1 }, evidence);

describe('an operator’s match', () => {
  const match: Decision = { action: 'match', transId: transId('T1') };

  it('gives the payment the transaction and its outcome, and is written down', () => {
    expect(decide(unclear(), match, status(own))).toMatchObject({
      kind: 'done',
      change: {
        event: 'payment.succeeded',
        state: { transId: 'T1', status: 'SUCCESSFUL', final: true, resolved: { by: 'ops', decision: match } },
      },
    });
  });

  it('goes on with a transaction that is not decided yet', () => {
    const verdict = decide(unclear(), match, status({ ...own, status: 'PENDING' }));
    expect(verdict).toMatchObject({
      kind: 'done',
      change: { state: { status: 'PENDING', final: false, transId: 'T1' } },
    });
  });

  it.each([
    ['of another amount', { amount: 1 }],
    ['of another kind', { transType: 'Collection' as const }],
    ['of another payment', { externalId: 'pay_other' }],
  ])('is refused for a transaction %s', (_, difference) => {
    expect(decide(unclear(), match, status({ ...own, ...difference })).kind).toBe('refused');
  });

  it('is refused when the provider does not know the transaction, or gives no answer', () => {
    const unknown = { kind: 'unknown', message: 'no such transaction', statusCode: 404 } as const;
    expect(decide(unclear(), match, { status: unknown })).toEqual({
      kind: 'refused',
      why: "the provider doesn't know T1: no such transaction",
    });
    expect(decide(unclear(), match, { status: silent }).kind).toBe('refused');
  });
});

describe('an operator’s resend', () => {
  const resend: Decision = { action: 'resend' };

  it('is approved when the provider shows nothing', () => {
    expect(decide(unclear(), resend, listed())).toMatchObject({
      kind: 'done',
      change: { state: { status: 'CREATED', final: false, ambiguity: { approved: true } } },
    });
  });

  it.each(['SUCCESSFUL', 'FAILED', 'PENDING'] as const)(
    'is refused when the provider shows it as %s',
    (shown) => {
      expect(decide(unclear(), resend, listed({ ...own, status: shown }))).toMatchObject({
        kind: 'refused',
        why: expect.stringContaining('T1'),
      });
    },
  );

  it('is refused when what is shown may be it, or when nothing can be shown', () => {
    const ofUser = unclear({ ...payoutOrder, userId: 'user-1' });
    expect(decide(ofUser, resend, listed({ ...own, externalId: undefined })).kind).toBe('refused');
    expect(decide(unclear(), resend, { listed: silent }).kind).toBe('refused');
  });

  it('is refused without a question when the provider has taken it', () => {
    expect(objection(undecided(), resend)).toContain('T1');
    expect(objection(unclear(), resend)).toBeUndefined();
  });
});

describe('an operator’s fail', () => {
  const fail: Decision = { action: 'fail' };

  it('ends a payment that the provider does not show', () => {
    expect(decide(unclear(), fail, listed())).toMatchObject({
      kind: 'done',
      change: { event: 'payment.failed', state: { status: 'FAILED', final: true, resolved: { by: 'ops' } } },
    });
  });

  it('ends a payment whose transaction has failed, or is not known to the provider any more', () => {
    const failed = { ...own, status: 'FAILED' as const };
    expect(decide(undecided(), fail, { ...status(failed), ...listed(failed) }).kind).toBe('done');
    const unknown = { kind: 'unknown', message: 'no such transaction', statusCode: 404 } as const;
    expect(decide(undecided(), fail, { status: unknown, ...listed() }).kind).toBe('done');
  });

  it.each(['SUCCESSFUL', 'PENDING', 'CREATED'] as const)(
    'is refused while the provider has it as %s',
    (shown) => {
      const alive = { ...own, status: shown };
      expect(decide(undecided(), fail, { ...status(alive), ...listed(alive) }).kind).toBe('refused');
      expect(decide(unclear(), fail, listed(alive)).kind).toBe('refused');
    },
  );

  it('is refused while what has moved may be it, though it doesn’t say so', () => {
    const unnamed = { ...own, externalId: undefined };
    expect(decide(unclear(), fail, listed(unnamed)).kind).toBe('refused');
    const ofUser = unclear({ ...payoutOrder, userId: 'user-1' });
    expect(decide(ofUser, fail, listed(unnamed)).kind).toBe('refused');
    expect(decide(ofUser, fail, listed({ ...unnamed, amount: 1 })).kind).toBe('done');
    expect(decide(ofUser, fail, listed({ ...unnamed, status: 'FAILED' })).kind).toBe('done');
  });

  it('is refused when money moved of another amount', () => {
    expect(decide(unclear(), fail, listed({ ...own, amount: 1 })).kind).toBe('refused');
  });

  it('is refused when the provider gives no answer', () => {
    expect(decide(unclear(), fail, { listed: silent }).kind).toBe('refused');
    expect(decide(undecided(), fail, { status: silent, ...listed() }).kind).toBe('refused');
  });
});
