import { z } from 'zod';
import { Stopped } from '../../engine/errors.js';
import type { FoundPayment } from '../../engine/find-payment.js';
import { readPayment, viewPayment, waitUntilFinal } from '../../engine/read-payment.js';
import { knownSums } from '../../engine/refunds.js';
import { recheckPayment } from '../../engine/reopen-payment.js';
import { failureTypeOf } from '../../engine/temporal-calls.js';
import { type UpdateContext, updatePayment } from '../../engine/update-payment.js';
import { isOperator, READING_SCOPES } from '../../http/auth.js';
import type { Actor } from '../../payments/machine/events.js';
import type { Payment } from '../../payments/words/payment.js';
import { paymentSchema } from '../../schemas/payment.js';
import { refreshUpdate } from '../../workflows/messages.js';
import { notChecked } from '../api-error.js';
import { wholeNumber } from '../parameters.js';
import { authenticatedRoute, type ResponseOf } from '../route.js';
import { actorOf, ownPayment, refusal, type Viewer, viewerOf } from './payment-resource.js';

/** Shorter than the usual time limit of proxies. */
const MAX_WAIT_SECONDS = 60;

export const getPayment = authenticatedRoute({
  method: 'get',
  path: '/v1/payments/:id',
  summary: 'A payment, at once or as soon as it is final',
  operationId: 'getPayment',
  tag: 'Payments',
  responses: { 200: { description: 'The payment as it is now.', schema: paymentSchema } },
  scopes: READING_SCOPES,
  query: z.strictObject({
    wait: wholeNumber({ min: 0, max: MAX_WAIT_SECONDS, fallback: 0, unit: ' of seconds' }).describe(
      'The number of seconds to wait for the payment to become final',
    ),
  }),
  isOutOfTurn: ({ wait }) => wait > 0,
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const { wait } = request.query;
    const read =
      found.running && wait > 0
        ? await context.requestLimits.whileWaiting(request.caller.key, () =>
            waitUntilFinal(context, found, wait * 1_000, request.hangUp),
          )
        : await viewPayment(context, found);
    const shown = { ...read.payment, ...(await knownSums(context, found, read)) };
    return { status: 200, json: viewerOf(context, request.caller, found.merchant)(shown) };
  },
});

const refreshResponses = {
  200: { description: 'The payment, after the provider was asked.', schema: paymentSchema },
  202: {
    description: "The provider hasn't answered within 10 seconds: read the payment later.",
    schema: paymentSchema,
  },
} as const;

/**
 * Responds with the payment once the provider has been asked. A final payment is returned as it is, unless the caller
 * is an operator: then it is compared with the provider's records again.
 */
export const refreshPayment = authenticatedRoute({
  method: 'post',
  path: '/v1/payments/:id/refresh',
  summary: 'Ask the provider for the status now, within its rate limit',
  description:
    "A final payment is returned as it is, unless the key has the scope `review`: then it is compared with the provider's records again.",
  operationId: 'refreshPayment',
  tag: 'Payments',
  responses: refreshResponses,
  problems: ['not_initiated', 'resolution_refused', 'too_many_requests', 'provider_unavailable'],
  scopes: ['read', 'review'],
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const view = viewerOf(context, request.caller, found.merchant);
    const by = actorOf(request, found.merchant);
    if (!isOperator(request.caller)) return await refresh(context, found, by, view);
    const { payment } = await readPayment(context, found);
    return payment.final ? await recheck(context, payment, by, view) : await refresh(context, found, by, view);
  },
});

async function refresh(
  context: UpdateContext,
  found: FoundPayment,
  by: Actor,
  view: Viewer,
): Promise<ResponseOf<typeof refreshResponses>> {
  const update = await updatePayment(context, found, (handle) =>
    context.updates.send(
      found.id,
      'refresh',
      (updateId) => handle.executeUpdate(refreshUpdate, { updateId, args: [{ by }] }),
      by,
    ),
  );
  const json = view(update.result.payment);
  if (update.kind === 'refused') throw refusal(update.code, json, update.message);
  return { status: update.kind === 'underway' && !json.final ? 202 : 200, json };
}

const STOPPED_UNCHECKED = "The payment's workflow was stopped by hand, so it can no longer be checked.";

async function recheck(
  context: UpdateContext,
  before: Payment,
  by: Actor,
  view: Viewer,
): Promise<ResponseOf<typeof refreshResponses>> {
  const json = view(before);
  try {
    const answer = await recheckPayment(context, before.id, by);
    if (answer === undefined) return { status: 202, json };
    return { status: 200, json: view(answer.value.payment) };
  } catch (error) {
    if (error instanceof Stopped) throw refusal('resolution_refused', json, STOPPED_UNCHECKED);
    throw failureTypeOf(error) === 'NotChecked' ? notChecked(json) : error;
  }
}
