import { z } from 'zod';
import { PAYMENT_EVENT_TYPES } from '../payments/words/payment.js';
import { described, time } from './fields.js';
import { paymentId, paymentSchema } from './payment.js';

const feedEventSchema = z
  .object({
    id: described(z.string(), 'The `webhook-id` of the notification: the same here and there'),
    type: z.enum(PAYMENT_EVENT_TYPES),
    timestamp: described(time, 'The time of the event'),
    merchant: described(z.string().optional(), 'For operators: whose it is'),
    paymentId,
    data: described(
      paymentSchema.optional(),
      "The payment as it is now, which can be ahead of `type`: act on it. Missing when it can't be read at the moment",
    ),
  })
  .meta({ id: 'Event', description: 'Something that you were to be notified of' });

export const eventPageSchema = z
  .object({
    data: described(z.array(feedEventSchema), 'In the order of their places'),
    hasMore: described(z.boolean(), '`true` when there are further events already'),
    nextCursor: described(
      z.string(),
      'Pass it as `cursor` for what comes after this page, now or whenever you ask again',
    ),
    completeUntil: described(time, 'All events that happened before this are in the feed'),
  })
  .meta({
    id: 'EventPage',
  });
