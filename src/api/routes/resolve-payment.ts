import { z } from 'zod';
import type { Decision } from '../../payments/decision.js';
import type { TransId } from '../../payments/payment-id.js';
import { pathSegment } from '../../provider/client.js';
import { resolveUpdate } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { onlyFor } from '../orders/order-fields.js';
import { viewPayment } from '../payment-view.js';
import { findByTransId } from '../payments/find-by-trans-id.js';
import { currentState, type Found } from '../payments/find-payment.js';
import { ownPayment } from '../payments/own-payment.js';
import { tellPayment } from '../payments/tell-payment.js';
import { keyedRoute } from '../route.js';
import { refusal } from './refusal.js';

const WHERE_REVIEW_IS =
  'must be the number of the review that you decide: review.number of the payment, as GET /v1/payments/{id} shows it';

const why = z.string().trim().min(1, 'must not be empty').max(500);
/** The number of the review that the operator has looked at; the decision is refused when it has changed since. */
const review = z.int(WHERE_REVIEW_IS).min(1, WHERE_REVIEW_IS);
const force = z.boolean().default(false);
const transId = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .max(200)
  .refine((given) => pathSegment(given) !== undefined, 'can’t be a transaction’s id');

const body = z.discriminatedUnion(
  'action',
  [
    z.strictObject({ action: z.enum(['resend', 'fail']), review, why, force, transId: onlyFor('match') }),
    z.strictObject({ action: z.literal('match'), review, why, force, transId }),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? 'must be "resend", "fail" or "match"' : undefined) },
);

/** Answers 200 with the payment once the decision is carried out, and 409 when it can't be, with the reason. */
export const resolvePayment = keyedRoute({
  method: 'post',
  path: '/v1/payments/:id/resolve',
  summary: 'Decide what becomes of a payment under review',
  scopes: ['review'],
  body,
  async answer(call, api) {
    const found = await ownPayment(api, call);
    const decision = toDecision(call.body);
    await refuseTaken(api, found, decision);
    const { review, why, force } = call.body;
    const resolution = { decision, review, why, force, by: call.caller.owner };

    const told = await tellPayment(api, found, async (handle) => {
      return await handle.executeUpdate(resolveUpdate, { args: [resolution] });
    });
    const json = viewPayment(told.result.payment, api.ui);
    switch (told.kind) {
      case 'done':
        return { status: 200, json };
      case 'underway':
        return { status: 202, json };
      case 'refused':
        throw refusal(told.why, json, told.words);
      case 'ended':
        throw json.status === 'REVIEW'
          ? refusal('resolution_refused', json, 'its workflow was stopped, and carries nothing out any more')
          : refusal('not_under_review', json);
    }
  },
});

function toDecision(given: z.infer<typeof body>): Decision {
  return given.action === 'match'
    ? { action: 'match', transId: given.transId as TransId }
    : { action: given.action };
}

/**
 * A transaction is one payment's. The workflow asks the provider whose it is; that another payment has it already is
 * seen from here alone, and some moments late.
 */
async function refuseTaken(api: Api, found: Found, decision: Decision): Promise<void> {
  if (decision.action !== 'match') return;
  const holders = await findByTransId(api, decision.transId);
  const other = holders.find((id) => id !== found.id);
  if (other === undefined) return;
  const { payment } = await currentState(api, found);
  const words = `transaction ${decision.transId} belongs to the payment ${other} already`;
  throw refusal('resolution_refused', viewPayment(payment, api.ui), words);
}
