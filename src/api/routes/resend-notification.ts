import { viewPayment } from '../payment-view.js';
import { resendNotification as resend } from '../payments/notifications.js';
import { ownPayment } from '../payments/own-payment.js';
import { noSuchNotification } from '../problem.js';
import { keyedRoute } from '../route.js';

/** Answers 202: it is on its way, and the list of notifications tells how far. */
export const resendNotification = keyedRoute({
  method: 'post',
  path: '/v1/payments/:id/notifications/:number/resend',
  summary: 'Deliver a notification again',
  scopes: ['collections', 'payouts', 'review'],
  async answer(call, api) {
    const { id } = await ownPayment(api, call);
    const { number = '' } = call.params;
    if (!/^[1-9]\d{0,8}$/.test(number)) throw noSuchNotification();
    const { payment } = await resend(api, id, Number(number));
    return { status: 202, json: viewPayment(payment, api.ui) };
  },
});
