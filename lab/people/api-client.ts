import { Agent } from 'node:http';
import got, { RequestError } from 'got';
import { z } from 'zod';
import { HELD_FOR } from '../../src/payments/words/order.js';
import { FAILURE_CODES, PAYMENT_STATUSES } from '../../src/payments/words/payment.js';
import { type Caller, secretOf } from '../world/credentials.js';

const paymentSchema = z.object({
  id: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  final: z.boolean(),
  amount: z.int(),
  amountPaid: z.int().optional(),
  link: z.url().optional(),
  transId: z.string().optional(),
  reason: z.string().optional(),
  failureCode: z.enum(FAILURE_CODES).optional(),
  expiresAt: z.iso.datetime().optional(),
  review: z.object({ number: z.int(), decideFrom: z.iso.datetime() }).optional(),
  held: z
    .object({ for: z.array(z.enum(HELD_FOR)), since: z.iso.datetime(), until: z.iso.datetime(), digest: z.string() })
    .optional(),
});
/** A payment, as far as people read it. */
export type SeenPayment = z.infer<typeof paymentSchema>;

const refundsSchema = z.object({
  collected: z.int().optional(),
  refunded: z.int(),
  refunding: z.int(),
  refundable: z.int(),
  data: z.array(paymentSchema),
});
/** The refunds of a collection, and their sums in XAF. */
export type SeenRefunds = z.infer<typeof refundsSchema>;

const problemSchema = z.object({ code: z.string(), payment: paymentSchema.optional() });

/** An answer of the API; status 0 if the connection broke or none came in time. */
export interface ApiAnswer {
  readonly status: number;
  readonly payment?: SeenPayment | undefined;
  readonly refunds?: SeenRefunds | undefined;
  /** The problem's code. */
  readonly code?: string | undefined;
}

/** The API's time limit, in real ms: more than it ever needs. */
const TIMEOUT_MS = 30_000;

/** Calls the API as its users do. No answer makes it throw. */
export class ApiClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(private readonly url: string) {}

  async get(caller: Caller, path: string): Promise<ApiAnswer> {
    return await this.#call(caller, 'GET', path);
  }

  async post(caller: Caller, path: string, body?: unknown, idempotencyKey?: string): Promise<ApiAnswer> {
    return await this.#call(caller, 'POST', path, body, idempotencyKey);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #call(caller: Caller, method: 'GET' | 'POST', path: string, body?: unknown, key?: string): Promise<ApiAnswer> {
    try {
      const { statusCode, body: answer } = await got(`${this.url}${path}`, {
        method,
        agent: { http: this.#agent },
        headers: { authorization: `Bearer ${secretOf(caller)}`, ...(key && { 'idempotency-key': key }) },
        ...(body !== undefined && { json: body }),
        throwHttpErrors: false,
        retry: { limit: 0 },
        timeout: { request: TIMEOUT_MS },
      });
      return read(statusCode, answer);
    } catch (error) {
      if (error instanceof RequestError) return { status: 0 };
      throw error;
    }
  }
}

function read(status: number, text: string): ApiAnswer {
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  if (status >= 200 && status < 300) {
    return { status, payment: paymentSchema.safeParse(body).data, refunds: refundsSchema.safeParse(body).data };
  }
  const problem = problemSchema.safeParse(body);
  return { status, ...problem.data };
}
