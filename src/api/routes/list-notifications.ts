import { notificationId, type PaymentNotification } from '../../payments/notification.js';
import type { PaymentId } from '../../payments/payment-id.js';
import { readNotifications } from '../payments/notifications.js';
import { ownPayment } from '../payments/own-payment.js';
import { keyedRoute } from '../route.js';

export const listNotifications = keyedRoute({
  method: 'get',
  path: '/v1/payments/:id/notifications',
  summary: 'What the merchant was told of a payment, or is still to be told',
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
    delivery: {
      status: delivery.kind,
      at: iso(delivery.at),
      ...(delivery.kind === 'due' && { tries: delivery.tries }),
    },
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
