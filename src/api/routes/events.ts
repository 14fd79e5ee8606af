import { z } from 'zod';
import { askRecords } from '../../engine/recorded-payments.js';
import { isOperator } from '../../http/auth.js';
import { invalidRequest } from '../../http/problem.js';
import { PAYMENT_EVENT_TYPES } from '../../payments/words/payment.js';
import { isoTime } from '../../payments/words/time.js';
import { eventPageSchema } from '../../schemas/event.js';
import { noRecords } from '../api-error.js';
import { cursorOf, NO_CURSOR } from '../cursor.js';
import { merchantName, time, wholeNumber } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { merchantToList, viewerOf } from './payment-resource.js';

const PAGE_SIZE = 100;

const UNREAD = "The events can't be read at the moment. Try again shortly.";

/**
 * The feed of a merchant's notification events, delivered or not: a caller that keeps the last page's cursor misses
 * none. The events come from the records, which the recorder writes some moments after each event.
 */
export const listEvents = authenticatedRoute({
  method: 'get',
  path: '/v1/events',
  summary: 'All your notification events, oldest first',
  description:
    'For as long as your operator keeps the records. Each notification is here once, with its `webhook-id`, some moments after it happened, whether or not it was delivered. Keep `nextCursor`: with it, you get what is new, and nothing twice.',
  operationId: 'listEvents',
  tag: 'Notifications',
  responses: { 200: { description: 'A page of events.', schema: eventPageSchema } },
  problems: ['records_unavailable', 'no_records'],
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
    const merchant = merchantToList(caller, query.merchant);
    const { records } = context;
    if (records === undefined) throw noRecords('events');
    const after = cursor === undefined ? 0 : await records.readEventCursor(cursor);
    if (after === undefined) throw invalidRequest([{ field: 'cursor', message: NO_CURSOR }]);
    const { events, recordedUntil } = await askRecords(async () => {
      // Read first: events recorded in the meantime are then in the list, and not yet in this time.
      const state = await records.recorderState();
      return { ...state, events: await records.events({ merchant, type, since, after }, limit + 1) };
    }, UNREAD);
    const page = events.slice(0, limit);
    return {
      status: 200,
      json: {
        data: page.map(({ id, type: eventType, at, merchant: whose, paymentId, payment }) => ({
          id,
          type: eventType,
          timestamp: isoTime(at),
          ...(isOperator(caller) && { merchant: whose }),
          paymentId,
          data: payment && viewerOf(context, caller, whose)(payment),
        })),
        hasMore: events.length > limit,
        nextCursor: await records.toEventCursor(page.at(-1)?.position ?? after),
        completeUntil: recordedUntil === undefined ? undefined : isoTime(recordedUntil),
      },
    };
  },
});
