import { IDENTIFIER_PATTERN } from '../../payments/limits.js';
import type { PaymentId, TransId } from '../../payments/payment-id.js';
import { parsePaymentId } from '../../payments/payment-id.js';
import { pathSegment } from '../../provider/client.js';
import { transactionSchema } from '../../provider/schemas.js';
import type { Hint, UnmatchedNotification } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { sameSecret } from '../authenticate.js';
import type { WebhookResult } from '../metrics.js';
import { deliverHint } from '../payments/deliver-hint.js';
import { findByTransId } from '../payments/find-by-trans-id.js';
import { keepUnmatched } from '../payments/unclaimed.js';
import { ApiError, notFound } from '../problem.js';
import { parseJson } from '../read-body.js';
import type { Call, OpenRoute } from '../route.js';

/**
 * Of the provider's notification, all that a hint needs; the rest is not read, and nothing of it is believed. A transId
 * that no address can hold is none that the provider could ever be asked about. Beyond that its ids are its own
 * affair, with a slash in them or not: a question about one that a gateway refuses is asked a few times, and given up.
 */
const notificationSchema = transactionSchema
  .pick({ transId: true, status: true, externalId: true })
  .refine(({ transId }) => pathSegment(transId) !== undefined);

/** All that match no payment share one limit, under a key that no payment and no transaction can have. */
const UNMATCHED = ' ';

/**
 * The provider's notifications. They carry no credential, so the address holds a secret; and they are hints, so all
 * they do is wake the payment. What can't be used is answered 200 too: sending it again would not mend it.
 *
 * More than a payment has use for are answered 429, so that a provider that repeats them makes the payment ask once the
 * flood is over. One may be the only word of a transaction that nobody polls, so those refused are kept for an operator.
 */
export const providerWebhook: OpenRoute = {
  method: 'post',
  path: '/webhooks/provider/:token',
  summary: 'Takes a notification of the provider',
  async answer(call, api) {
    if (!sameSecret(call.params.token ?? '', api.webhookToken)) throw notFound();
    try {
      count(call, api, await take(call, api));
    } catch (error) {
      if (error instanceof ApiError) count(call, api, troubles[error.code] ?? 'malformed');
      throw error;
    }
    return { status: 200, json: { received: true } };
  },
};

const troubles: Readonly<Record<string, WebhookResult>> = {
  temporarily_unavailable: 'unavailable',
  body_too_large: 'too_large',
  too_many_notifications: 'throttled',
};

async function take(call: Call, api: Api): Promise<WebhookResult> {
  const notification = readNotification(await call.readBody());
  if (notification === undefined) return 'malformed';

  const { transId, status, externalId } = notification;
  const hint: Hint = { transId: transId as TransId, status };
  try {
    const id = await addressee(api, hint, externalId);
    if (id !== undefined) {
      call.record.paymentId = id;
      const delivery = await deliverHint(api, id, hint);
      if (delivery !== 'unknown') return delivery;
    }
  } catch (error) {
    if (isThrottled(error)) await keepRefused(api, hint, call.record.paymentId ?? externalId);
    throw error;
  }
  api.limits.hints.pass(UNMATCHED);
  await keepUnmatched(api, unmatched(hint, externalId));
  return 'unmatched';
}

function isThrottled(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'too_many_notifications';
}

/** Keeps a notification that a payment's limit refuses, where an operator sees it, unless it is kept already. */
async function keepRefused(api: Api, hint: Hint, externalId: string | undefined): Promise<void> {
  const refused = { ...hint, payment: externalId ?? '' };
  if (!api.limits.kept.take(refused, Date.now())) return;
  try {
    await keepUnmatched(api, unmatched(hint, externalId));
  } catch (error) {
    api.limits.kept.giveBack(refused);
    throw error;
  }
}

/**
 * The payment that a notification is about. Its id is the transaction's externalId; since the provider doesn't say
 * which fields it sends, one without is found by its transaction, if that is known to be one payment's.
 */
async function addressee(
  api: Api,
  { transId }: Hint,
  externalId: string | undefined,
): Promise<PaymentId | undefined> {
  if (externalId !== undefined) {
    const id = parsePaymentId(externalId);
    if (id !== undefined) api.limits.hints.pass(id);
    return id;
  }
  api.limits.hints.pass(`transaction ${transId}`);
  const [id, ...others] = await findByTransId(api, transId);
  return others.length === 0 ? id : undefined;
}

/** Somebody else's externalId may be anything; what isn't an identifier is not kept. */
function unmatched(hint: Hint, externalId: string | undefined): UnmatchedNotification {
  const isKept = externalId !== undefined && IDENTIFIER_PATTERN.test(externalId);
  return { ...hint, at: new Date().toISOString(), ...(isKept && { externalId }) };
}

function readNotification(body: Buffer) {
  try {
    return notificationSchema.safeParse(parseJson(body)).data;
  } catch {
    return undefined;
  }
}

function count(call: Call, { metrics }: Api, result: WebhookResult): void {
  call.record.result = result;
  metrics.countWebhook(result);
}
