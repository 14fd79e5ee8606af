import { got, RequestError } from 'got';
import { Webhook } from 'standardwebhooks';
import type { Payment } from '../payments/payment.js';
import type { PaymentEventType } from '../payments/payment-event.js';

/** One notification: what happened, and the payment as it stands at the moment of sending. */
export interface MerchantNotification {
  /** The `webhook-id`: the same for every try, so that the merchant can drop repetitions. */
  readonly id: string;
  readonly type: PaymentEventType;
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  readonly payment: Payment;
}

/** How a try ended; `noAddress` when the merchant has given none. */
export type Delivery =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'noAddress' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface MerchantEndpoint {
  readonly url: string;
  /** A Standard Webhooks secret: base64, with or without the prefix `whsec_`. */
  readonly secret: string;
  /** ms that one try may take. */
  readonly timeoutMs: number;
}

/**
 * Delivers notifications to the merchant as Standard Webhooks: a signed POST, acknowledged by any 2xx. Never throws
 * for what the merchant's side does.
 */
export function createMerchantNotifier(endpoint: MerchantEndpoint | undefined) {
  if (endpoint === undefined) return async (): Promise<Delivery> => ({ kind: 'noAddress' });
  const signer = new Webhook(endpoint.secret);
  const client = got.extend({
    timeout: { request: endpoint.timeoutMs },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    headers: { 'content-type': 'application/json', 'user-agent': 'sanaga' },
  });

  return async function notifyMerchant({
    id,
    type,
    timestamp,
    payment,
  }: MerchantNotification): Promise<Delivery> {
    const body = JSON.stringify({ type, timestamp, data: payment });
    const sentAt = new Date();
    try {
      const { statusCode } = await client.post(endpoint.url, {
        body,
        headers: {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
          'webhook-signature': signer.sign(id, sentAt, body),
        },
      });
      if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered' };
      return { kind: 'failed', reason: `the merchant's address answered ${statusCode}` };
    } catch (error) {
      if (error instanceof RequestError) return { kind: 'failed', reason: `not delivered: ${error.code}` };
      throw error;
    }
  };
}
