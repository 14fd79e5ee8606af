import { z } from 'zod';
import {
  BEGINNING,
  listEvents as list,
  placedUntil,
  placeOf,
  readEventCursor,
  readOnAfter,
  toEventCursor,
} from '../../book/feed.js';
import { isOperator } from '../../http/auth.js';
import { invalidRequest } from '../../http/problem.js';
import { toPayment } from '../../payments/views/to-payment.js';
import { PAYMENT_EVENT_TYPES } from '../../payments/words/payment.js';
import { isoTime } from '../../payments/words/time.js';
import { eventPageSchema } from '../../schemas/event.js';
import { cursorOf, NO_CURSOR } from '../cursor.js';
import { merchantName, time, wholeNumber } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { merchantToList, viewerOf } from './payment-resource.js';

const PAGE_SIZE = 100;

/**
 * The feed of a merchant's notification events, delivered or not: a caller that keeps the last page's cursor misses
 * none.
 */
export const listEvents = authenticatedRoute({
  method: 'get',
  path: '/v1/events',
  summary: 'All your notification events, oldest first',
  description:
    'Each notification is here once, with its `webhook-id`, some moments after it happened, whether or not it was delivered. Keep `nextCursor`: with it, you get what is new. After an accident of the database, events of the last hour may come once more, with the same `id`.',
  operationId: 'listEvents',
  tag: 'Notifications',
  responses: { 200: { description: 'A page of events.', schema: eventPageSchema } },
  problems: ['temporarily_unavailable'],
  scopes: ['read', 'review'],
  query: z.strictObject({
    type: z.enum(PAYMENT_EVENT_TYPES).optional(),
    since: time.optional().describe('Only events that occurred at or after this time'),
    merchant: merchantName.optional().describe('For operators: the events of one merchant'),
    limit: wholeNumber({ min: 1, max: PAGE_SIZE, fallback: PAGE_SIZE }).describe('Events per page'),
    cursor: cursorOf((cursor) => cursor)
      .optional()
      .describe('The `nextCursor` of an earlier page, unchanged'),
  }),
  async handle({ query, caller }, context) {
    const { type, since, limit, cursor } = query;
    const { book } = context;
    const read = cursor === undefined ? BEGINNING : await readEventCursor(book, cursor);
    if (read === undefined) throw invalidRequest([{ field: 'cursor', message: NO_CURSOR }]);
    const merchant = merchantToList(caller, query.merchant);
    // Read first: events that get their places in the meantime are then in the list, and not yet in this time.
    const completeUntil = await placedUntil(book, book.now());
    const after = await readOnAfter(book, read);
    const events = await list(book, { merchant, type, since, after }, limit + 1);
    const page = events.slice(0, limit);
    const last = page.at(-1);
    return {
      status: 200,
      json: {
        data: page.map(({ id, type: eventType, at, merchant: whose, paymentId, state }) => ({
          id,
          type: eventType,
          timestamp: isoTime(at),
          ...(isOperator(caller) && { merchant: whose }),
          paymentId,
          data: state && viewerOf(context, caller, whose)(toPayment(state)),
        })),
        hasMore: events.length > limit,
        nextCursor: await toEventCursor(book, last === undefined ? read : placeOf(last)),
        completeUntil: isoTime(completeUntil),
      },
    };
  },
});
