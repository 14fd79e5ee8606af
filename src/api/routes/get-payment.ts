import { z } from 'zod';
import { viewPayment } from '../payment-view.js';
import { currentState } from '../payments/find-payment.js';
import { ownPayment } from '../payments/own-payment.js';
import { waitUntilFinal } from '../payments/wait-until-final.js';
import { keyedRoute } from '../route.js';

/** Longest wait for an outcome, in seconds: below what proxies commonly cut. */
const LONGEST_WAIT = 60;

const query = z.strictObject({
  wait: z
    .string()
    .regex(/^\d{1,2}$/, `must be a whole number of seconds from 0 to ${LONGEST_WAIT}`)
    .transform(Number)
    .refine((seconds) => seconds <= LONGEST_WAIT, `must be at most ${LONGEST_WAIT} seconds`)
    .default(0),
});

export const getPayment = keyedRoute({
  method: 'get',
  path: '/v1/payments/:id',
  summary: 'A payment as it stands, at once or as soon as it is final',
  scopes: ['read', 'review'],
  query,
  async answer(call, api) {
    const found = await ownPayment(api, call);
    const waits = found.running && call.query.wait > 0;
    const { payment } = waits
      ? await waitUntilFinal(api, found, call.query.wait * 1_000, call.hangUp)
      : await currentState(api, found);
    return { status: 200, json: viewPayment(payment, api.ui) };
  },
});
