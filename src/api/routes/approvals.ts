import { z } from 'zod';
import { askPayment, type PaymentRequest } from '../../engine/ask-payment.js';
import { httpProblem } from '../../http/problem.js';
import { PAYMENT_ID_PREFIX } from '../../payments/words/payment-id.js';
import { paymentSchema } from '../../schemas/payment.js';
import { otherKind } from '../api-error.js';
import type { ApiContext } from '../context.js';
import { type AuthenticatedRequest, authenticatedRoute, type ResponseOf } from '../route.js';
import { textOf } from './order-fields.js';
import { auditedCaller, ownPayment, refusal, refused, shown } from './payment-resource.js';

const responses = {
  200: { description: 'The payment as it is now.', schema: paymentSchema },
  202: { description: 'It takes longer than 10 seconds: read the payment later.', schema: paymentSchema },
} as const;

/** Responds with the payment. Repeated while the payout waits for its date, it changes nothing. */
export const approvePayout = authenticatedRoute({
  method: 'post',
  path: '/v1/payouts/:id/approve',
  summary: 'Approve a payout that waits for it',
  description:
    'For another person than the one whose key ordered the payout. It names the `held.digest` of the payment that was read, so that nobody approves something else. The payout is sent at once, or on its date.',
  operationId: 'approvePayout',
  tag: 'Payouts',
  scopes: ['approve'],
  body: z
    .strictObject({
      digest: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be the 64 hex digits of held.digest in GET /v1/payments/{id}')
        .describe('`held.digest` of the payment'),
    })
    .meta({ id: 'ApprovalRequest' }),
  examples: {
    approve: {
      summary: 'Approve what was read',
      value: { digest: '6c1a1b7e0e3c5d1f7c4fb7a9a8d9e0c2f4b3a5968778695a4b3c2d1e0f9e8d7c' },
    },
  },
  responses,
  problems: ['same_person', 'digest_mismatch', 'not_held'],
  handle: (request, context) =>
    decide(request, context, {
      kind: 'approve',
      by: request.caller.person,
      keys: request.caller.personKeys,
      digest: request.body.digest,
      at: context.book.now(),
    }),
});

/**
 * Responds with the payment, which is FAILED with `not_approved`, or with `withdrawn` when it joins a cancellation,
 * unless it turns out that it was sent.
 */
export const rejectPayout = authenticatedRoute({
  method: 'post',
  path: '/v1/payouts/:id/reject',
  summary: 'Reject a payout that is held',
  description:
    'The payout is FAILED, with the `failureCode` `not_approved` (`withdrawn`, if it was being cancelled), and was not sent. It may wait for an approval or for its date, and be your own.',
  operationId: 'rejectPayout',
  tag: 'Payouts',
  scopes: ['approve'],
  body: z
    .strictObject({ why: textOf(500).describe('Kept with the payment, and shown to its merchant') })
    .meta({ id: 'RejectionRequest' }),
  examples: { reject: { summary: 'Say why', value: { why: 'This invoice was paid in October' } } },
  responses,
  problems: ['not_held'],
  handle: (request, context) =>
    decide(request, context, { kind: 'rejectPayout', by: request.caller.person, why: request.body.why }),
});

async function decide(
  request: AuthenticatedRequest<unknown, unknown>,
  context: ApiContext,
  asked: PaymentRequest,
): Promise<ResponseOf<typeof responses>> {
  if (request.params.id?.startsWith(PAYMENT_ID_PREFIX.collection))
    throw otherKind('collection', 'only a payout is approved or rejected');
  const found = await ownPayment(context, request);
  const { caller } = request;
  // An operator sees every merchant's payouts, and approves its own alone.
  if (caller.owner !== found.merchant) {
    throw httpProblem('forbidden', "Only a key of the payout's own merchant can approve or reject it.");
  }
  const result = await askPayment(context, found, asked, auditedCaller(request));
  const json = shown(context, caller, result.payment);
  switch (result.kind) {
    case 'done':
      return { status: 200, json };
    case 'underway':
      return { status: 202, json };
    case 'refused':
      throw refused(result.refusal, json);
    case 'ended':
      throw refusal('not_held', json);
  }
}
