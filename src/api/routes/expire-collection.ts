import type { Payment } from '../../payments/payment.js';
import { PAYMENT_ID_PREFIX } from '../../payments/payment-id.js';
import { WITHDRAWN } from '../../payments/sending.js';
import { expireUpdate } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { viewPayment } from '../payment-view.js';
import type { Found } from '../payments/find-payment.js';
import { ownPayment } from '../payments/own-payment.js';
import { type Told, tellPayment } from '../payments/tell-payment.js';
import { paymentNotFound } from '../problem.js';
import { keyedRoute } from '../route.js';
import { refusal } from './refusal.js';

/**
 * Answers 200 with a payment that is EXPIRED, or was withdrawn before it was sent, however often it is asked; 409 when
 * it took another end, or was sent to a phone.
 */
export const expireCollection = keyedRoute({
  method: 'post',
  path: '/v1/collections/:id/expire',
  summary: 'Expire a payment link now, or withdraw a collection that was not sent yet',
  scopes: ['collections'],
  async answer(call, api) {
    const found = await ownPayment(api, call);
    if (!found.id.startsWith(PAYMENT_ID_PREFIX.collection)) throw paymentNotFound();

    const told = await tellToEnd(api, found);
    const { payment } = told.result;
    const json = viewPayment(payment, api.ui);
    if (payment.status === 'EXPIRED' || isWithdrawn(payment)) return { status: 200, json };
    if (told.kind === 'refused' && !payment.final) throw refusal(told.why, json, told.words);
    if (payment.method !== 'link' && told.kind !== 'underway') throw refusal('not_a_link', json);
    if (payment.final || told.kind === 'ended') throw refusal('not_expirable', json);
    return { status: 202, json };
  },
});

/** Asks a payment to end: a link is expired, and what was not sent yet is withdrawn. */
export function tellToEnd(api: Api, found: Found): Promise<Told> {
  return tellPayment(api, found, (handle) =>
    api.updates.send(found.id, 'expire', (updateId) => handle.executeUpdate(expireUpdate, { updateId })),
  );
}

/** Whether the payment ended because its merchant withdrew it, before anything was sent. */
export function isWithdrawn({ final, status, reason }: Payment): boolean {
  return final && status === 'FAILED' && reason === WITHDRAWN;
}
