import { PAYMENT_ID_PREFIX } from '../../payments/payment-id.js';
import { viewPayment } from '../payment-view.js';
import { ownPayment } from '../payments/own-payment.js';
import { paymentNotFound } from '../problem.js';
import { keyedRoute } from '../route.js';
import { isWithdrawn, tellToEnd } from './expire-collection.js';
import { refusal } from './refusal.js';

/**
 * Answers 200 with a payout that was withdrawn before it was sent, however often it is asked, and 409 when it was sent
 * or may have been: money that was asked for can't be asked back.
 */
export const cancelPayout = keyedRoute({
  method: 'post',
  path: '/v1/payouts/:id/cancel',
  summary: 'Withdraw a payout that was not sent yet',
  scopes: ['payouts'],
  async answer(call, api) {
    const found = await ownPayment(api, call);
    if (!found.id.startsWith(PAYMENT_ID_PREFIX.payout)) throw paymentNotFound();

    const told = await tellToEnd(api, found);
    const { payment } = told.result;
    const json = viewPayment(payment, api.ui);
    if (isWithdrawn(payment)) return { status: 200, json };
    if (told.kind === 'underway' && !payment.final) return { status: 202, json };
    throw refusal('not_cancelable', json);
  },
});
