import { describe, expect, it } from '@jest/globals';
import {
  decideFrom,
  isFinalPayment,
  openPayment,
  reviewOf,
  statusOf,
  transIdOf,
} from '../../../src/payments/words/payment-state.js';
import { HOUR, linkOrder, payoutOrder, START, terms } from '../../support/orders.js';
import { absent, ambiguous, NOT_SENT, opened, paid, type Scenario, taken } from '../../support/scenario.js';

const facts = ({ payment }: Scenario) => [
  payment.phase.kind,
  statusOf(payment),
  isFinalPayment(payment),
  transIdOf(payment),
];

describe('a payment’s status', () => {
  it('is CREATED until the provider has a transaction for it', () => {
    expect(facts(opened(payoutOrder))).toEqual(['sending', 'CREATED', false, undefined]);
    expect(facts(opened(payoutOrder).sent(NOT_SENT))).toEqual(['waiting', 'CREATED', false, undefined]);
    expect(facts(ambiguous(payoutOrder))).toEqual(['searching', 'CREATED', false, undefined]);
  });

  it('is then that of the transaction', () => {
    expect(facts(taken(linkOrder))).toEqual(['following', 'CREATED', false, 'T1']);
    expect(facts(taken(linkOrder).found('FAILED'))).toEqual(['following', 'FAILED', false, 'T1']);
    expect(facts(taken(linkOrder).found('PENDING').request('expire'))).toEqual(['closing', 'PENDING', false, 'T1']);
    expect(facts(paid(payoutOrder))).toEqual(['ended', 'SUCCESSFUL', true, 'T1']);
  });

  it('is REVIEW while a person looks, and while a decision is looked into', () => {
    const payment = absent(payoutOrder);
    expect(facts(payment)).toEqual(['review', 'REVIEW', false, undefined]);
    expect(facts(payment.fail())).toEqual(['deciding', 'REVIEW', false, undefined]);
    expect(reviewOf(payment.payment)?.number).toBe(1);
    expect(facts(payment.listed())).toEqual(['ended', 'FAILED', true, undefined]);
    expect(reviewOf(payment.payment)).toBeUndefined();
  });
});

describe('the time from which a payment can be decided', () => {
  it('counts from its last request, or from its beginning when there was none', () => {
    const payment = openPayment(payoutOrder, { ...terms, resolveAfterMs: HOUR }, START);
    expect(decideFrom(payment)).toBe(START + HOUR);
    expect(decideFrom({ ...payment, sends: { ...payment.sends, lastAt: START + 5 } })).toBe(START + 5 + HOUR);
  });
});
