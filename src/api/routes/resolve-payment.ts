import { z } from 'zod';
import { type FoundPayment, findByTransId } from '../../book/payments.js';
import { askPayment, type PaymentRequest } from '../../engine/ask-payment.js';
import type { Caller } from '../../http/auth.js';
import { onlyFor, variantError } from '../../http/validate.js';
import { allOf, type Decision } from '../../payments/words/decision.js';
import { paymentSchema } from '../../schemas/payment.js';
import { forceSchema } from '../../schemas/review.js';
import type { ApiContext } from '../context.js';
import { transId } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { textOf } from './order-fields.js';
import { auditedCaller, ownPayment, refusal, refused, shown } from './payment-resource.js';

const WHERE_REVIEW_IS = 'must be the number of the review that you decide on: review.number in GET /v1/payments/{id}';

const why = textOf(500).describe('Shown to the merchant');
const whyRejected = textOf(500).describe('Shown to operators');
/** The number of the review that the operator has seen: if it has changed, the decision is refused. */
const review = z
  .int(WHERE_REVIEW_IS)
  .min(1, WHERE_REVIEW_IS)
  .describe('The number of the review that you decide on: `review.number` of the payment');
/** The objections that the decision overrules. */
const force = forceSchema.default(false).transform((given) => (typeof given === 'boolean' ? given : allOf(given, [])));

const resolutionBody = z
  .discriminatedUnion(
    'action',
    [
      z
        .strictObject({ action: z.enum(['resend', 'fail']), review, why, force, transId: onlyFor('match') })
        .meta({ id: 'ResendOrFailRequest' }),
      z.strictObject({ action: z.literal('match'), review, why, force, transId }).meta({ id: 'MatchRequest' }),
      z.strictObject({ action: z.literal('reject'), review, why: whyRejected }).meta({ id: 'RejectRequest' }),
    ],
    { error: variantError('action', 'must be "resend", "fail", "match" or "reject"') },
  )
  .meta({ id: 'ResolutionRequest' });

/**
 * Responds with 200 when the decision is carried out, with 202 when it waits for a second person, and with 409 and the
 * reason when it is refused.
 */
export const resolvePayment = authenticatedRoute({
  method: 'post',
  path: '/v1/payments/:id/resolve',
  summary: 'Decide on a payment in REVIEW',
  description:
    "For operators. A decision is checked with the provider before it is carried out, and can be refused. On a payout above its merchant's limit, it is carried out when a second person has seen it and made the same decision: until then, `review.proposed` has the first one's, which `reject` voids. To propose or reject gives the review another number. `reject` also takes back a `resend` that waits to be sent, by the number of the review that it was decided on: the payment is in REVIEW again.",
  operationId: 'resolvePayment',
  tag: 'Payments',
  examples: {
    match: {
      summary: "The provider's records show the transaction",
      value: { action: 'match', review: 1, why: 'Found in the portal', transId: 'ntLE9hHMsiKRMFBw' },
    },
    fail: {
      summary: 'No money has moved',
      value: { action: 'fail', review: 1, why: 'The provider has confirmed by phone that nothing was sent' },
    },
    reject: {
      summary: 'Void the decision that waits for a second person',
      value: { action: 'reject', review: 1, why: 'The portal shows a transaction' },
    },
  },
  responses: {
    200: {
      description: 'The decision was carried out, or the one that waited is void.',
      schema: paymentSchema,
    },
    202: {
      description:
        "The decision waits for a second person, and is in `review.proposed`; or the provider hasn't answered yet: read the payment later.",
      schema: paymentSchema,
    },
  },
  problems: ['not_under_review', 'resolution_refused'],
  scopes: ['review'],
  body: resolutionBody,
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const asked = toRequest(request.body, request.caller);
    await refuseTaken(context, found, asked, request.caller);
    const result = await askPayment(context, found, asked, auditedCaller(request));
    const json = shown(context, request.caller, result.payment);
    switch (result.kind) {
      case 'done':
        return { status: json.review?.proposed === undefined ? 200 : 202, json };
      case 'underway':
        return { status: 202, json };
      case 'refused':
        throw refused(result.refusal, json);
      case 'ended':
        throw refusal('not_under_review', json);
    }
  },
});

/** Makes what an operator decides a request to the payment. */
function toRequest(body: z.output<typeof resolutionBody>, { person: by, personKeys: keys }: Caller): PaymentRequest {
  const { review, why } = body;
  if (body.action === 'reject') return { kind: 'reject', rejection: { review, by, why } };
  const { action, force } = body;
  const decision: Decision = action === 'match' ? { action, transId: body.transId } : { action };
  return { kind: 'decide', resolution: { decision, review, why, force, by, keys } };
}

/**
 * Refuses to match a transaction that another payment already has. The payment asks the provider whose transaction it
 * is, but only the book shows that another has it.
 */
async function refuseTaken(
  context: ApiContext,
  found: FoundPayment,
  asked: PaymentRequest,
  caller: Caller,
): Promise<void> {
  if (asked.kind !== 'decide' || asked.resolution.decision.action !== 'match') return;
  const { transId } = asked.resolution.decision;
  const other = await findByTransId(context.book, transId);
  if (other === undefined || other.id === found.id) return;
  const message = `Transaction ${transId} already belongs to the payment ${other.id}.`;
  throw refusal('resolution_refused', shown(context, caller, found), message);
}
