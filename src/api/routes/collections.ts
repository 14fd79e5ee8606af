import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { askPayment } from '../../engine/ask-payment.js';
import { onlyFor, variantError } from '../../http/validate.js';
import type { DirectOrder, LinkOrder } from '../../payments/words/order.js';
import { PAYMENT_ID_PREFIX, type PaymentId } from '../../payments/words/payment-id.js';
import { phoneMediumSchema } from '../../provider/schemas.js';
import { paymentSchema } from '../../schemas/payment.js';
import { PLAIN_LINE } from '../../text/visible-text.js';
import { otherKind } from '../api-error.js';
import { authenticatedRoute } from '../route.js';
import { createPayment, creationProblems, creationResponses } from './create-payment.js';
import { idempotencyKey } from './idempotency.js';
import { amount, NOT_PLAIN, name, orderFields, phone } from './order-fields.js';
import { actorOf, auditedCaller, isWithdrawn, ownPayment, refusal, refused, shown } from './payment-resource.js';

/**
 * Durations from 10 seconds, because a shorter link would end before the payer could open it, to the
 * provider's 24 hours: 10 to 86400 s, 1 to 1440 m, 1 to 24 h. As a
 * pattern, so that the OpenAPI document says the same.
 */
const LIFETIME_PATTERN =
  /^(?:(?:[1-9][0-9]{1,3}|[1-7][0-9]{4}|8[0-5][0-9]{3}|86[0-3][0-9]{2}|86400)s|(?:[1-9][0-9]{0,2}|1[0-3][0-9]{2}|14[0-3][0-9]|1440)m|(?:[1-9]|1[0-9]|2[0-4])h)$/;

/** A link's lifetime: a whole number with a unit. Parsed into ms. */
export const expiresIn = z
  .string()
  .regex(LIFETIME_PATTERN, 'must be a duration from 10s to 24h, such as "90s", "15m" or "24h"')
  .meta({
    description:
      'The lifetime of the link: from `10s` to `24h`, a whole number of `s`, `m` or `h`. By default 24 hours, unless your operator has set another time',
    examples: ['15m'],
  })
  .transform((text) => ms(text as StringValue));

/** Characters of an address: as many as browsers, proxies and servers take without fail. */
const MAX_ADDRESS_LENGTH = 2_000;

const WEB_ADDRESS = 'must be an http or https address without a user name';

/**
 * The slashes are required: the URL parser accepts `https:shop.example`, which is not an address. A user name could
 * make the payer believe in another host, as in `https://shop.example@evil.example`.
 */
const redirectUrl = z
  .string()
  .max(MAX_ADDRESS_LENGTH, { error: `must have at most ${MAX_ADDRESS_LENGTH} characters`, abort: true })
  .regex(PLAIN_LINE, { error: NOT_PLAIN, abort: true })
  .regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#\\@]+(?:[/?#][^\s]*)?$/, { error: WEB_ADDRESS, abort: true })
  // Last: the parser takes seconds for a long host of marks.
  .refine((address) => URL.canParse(address), WEB_ADDRESS)
  .meta({
    format: 'uri',
    description:
      "The address that the payer's browser goes to after paying. Coming back proves nothing: read the payment, or wait for the notification",
  });

/** Body of `POST /v1/collections`: with a link, or directly on the payer's phone. */
export const collectionBody = z
  .discriminatedUnion(
    'method',
    [
      z
        .strictObject({
          method: z.literal('link'),
          amount,
          ...orderFields,
          redirectUrl: redirectUrl.optional(),
          expiresIn: expiresIn.optional(),
          refundTo: phone
            .optional()
            .describe(
              "The payer's mobile number, if you know it: refunds go there. The provider gives no number for a link, so a refund to a number that isn't named here takes an approval",
            ),
          phone: onlyFor('direct'),
          medium: onlyFor('direct'),
          name: onlyFor('direct'),
        })
        .meta({ id: 'LinkCollectionRequest' }),
      z
        .strictObject({
          method: z.literal('direct'),
          amount,
          ...orderFields,
          phone: phone.describe("The payer's Cameroonian mobile number, with or without +237"),
          medium: phoneMediumSchema.optional().describe('By default, it follows from the number'),
          name: name.optional().describe("The payer's name"),
          redirectUrl: onlyFor('link'),
          expiresIn: onlyFor('link'),
          refundTo: onlyFor('link'),
        })
        .meta({ id: 'DirectCollectionRequest' }),
    ],
    { error: variantError('method', 'must be "link" or "direct"') },
  )
  .meta({ id: 'CollectionRequest' });

/** The order that a parsed body describes. */
export function toCollectionOrder(id: PaymentId, body: z.infer<typeof collectionBody>): LinkOrder | DirectOrder {
  if (body.method === 'link') {
    const { method: kind, expiresIn: expiresInMs, phone: _, medium: __, name: ___, ...order } = body;
    return { id, kind, ...order, expiresInMs };
  }
  const { method: kind, redirectUrl: _, expiresIn: __, refundTo: ___, ...order } = body;
  return { id, kind, ...order };
}

export const createCollection = authenticatedRoute({
  method: 'post',
  path: '/v1/collections',
  summary: 'Collect money from a payer, with a link or directly',
  operationId: 'createCollection',
  tag: 'Collections',
  scopes: ['collections'],
  idempotencyKey: { schema: idempotencyKey, required: false },
  body: collectionBody,
  examples: {
    link: {
      summary: 'With a link, which you give to the payer',
      value: { method: 'link', amount: 5000, externalId: 'order-1001', message: 'Two tickets' },
    },
    direct: {
      summary: "With a request on the payer's phone",
      value: { method: 'direct', amount: 5000, phone: '677000000', externalId: 'order-1002' },
    },
  },
  responses: creationResponses,
  problems: creationProblems,
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
  operationId: 'expireCollection',
  tag: 'Collections',
  responses: {
    200: {
      description: 'The link is EXPIRED, or the collection was withdrawn before it was sent: it is FAILED and final.',
      schema: paymentSchema,
    },
    202: {
      description: "The provider hasn't answered yet, or the payment is being sent at this moment: read it later.",
      schema: paymentSchema,
    },
  },
  problems: ['not_a_link', 'not_expirable', 'not_initiated'],
  scopes: ['collections'],
  async handle(request, context) {
    if (request.params.id?.startsWith(PAYMENT_ID_PREFIX.payout))
      throw otherKind('payout', 'POST /v1/payouts/{id}/cancel withdraws a payout');
    const found = await ownPayment(context, request);

    const by = actorOf(request, found.merchant);
    const ending = await askPayment(context, found, { kind: 'expire', by }, auditedCaller(request));
    const json = shown(context, request.caller, ending.payment);
    if (json.status === 'EXPIRED' || isWithdrawn(json)) return { status: 200, json };
    if (ending.kind === 'refused' && !json.final) throw refused(ending.refusal, json);
    if (json.method !== 'link' && ending.kind !== 'underway') throw refusal('not_a_link', json);
    if (json.final || ending.kind === 'ended') throw refusal('not_expirable', json);
    return { status: 202, json };
  },
});
