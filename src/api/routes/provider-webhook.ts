import { z } from 'zod';
import { findByTransId } from '../../book/payments.js';
import { dropMatched, keepUnmatched } from '../../book/unmatched.js';
import { TooManyNotifications } from '../../engine/errors.js';
import { deliverHint, type HintContext, type HintDelivery } from '../../engine/provider-notifications.js';
import { sameSecret } from '../../http/auth.js';
import { MAX_BODY_BYTES } from '../../http/body.js';
import type { WebhookResult } from '../../http/metrics.js';
import type { UnparsedRequest } from '../../http/server.js';
import { IDENTIFIER_PATTERN } from '../../payments/words/limits.js';
import type { Unmatched } from '../../payments/words/transaction.js';
import { type HintedTransaction, readNotification, readQuery } from '../../provider/notification.js';
import { methodNotAllowed, notFound } from '../api-error.js';
import type { ApiContext } from '../context.js';
import { toProblem } from '../engine-problems.js';
import { type ApiRequest, publicRoute } from '../route.js';

/** Key of the limit that all unmatched notifications share. No payment or transaction can have this key. */
const UNMATCHED = ' ';

/** Key of the limit that all unreadable notifications share, so that they use up no other's. */
const UNREAD = '  ';

/** Bodies that say nothing. */
const NOTHING = new Set(['', 'null', 'true', 'false', '0', '""', '[]', '{}']);

/** Characters kept of an unreadable notification. */
const MAX_UNREAD = 1_000;

type WebhookContext = HintContext & Pick<ApiContext, 'limits' | 'metrics'>;

/**
 * Receives the provider's notifications. They carry no credential, so the address contains a secret. They are only
 * hints, which make a payment ask the provider. Each is answered 200 once it is in the book: for its payment, or
 * kept for an operator because it can't be read or its payment isn't known yet.
 *
 * Notifications beyond a limit are answered 429, so that the provider repeats them later. They are also kept for an
 * operator, because such a notification may be the only trace of a transaction that is not polled.
 */
export const providerWebhook = publicRoute({
  method: 'post',
  path: '/webhooks/provider/:token',
  summary: 'Receive a notification from the provider',
  description:
    'For the provider alone: the address contains a secret. A notification proves nothing, it only makes a payment ask the provider. One that cannot be read is kept for an operator.',
  operationId: 'receiveProviderNotification',
  rawBody: z.unknown().describe("The provider's transaction, or several, in any layout"),
  alsoTakes: ['get', 'patch', 'put'],
  tag: 'Operations',
  responses: { 200: { description: 'It was received.', schema: z.object({ received: z.literal(true) }) } },
  problems: ['not_found', 'invalid_request', 'body_too_large', 'too_many_notifications', 'temporarily_unavailable'],
  async handle(request, context) {
    if (!sameSecret(request.params.token ?? '', context.webhookToken)) {
      count(request, context, 'wrong_token');
      throw request.method === 'POST' ? notFound() : methodNotAllowed('POST');
    }
    try {
      await acceptNotification(request, context);
    } catch (error) {
      const problem = toProblem(error);
      if (problem !== undefined && request.record.result === undefined) {
        count(request, context, RESULTS[problem.code] ?? 'malformed');
      }
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

function count({ record }: ApiRequest, { metrics }: Pick<ApiContext, 'metrics'>, result: WebhookResult): void {
  record.result = result;
  metrics.countWebhook(result);
}

/** Matches the first line of a request to the webhook's address, anywhere in the bytes that were read. */
const REQUEST_LINE = /^[^\s/]{1,30} {1,3}(?:https?:\/\/[^\s/]{1,300})?\/webhooks\/provider\/([\w-]{1,200})(?![\w-])/im;

/**
 * Counts a notification that isn't even HTTP, if its address can be read. Nothing of it is kept: it may be anything.
 * The provider receives 400, and may repeat it.
 */
export function countUnparsed(
  { code, packet, address }: UnparsedRequest,
  { logger, metrics, webhookToken }: Pick<ApiContext, 'logger' | 'metrics' | 'webhookToken'>,
): void {
  const [, token] = REQUEST_LINE.exec(packet.toString('latin1')) ?? [];
  if (token === undefined) return;
  const result = sameSecret(token, webhookToken) ? 'malformed' : 'wrong_token';
  metrics.countWebhook(result);
  logger.warn({ code, caller: address, result }, 'a notification could not be read as HTTP');
}

async function acceptNotification(request: ApiRequest, context: WebhookContext): Promise<void> {
  const headers = {
    contentType: request.headers('content-type').at(0),
    contentEncoding: request.headers('content-encoding').join(','),
  };
  const { hints, text } = await readNotification(await request.readBytes(), headers, MAX_BODY_BYTES);
  const found = hints.length > 0 ? hints : readQuery(request.address);
  if (found.length === 0 && request.method !== 'POST' && NOTHING.has(text.trim())) {
    // Somebody checks whether anything is here.
    request.record.result = 'not_one';
    throw methodNotAllowed('POST');
  }
  if (found.length === 0) return await keepUnread(request, context, text);
  // All are delivered before the first failure has the provider repeat them: a repetition does no harm to those that
  // were.
  let failure: unknown;
  for (const one of found) {
    try {
      count(request, context, await acceptHint(request, context, one));
    } catch (error) {
      const problem = toProblem(error);
      if (problem === undefined) throw error;
      count(request, context, RESULTS[problem.code] ?? 'unavailable');
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}

/** Keeps a notification that can't be read, for an operator. */
async function keepUnread(request: ApiRequest, context: WebhookContext, text: string): Promise<void> {
  await context.limits.hints.pass(UNREAD);
  await keepUnmatched(context.book, { at: new Date().toISOString(), unread: text.slice(0, MAX_UNREAD).toWellFormed() });
  count(request, context, 'malformed');
}

async function acceptHint(
  request: ApiRequest,
  context: WebhookContext,
  hint: HintedTransaction,
): Promise<WebhookResult> {
  const { transId, paymentId } = hint;
  try {
    await context.limits.hints.pass(paymentId ?? `transaction ${transId}`);
    const delivery = await deliverToPayment(context, hint, request);
    if (delivery !== 'unknown') return delivery;
  } catch (error) {
    if (error instanceof TooManyNotifications) await keepRefused(context, hint);
    throw error;
  }
  try {
    await context.limits.hints.pass(UNMATCHED);
  } catch (error) {
    await keepRefused(context, hint);
    throw error;
  }
  await keepUnmatched(context.book, toUnmatched(hint));
  // Its payment may just have become known by its transaction.
  const delivery = await deliverToPayment(context, hint, request);
  if (delivery === 'unknown') return 'unmatched';
  if (transId !== undefined) await dropMatched(context.book, transId);
  return delivery;
}

/**
 * Delivers a notification to its payment: the payment's id is the transaction's externalId and userId. The provider
 * doesn't document which fields it sends. Otherwise, finds the payment that goes by its transaction.
 *
 * @throws {TooManyNotifications | BookUnavailable}
 */
async function deliverToPayment(
  context: WebhookContext,
  { paymentId, transId, status }: HintedTransaction,
  request: ApiRequest,
): Promise<HintDelivery> {
  const hint = { transId, status };
  if (paymentId !== undefined) {
    request.record.paymentId = paymentId;
    const delivery = await deliverHint(context, paymentId, hint);
    if (delivery !== 'unknown') return delivery;
  }
  if (transId === undefined) return 'unknown';
  const id = (await findByTransId(context.book, transId))?.id;
  if (id === undefined || id === paymentId) return 'unknown';
  request.record.paymentId = id;
  return await deliverHint(context, id, hint);
}

/** Keeps a notification that a limit has refused, for an operator, unless it is kept already. */
async function keepRefused(context: WebhookContext, hint: HintedTransaction): Promise<void> {
  const { kept } = context.limits;
  const { transId = '', status = '', paymentId = '', externalId = '' } = hint;
  const refused = { transId, status, payment: paymentId || externalId || transId };
  if (!(await kept.take(refused))) return;
  try {
    await keepUnmatched(context.book, toUnmatched(hint));
  } catch (error) {
    await kept.giveBack(refused);
    throw error;
  }
}

/** Only a valid identifier is kept as externalId: another system's could be anything, including personal data. */
function toUnmatched({ transId, status, paymentId, externalId = paymentId }: HintedTransaction): Unmatched {
  const isKept = externalId !== undefined && IDENTIFIER_PATTERN.test(externalId);
  return {
    ...(transId !== undefined && { transId }),
    ...(status !== undefined && { status }),
    at: new Date().toISOString(),
    ...(isKept && { externalId }),
  };
}
