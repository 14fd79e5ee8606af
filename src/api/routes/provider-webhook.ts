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
import { findByTransId } from '../payments/visibility.js';
import type { ApiContext, ApiRequest, PublicRoute } from '../route.js';

/**
 * All that a hint needs of the provider's notification. The rest isn't read, and nothing of it is believed. A
 * transId that no address can hold can't be asked about. Any other is the provider's own affair, even one
 * that a gateway on the way refuses: the payment asks about it a few times and gives up.
 */
const notificationSchema = transactionSchema
  .pick({ transId: true, status: true, externalId: true })
  .refine(({ transId }) => pathSegment(transId) !== undefined)
  .transform(({ transId, status, externalId }) => ({
    hint: { transId: transId as TransId, status } satisfies Hint,
    externalId,
  }));

/** Key of the one limit for all that match no payment. No payment and no transaction can have it. */
const UNMATCHED = ' ';

/**
 * Takes the provider's notifications. They carry no credential, so the address holds a secret. They are
 * hints, which only make a payment ask the provider. What can't be used is answered 200 too, as sending it
 * again would not help.
 *
 * Those beyond a limit are answered 429, so that the provider repeats them after the flood. One may be the
 * only word of a transaction that nobody polls, so it is also kept for an operator.
 */
export const providerWebhook: PublicRoute = {
  method: 'post',
  path: '/webhooks/provider/:token',
  summary: "Take a notification of the provider's",
  async handle(request, context) {
    if (!sameSecret(request.params.token ?? '', context.webhookToken)) throw notFound();
    try {
      count(request, context, await take(request, context));
    } catch (error) {
      if (error instanceof ApiError) count(request, context, RESULTS[error.code] ?? 'malformed');
      throw error;
    }
    return { status: 200, json: { received: true } };
  },
};

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
    const isThrottled = error instanceof ApiError && error.code === 'too_many_notifications';
    if (isThrottled) await keepRefused(context, hint, request.record.paymentId ?? externalId);
    throw error;
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
 * The payment that a notification is about. Its id is the transaction's externalId. The provider doesn't say
 * which fields it sends, so without an externalId the payment is found by its transaction, if that is known
 * to be one payment's.
 *
 * @throws {ApiError} `too_many_notifications`, `temporarily_unavailable`.
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
  const [id, ...others] = await findByTransId(context, transId);
  return others.length === 0 ? id : undefined;
}

/** Keeps a notification that a payment's limit refuses for an operator, unless it is kept already. */
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

/** Another system's externalId may be anything, even personal: only an identifier is kept. */
function toUnmatched(hint: Hint, externalId: string | undefined): UnmatchedNotification {
  const isKept = externalId !== undefined && IDENTIFIER_PATTERN.test(externalId);
  return { ...hint, at: new Date().toISOString(), ...(isKept && { externalId }) };
}
