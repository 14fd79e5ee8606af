import { type Delivery, notificationId, type PaymentNotification } from '../../payments/notification.js';
import type { PaymentId } from '../../payments/payment-id.js';
import { readNotifications } from '../payments/notifications.js';
import { ownPayment } from '../payments/own-payment.js';
import { keyedRoute } from '../route.js';

export const listNotifications = keyedRoute({
  method: 'get',
  path: '/v1/payments/:id/notifications',
  summary: 'What the merchant was notified of, or is still to be notified of',
  scopes: ['read', 'review'],
  async answer(call, api) {
    const found = await ownPayment(api, call);
    const notifications = await readNotifications(api, found);
    return { status: 200, json: { data: notifications.map((one) => view(found.id, one)) } };
  },
});

/** `at` is when it happened; the delivery's, when it is due, was done or was given up. */
function view(payment: PaymentId, notification: PaymentNotification) {
  const { number, type, at, delivery } = notification;
  return {
    number,
    id: notificationId(payment, notification),
    type,
    at: iso(at),
    delivery: viewDelivery(delivery),
  };
}

/** `lastError` says why the last try failed; one that is due for the first time has none. */
function viewDelivery(delivery: Delivery) {
  const at = iso(delivery.at);
  switch (delivery.kind) {
    case 'due':
      return { status: 'due', at, tries: delivery.tries, lastError: delivery.lastError };
    case 'delivered':
      return { status: 'delivered', at };
    case 'noAddress':
      return { status: 'no_address', at };
    case 'abandoned':
      return { status: 'abandoned', at, lastError: delivery.lastError };
  }
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
