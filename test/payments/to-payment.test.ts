import { describe, expect, it } from '@jest/globals';
import { toPayment } from '../../src/payments/to-payment.js';
import { HOUR, linkOrder, MINUTE, payoutOrder } from './orders.js';
import { absent, opened, paid, taken } from './scenario.js';

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
});
