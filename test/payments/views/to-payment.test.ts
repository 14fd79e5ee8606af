import { describe, expect, it } from '@jest/globals';
import { toPayment } from '../../../src/payments/views/to-payment.js';
import type { TransId } from '../../../src/payments/words/payment-id.js';
import { directOrder, HOUR, linkOrder, MINUTE, payoutOrder } from '../../support/orders.js';
import { absent, ambiguous, NOT_SENT, opened, paid, type Scenario, taken } from '../../support/scenario.js';

describe('the payment that a merchant sees', () => {
  it('has the merchant’s own words, and those of the provider', () => {
    const order = { ...payoutOrder, userId: 'user-1', externalId: 'order-7', metadata: { shop: 'Douala' } };
    const payment = taken(order).found('SUCCESSFUL', {
      medium: 'mobile money',
      revenue: 4_900,
      financialTransId: 'F1',
    });
    expect(toPayment(payment.payment)).toMatchObject({
      id: order.id,
      object: 'payment',
      kind: 'payout',
      status: 'SUCCESSFUL',
      final: true,
      amount: 5_000,
      currency: 'XAF',
      transId: 'T1',
      medium: 'mobile money',
      revenue: 4_900,
      financialTransId: 'F1',
      userId: 'user-1',
      externalId: 'order-7',
      metadata: { shop: 'Douala' },
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:03:00.000Z',
    });
  });

  it('has what a refund pays back, and the last digits of the number that a link’s refunds go to', () => {
    const refund = paid({ ...payoutOrder, refundOf: directOrder.id, refundReason: 'returned' });
    expect(toPayment(refund.payment)).toMatchObject({ refundOf: 'col_2', refundReason: 'returned' });
    expect(refund.notified).toEqual(['payment.refunded']);
    expect(toPayment(opened({ ...linkOrder, refundTo: '677000205' }).payment).refundTo).toBe('•••• 205');
  });

  it('has a link, and when it ends', () => {
    expect(toPayment(taken(linkOrder).payment)).toMatchObject({
      method: 'link',
      link: 'http://pay.example/1',
      expiresAt: '2026-01-02T00:00:00.000Z',
    });
  });

  it('has no link that belongs to another transaction than its own', () => {
    const payment = taken(linkOrder).later(MINUTE).hint('T2').found('PENDING').match('T2').found('PENDING');
    expect(toPayment(payment.payment)).toMatchObject({ transId: 'T2', link: undefined });
  });

  it('has its review, with the number that a decision has to name', () => {
    const payment = absent(payoutOrder, { resolveAfterMs: HOUR });
    expect(toPayment(payment.payment)).toMatchObject({
      status: 'REVIEW',
      final: false,
      reason: expect.stringContaining("the provider doesn't show it"),
      review: { number: 1, since: '2026-01-01T00:15:00.000Z', decideFrom: '2026-01-01T01:00:00.000Z' },
    });
  });

  it('has the decision that ended its review', () => {
    const payment = absent(payoutOrder).match('T1').found('SUCCESSFUL');
    expect(toPayment(payment.payment)).toMatchObject({
      review: undefined,
      resolution: {
        action: 'match',
        transId: 'T1',
        review: 1,
        by: 'ops',
        why: 'seen in the portal',
        at: '2026-01-01T00:15:00.000Z',
      },
    });
  });

  it('has the reason of a failed attempt until it is paid', () => {
    const payment = taken(linkOrder).found('FAILED', { reason: 'declined' });
    expect(toPayment(payment.payment).reason).toBe('declined');
    expect(toPayment(payment.found('SUCCESSFUL').payment).reason).toBeUndefined();
    expect(toPayment(paid(payoutOrder).payment).reason).toBeUndefined();
  });

  it('has no transaction before the provider made one', () => {
    expect(toPayment(opened(payoutOrder).payment)).toMatchObject({ status: 'CREATED', transId: undefined });
  });

  it('gives back what was ordered, and of the phone the last digits', () => {
    const payout = { ...payoutOrder, phone: '677000123', name: 'Ngono', message: 'Refund' };
    const shown = toPayment(taken(payout).payment);
    expect(shown).toMatchObject({ phone: '•••• 123', message: 'Refund', redirectUrl: undefined });
    expect(JSON.stringify(shown)).not.toMatch(/677000|Ngono/);
    const link = { ...linkOrder, message: 'Two tickets', redirectUrl: 'https://shop.example/done' };
    expect(toPayment(taken(link).payment)).toMatchObject({
      phone: undefined,
      message: 'Two tickets',
      redirectUrl: 'https://shop.example/done',
    });
  });

  it('has what has moved, which may not be what was ordered, and the fee of that, once the money has moved', () => {
    expect(toPayment(taken(payoutOrder).found('PENDING', { revenue: 4_900 }).payment).fee).toBeUndefined();
    const paidOut = taken(payoutOrder).found('SUCCESSFUL', { revenue: 4_900 });
    expect(toPayment(paidOut.payment)).toMatchObject({
      amount: 5_000,
      amountPaid: 5_000,
      revenue: 4_900,
      fee: 100,
    });
    const other = absent(payoutOrder).match('T1', { force: true });
    other.found('SUCCESSFUL', { amount: 4_000, revenue: 3_900 });
    expect(toPayment(other.payment)).toMatchObject({
      amount: 5_000,
      amountPaid: 4_000,
      revenue: 3_900,
      fee: 100,
    });
  });

  it("doesn't say how much has moved before anything has, or while that is in doubt, or when the provider doesn't", () => {
    const paid = ({ payment }: Scenario) => toPayment(payment).amountPaid;
    expect(paid(taken(payoutOrder).found('PENDING'))).toBeUndefined();
    expect(paid(taken(payoutOrder).found('SUCCESSFUL', { amount: 4_000 }))).toBeUndefined();
    expect(paid(taken(payoutOrder).found('SUCCESSFUL', { amount: undefined }))).toBeUndefined();
  });

  it('has what has moved from the last word on it, when the provider gives no answer to the one who insists on a match', () => {
    const silent = taken(payoutOrder).found('SUCCESSFUL', { amount: 4_000 });
    silent.match('T1', { force: true }).answered({ kind: 'unavailable', reason: 'HTTP 503' });
    expect(toPayment(silent.payment)).toMatchObject({ status: 'SUCCESSFUL', amountPaid: 4_000 });
  });

  it('says of a resend whether it can be taken back: while it waits, and not once it may have left', () => {
    const resent = absent(payoutOrder).resend().listed();
    const revocable = () => toPayment(resent.payment).resolution?.revocable;
    expect(revocable()).toBeUndefined();
    resent.sent(NOT_SENT);
    expect(revocable()).toBe(true);
    const accepted = absent(payoutOrder).resend().listed();
    accepted.sent({ kind: 'accepted', transId: 'T2' as TransId });
    expect(toPayment(accepted.payment)).toMatchObject({ status: 'CREATED', transId: 'T2' });
    expect(toPayment(accepted.payment).resolution?.revocable).toBeUndefined();
  });

  it('says why it failed in a word for programs', () => {
    const failureCode = ({ payment }: Scenario) => toPayment(payment).failureCode;
    const rejected = opened(payoutOrder).sent({ kind: 'rejected', message: 'no', statusCode: 400 });
    const unsent = opened(payoutOrder);
    while (unsent.status === 'CREATED') unsent.sent(NOT_SENT);
    const withdrawn = opened(payoutOrder).sent(NOT_SENT);
    withdrawn.take({ kind: 'expire', request: 1, mayHaveBeenSent: false });
    const unmade = opened(linkOrder);
    while (unmade.status === 'CREATED') {
      const { kind } = unmade.todo;
      if (kind === 'send') unmade.sent({ kind: 'ambiguous', reason: 'no answer within 15 s' });
      else unmade.listed();
    }
    expect({
      rejected: failureCode(rejected),
      failed: failureCode(taken(directOrder).found('FAILED', { reason: 'Low balance' })),
      attempt: failureCode(taken(linkOrder).found('FAILED', { reason: 'declined' })),
      expired: failureCode(taken(linkOrder).request('expire').found('CREATED').expired().found('EXPIRED')),
      unsent: failureCode(unsent),
      unmade: failureCode(unmade),
      withdrawn: failureCode(withdrawn),
      decided: failureCode(absent(payoutOrder).fail().listed()),
    }).toEqual({
      rejected: 'rejected_by_provider',
      failed: 'failed_at_provider',
      attempt: 'failed_at_provider',
      expired: 'expired',
      unsent: 'not_sent',
      unmade: 'link_not_created',
      withdrawn: 'withdrawn',
      decided: 'decided_by_operator',
    });
    for (const payment of [paid(payoutOrder), ambiguous(payoutOrder), absent(payoutOrder), taken(linkOrder)]) {
      expect(failureCode(payment)).toBeUndefined();
    }
  });
});
