import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { PAYMENT_EVENT_TYPES } from '../../src/payments/payment.js';

const notificationSchema = z.object({
  type: z.enum(PAYMENT_EVENT_TYPES),
  data: z.object({ id: z.string(), status: z.string(), final: z.boolean() }),
});
export type MerchantNotice = z.infer<typeof notificationSchema>;

/** The merchant's side of notifications: an address that takes those with a right signature, and no others. */
export interface MerchantHook {
  readonly url: string;
  readonly secret: string;
  /** Where payers come back to. */
  readonly returnUrl: string;
  /** What has come for a payment, in order. */
  notices(id: string): readonly MerchantNotice[];
  /** Resolves at the payment's next notification. */
  next(id: string): Promise<unknown>;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. */
export async function openMerchantHook(): Promise<MerchantHook> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const verifier = new Webhook(secret);
  const notices = new Map<string, MerchantNotice[]>();
  const news = new EventEmitter().setMaxListeners(0);

  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.end('Thank you for your payment.');
      return;
    }
    const notice = await verified(request, verifier);
    response.statusCode = notice === undefined ? 401 : 204;
    response.end();
    if (notice === undefined) return;
    const { id } = notice.data;
    notices.set(id, [...(notices.get(id) ?? []), notice]);
    news.emit(id);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const base = `http://127.0.0.1:${port}`;

  return {
    url: `${base}/notifications`,
    returnUrl: `${base}/thanks`,
    secret,
    notices: (id) => notices.get(id) ?? [],
    next: (id) => once(news, id),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function verified(request: IncomingMessage, verifier: Webhook): Promise<MerchantNotice | undefined> {
  const body = await text(request);
  const header = (name: string) => String(request.headers[name] ?? '');
  try {
    return notificationSchema.parse(
      verifier.verify(body, {
        'webhook-id': header('webhook-id'),
        'webhook-timestamp': header('webhook-timestamp'),
        'webhook-signature': header('webhook-signature'),
      }),
    );
  } catch {
    return undefined;
  }
}
