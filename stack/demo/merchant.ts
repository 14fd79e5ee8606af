import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import got, { type AfterResponseHook } from 'got';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from '../../src/payments/words/payment.js';

/** The fields of a payment that the demo's merchant reads in the API's responses. */
const paymentSchema = z.object({
  id: z.string(),
  kind: z.enum(['collection', 'payout']),
  method: z.enum(['link', 'direct']).optional(),
  status: z.enum(PAYMENT_STATUSES),
  final: z.boolean(),
  amount: z.int(),
  link: z.url().optional(),
  transId: z.string().optional(),
  reason: z.string().optional(),
  temporalUrl: z.url().optional(),
});
export type PaymentAnswer = z.infer<typeof paymentSchema>;

const problemSchema = z.object({ code: z.string(), detail: z.string() });

/** The API as a merchant's order system calls it. Each call throws an Error with the API's problem, if it has one. */
export interface Merchant {
  /** Requests a payment, with an Idempotency-Key: the same request again can't pay twice. */
  create(path: string, body: unknown, idempotencyKey: string): Promise<PaymentAnswer>;
  get(id: string): Promise<PaymentAnswer>;
  expire(id: string): Promise<PaymentAnswer>;
  /**
   * Reads the payment at each notification of it, and twice a second besides, until it is as `is` says. `onLook` is
   * called with each reading.
   *
   * @throws Error when that takes longer than `limitMs`.
   */
  waitUntil(
    id: string,
    is: (payment: PaymentAnswer) => boolean,
    options: { readonly limitMs: number; readonly onLook?: (payment: PaymentAnswer) => void },
  ): Promise<PaymentAnswer>;
}

export interface MerchantOptions {
  readonly apiUrl: string;
  readonly apiKey: string;
  /** Resolves at the next notification of this payment. */
  readonly nextNotification: (id: string) => Promise<unknown>;
  readonly stop?: AbortSignal;
  /** Called with each response of the API; the call throws what it throws. */
  readonly onResponse?: (response: ApiResponse) => void;
}

/** A response of the API, and what it answers. */
export interface ApiResponse {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const READ_EVERY_MS = 500;
const CALL_LIMIT_MS = 20_000;

export function createMerchant(options: MerchantOptions): Merchant {
  const { apiUrl, apiKey, nextNotification, stop, onResponse } = options;
  const api = got.extend({
    prefixUrl: apiUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    responseType: 'json',
    throwHttpErrors: false,
    // After a 503, the call is repeated when its Retry-After is over; the Idempotency-Key prevents a second payment.
    retry: { limit: 3, methods: ['GET', 'POST'], statusCodes: [503], errorCodes: [], maxRetryAfter: 10_000 },
    timeout: { request: CALL_LIMIT_MS },
    ...(stop && { signal: stop }),
    ...(onResponse && { hooks: { afterResponse: [passOn(onResponse)] } }),
  });
  const get = async (id: string) => read(await api.get(`v1/payments/${id}`));
  return {
    create: async (path, body, idempotencyKey) =>
      read(await api.post(path.slice(1), { json: body, headers: { 'idempotency-key': idempotencyKey } })),
    get,
    expire: async (id) => read(await api.post(`v1/collections/${id}/expire`)),
    async waitUntil(id, is, { limitMs, onLook = () => undefined }) {
      const deadline = performance.now() + limitMs;
      for (;;) {
        const notified = nextNotification(id);
        const payment = await get(id);
        onLook(payment);
        if (is(payment)) return payment;
        if (performance.now() > deadline) throw new Error(`still ${payment.status} after ${limitMs / 1_000} s`);
        await Promise.race([notified, pause(READ_EVERY_MS, undefined, { signal: stop })]);
      }
    },
  };
}

function passOn(onResponse: (response: ApiResponse) => void): AfterResponseHook {
  return (response) => {
    const { method } = response.request.options;
    const { url, statusCode: status, headers, rawBody } = response;
    onResponse({ method, url, status, headers: toHeaders(headers), text: new TextDecoder().decode(rawBody) });
    return response;
  };
}

function toHeaders(received: IncomingHttpHeaders): Headers {
  return new Headers(Object.entries(received).map(([name, value]) => [name, String(value)]));
}

function read({ statusCode, body }: { statusCode: number; body: unknown }): PaymentAnswer {
  if (statusCode >= 200 && statusCode < 300) return paymentSchema.parse(body);
  const problem = problemSchema.safeParse(body);
  const words = problem.success ? `${problem.data.code}: ${problem.data.detail}` : 'no problem document';
  throw new Error(`the API answered ${statusCode}, ${words}`);
}

const notificationSchema = z.object({
  type: z.enum(PAYMENT_EVENT_TYPES),
  data: z.object({ id: z.string(), status: z.string(), final: z.boolean() }),
});
export type MerchantNotice = z.infer<typeof notificationSchema>;

/** The merchant's address for notifications. It accepts those with a valid signature, and no others. */
export interface MerchantHook {
  readonly url: string;
  readonly secret: string;
  /** Address that payers return to after paying. */
  readonly returnUrl: string;
  /** The notifications of a payment so far, in order. */
  notices(id: string): readonly MerchantNotice[];
  /** Resolves at the payment's next notification. */
  next(id: string): Promise<unknown>;
  close(): Promise<void>;
}

/** A notification as it came, which the merchant has accepted. */
export interface ReceivedWebhook {
  readonly headers: Headers;
  readonly text: string;
}

/** Opens the address on a free port of 127.0.0.1. `onReceived` is called with each notification that is accepted. */
export async function openMerchantHook(
  onReceived: (webhook: ReceivedWebhook) => void = () => undefined,
): Promise<MerchantHook> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const verifier = new Webhook(secret);
  const notices = new Map<string, MerchantNotice[]>();
  const news = new EventEmitter().setMaxListeners(0);

  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.end('Thank you for your payment.');
      return;
    }
    const body = await text(request);
    const notice = verified(request, body, verifier);
    response.statusCode = notice === undefined ? 401 : 204;
    response.end();
    if (notice === undefined) return;
    onReceived({ headers: toHeaders(request.headers), text: body });
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

function verified(request: IncomingMessage, body: string, verifier: Webhook): MerchantNotice | undefined {
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
