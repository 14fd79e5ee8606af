import { createHash } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import got, { type Request, RequestError } from 'got';
import { Webhook } from 'standardwebhooks';
import type { Payment, PaymentEventType } from '../payments/payment.js';
import { lookupPublic, PrivateAddressError, refusePrivateHost } from './public-addresses.js';

/** One notification: what happened, and the payment as it is at the moment of sending. */
export interface MerchantNotification {
  /** The `webhook-id`: the same for every try, so that the merchant can drop duplicates. */
  readonly id: string;
  readonly type: PaymentEventType;
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  /** The name of the merchant whose payment it is; missing if the API didn't start the payment. */
  readonly merchant?: string | undefined;
  readonly payment: Payment;
  /** The endpoints that took it at an earlier try, and don't get it again. */
  readonly takenBy?: readonly string[] | undefined;
}

/** How a try ended; `noAddress` when the merchant has no endpoint that takes this type. */
export type TryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'noAddress' }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** The endpoints that have taken it, at this try or an earlier one. */
      readonly takenBy?: readonly string[] | undefined;
      /** Nothing was sent: the first try was spared, for the addresses have failed or been slow. */
      readonly isSpared?: true | undefined;
    };

/** An address that a merchant's notifications are sent to. */
export interface MerchantEndpoint {
  readonly url: string;
  /** Standard Webhooks secrets, base64 with or without the prefix `whsec_`. Each signs, so that one can replace another. */
  readonly secrets: readonly string[];
  /** The types that it takes; all of them when not given. */
  readonly types?: readonly PaymentEventType[] | undefined;
}

interface NotifierOptions {
  /**
   * The endpoints of a merchant; `undefined` when the merchant isn't known. Asked at each try, so that they may change. As
   * long as an endpoint is the same object, it is remembered whether it is down or slow.
   */
  readonly endpointsOf: (merchant: string | undefined) => readonly MerchantEndpoint[] | undefined;
  /** Time limit of one try, in ms. */
  readonly timeoutMs: number;
  /** Deliver to addresses that aren't on the public internet too. */
  readonly allowPrivate: boolean;
  /** Headers that each try is sent with beside the webhook's own, such as those of a trace. */
  readonly headers?: (() => Readonly<Record<string, string>>) | undefined;
  /** Is told when a notification could not be sent to an endpoint by a fault of our own, such as a secret that can't sign. */
  readonly onFault?: ((error: unknown, merchant: string | undefined) => void) | undefined;
  /** A monotonic clock in ms for the memory of endpoints that are down or slow; `performance.now` by default. */
  readonly now?: (() => number) | undefined;
}

/**
 * Notifies the merchant: `notifyMerchant` is for the first try, `notifyMerchantAgain` for later ones. Neither throws for what
 * the merchant's server does.
 */
export interface MerchantNotifier {
  readonly notifyMerchant: (notification: MerchantNotification) => Promise<TryOutcome>;
  readonly notifyMerchantAgain: (notification: MerchantNotification) => Promise<TryOutcome>;
}

/** Sends a notification to one endpoint. @returns why it wasn't taken; `undefined` when it was. */
type Send = (notification: MerchantNotification, isFirst: boolean) => Promise<NotTaken | undefined>;

interface NotTaken {
  readonly reason: string;
  readonly isSpared: boolean;
}

/**
 * Delivers notifications to merchants as Standard Webhooks: a signed POST, acknowledged by any 2xx. A notification goes to
 * every endpoint of its merchant that takes its type, and counts as delivered when all of them have acknowledged it.
 */
export function createMerchantNotifier(options: NotifierOptions): MerchantNotifier {
  const senders = new WeakMap<MerchantEndpoint, Send>();
  const senderOf = (endpoint: MerchantEndpoint): Send => {
    const known = senders.get(endpoint) ?? createSend(endpoint, options);
    senders.set(endpoint, known);
    return known;
  };

  /** An endpoint that can't be sent to at all is one that hasn't taken it: the others go on, and don't get it again. */
  const sendTo = async (endpoint: MerchantEndpoint, notification: MerchantNotification, isFirst: boolean) => {
    try {
      return await senderOf(endpoint)(notification, isFirst);
    } catch (error) {
      options.onFault?.(error, notification.merchant);
      return { reason: FAULT, isSpared: false };
    }
  };

  async function notify(notification: MerchantNotification, isFirst: boolean): Promise<TryOutcome> {
    const { merchant, type, takenBy = [] } = notification;
    const endpoints = options.endpointsOf(merchant);
    if (endpoints === undefined) return failed(UNKNOWN_MERCHANT, takenBy);
    const wanting = endpoints.filter(({ types }) => types === undefined || types.includes(type));
    if (wanting.length === 0) return { kind: 'noAddress' };

    const tries = await Promise.all(
      wanting.map(async (endpoint) => {
        const id = endpointId(endpoint);
        const notTaken = takenBy.includes(id) ? undefined : await sendTo(endpoint, notification, isFirst);
        return { id, notTaken };
      }),
    );
    const missed = tries.flatMap(({ notTaken }, index) => (notTaken ? [{ ...notTaken, index }] : []));
    if (missed.length === 0) return { kind: 'delivered' };
    const reasons = missed.map(({ reason, index }) =>
      wanting.length === 1 ? reason : `address ${index + 1}: ${reason}`,
    );
    const taken = tries.filter(({ notTaken }) => notTaken === undefined).map(({ id }) => id);
    const isSpared = missed.length === tries.length && missed.every((one) => one.isSpared);
    return { ...failed(reasons.join('; '), taken), ...(isSpared && { isSpared }) };
  }

  return {
    notifyMerchant: (notification) => notify(notification, true),
    notifyMerchantAgain: (notification) => notify(notification, false),
  };
}

const UNKNOWN_MERCHANT = 'not sent: the merchant is not known to the worker';

/** Merchants read it: the error itself is for the operator's log. */
const FAULT = 'not sent: the worker could not sign or send it, and its log says why';

function failed(reason: string, takenBy: readonly string[]): TryOutcome {
  return { kind: 'failed', reason, ...(takenBy.length > 0 && { takenBy }) };
}

/** What an endpoint is remembered by: short, and without its address. */
function endpointId({ url }: MerchantEndpoint): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 12);
}

function createSend(endpoint: MerchantEndpoint, options: NotifierOptions): Send {
  const deliver = createDelivery(endpoint, options);
  const { now = () => performance.now() } = options;
  const health = createEndpointHealth(now);
  return async (notification, isFirst) => {
    const objection = isFirst ? health.objection() : undefined;
    if (objection !== undefined) return { reason: objection, isSpared: true };
    const begun = now();
    const reason = await deliver(notification);
    health.record(reason === undefined, now() - begun);
    return reason === undefined ? undefined : { reason, isSpared: false };
  };
}

function createDelivery(
  { url, secrets }: MerchantEndpoint,
  { timeoutMs, allowPrivate, headers = () => ({}) }: Omit<NotifierOptions, 'endpointsOf'>,
) {
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
    ...(allowPrivate ? {} : { dnsLookup: lookupPublic }),
  });

  /** @returns why it wasn't taken; `undefined` when it was. */
  return async (notification: MerchantNotification): Promise<string | undefined> => {
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
      const statusCode = await statusOf(request);
      if (statusCode === undefined) return 'no answer';
      return statusCode >= 200 && statusCode < 300 ? undefined : `answered ${statusCode}`;
    } catch (error) {
      if (error instanceof PrivateAddressError) return error.message;
      if (error instanceof RequestError) return reasonOf(error);
      throw error;
    }
  };
}

/** What is sent of a notification, as JSON. */
export function webhookBody({ type, timestamp, merchant, payment }: MerchantNotification): string {
  return JSON.stringify({ type, timestamp, merchant, data: payment });
}

/** How much of an answer's body is read before the connection is closed, in bytes. */
const ANSWER_MAX_BYTES = 4_096;

/**
 * The status of the answer, which alone says whether the notification was acknowledged. A short body is read to its end, so
 * that the connection ends as the merchant's server expects; an error while reading it changes nothing.
 *
 * @returns `undefined` when the merchant switched to another protocol (101).
 * @throws {RequestError} when there is no answer.
 */
async function statusOf(request: Request): Promise<number | undefined> {
  let statusCode: number | undefined;
  request.once('response', (response: { readonly statusCode: number }) => {
    statusCode = response.statusCode;
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
    if (statusCode === undefined && error instanceof RequestError) throw error;
  }
  return statusCode;
}

const REASONS: Readonly<Record<string, string>> = {
  ETIMEDOUT: 'timed out',
  ECONNREFUSED: 'refused the connection',
  ENOTFOUND: 'its name was not found',
};

/** Why there was no answer, in words for the merchant, without any address. */
function reasonOf({ cause, code }: RequestError): string {
  if (cause instanceof PrivateAddressError) return cause.message;
  return REASONS[code] ?? `no answer (${code})`;
}

/** Tries in a row that failed or took long, after which an endpoint's first tries are spared. */
const MAX_BAD_TRIES = 3;

/** A try that takes longer than this, in ms, is slow: first tries hold up a workflow task. */
const SLOW_MS = 1_000;

/** For how long first tries are spared after the last such try, in ms. */
const REST_MS = 30_000;

/**
 * Remembers whether the merchant's endpoint is down or slow. First tries, which hold up a workflow task for as long as they
 * take, are then spared. Later tries, which hold up nothing, find out when it is well again.
 *
 * @param now a monotonic clock, in ms
 */
function createEndpointHealth(now: () => number) {
  let badTries = 0;
  let restUntil = 0;
  let objection = '';
  return {
    /** Why no first try is made now; `undefined` when one may be. */
    objection: () => (badTries >= MAX_BAD_TRIES && now() < restUntil ? objection : undefined),
    record(delivered: boolean, durationMs: number): void {
      badTries = delivered && durationMs <= SLOW_MS ? 0 : badTries + 1;
      if (badTries < MAX_BAD_TRIES) return;
      restUntil = now() + REST_MS;
      objection = delivered
        ? 'not sent at once: the address was slow to take the last notifications'
        : 'not sent: the address has not taken the last notifications';
    },
  };
}
