import { z } from 'zod';
import { findByTransId } from '../../engine/find-by-transaction.js';
import type { FoundPayment, ReadContext } from '../../engine/find-payment.js';
import { readPayment } from '../../engine/read-payment.js';
import { updatePayment } from '../../engine/update-payment.js';
import type { Caller } from '../../http/auth.js';
import { onlyFor, variantError } from '../../http/validate.js';
import { allOf, type Decision } from '../../payments/words/decision.js';
import { paymentSchema } from '../../schemas/payment.js';
import { forceSchema } from '../../schemas/review.js';
import { rejectUpdate, resolveUpdate } from '../../workflows/messages.js';
import { transId } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { textOf } from './order-fields.js';
import { ownPayment, refusal, type Viewer, viewerOf } from './payment-resource.js';

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
        "The decision waits for a second person, and is in `review.proposed`; or the provider hasn't answered yet: read the payment later. If it is still in REVIEW with the same `review.number`, decide again: a busy Temporal may not have taken the decision.",
      schema: paymentSchema,
    },
  },
  problems: ['not_under_review', 'resolution_refused'],
  scopes: ['review'],
  body: resolutionBody,
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const view = viewerOf(context, request.caller, found.merchant);
    const send = await updateOf(context, found, request.body, request.caller, view);
    const update = await updatePayment(context, found, send);
    const json = view(update.result.payment);
    switch (update.kind) {
      case 'done':
        return { status: json.review?.proposed === undefined ? 200 : 202, json };
      case 'underway':
        return { status: 202, json };
      case 'refused':
        throw refusal(update.code, json, update.message, update.insist);
      case 'ended':
        throw json.status === 'REVIEW'
          ? refusal(
              'resolution_refused',
              json,
              "The payment's workflow was stopped by hand, so it can no longer be decided on.",
            )
          : refusal('not_under_review', json);
    }
  },
});

/** Makes the update that carries an operator's decision to the payment. */
async function updateOf(
  context: ReadContext,
  found: FoundPayment,
  body: z.output<typeof resolutionBody>,
  { person: by, personKeys: keys }: Caller,
  view: Viewer,
): Promise<Parameters<typeof updatePayment>[2]> {
  const { review, why } = body;
  if (body.action === 'reject') {
    return (handle) => handle.executeUpdate(rejectUpdate, { args: [{ review, by, why }] });
  }
  const { action, force } = body;
  const decision: Decision = action === 'match' ? { action, transId: body.transId } : { action };
  await refuseTaken(context, found, decision, view);
  return (handle) => handle.executeUpdate(resolveUpdate, { args: [{ decision, review, why, force, by, keys }] });
}

/**
 * Refuses to match a transaction that another payment already has. The workflow asks the provider whose transaction it
 * is, but only Temporal's index, which can lag behind, shows that another payment has it.
 */
async function refuseTaken(context: ReadContext, found: FoundPayment, decision: Decision, view: Viewer): Promise<void> {
  if (decision.action !== 'match') return;
  const holders = await findByTransId(context, decision.transId);
  const other = holders.find((id) => id !== found.id);
  if (other === undefined) return;
  const { payment } = await readPayment(context, found);
  const message = `Transaction ${decision.transId} already belongs to the payment ${other}.`;
  throw refusal('resolution_refused', view(payment), message);
}
