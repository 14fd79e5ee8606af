import { z } from 'zod';
import { writeAudit } from '../../book/audit.js';
import {
  countUnacknowledged,
  listUnacknowledged,
  type Notification,
  notificationsOf,
  resendNotification as resend,
  type Unacknowledging,
} from '../../book/notifications.js';
import type { Delivery } from '../../payments/words/delivery.js';
import { CURRENCY } from '../../payments/words/limits.js';
import { parsePaymentId } from '../../payments/words/payment-id.js';
import { isoTime } from '../../payments/words/time.js';
import { type DeliveryResource, notificationListSchema, unacknowledgedListSchema } from '../../schemas/notification.js';
import { paymentSchema } from '../../schemas/payment.js';
import { noSuchNotification } from '../api-error.js';
import { cursorOf } from '../cursor.js';
import { wholeNumber } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { actorOf, auditedCaller, ownPayment, shown } from './payment-resource.js';

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
    const notifications = await notificationsOf(context.book, found.id, context.book.now());
    return { status: 200, json: { data: notifications.map(view) } };
  },
});

/** `at`: the time of the event. */
function view({ number, id, type, at, delivery }: Notification) {
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

const PAGE_SIZE = 100;

/** A list of notifications that merchants have not acknowledged. */
function unacknowledgedRoute(
  which: Unacknowledging,
  path: string,
  described: { readonly summary: string; readonly operationId: string },
) {
  return authenticatedRoute({
    method: 'get',
    path,
    ...described,
    description: 'For operators.',
    tag: 'Operations',
    responses: {
      200: { description: 'A page of notifications.', schema: unacknowledgedListSchema },
    },
    problems: ['temporarily_unavailable'],
    scopes: ['review'],
    query: z.strictObject({
      limit: wholeNumber({ min: 1, max: PAGE_SIZE, fallback: PAGE_SIZE }).describe('Notifications per page'),
      cursor: cursorOf(readPlace).optional().describe('The `nextCursor` of the previous page, unchanged'),
    }),
    async handle({ query: { limit, cursor: after } }, { book }) {
      const [found, counts] = await Promise.all([
        listUnacknowledged(book, which, limit + 1, after, book.now()),
        countUnacknowledged(book),
      ]);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1)?.notification : undefined;
      const data = page.map(({ notification, ...payment }) => {
        const { paymentId: id, merchant } = notification;
        return { payment: { id, merchant, ...payment, currency: CURRENCY } as const, notification: view(notification) };
      });
      const total = counts.reduce((sum, count) => sum + count[which], 0);
      return { status: 200, json: { data, total, ...(last && { nextCursor: toPlace(last) }) } };
    },
  });
}

type NotificationPlace = Pick<Notification, 'at' | 'paymentId' | 'number'>;

function toPlace({ at, paymentId, number }: NotificationPlace): string {
  return Buffer.from(`${at} ${paymentId} ${number}`).toString('base64url');
}

/** @returns `undefined` for what is no cursor of these lists */
function readPlace(cursor: string): NotificationPlace | undefined {
  const [, at, id, number] =
    /^(\d{1,15}) (\S{1,120}) (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const paymentId = parsePaymentId(id);
  if (paymentId === undefined) return undefined;
  const place = { at: Number(at), paymentId, number: Number(number) };
  return toPlace(place) === cursor ? place : undefined;
}

/** Shows an operator which merchants aren't reached. */
export const listDueNotifications = unacknowledgedRoute('due', '/v1/notifications/due', {
  summary: 'Notifications that merchants have not acknowledged yet',
  operationId: 'listDueNotifications',
});

/** Shows an operator which merchants were not told, so that they can be. */
export const listAbandonedNotifications = unacknowledgedRoute('abandoned', '/v1/notifications/abandoned', {
  summary: 'Notifications that were given up, and not sent again',
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
  problems: ['no_such_notification'],
  scopes: ['read', 'review'],
  async handle(request, context) {
    const { book } = context;
    const found = await ownPayment(context, request);
    const { number = '' } = request.params;
    if (!/^[1-9]\d{0,8}$/.test(number)) throw noSuchNotification();
    const detail = { number: Number(number), by: actorOf(request, found.merchant) };
    const entry = { did: 'resendNotification', target: found.id, detail } as const;
    await writeAudit(book, { ...auditedCaller(request), ...entry }, book.now());
    if (!(await resend(book, found.id, Number(number), book.now()))) throw noSuchNotification();
    return { status: 202, json: shown(context, request.caller, found) };
  },
});
