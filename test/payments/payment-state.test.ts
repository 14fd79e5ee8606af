import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  accepted,
  ambiguous,
  failed,
  observed,
  openPayment,
  rejected,
  underReview,
} from '../../src/payments/payment-state.js';
import { PROVIDER_STATUSES } from '../../src/payments/transaction.js';
import {
  begun,
  DAY,
  directOrder,
  linkOrder,
  orders,
  payoutOrder,
  START,
  terms,
  transactionOf,
  transId,
} from './orders.js';

const later = START + 1_000;

describe('a payment', () => {
  it('begins as CREATED and not final', () => {
    expect(openPayment(linkOrder, terms, START)).toMatchObject({
      status: 'CREATED',
      final: false,
      createdAt: START,
    });
  });

  it('is FAILED and final when the provider rejects it, with the words of the provider', () => {
    const { state, event } = rejected(openPayment(payoutOrder, terms, START), 'Insufficient balance', later);
    expect(state).toMatchObject({
      status: 'FAILED',
      final: true,
      reason: 'Insufficient balance',
      rejection: 'Insufficient balance',
    });
    expect(event).toBe('payment.failed');
  });

  it('is FAILED and final, but not rejected, when it was never sent', () => {
    const { state } = failed(openPayment(payoutOrder, terms, START), 'never sent', later);
    expect(state).toMatchObject({ status: 'FAILED', final: true, reason: 'never sent' });
    expect(state.rejection).toBeUndefined();
  });

  it('is never sent as new again once its first request has had any outcome', () => {
    const opened = openPayment(payoutOrder, terms, START);
    expect(opened.begun).toBe(false);
    for (const { state } of [
      accepted(opened, { transId: transId('T1') }, later),
      rejected(opened, 'no', later),
      failed(opened, 'never sent', later),
      ambiguous(opened, 'reset', later),
    ]) {
      expect(state.begun).toBe(true);
    }
  });

  it('looks at the provider at once when a hint came before the answer to the initiation', () => {
    const hinted = { ...openPayment(directOrder, terms, START), hinted: true };
    expect(accepted(hinted, { transId: transId('T1') }, later).state.watch.nextAt).toBe(later);
  });

  it('keeps a known answer of the provider when a later one leaves it out', () => {
    const told = observed(
      begun(linkOrder),
      transactionOf(linkOrder, { status: 'PENDING', medium: 'orange money' }),
      later,
    );
    const silent = observed(told.state, transactionOf(linkOrder, { status: 'SUCCESSFUL' }), later);
    expect(silent.state.medium).toBe('orange money');
  });
});

describe('a link', () => {
  it('ends a day after it was made, or when the merchant wishes', () => {
    expect(begun(linkOrder).expiresAt).toBe(START + DAY);
    expect(begun({ ...linkOrder, expiresInMs: 60_000 }).expiresAt).toBe(START + 60_000);
  });

  it('is not final after a failed attempt, and can still be paid', () => {
    const attempt = observed(
      begun(linkOrder),
      transactionOf(linkOrder, { status: 'FAILED', reason: 'declined' }),
      later,
    );
    expect(attempt).toMatchObject({
      event: 'payment.attempt_failed',
      state: { status: 'FAILED', final: false },
    });
    const paid = observed(attempt.state, transactionOf(linkOrder, { status: 'SUCCESSFUL' }), later);
    expect(paid).toMatchObject({ event: 'payment.succeeded', state: { status: 'SUCCESSFUL', final: true } });
    expect(paid.state.reason).toBeUndefined();
  });

  it('tells of a failed attempt once, however often the provider says so', () => {
    const failure = transactionOf(linkOrder, { status: 'FAILED' });
    const first = observed(begun(linkOrder), failure, later);
    expect(observed(first.state, failure, later).event).toBeUndefined();
  });

  it('does not go back to CREATED', () => {
    const attempt = observed(begun(linkOrder), transactionOf(linkOrder, { status: 'FAILED' }), later);
    expect(observed(attempt.state, transactionOf(linkOrder), later).state.status).toBe('FAILED');
  });

  it('is final when it expired', () => {
    const change = observed(begun(linkOrder), transactionOf(linkOrder, { status: 'EXPIRED' }), later);
    expect(change).toMatchObject({ event: 'payment.expired', state: { status: 'EXPIRED', final: true } });
  });
});

describe.each([directOrder, payoutOrder])('a payment that is no link ($kind)', (order) => {
  it.each([
    ['SUCCESSFUL', 'payment.succeeded'],
    ['FAILED', 'payment.failed'],
  ] as const)('is final as %s', (status, event) => {
    expect(observed(begun(order), transactionOf(order, { status }), later)).toMatchObject({
      event,
      state: { status, final: true },
    });
  });

  it('has no end of its own', () => {
    expect(begun(order).expiresAt).toBeUndefined();
    expect(begun(order).expiry).toBeUndefined();
  });

  it('goes to review when the provider calls it EXPIRED, which it cannot be', () => {
    expect(observed(begun(order), transactionOf(order, { status: 'EXPIRED' }), later)).toMatchObject({
      event: 'payment.review',
      state: { status: 'REVIEW', final: false },
    });
  });
});

describe('what the provider says of a payment', () => {
  it.each([
    ['of another amount', { amount: 5_001 }],
    ['of another kind', { transType: 'Payout' as const }],
    ['of another payment', { externalId: 'col_other' }],
  ])('goes to review when it is %s, even when it is SUCCESSFUL', (_, difference) => {
    const { state, event } = observed(
      begun(linkOrder),
      transactionOf(linkOrder, { status: 'SUCCESSFUL', ...difference }),
      later,
    );
    expect(state).toMatchObject({ status: 'REVIEW', final: false });
    expect(event).toBe('payment.review');
  });

  it('decides a payment that is under review, when it is final', () => {
    const review = underReview(begun(payoutOrder), 'no outcome', later).state;
    expect(observed(review, transactionOf(payoutOrder, { status: 'PENDING' }), later).state.status).toBe(
      'REVIEW',
    );
    expect(observed(review, transactionOf(payoutOrder, { status: 'SUCCESSFUL' }), later).state).toMatchObject(
      {
        status: 'SUCCESSFUL',
        final: true,
      },
    );
  });

  it('asks for a review once', () => {
    const first = underReview(begun(payoutOrder), 'one reason', later);
    expect(first.event).toBe('payment.review');
    expect(underReview(first.state, 'another reason', later).event).toBeUndefined();
  });

  it('never changes a final status', () => {
    const transactions = fc.record({
      status: fc.constantFrom(...PROVIDER_STATUSES),
      amount: fc.constantFrom(5_000, 1),
    });
    fc.assert(
      fc.property(fc.constantFrom(...orders), fc.array(transactions, { maxLength: 30 }), (order, told) => {
        let state = begun(order);
        for (const transaction of told) {
          const { state: next, event } = observed(state, transactionOf(order, transaction), later);
          if (state.final) {
            expect(next).toBe(state);
            expect(event).toBeUndefined();
          }
          state = next;
        }
      }),
    );
  });

  it('makes a payment final only in a status that its kind can end in', () => {
    fc.assert(
      fc.property(fc.constantFrom(...orders), fc.constantFrom(...PROVIDER_STATUSES), (order, status) => {
        const { state } = observed(begun(order), transactionOf(order, { status }), later);
        const ends = order.method === 'link' ? ['SUCCESSFUL', 'EXPIRED'] : ['SUCCESSFUL', 'FAILED'];
        expect(state.final).toBe(ends.includes(status));
      }),
    );
  });
});
