import { describe, expect, it } from '@jest/globals';
import { claimed, withClaim } from '../../src/payments/claim.js';
import { ambiguous, observed, openPayment, rejected } from '../../src/payments/payment-state.js';
import {
  begun,
  directOrder,
  linkOrder,
  payoutOrder,
  START,
  terms,
  transactionOf,
  transId,
} from './orders.js';

const paid = observed(begun(directOrder), transactionOf(directOrder, { status: 'SUCCESSFUL' }), START).state;
const second = { transId: transId('T2') };

describe('a notification’s claim', () => {
  it('is not worth a question when it is about the payment’s own transaction and agrees', () => {
    expect(withClaim(begun(linkOrder), transId('T1'), 'SUCCESSFUL').claims).toEqual([]);
    expect(withClaim(paid, transId('T1'), 'SUCCESSFUL').claims).toEqual([]);
  });

  it('is taken down when it contradicts the outcome, or names another transaction', () => {
    expect(withClaim(paid, transId('T1'), 'FAILED').claims).toEqual(['T1']);
    expect(withClaim(begun(linkOrder), transId('T2'), 'SUCCESSFUL').claims).toEqual(['T2']);
  });

  it('is taken down once, and a flood of made-up ones only five times', () => {
    let state = begun(linkOrder);
    for (let copy = 0; copy < 1_000; copy++)
      state = withClaim(state, transId(`X${copy % 100}`), 'SUCCESSFUL');
    expect(state.claims).toEqual(['X0', 'X1', 'X2', 'X3', 'X4']);
  });
});

describe('a claimed transaction', () => {
  it('is nobody’s business when it was made for another payment, or says nothing of for which', () => {
    for (const externalId of ['pay_other', undefined]) {
      const told = transactionOf(directOrder, { ...second, status: 'SUCCESSFUL', externalId });
      expect(claimed(paid, told, START).state).toBe(paid);
    }
  });

  it('opens a final payment again when it is another of the payment’s own and money moves', () => {
    for (const status of ['SUCCESSFUL', 'PENDING', 'CREATED'] as const) {
      expect(claimed(paid, transactionOf(directOrder, { ...second, status }), START)).toMatchObject({
        event: 'payment.review',
        state: { status: 'REVIEW', final: false, held: true, reason: expect.stringContaining('T2') },
      });
    }
  });

  it('does not when no money moves with it', () => {
    expect(claimed(paid, transactionOf(directOrder, { ...second, status: 'FAILED' }), START).state).toBe(
      paid,
    );
    const link = begun(linkOrder);
    for (const status of ['CREATED', 'EXPIRED', 'FAILED'] as const) {
      expect(claimed(link, transactionOf(linkOrder, { ...second, status }), START).state).toBe(link);
    }
  });

  it('opens a final payment again when the provider contradicts its outcome', () => {
    expect(claimed(paid, transactionOf(directOrder, { status: 'FAILED' }), START)).toMatchObject({
      event: 'payment.review',
      state: {
        status: 'REVIEW',
        final: false,
        reason: 'it was SUCCESSFUL, and the provider now says FAILED',
      },
    });
  });

  it('does not when the provider agrees, or shows an old status', () => {
    for (const status of ['SUCCESSFUL', 'PENDING', 'CREATED'] as const) {
      expect(claimed(paid, transactionOf(directOrder, { status }), START).state).toBe(paid);
    }
  });

  it('opens a rejected payment again when the provider has taken it after all', () => {
    const { state } = rejected(openPayment(payoutOrder, terms, START), 'no', START);
    expect(claimed(state, transactionOf(payoutOrder, { status: 'SUCCESSFUL' }), START).state).toMatchObject({
      status: 'REVIEW',
      final: false,
      held: true,
    });
  });

  it('is what an ambiguous payment was waiting for', () => {
    const { state } = ambiguous(openPayment(payoutOrder, terms, START), 'reset', START);
    expect(claimed(state, transactionOf(payoutOrder, { status: 'FAILED' }), START)).toMatchObject({
      event: 'payment.failed',
      state: { transId: 'T1', status: 'FAILED', final: true },
    });
    expect(
      claimed(state, transactionOf(payoutOrder, { status: 'SUCCESSFUL', amount: 1 }), START),
    ).toMatchObject({
      event: 'payment.review',
      state: { status: 'REVIEW', final: false },
    });
  });

  it('does not end a review that only a person can end', () => {
    const { state: held } = claimed(
      paid,
      transactionOf(directOrder, { ...second, status: 'SUCCESSFUL' }),
      START,
    );
    expect(observed(held, transactionOf(directOrder, { status: 'SUCCESSFUL' }), START).state).toBe(held);
  });
});
