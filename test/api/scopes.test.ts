import { describe, expect, it } from '@jest/globals';
import { routes } from '../../src/api/app.js';
import type { Route } from '../../src/api/route.js';
import { READING_SCOPES } from '../../src/http/auth.js';
import type { Scope } from '../../src/settings/merchants.js';
import { merchantsWith, useApi } from '../support/api-under-test.js';

/** Calls that a key needs neither `read` nor `review` for, with what their answers show. */
const WITHOUT_READING = {
  'post /v1/collections': 'the payment that the request makes, or has made by its Idempotency-Key',
  'post /v1/payouts': 'the same',
  'post /v1/collections/:id/expire': 'the collection that it ends, to a key that makes collections',
  'post /v1/payouts/:id/cancel':
    'the payout that it withdraws, to a key that makes payouts; a refund, to a key that refunds',
  'post /v1/collections/:id/refunds': 'the refund that it makes, to a key that refunds',
  'get /v1/collections/:id/refunds': 'the refunds of a collection, to a key that refunds',
  'get /v1/balance': 'a balance, to a key with a scope of its own, and to operators',
  'get /v1/key': "the key's own name and scopes",
};

const READING: readonly Scope[] = READING_SCOPES;

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

describe('a key without the scope read', () => {
  const api = useApi({
    merchants: merchantsWith([{ name: 'till', secret: 'till-secret', scopes: ['collections', 'payouts'] }]),
  });

  it('may not have a notification sent again, whose answer is the whole payment', async () => {
    const path = '/v1/payments/col_1/notifications/1/resend';
    const { status, body } = await api.ask('POST', path, { key: 'till-secret' });
    expect([status, body.code]).toEqual([403, 'forbidden']);
  });

  it('is shown nothing but what it makes or ends', () => {
    const open = routes.filter(({ scopes }) => scopes?.some((scope) => !READING.includes(scope)));
    expect(open.map(nameOf).sort()).toEqual(Object.keys(WITHOUT_READING).sort());
  });
});

/** All that the key of somebody who only approves opens. */
const APPROVING = [
  'get /v1/balance',
  'get /v1/collections/:id/refunds',
  'get /v1/key',
  'get /v1/payments',
  'get /v1/payments/:id',
  'get /v1/payments/:id/events',
  'post /v1/payouts/:id/approve',
  'post /v1/payouts/:id/reject',
];

describe('a key with the scope approve alone', () => {
  it('reads payments, their timelines and the balance, and decides on held payouts', () => {
    const open = routes.filter(({ scopes }) => scopes?.includes('approve'));
    expect(open.map(nameOf).sort()).toEqual(APPROVING);
  });
});
