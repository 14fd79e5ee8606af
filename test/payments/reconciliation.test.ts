import { describe, expect, it } from '@jest/globals';
import type { PaymentOrder } from '../../src/payments/order.js';
import { ambiguous, openPayment, type PaymentState } from '../../src/payments/payment-state.js';
import { judge, lookUpDelay } from '../../src/payments/reconciliation.js';
import {
  directOrder,
  HOUR,
  linkOrder,
  MINUTE,
  payoutOrder,
  START,
  terms,
  transactionOf,
  transId,
} from './orders.js';

const nothing = { kind: 'listed', transactions: [] } as const;
const graceOver = START + 15 * MINUTE;

function unclear(order: PaymentOrder, policy: 'review' | 'resend' = 'review'): PaymentState {
  const opened = openPayment(order, { ...terms, ambiguousPolicy: policy }, START);
  return ambiguous(opened, 'no answer within 15 s', START).state;
}

describe.each([directOrder, payoutOrder])('an ambiguous request that moves money ($kind)', (order) => {
  const own = transactionOf(order);

  it('is gone on with when its transaction is found', () => {
    expect(judge(unclear(order), { kind: 'listed', transactions: [own] }, START)).toEqual({
      kind: 'adopt',
      transaction: own,
    });
  });

  it('is looked for again within the grace period', () => {
    expect(judge(unclear(order), nothing, graceOver - 1).kind).toBe('lookAgain');
  });

  it('goes to review when it is absent for the whole grace period', () => {
    expect(judge(unclear(order), nothing, graceOver).kind).toBe('review');
  });

  it('is sent once more under the policy resend, and not twice', () => {
    const state = unclear(order, 'resend');
    expect(judge(state, nothing, graceOver)).toEqual({ kind: 'resend', orphans: [] });
    const again = ambiguous(state, 'reset', graceOver).state;
    expect(judge(again, nothing, graceOver + 15 * MINUTE).kind).toBe('review');
  });

  it('is sent again on an operator’s word only when one more look-up shows nothing, and once', () => {
    const state = unclear(order);
    const approved = {
      ...state,
      ambiguity: { reason: 'reset', since: START, lookUps: 9, resent: false, approved: true },
    };
    expect(judge(approved, nothing, START).kind).toBe('resend');
    expect(judge(approved, { kind: 'listed', transactions: [own] }, START).kind).toBe('adopt');
    expect(judge(approved, { kind: 'unavailable', reason: 'x' }, graceOver).kind).toBe('review');
    const again = ambiguous(approved, 'reset', START).state;
    expect(judge(again, nothing, START).kind).toBe('lookAgain');
  });

  it.each([
    { kind: 'unavailable', reason: 'the provider answered 502' },
    { kind: 'throttled' },
    { kind: 'unauthorized', message: 'no', statusCode: 401 },
    { kind: 'refused', message: 'no such user', statusCode: 404 },
  ] as const)('is never sent again while it cannot be looked up ($kind)', (answer) => {
    expect(judge(unclear(order, 'resend'), answer, START).kind).toBe('lookAgain');
    expect(judge(unclear(order, 'resend'), answer, graceOver + HOUR).kind).toBe('review');
  });

  it.each([
    ['of another amount', { amount: 1 }],
    [
      'of the other kind',
      { transType: order.kind === 'payout' ? ('Collection' as const) : ('Payout' as const) },
    ],
  ])('goes to review at once when what is found is %s', (_, difference) => {
    const answer = { kind: 'listed', transactions: [{ ...own, ...difference }] } as const;
    expect(judge(unclear(order, 'resend'), answer, START).kind).toBe('review');
  });

  it('goes to review at once when two are found', () => {
    const answer = { kind: 'listed', transactions: [own, { ...own, transId: transId('T2') }] } as const;
    expect(judge(unclear(order, 'resend'), answer, START)).toMatchObject({
      kind: 'review',
      reason: expect.stringContaining('T2'),
    });
  });

  it("is not taken for another payment of the same user's and the same amount", () => {
    const answer = { kind: 'listed', transactions: [{ ...own, externalId: 'pay_other' }] } as const;
    expect(judge(unclear(order), answer, START).kind).toBe('lookAgain');
    expect(judge(unclear(order, 'resend'), answer, graceOver).kind).toBe('resend');
  });

  it('is found without its externalId when the user listed is the payment itself', () => {
    const unnamed = { ...own, externalId: undefined };
    expect(judge(unclear(order), { kind: 'listed', transactions: [unnamed] }, START)).toEqual({
      kind: 'adopt',
      transaction: unnamed,
    });
  });

  it("is not sent again while one of the merchant's user could be it and doesn't say", () => {
    const ofUser = { ...order, userId: 'user-1' };
    const answer = { kind: 'listed', transactions: [{ ...own, externalId: undefined }] } as const;
    expect(judge(unclear(ofUser, 'resend'), answer, START).kind).toBe('lookAgain');
    expect(judge(unclear(ofUser, 'resend'), answer, graceOver)).toMatchObject({
      kind: 'review',
      reason: expect.stringContaining('T1'),
    });
    const another = { kind: 'listed', transactions: [{ ...own, externalId: undefined, amount: 1 }] } as const;
    expect(judge(unclear(ofUser, 'resend'), another, graceOver).kind).toBe('resend');
  });
});

describe('an ambiguous link', () => {
  const orphan = transactionOf(linkOrder);

  it('is made anew, for nobody was given the first', () => {
    expect(judge(unclear(linkOrder), nothing, START)).toEqual({ kind: 'resend', orphans: [] });
  });

  it('is expired before another is made when it is found', () => {
    const answer = {
      kind: 'listed',
      transactions: [orphan, { ...orphan, transId: transId('T2'), status: 'EXPIRED' }],
    } as const;
    expect(judge(unclear(linkOrder), answer, START)).toEqual({ kind: 'resend', orphans: [orphan] });
  });

  it('is the payment when somebody has paid it after all', () => {
    const paid = { ...orphan, status: 'SUCCESSFUL' } as const;
    expect(judge(unclear(linkOrder), { kind: 'listed', transactions: [paid] }, START)).toEqual({
      kind: 'adopt',
      transaction: paid,
    });
  });

  it('is given up when none could be made in the whole grace period, which all tries share', () => {
    const again = ambiguous(unclear(linkOrder), 'reset', graceOver - 1).state;
    expect(judge(again, nothing, graceOver).kind).toBe('giveUp');
  });

  it('is not made anew while the first cannot be looked up', () => {
    expect(judge(unclear(linkOrder), { kind: 'unavailable', reason: 'x' }, START).kind).toBe('lookAgain');
  });
});

describe('the pause between look-ups', () => {
  it('grows from a second to two minutes, ends with the grace period, and is long after it', () => {
    const state = unclear(payoutOrder);
    const pauseAfter = (lookUps: number, now: number) =>
      lookUpDelay({ ...state, ambiguity: { reason: 'x', since: START, lookUps, resent: false } }, now);
    expect([0, 1, 2, 3, 7, 100].map((lookUps) => pauseAfter(lookUps, START))).toEqual([
      1_000,
      2_000,
      4_000,
      8_000,
      2 * MINUTE,
      2 * MINUTE,
    ]);
    expect(pauseAfter(100, graceOver - 30_000)).toBe(30_000);
    expect(pauseAfter(100, graceOver)).toBe(HOUR);
  });
});
