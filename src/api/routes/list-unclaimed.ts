import { readUnmatched } from '../payments/unclaimed.js';
import { keyedRoute } from '../route.js';

/** A payment made by hand at the provider's, another system's notifications, or somebody's try. */
export const listUnmatched = keyedRoute({
  method: 'get',
  path: '/v1/notifications/unmatched',
  summary: 'The provider’s latest notifications that match no payment',
  scopes: ['review'],
  async answer(_, api) {
    return { status: 200, json: { data: await readUnmatched(api) } };
  },
});
