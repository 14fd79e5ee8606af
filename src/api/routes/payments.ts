import { z } from 'zod';
import { type FoundPayment, findPayment } from '../../book/payments.js';
import { askPayment } from '../../engine/ask-payment.js';
import { shownSums } from '../../engine/refunds.js';
import { isOperator, READING_SCOPES } from '../../http/auth.js';
import { paymentSchema } from '../../schemas/payment.js';
import type { ApiContext } from '../context.js';
import { wholeNumber } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { actorOf, auditedCaller, ownPayment, refused, shown } from './payment-resource.js';

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
      wait > 0 && !found.final
        ? await context.requestLimits.whileWaiting(request.caller.key, () =>
            untilFinal(context, found, wait * 1_000, request.hangUp),
          )
        : found;
    const json = { ...shown(context, request.caller, read), ...(await shownSums(context.book, read)) };
    return { status: 200, json };
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
  problems: ['not_initiated', 'resolution_refused', 'provider_unavailable'],
  scopes: ['read', 'review'],
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const by = actorOf(request, found.merchant);
    const isRecheck = found.final && isOperator(request.caller);
    const asked = { kind: isRecheck ? 'recheck' : 'refresh', by } as const;
    const result = await askPayment(context, found, asked, auditedCaller(request));
    const json = shown(context, request.caller, result.payment);
    if (result.kind === 'refused') throw refused(result.refusal, json);
    return { status: result.kind === 'underway' && (isRecheck || !json.final) ? 202 : 200, json };
  },
});

/**
 * Waits until the payment is final. Returns it as it is when `waitMs` have passed, the caller hangs up or the process
 * is to stop.
 */
async function untilFinal(
  { book, changes, shutdown }: ApiContext,
  found: FoundPayment,
  waitMs: number,
  hangUp: AbortSignal,
): Promise<FoundPayment> {
  const find = (payment: FoundPayment) => (payment.final ? payment : undefined);
  const final = await shutdown.reads.within(waitMs, (signal) => changes.until(found.id, find, signal), hangUp);
  return final ?? (await findPayment(book, found.id)) ?? found;
}
