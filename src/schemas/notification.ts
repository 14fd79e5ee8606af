import { z } from 'zod';
import { PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from '../payments/words/payment.js';
import { PROVIDER_STATUSES, type Unmatched } from '../payments/words/transaction.js';
import { described, schemaOf, time } from './fields.js';
import { paymentId, paymentSchema } from './payment.js';

/** One shape for all of them: a generated client can't read a variant that it doesn't know. */
const deliverySchema = z
  .object({
    status: described(
      z.enum(['due', 'delivered', 'no_address', 'abandoned']),
      [
        '- `due`: the next attempt is not before `at`',
        '- `delivered`: you acknowledged it at `at`',
        '- `no_address`: no webhook address was set when it was to be sent, at `at`',
        '- `abandoned`: Sanaga gave up at `at`, after 72 hours',
      ].join('\n'),
    ),
    at: time,
    tries: described(z.int().optional(), 'Attempts that have failed, while it is due'),
    lastTriedAt: described(time.optional(), 'The time of the last attempt, until it is delivered'),
    lastError: described(z.string().optional(), 'Why the last attempt failed, unless it was delivered'),
  })
  .meta({ id: 'Delivery', description: 'The progress of the delivery' });
export type DeliveryResource = z.output<typeof deliverySchema>;

const notificationSchema = z
  .object({
    number: described(z.int(), "1 for the payment's first notification"),
    id: described(z.string(), 'The `webhook-id`: the same for every attempt'),
    type: z.enum(PAYMENT_EVENT_TYPES),
    at: described(time, 'The time of the event'),
    delivery: deliverySchema,
  })
  .meta({ id: 'Notification' });

export const notificationListSchema = z.object({ data: z.array(notificationSchema) }).meta({
  id: 'NotificationList',
  description: "A payment's notifications, oldest first",
});

/** The body of a notification to the merchant. */
export const paymentEventSchema = (type: (typeof PAYMENT_EVENT_TYPES)[number]) =>
  z.object({
    type: z.literal(type),
    timestamp: described(time, 'The time of the event'),
    merchant: described(z.string().optional(), 'Your own name'),
    data: described(paymentSchema, 'The payment at the time of sending, which can be ahead of `type`: act on it'),
  });

const unacknowledgedSchema = z
  .object({
    payment: z.object({
      id: paymentId,
      merchant: z.string(),
      kind: paymentSchema.shape.kind,
      status: z.enum(PAYMENT_STATUSES),
      amount: paymentSchema.shape.amount,
      amountPaid: paymentSchema.shape.amountPaid,
      currency: paymentSchema.shape.currency,
    }),
    notification: notificationSchema,
  })
  .meta({
    id: 'UnacknowledgedNotification',
    description: 'A notification that a merchant has not acknowledged',
  });

export const unacknowledgedListSchema = z
  .object({
    data: described(z.array(unacknowledgedSchema), 'The oldest first, over all pages'),
    total: described(z.int(), 'The number of such notifications, on all pages'),
    nextCursor: described(z.string().optional(), 'Pass it as `cursor` for the next page; the last page has none'),
  })
  .meta({ id: 'UnacknowledgedNotificationList' });

const unmatchedSchema = schemaOf<Unmatched>()({
  transId: z.string().optional(),
  status: z.enum(PROVIDER_STATUSES).optional(),
  externalId: z.string().optional(),
  at: described(time, 'The time when it was received, or found'),
  unread: described(z.string().optional(), "The beginning of one that can't be read, as it came"),
  statement: described(
    z.string().optional(),
    "The day whose statement has found it: it wasn't notified of, but shown by the provider",
  ),
}).meta({ id: 'UnmatchedNotification' });

export const unmatchedListSchema = z
  .object({ data: described(z.array(unmatchedSchema), 'Newest first') })
  .meta({ id: 'UnmatchedNotificationList' });
