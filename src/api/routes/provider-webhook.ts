import type { TransId } from '../../payments/payment-id.js';
import { parsePaymentId } from '../../payments/payment-id.js';
import { transactionSchema } from '../../provider/wire.js';
import type { Api } from '../api.js';
import { sameSecret } from '../authenticate.js';
import type { WebhookResult } from '../metrics.js';
import { deliverHint } from '../payments/deliver-hint.js';
import { ApiError, notFound } from '../problem.js';
import { parseJson } from '../read-body.js';
import type { Call, OpenRoute } from '../route.js';

/** Of the provider's notification, all that a hint needs; the rest is not read, and nothing of it is believed. */
const notificationSchema = transactionSchema.pick({ transId: true, status: true, externalId: true });

/**
 * The provider's notifications. They carry no credential, so the address holds a secret; and they are hints, so all
 * they do is wake the payment. What can't be used is answered 200 too: sending it again would not mend it.
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
};

async function take(call: Call, api: Api): Promise<WebhookResult> {
  const notification = readNotification(await call.readBody());
  if (notification === undefined) return 'malformed';

  const id = parsePaymentId(notification.externalId);
  if (id === undefined) return 'unknown';
  call.record.paymentId = id;
  const { transId, status } = notification;
  return await deliverHint(api, id, { transId: transId as TransId, status });
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
