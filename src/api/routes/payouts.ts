import { z } from 'zod';
import { askPayment } from '../../engine/ask-payment.js';
import type { Caller } from '../../http/auth.js';
import { forbidden } from '../../http/problem.js';
import type { PayoutOrder } from '../../payments/words/order.js';
import { PAYMENT_ID_PREFIX, type PaymentId } from '../../payments/words/payment-id.js';
import { mediumSchema } from '../../provider/schemas.js';
import { paymentSchema } from '../../schemas/payment.js';
import { otherKind } from '../api-error.js';
import { authenticatedRoute } from '../route.js';
import { createPayment, creationProblems, creationResponses } from './create-payment.js';
import { idempotencyKey } from './idempotency.js';
import { amount, name, orderFields, phone } from './order-fields.js';
import { actorOf, auditedCaller, isWithdrawn, ownPayment, refusal, shown } from './payment-resource.js';

/**
 * Body of `POST /v1/payouts`. The provider identifies an account on its own platform by e-mail address, and any other
 * by phone number.
 */
export const payoutBody = z
  .strictObject({
    amount,
    phone: phone
      .optional()
      .describe(
        "The recipient's Cameroonian mobile number, with or without +237. Required unless `medium` is `platform`",
      ),
    medium: mediumSchema
      .optional()
      .describe(
        'By default, it follows from the number. `platform` is an account at the provider itself: then `email` is required, and `phone` is refused',
      ),
    name: name.optional().describe("The recipient's name"),
    approval: z
      .literal(true, 'must be true, or left out')
      .optional()
      .describe(
        'It waits until another person than the one whose key orders it approves, whatever its amount. Above the limit of its merchant, it does so anyway',
      ),
    sendAt: z.iso
      .datetime({ offset: true, error: 'must be a time with an offset, such as 2026-11-27T08:00:00+01:00' })
      .max(40)
      .transform((text) => Date.parse(text))
      .optional()
      .describe('It is not sent before this time, which is at most 90 days ahead'),
    ...orderFields,
  })
  .superRefine((body, context) => {
    const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    if (body.medium === 'platform') {
      if (body.email === undefined) refuse('email', 'is required when medium is platform');
      if (body.phone !== undefined) {
        refuse('phone', 'is not allowed when medium is platform: its accounts are identified by email');
      }
    } else if (body.phone === undefined) {
      refuse('phone', 'is required unless medium is platform');
    }
  })
  // The same in JSON Schema, which can't be made from a function.
  .meta({
    id: 'PayoutRequest',
    if: { properties: { medium: { const: 'platform' } }, required: ['medium'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { phone: false, email: true }, required: ['email'] },
    else: { properties: { phone: true }, required: ['phone'] },
  });

/** The order that a parsed body describes, and the person whose key orders it. */
export function toPayoutOrder(
  id: PaymentId,
  body: z.infer<typeof payoutBody>,
  { person: orderedBy, personKeys: orderedByKeys }: Pick<Caller, 'person' | 'personKeys'>,
): PayoutOrder {
  return { id, kind: 'payout', ...body, orderedBy, orderedByKeys };
}

export const createPayout = authenticatedRoute({
  method: 'post',
  path: '/v1/payouts',
  summary: 'Send money to a recipient',
  operationId: 'createPayout',
  tag: 'Payouts',
  scopes: ['payouts'],
  idempotencyKey: { schema: idempotencyKey, required: true },
  body: payoutBody,
  examples: {
    phone: {
      summary: 'To a mobile number',
      value: { amount: 2500, phone: '677000000', externalId: 'wages-77' },
    },
    platform: {
      summary: 'To an account at the provider itself',
      value: { amount: 2500, medium: 'platform', email: 'jane@example.org' },
    },
    dated: {
      summary: 'On a date, once another person has approved it',
      value: { amount: 150000, phone: '677000000', approval: true, sendAt: '2026-11-27T08:00:00+01:00' },
    },
  },
  responses: creationResponses,
  problems: [...creationProblems, 'idempotency_key_required', 'daily_limit_reached'],
  handle: (request, context) => createPayment('payout', toPayoutOrder, request, context),
});

/**
 * Responds with 200 when the payout was withdrawn before it was sent, also when called again; with 409 when it was
 * sent or may have been sent: such a payout can't be recalled.
 */
export const cancelPayout = authenticatedRoute({
  method: 'post',
  path: '/v1/payouts/:id/cancel',
  summary: 'Withdraw a payout that has not been sent',
  description: 'A key with the scope `refunds` and not `payouts` withdraws refunds alone.',
  operationId: 'cancelPayout',
  tag: 'Payouts',
  responses: {
    200: {
      description: 'The payout was withdrawn: it is FAILED and final. Nothing was sent, and nothing will be.',
      schema: paymentSchema,
    },
    202: {
      description: 'The payout is being sent, or looked up at the provider before it ends: read it later.',
      schema: paymentSchema,
    },
  },
  problems: ['not_cancelable'],
  scopes: ['payouts', 'refunds'],
  async handle(request, context) {
    if (request.params.id?.startsWith(PAYMENT_ID_PREFIX.collection))
      throw otherKind('collection', 'POST /v1/collections/{id}/expire ends a collection');
    const found = await ownPayment(context, request);
    if (!request.caller.scopes.has('payouts') && found.refundOf === undefined) throw forbidden(['payouts']);

    const by = actorOf(request, found.merchant);
    const ending = await askPayment(context, found, { kind: 'expire', by }, auditedCaller(request));
    const json = shown(context, request.caller, ending.payment);
    if (isWithdrawn(json)) return { status: 200, json };
    if (ending.kind === 'underway' && !json.final) return { status: 202, json };
    // The answer was put off.
    if (ending.kind === 'done' && json.status === 'CREATED') return { status: 202, json };
    throw refusal('not_cancelable', json);
  },
});
