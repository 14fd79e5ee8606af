import { createHash } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import got, { type Request, RequestError, type Response } from 'got';
import { Webhook } from 'standardwebhooks';
import type { DeliveryOutcome } from '../payments/words/delivery.js';
import type { Payment, PaymentEventType } from '../payments/words/payment.js';
import { HOUR_MS } from '../payments/words/time.js';
import { readRetryAfter } from '../provider/http.js';
import { createLookup, type HostResolver, PrivateAddressError, refusePrivateHost } from './public-addresses.js';

/** One notification: what happened, and the payment as it is at the moment of sending. */
export interface MerchantNotification {
  /** The `webhook-id`: the same for every try, so that the merchant can drop duplicates. */
  readonly id: string;
  readonly type: PaymentEventType;
  /** Time of the event, ISO 8601. */
  readonly timestamp: string;
  /** The name of the merchant whose payment it is. */
  readonly merchant: string;
  readonly payment: Payment;
  /** The endpoints that acknowledged it at an earlier try, and don't get it again. */
  readonly takenBy?: readonly string[] | undefined;
}

/** An address that a merchant's notifications are sent to. */
export interface MerchantEndpoint {
  readonly url: string;
  /**
   * Standard Webhooks secrets, base64 with or without the prefix `whsec_`. Each signs, so that one can replace another.
   */
  readonly secrets: readonly string[];
  /** The types that it takes; all of them when not given. */
  readonly types?: readonly PaymentEventType[] | undefined;
}

interface NotifierOptions {
  /**
   * The endpoints of a merchant; `undefined` when the merchant isn't known. Asked at each try, so that they may change.
   */
  readonly endpointsOf: (merchant: string) => readonly MerchantEndpoint[] | undefined;
  /** Time limit of one try, in ms. */
  readonly timeoutMs: number;
  /** Deliver to addresses that aren't on the public internet too. */
  readonly allowPrivate: boolean;
  /** Resolves the merchants' names; c-ares with the machine's name servers, by default. */
  readonly resolver?: HostResolver | undefined;
  /** Headers that each try is sent with beside the webhook's own, such as those of a trace. */
  readonly headers?: (() => Readonly<Record<string, string>>) | undefined;
  /** Called when a fault of our own, such as a secret that can't sign, kept a notification from an endpoint. */
  readonly onFault?: ((error: unknown, merchant: string) => void) | undefined;
}

/** Delivers notifications to merchants. */
export interface MerchantNotifier {
  /** `noAddress`: the merchant has no endpoint that takes this type. */
  readonly notifyMerchant: (notification: MerchantNotification) => Promise<DeliveryOutcome>;
}

/** Sends a notification to one endpoint. @returns the reason why it wasn't acknowledged; `undefined` when it was. */
type Send = (notification: MerchantNotification) => Promise<NotTaken | undefined>;

type NotTaken = Pick<DeliveryOutcome & { readonly kind: 'failed' }, 'reason' | 'retryAfterMs'>;

/**
 * Delivers notifications to merchants as Standard Webhooks: a signed POST, acknowledged by any 2xx. A notification goes
 * to every endpoint of its merchant that takes its type, and counts as delivered when all of them have acknowledged it.
 */
export function createMerchantNotifier(options: NotifierOptions): MerchantNotifier {
  const senders = new WeakMap<MerchantEndpoint, Send>();
  const senderOf = (endpoint: MerchantEndpoint): Send => {
    const known = senders.get(endpoint) ?? createSend(endpoint, options);
    senders.set(endpoint, known);
    return known;
  };

  /**
   * A failure to send at all counts as an endpoint that hasn't acknowledged it: the others go on, and don't get it
   * again.
   */
  const sendTo = async (endpoint: MerchantEndpoint, notification: MerchantNotification) => {
    try {
      return await senderOf(endpoint)(notification);
    } catch (error) {
      options.onFault?.(error, notification.merchant);
      return { reason: FAULT };
    }
  };

  async function notify(notification: MerchantNotification): Promise<DeliveryOutcome> {
    const { merchant, type, takenBy = [] } = notification;
    const endpoints = options.endpointsOf(merchant);
    if (endpoints === undefined) {
      return { kind: 'failed', reason: UNKNOWN_MERCHANT, ...(takenBy.length > 0 && { takenBy }) };
    }
    const wanting = endpoints.filter(({ types }) => types === undefined || types.includes(type));
    if (wanting.length === 0) return { kind: 'noAddress' };

    const tries = await Promise.all(
      wanting.map(async (endpoint) => {
        const id = endpointId(endpoint);
        const notTaken = takenBy.includes(id) ? undefined : await sendTo(endpoint, notification);
        return { id, notTaken };
      }),
    );
    const missed = tries.flatMap(({ notTaken }, index) => (notTaken ? [{ ...notTaken, index }] : []));
    if (missed.length === 0) return { kind: 'delivered' };
    const reasons = missed.map(({ reason, index }) =>
      wanting.length === 1 ? reason : `address ${index + 1}: ${reason}`,
    );
    const taken = tries.filter(({ notTaken }) => notTaken === undefined).map(({ id }) => id);
    const retryAfterMs = Math.max(...missed.map((one) => one.retryAfterMs ?? 0));
    return {
      kind: 'failed',
      reason: reasons.join('; '),
      ...(taken.length > 0 && { takenBy: taken }),
      ...(retryAfterMs > 0 && { retryAfterMs }),
    };
  }

  return { notifyMerchant: notify };
}

const UNKNOWN_MERCHANT = 'not sent: the merchant is not known to the worker';

/** Merchants read this text: the error itself is for the operator's log. */
const FAULT = 'not sent: the worker could not sign or send it, and its log says why';

/** A short name for an endpoint, which doesn't show its address. */
function endpointId({ url }: MerchantEndpoint): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 12);
}

function createSend(
  { url, secrets }: MerchantEndpoint,
  { timeoutMs, allowPrivate, resolver, headers = () => ({}) }: NotifierOptions,
): Send {
  const signers = secrets.map((secret) => new Webhook(secret));
  const client = got.extend({
    timeout: { request: timeoutMs },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    // A small compressed body can unpack to any size.
    decompress: false,
    // Set explicitly, so that no environment variable turns the check off.
    https: { rejectUnauthorized: true },
    headers: { 'content-type': 'application/json', 'user-agent': 'sanaga' },
    dnsLookup: createLookup({ allowPrivate, resolver }),
  });

  return async (notification) => {
    const { id } = notification;
    const body = webhookBody(notification);
    const sentAt = new Date();
    try {
      if (!allowPrivate) refusePrivateHost(new URL(url));
      const request = client.stream.post(url, {
        body,
        headers: {
          ...headers(),
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
          'webhook-signature': signers.map((signer) => signer.sign(id, sentAt, body)).join(' '),
        },
      });
      const answer = await answerTo(request);
      if (answer === undefined) return { reason: 'no answer' };
      const { statusCode, headers: answered } = answer;
      if (statusCode >= 200 && statusCode < 300) return undefined;
      const retryAfterMs = readRetryAfter(answered['retry-after'], answered.date, Date.now(), MAX_RETRY_AFTER_MS);
      return { reason: `answered ${statusCode}`, retryAfterMs };
    } catch (error) {
      if (error instanceof PrivateAddressError) return { reason: error.message };
      if (error instanceof RequestError) return { reason: reasonOf(error) };
      throw error;
    }
  };
}

/** The body of a notification's request. */
export function webhookBody({ type, timestamp, merchant, payment }: MerchantNotification): string {
  return JSON.stringify({ type, timestamp, merchant, data: payment });
}

/** Number of bytes read of an answer's body before the connection is closed. */
const ANSWER_MAX_BYTES = 4_096;

/** Longest Retry-After that is accepted, in ms. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

type Answer = Pick<Response, 'statusCode' | 'headers'>;

/**
 * Reads the answer. Its status alone decides whether the notification was acknowledged. A short body is read to its
 * end, so that the connection ends as the merchant's server expects; an error while reading it changes nothing.
 *
 * @returns `undefined` when the merchant switched to another protocol (101).
 * @throws {RequestError} when there is no answer.
 */
async function answerTo(request: Request): Promise<Answer | undefined> {
  let answer: Answer | undefined;
  request.once('response', (response: Answer) => {
    answer = response;
  });
  // A 101 takes the connection out of the HTTP client's hands, its time limits included.
  request.once('request', (sent: ClientRequest) => {
    sent.once('upgrade', (_response, socket) => {
      socket.destroy();
      request.destroy();
    });
  });
  try {
    let bytes = 0;
    for await (const chunk of request) {
      bytes += chunk.length;
      // Leaving the loop closes the connection.
      if (bytes > ANSWER_MAX_BYTES) break;
    }
  } catch (error) {
    if (answer === undefined && error instanceof RequestError) throw error;
  }
  return answer;
}

const REASONS: Readonly<Record<string, string>> = {
  ETIMEDOUT: 'timed out',
  ECONNREFUSED: 'refused the connection',
  ENOTFOUND: 'its name was not found',
  ETIMEOUT: 'its name servers did not answer',
};

/** Explains why there was no answer, for the merchant, without any address. */
function reasonOf({ cause, code }: RequestError): string {
  if (cause instanceof PrivateAddressError) return cause.message;
  return REASONS[code] ?? `no answer (${code})`;
}
