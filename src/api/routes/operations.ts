import { listUnmatched as list } from '../../book/unmatched.js';
import { keySchema } from '../../schemas/key.js';
import { unmatchedListSchema } from '../../schemas/notification.js';
import { SCOPES } from '../../settings/merchants.js';
import { authenticatedRoute } from '../route.js';

/** Notifications of payments made by hand at the provider, or by another system, and forged ones. */
export const listUnmatched = authenticatedRoute({
  method: 'get',
  path: '/v1/notifications/unmatched',
  summary: "The provider's latest notifications that match no payment",
  description: 'For operators.',
  operationId: 'listUnmatchedNotifications',
  tag: 'Operations',
  responses: { 200: { description: 'The notifications, newest first.', schema: unmatchedListSchema } },
  problems: ['temporarily_unavailable'],
  scopes: ['review'],
  async handle(_, context) {
    return { status: 200, json: { data: [...(await list(context.book))] } };
  },
});

/** Lets a program tell a person whose key it is before anything is done with it. */
export const getKey = authenticatedRoute({
  method: 'get',
  path: '/v1/key',
  summary: 'The API key of this request: whose it is, and its scopes',
  operationId: 'getKey',
  tag: 'Operations',
  responses: { 200: { description: 'The key, without its secret.', schema: keySchema } },
  scopes: SCOPES,
  async handle({ caller }) {
    const { owner, person, scopes } = caller;
    return { status: 200, json: { object: 'key' as const, name: owner, person, scopes: [...scopes] } };
  },
});
