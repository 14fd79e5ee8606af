import { describe, expect, it } from '@jest/globals';
import { collectionBody, toCollectionOrder } from '../../../src/api/orders/collection-body.js';
import { payoutBody, toPayoutOrder } from '../../../src/api/orders/payout-body.js';
import { randomPaymentId } from '../../../src/payments/derive-payment-id.js';

const id = randomPaymentId('collection');

describe('the order that a body makes', () => {
  it('has its lifetime in ms, for a link', () => {
    const body = collectionBody.parse({ method: 'link', amount: 500, expiresIn: '15m' });
    expect(toCollectionOrder(id, body)).toEqual({
      id,
      kind: 'collection',
      method: 'link',
      amount: 500,
      expiresInMs: 900_000,
      metadata: {},
    });
  });

  it('has the phone number in nine digits, for a direct collection', () => {
    const body = collectionBody.parse({ method: 'direct', amount: 500, phone: '+237 6 77-00-08-00' });
    expect(toCollectionOrder(id, body)).toEqual({
      id,
      kind: 'collection',
      method: 'direct',
      amount: 500,
      phone: '677000800',
      metadata: {},
    });
  });

  it('is the body with its id and kind, for a payout', () => {
    const body = { amount: 500, medium: 'platform', email: 'jane@example.org', metadata: { a: 'b' } };
    expect(toPayoutOrder(id, payoutBody.parse(body))).toEqual({ id, kind: 'payout', ...body });
  });
});
