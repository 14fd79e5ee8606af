import { setTimeout as pause } from 'node:timers/promises';
import got from 'got';
import { z } from 'zod';
import { PAYMENT_STATUSES } from '../../src/payments/payment.js';

/** A payment, as far as a merchant of the demo reads the API's answers. */
const paymentAnswerSchema = z.object({
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
export type PaymentAnswer = z.infer<typeof paymentAnswerSchema>;

const problemSchema = z.object({ code: z.string(), detail: z.string() });

/** A merchant's order system, as it would be written against the API. */
export interface Merchant {
  /** Asks for a payment; with an Idempotency-Key, so that asking again can't pay twice. */
  create(path: string, body: unknown, idempotencyKey: string): Promise<PaymentAnswer>;
  get(id: string): Promise<PaymentAnswer>;
  expire(id: string): Promise<PaymentAnswer>;
  /**
   * Looks at the payment whenever it is notified of it, and twice a second besides, until it is as `is` says.
   * `onLook` is called with each look.
   *
   * @throws Error when it isn't within `limitMs`.
   */
  watch(
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
}

const LOOK_EVERY_MS = 500;
const CALL_LIMIT_MS = 20_000;

/** @throws (each call) Error with the API's own words when it answers with a problem. */
export function createMerchant({ apiUrl, apiKey, nextNotification, stop }: MerchantOptions): Merchant {
  const api = got.extend({
    prefixUrl: apiUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    responseType: 'json',
    throwHttpErrors: false,
    // A 503 asks to be asked again after its Retry-After; with an Idempotency-Key that never pays twice.
    retry: { limit: 3, methods: ['GET', 'POST'], statusCodes: [503], errorCodes: [], maxRetryAfter: 10_000 },
    timeout: { request: CALL_LIMIT_MS },
    ...(stop && { signal: stop }),
  });
  const get = async (id: string) => read(await api.get(`v1/payments/${id}`));
  return {
    create: async (path, body, idempotencyKey) =>
      read(await api.post(path.slice(1), { json: body, headers: { 'idempotency-key': idempotencyKey } })),
    get,
    expire: async (id) => read(await api.post(`v1/collections/${id}/expire`)),
    async watch(id, is, { limitMs, onLook = () => undefined }) {
      const deadline = performance.now() + limitMs;
      for (;;) {
        const notified = nextNotification(id);
        const payment = await get(id);
        onLook(payment);
        if (is(payment)) return payment;
        if (performance.now() > deadline)
          throw new Error(`still ${payment.status} after ${limitMs / 1_000} s`);
        await Promise.race([notified, pause(LOOK_EVERY_MS, undefined, { signal: stop })]);
      }
    },
  };
}

function read({ statusCode, body }: { statusCode: number; body: unknown }): PaymentAnswer {
  if (statusCode >= 200 && statusCode < 300) return paymentAnswerSchema.parse(body);
  const problem = problemSchema.safeParse(body);
  const words = problem.success ? `${problem.data.code}: ${problem.data.detail}` : 'no problem document';
  throw new Error(`the API answered ${statusCode}, ${words}`);
}
