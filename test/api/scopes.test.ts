import { describe, expect, it } from '@jest/globals';
import { routes } from '../../src/api/app.js';

/** Calls that a key needs neither `read` nor `review` for, with what their answers show. */
const WITHOUT_READING = {
  'post /v1/collections': 'the payment that the request makes, or has made by its Idempotency-Key',
  'post /v1/payouts': 'the same',
  'post /v1/collections/:id/expire': 'the collection that it ends, to a key that makes collections',
  'post /v1/payouts/:id/cancel': 'the payout that it withdraws, to a key that makes payouts',
  'get /v1/balance': 'a balance, to a key with a scope of its own',
  'get /v1/key': "the key's own name and scopes",
};

describe('a key without the scope read', () => {
  it('is shown nothing but what it makes or ends', () => {
    const open = routes.filter(({ scopes }) =>
      scopes?.some((scope) => scope !== 'read' && scope !== 'review'),
    );
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      Object.keys(WITHOUT_READING).sort(),
    );
  });
});
