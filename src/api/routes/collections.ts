import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { PROVIDER_LINK_LIFETIME_MS } from '../../payments/limits.js';
import type { DirectOrder, LinkOrder } from '../../payments/order.js';
import { PAYMENT_ID_PREFIX, type PaymentId } from '../../payments/payment-id.js';
import { phoneMediumSchema } from '../../provider/schemas.js';
import { onlyFor } from '../http/body.js';
import { paymentNotFound } from '../http/problem.js';
import { endPayment, isWithdrawn } from '../payments/update-payment.js';
import { authenticatedRoute } from '../route.js';
import { amount, createPayment, name, orderFields, phone } from './create-payment.js';
import { ownPayment, refusal, viewerOf } from './payment-resource.js';

/** The shortest lifetime of a link, in ms: a shorter one would end before the payer could open it. */
const MIN_LINK_LIFETIME_MS = 10_000;

const LIFETIME = 'must be a duration from 10s to 24h, such as "90s", "15m" or "24h"';

/** A link's lifetime: a whole number with a unit, at most the provider's 24 hours. Parsed into ms. */
export const expiresIn = z
  .string()
  .regex(/^\d{1,6}[smh]$/, LIFETIME)
  .transform((text) => ms(text as StringValue))
  .refine((value) => value >= MIN_LINK_LIFETIME_MS && value <= PROVIDER_LINK_LIFETIME_MS, LIFETIME);

/** The slashes are required: the URL parser accepts `https:shop.example`, which is not an address. */
const redirectUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true })
  .regex(/^https?:\/\//i, 'must be an http or https address');

/** Body of `POST /v1/collections`: with a link, or directly on the payer's phone. */
export const collectionBody = z.discriminatedUnion(
  'method',
  [
    z.strictObject({
      method: z.literal('link'),
      amount,
      ...orderFields,
      redirectUrl: redirectUrl.optional(),
      expiresIn: expiresIn.optional(),
      phone: onlyFor('direct'),
      medium: onlyFor('direct'),
      name: onlyFor('direct'),
    }),
    z.strictObject({
      method: z.literal('direct'),
      amount,
      ...orderFields,
      phone,
      medium: phoneMediumSchema.optional(),
      name: name.optional(),
      redirectUrl: onlyFor('link'),
      expiresIn: onlyFor('link'),
    }),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? 'must be "link" or "direct"' : undefined) },
);

/** The order that a parsed body describes. */
export function toCollectionOrder(
  id: PaymentId,
  body: z.infer<typeof collectionBody>,
): LinkOrder | DirectOrder {
  if (body.method === 'link') {
    const { expiresIn: expiresInMs, phone: _, medium: __, name: ___, ...order } = body;
    return { id, kind: 'collection', ...order, expiresInMs };
  }
  const { redirectUrl: _, expiresIn: __, ...order } = body;
  return { id, kind: 'collection', ...order };
}

export const createCollection = authenticatedRoute({
  method: 'post',
  path: '/v1/collections',
  summary: 'Collect money from a payer, with a link or directly',
  scopes: ['collections'],
  body: collectionBody,
  handle: (request, context) => createPayment('collection', toCollectionOrder, request, context),
});

/**
 * Responds with 200 when the payment is EXPIRED or was withdrawn before it was sent, also when called again; with 409
 * when it has ended otherwise or was sent to a phone.
 */
export const expireCollection = authenticatedRoute({
  method: 'post',
  path: '/v1/collections/:id/expire',
  summary: 'Expire a payment link now, or withdraw a collection that has not been sent',
  scopes: ['collections'],
  async handle(request, context) {
    const found = await ownPayment(context, request);
    if (!found.id.startsWith(PAYMENT_ID_PREFIX.collection)) throw paymentNotFound();

    const ending = await endPayment(context, found);
    const { payment } = ending.result;
    const json = viewerOf(context, request.caller, found.owner)(payment);
    if (payment.status === 'EXPIRED' || isWithdrawn(payment)) return { status: 200, json };
    if (ending.kind === 'refused' && !payment.final) throw refusal(ending.code, json, ending.message);
    if (payment.method !== 'link' && ending.kind !== 'underway') throw refusal('not_a_link', json);
    if (payment.final || ending.kind === 'ended') throw refusal('not_expirable', json);
    return { status: 202, json };
  },
});
