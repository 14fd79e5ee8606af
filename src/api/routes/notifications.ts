import { z } from 'zod';
import { readPayment } from '../../engine/read-payment.js';
import { resendNotification as resend } from '../../engine/reopen-payment.js';
import { listUnacknowledged, type Unacknowledging } from '../../engine/unacknowledged.js';
import {
  type Delivery,
  notificationId,
  type PaymentNotification,
  withNextTries,
} from '../../payments/machine/notification.js';
import { CURRENCY } from '../../payments/words/limits.js';
import type { PaymentId } from '../../payments/words/payment-id.js';
import { isoTime } from '../../payments/words/time.js';
import { type DeliveryResource, notificationListSchema, unacknowledgedListSchema } from '../../schemas/notification.js';
import { paymentSchema } from '../../schemas/payment.js';
import { noSuchNotification } from '../api-error.js';
import { cursor, toCursor } from '../cursor.js';
import { wholeNumber } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { actorOf, ownPayment, viewerOf } from './payment-resource.js';

export const listNotifications = authenticatedRoute({
  method: 'get',
  path: '/v1/payments/:id/notifications',
  summary: "The payment's notifications to the merchant, sent and pending",
  operationId: 'listNotifications',
  tag: 'Notifications',
  responses: { 200: { description: 'The notifications, oldest first.', schema: notificationListSchema } },
  scopes: ['read', 'review'],
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const { state } = await readPayment(context, found);
    const shown = withNextTries(state.notifications, Date.now());
    return { status: 200, json: { data: shown.map((one) => view(found.id, one)) } };
  },
});

/** `at`: the time of the event. */
function view(payment: PaymentId, notification: PaymentNotification) {
  const { number, type, at, delivery } = notification;
  const id = notificationId(payment, notification);
  return { number, id, type, at: isoTime(at), delivery: viewDelivery(delivery) };
}

/**
 * `at`: the earliest time of the next attempt, or the end of the delivery. `lastTriedAt` and `lastError`: the time of
 * the last attempt, and the reason why it failed.
 */
function viewDelivery(delivery: Delivery): DeliveryResource {
  const at = isoTime(delivery.at);
  switch (delivery.kind) {
    case 'due':
      return {
        status: 'due',
        at,
        tries: delivery.tries,
        ...lastTry(delivery),
      };
    case 'delivered':
      return { status: 'delivered', at };
    case 'noAddress':
      return { status: 'no_address', at };
    case 'abandoned':
      return { status: 'abandoned', at, ...lastTry(delivery) };
  }
}

function lastTry({ lastTriedAt, lastError }: Extract<Delivery, { kind: 'due' | 'abandoned' }>) {
  return { ...(lastTriedAt !== undefined && { lastTriedAt: isoTime(lastTriedAt) }), lastError };
}

/** Largest number of payments that one request reads. */
const MAX_ASKED = 100;

/** A list of notifications that merchants have not acknowledged. */
function unacknowledgedRoute(
  which: Unacknowledging,
  path: string,
  described: { readonly summary: string; readonly description: string; readonly operationId: string },
) {
  return authenticatedRoute({
    method: 'get',
    path,
    ...described,
    description: `For operators. ${described.description} The oldest payments are read first. A page can be empty although others follow: the last one has no \`nextCursor\`.`,
    tag: 'Operations',
    responses: {
      200: { description: 'The notifications of a page of payments.', schema: unacknowledgedListSchema },
    },
    problems: ['temporarily_unavailable'],
    scopes: ['review'],
    query: z.strictObject({
      limit: wholeNumber({ min: 1, max: MAX_ASKED, fallback: MAX_ASKED }).describe('Payments to ask'),
      cursor,
    }),
    async handle({ query: { limit, cursor: after } }, context) {
      const { data, last, ...rest } = await listUnacknowledged(context, which, limit, after);
      const shown = data.map(({ notification, ...payment }) => ({
        payment: { ...payment, currency: CURRENCY } as const,
        notification: view(payment.id, notification),
      }));
      return { status: 200, json: { data: shown, ...rest, ...(last && { nextCursor: toCursor(last) }) } };
    },
  });
}

/** Shows an operator which merchants aren't reached. */
export const listDueNotifications = unacknowledgedRoute('due', '/v1/notifications/due', {
  summary: 'Notifications that merchants have not acknowledged yet',
  description: 'Payments may have one whose workflow still runs, and that are final, or have been in REVIEW or FAILED.',
  operationId: 'listDueNotifications',
});

/** Shows an operator which merchants were not told, so that they can be. */
export const listAbandonedNotifications = unacknowledgedRoute('abandoned', '/v1/notifications/abandoned', {
  summary: 'Notifications that were given up, and not sent again',
  description:
    'Payments may have one whose notification was given up after 72 hours, or whose workflow was stopped, as long as Temporal keeps them.',
  operationId: 'listAbandonedNotifications',
});

/** Responds with 202 once the delivery is due; the list of notifications shows its progress. */
export const resendNotification = authenticatedRoute({
  method: 'post',
  path: '/v1/payments/:id/notifications/:number/resend',
  summary: 'Send a notification again',
  description: 'It has the same `webhook-id` and the payment as it is now.',
  operationId: 'resendNotification',
  tag: 'Notifications',
  responses: {
    202: {
      description: "The delivery is due; the list of the payment's notifications shows its progress.",
      schema: paymentSchema,
    },
  },
  problems: ['no_such_notification', 'too_many_requests'],
  scopes: ['read', 'review'],
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const { number = '' } = request.params;
    if (!/^[1-9]\d{0,8}$/.test(number)) throw noSuchNotification();
    const result = await resend(context, found, Number(number), actorOf(request, found.merchant));
    if (result === undefined) throw noSuchNotification();
    return { status: 202, json: viewerOf(context, request.caller, found.merchant)(result.payment) };
  },
});
