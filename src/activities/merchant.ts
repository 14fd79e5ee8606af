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
  readonly payment: Payment;
}

/** How a try ended; `noAddress` when MERCHANT_WEBHOOK_URL is not set. */
export type Delivery =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'noAddress' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface MerchantEndpoint {
  readonly url: string;
  /** Standard Webhooks secrets, base64 with or without the prefix `whsec_`. Each signs, so that one can replace another. */
  readonly secrets: readonly string[];
  /** Time limit of one try, in ms. */
  readonly timeoutMs: number;
  /** Deliver to addresses that aren't on the public internet too. */
  readonly allowPrivate: boolean;
}

/**
 * Notifies the merchant: `notifyMerchant` is for the first try, `notifyMerchantAgain` for later ones. Neither throws for what
 * the merchant's server does.
 */
export interface MerchantNotifier {
  readonly notifyMerchant: (notification: MerchantNotification) => Promise<Delivery>;
  readonly notifyMerchantAgain: (notification: MerchantNotification) => Promise<Delivery>;
}

/** Delivers notifications to the merchant as Standard Webhooks: a signed POST, acknowledged by any 2xx. */
export function createMerchantNotifier(endpoint: MerchantEndpoint | undefined): MerchantNotifier {
  if (endpoint === undefined) {
    const nowhere = async (): Promise<Delivery> => ({ kind: 'noAddress' });
    return { notifyMerchant: nowhere, notifyMerchantAgain: nowhere };
  }
  const deliver = createDelivery(endpoint);
  const health = createEndpointHealth();
  const notifyMerchantAgain = async (notification: MerchantNotification): Promise<Delivery> => {
    const delivery = await deliver(notification);
    health.record(delivery.kind === 'delivered');
    return delivery;
  };
  const notifyMerchant = async (notification: MerchantNotification): Promise<Delivery> =>
    health.isDown()
      ? { kind: 'failed', reason: "the merchant's address has not taken the last notifications" }
      : await notifyMerchantAgain(notification);
  return { notifyMerchant, notifyMerchantAgain };
}

function createDelivery({ url, secrets, timeoutMs, allowPrivate }: MerchantEndpoint) {
  const signers = secrets.map((secret) => new Webhook(secret));
  const client = got.extend({
    timeout: { request: timeoutMs },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    // A small compressed body can unpack to any size.
    decompress: false,
    headers: { 'content-type': 'application/json', 'user-agent': 'sanaga' },
    ...(allowPrivate ? {} : { dnsLookup: lookupPublic }),
  });

  return async ({ id, type, timestamp, payment }: MerchantNotification): Promise<Delivery> => {
    const body = JSON.stringify({ type, timestamp, data: payment });
    const sentAt = new Date();
    try {
      if (!allowPrivate) refusePrivateHost(new URL(url));
      const request = client.stream.post(url, {
        body,
        headers: {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
          'webhook-signature': signers.map((signer) => signer.sign(id, sentAt, body)).join(' '),
        },
      });
      const statusCode = await statusOf(request);
      if (statusCode === undefined) return { kind: 'failed', reason: 'not delivered: no answer' };
      if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered' };
      return { kind: 'failed', reason: `the merchant's address answered ${statusCode}` };
    } catch (error) {
      if (error instanceof PrivateAddressError) return { kind: 'failed', reason: error.message };
      if (error instanceof RequestError) return { kind: 'failed', reason: reasonOf(error) };
      throw error;
    }
  };
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

function reasonOf({ cause, code }: RequestError): string {
  return cause instanceof PrivateAddressError ? cause.message : `not delivered: ${code}`;
}

/** Failures in a row after which an endpoint counts as down. */
const FAILURES = 3;

/** For how long first tries are skipped once an endpoint is down, in ms. */
const REST_MS = 30_000;

/**
 * Remembers whether the merchant's endpoint is down. First tries, which hold up a workflow task for as long as they take, are
 * then skipped. Later tries, which hold up nothing, find out when it is back.
 *
 * @param now the clock, in ms
 */
function createEndpointHealth(now: () => number = Date.now) {
  let failures = 0;
  let restUntil = 0;
  return {
    isDown: () => failures >= FAILURES && now() < restUntil,
    record(delivered: boolean): void {
      failures = delivered ? 0 : failures + 1;
      if (failures >= FAILURES) restUntil = now() + REST_MS;
    },
  };
}
