import { PAYMENT_ID_PREFIX } from '../../payments/payment-id.js';
import { expireUpdate } from '../../workflows/messages.js';
import { viewPayment } from '../payment-view.js';
import { ownPayment } from '../payments/own-payment.js';
import { tellPayment } from '../payments/tell-payment.js';
import { paymentNotFound } from '../problem.js';
import { keyedRoute } from '../route.js';
import { refusal } from './refusal.js';

/** Answers 200 with an expired payment, however often it is asked, and 409 when the payment took another end. */
export const expireCollection = keyedRoute({
  method: 'post',
  path: '/v1/collections/:id/expire',
  summary: 'Expire a payment link now',
  scopes: ['collections'],
  async answer(call, api) {
    const found = await ownPayment(api, call);
    if (!found.id.startsWith(PAYMENT_ID_PREFIX.collection)) throw paymentNotFound();

    const told = await tellPayment(api, found, (handle) =>
      api.updates.send(found.id, 'expire', (updateId) => handle.executeUpdate(expireUpdate, { updateId })),
    );
    const { payment } = told.result;

    const json = viewPayment(payment, api.ui);
    if (payment.status === 'EXPIRED') return { status: 200, json };
    if (payment.method !== 'link') throw refusal('not_a_link', json);
    if (payment.final) throw refusal('not_expirable', json);
    if (told.kind === 'refused') throw refusal(told.why, json, told.words);
    return { status: 202, json };
  },
});
