import { z } from 'zod';
import { IDENTIFIER_PATTERN } from '../../payments/limits.js';
import { type PaymentId, parsePaymentId, type TransId } from '../../payments/payment-id.js';
import { pathSegment } from '../../provider/client.js';
import { transactionSchema } from '../../provider/schemas.js';
import type { Hint, UnmatchedNotification } from '../../workflows/messages.js';
import { sameSecret } from '../http/auth.js';
import { parseJson } from '../http/body.js';
import type { WebhookResult } from '../http/metrics.js';
import { ApiError, notFound } from '../http/problem.js';
import { deliverHint, keepUnmatched } from '../payments/provider-notifications.js';
import { findForHint } from '../payments/visibility.js';
import { type ApiContext, type ApiRequest, publicRoute } from '../route.js';

/**
 * The part of the provider's notification that a hint needs; the rest is ignored, and nothing in it is trusted. A
 * transId that can't be part of an address is refused, because the provider couldn't be asked about it. Any other is
 * accepted: if a gateway refuses it, the payment asks about it a few times and gives up.
 */
const notificationSchema = transactionSchema
  .pick({ transId: true, status: true, externalId: true })
  .refine(({ transId }) => pathSegment(transId) !== undefined)
  .transform(({ transId, status, externalId }) => ({
    hint: { transId: transId as TransId, status } satisfies Hint,
    externalId,
  }));

/** Key of the limit that all unmatched notifications share. No payment or transaction can have this key. */
const UNMATCHED = ' ';

/**
 * Receives the provider's notifications. They carry no credential, so the address contains a secret. They are only
 * hints, which make a payment ask the provider. Malformed ones are answered 200, too, because repeating them would not
 * help.
 *
 * Those beyond a limit are answered 429, so that the provider repeats them later. They are also kept for an operator,
 * because such a notification may be the only trace of a transaction that is not polled.
 */
export const providerWebhook = publicRoute({
  method: 'post',
  path: '/webhooks/provider/:token',
  summary: 'Receive a notification from the provider',
  description:
    'For the provider alone: the address contains a secret. A notification proves nothing, it only makes a payment ask the provider. One that is malformed is accepted, too, because repeating it would not help.',
  operationId: 'receiveProviderNotification',
  rawBody: z.unknown().describe("The provider's transaction"),
  tag: 'Operations',
  responses: { 200: { description: 'It was received.', schema: z.object({ received: z.literal(true) }) } },
  problems: [
    'not_found',
    'invalid_request',
    'body_too_large',
    'unsupported_media_type',
    'too_many_notifications',
    'temporarily_unavailable',
  ],
  async handle(request, context) {
    if (!sameSecret(request.params.token ?? '', context.webhookToken)) throw notFound();
    try {
      count(request, context, await take(request, context));
    } catch (error) {
      if (error instanceof ApiError) count(request, context, RESULTS[error.code] ?? 'malformed');
      throw error;
    }
    return { status: 200, json: { received: true as const } };
  },
});

const RESULTS: Readonly<Record<string, WebhookResult>> = {
  temporarily_unavailable: 'unavailable',
  body_too_large: 'too_large',
  too_many_notifications: 'throttled',
};

function count({ record }: ApiRequest, { metrics }: ApiContext, result: WebhookResult): void {
  record.result = result;
  metrics.countWebhook(result);
}

async function take(request: ApiRequest, context: ApiContext): Promise<WebhookResult> {
  const notification = readNotification(await request.readBody());
  if (notification === undefined) return 'malformed';

  const { hint, externalId } = notification;
  try {
    const id = await addressee(context, hint, externalId);
    if (id !== undefined) {
      request.record.paymentId = id;
      const delivery = await deliverHint(context, id, hint);
      if (delivery !== 'unknown') return delivery;
    }
  } catch (error) {
    const code = error instanceof ApiError ? error.code : undefined;
    if (code === 'too_many_notifications') {
      await keepRefused(context, hint, request.record.paymentId ?? externalId);
    }
    // Temporal has no such payment. One of long ago may be meant: an operator has to see it, and the provider may not repeat it.
    if (code !== 'records_unavailable') throw error;
  }
  context.limits.hints.pass(UNMATCHED);
  await keepUnmatched(context, toUnmatched(hint, externalId));
  return 'unmatched';
}

function readNotification(body: Buffer) {
  try {
    return notificationSchema.safeParse(parseJson(body)).data;
  } catch {
    return undefined;
  }
}

/**
 * The payment that a notification is about: its id is the transaction's externalId. The provider doesn't document which
 * fields it sends. Without an externalId, the payment is found by its transaction, if exactly one payment has it.
 *
 * @throws {ApiError} `too_many_notifications`, `temporarily_unavailable`, `records_unavailable`.
 */
async function addressee(
  context: ApiContext,
  { transId }: Hint,
  externalId: string | undefined,
): Promise<PaymentId | undefined> {
  const { hints } = context.limits;
  if (externalId !== undefined) {
    const id = parsePaymentId(externalId);
    if (id !== undefined) hints.pass(id);
    return id;
  }
  hints.pass(`transaction ${transId}`);
  const [id, ...others] = await findForHint(context, transId);
  return others.length === 0 ? id : undefined;
}

/** Keeps a notification that a payment's limit has refused, for an operator, unless it is kept already. */
async function keepRefused(context: ApiContext, hint: Hint, externalId: string | undefined): Promise<void> {
  const { kept } = context.limits;
  const refused = { ...hint, payment: externalId ?? '' };
  if (!kept.take(refused, Date.now())) return;
  try {
    await keepUnmatched(context, toUnmatched(hint, externalId));
  } catch (error) {
    kept.giveBack(refused);
    throw error;
  }
}

/** Only a valid identifier is kept as externalId: another system's could be anything, including personal data. */
function toUnmatched(hint: Hint, externalId: string | undefined): UnmatchedNotification {
  const isKept = externalId !== undefined && IDENTIFIER_PATTERN.test(externalId);
  return { ...hint, at: new Date().toISOString(), ...(isKept && { externalId }) };
}
