import type { z } from 'zod';
import type { WireTransaction } from '../../src/provider/schemas.js';
import type { Clock } from '../clock.js';
import type { Entry, ServiceKind } from '../entry.js';
import type { KeyedRandom } from '../keyed-random.js';
import type { Ledger } from '../ledger.js';

/** Every endpoint of the provider, by the first part of its path. */
export const ENDPOINTS = [
  'initiate-pay',
  'direct-pay',
  'payment-status',
  'expire-pay',
  'transaction',
  'search',
  'balance',
  'payout',
] as const;
export type EndpointName = (typeof ENDPOINTS)[number];

/** A service at the provider, with its own credentials. It either collects or pays out. */
export interface Service {
  readonly kind: ServiceKind;
  readonly name: string;
  readonly apiUser: string;
  readonly apiKey: string;
  readonly webhookUrl?: string | undefined;
}

export interface Endpoint {
  readonly name: EndpointName;
  readonly method: 'get' | 'post';
  readonly path: string;
  /** The kind of service that may call it; both when left out. */
  readonly only?: ServiceKind;
  /** @throws ApiError when the request is invalid */
  readonly handle: (request: EndpointRequest) => EndpointResponse;
}

/** Dependencies of all endpoints. */
export interface EndpointContext {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: KeyedRandom;
  /** The address of a link's checkout page. */
  readonly linkTo: (token: string) => string;
  /** The payout service's balance before its first payout, in XAF. Without it, no payout is too large. */
  readonly payoutFunds?: number | undefined;
}

/** A transaction in a response; a fault may give it an undocumented status. */
export type ShownTransaction = Omit<WireTransaction, 'status'> & { readonly status: string };

/** The way that a response shows transactions and times: correctly, or with the faults that apply. */
export interface ResponseView {
  /** @throws ApiError 404 when a fault shows a time before the transaction existed */
  readonly show: (entry: Entry) => ShownTransaction;
  readonly showAll: (entries: readonly Entry[]) => ShownTransaction[];
  readonly date: (timeMs: number) => string;
  /** The time when a transaction created by this request starts to appear in lists and searches. */
  readonly listedFrom: (createdAt: number) => number;
}

/** An authenticated request, not yet validated, and the view for its response. */
export interface EndpointRequest extends ResponseView {
  readonly service: Service;
  readonly body: unknown;
  readonly parameter: string;
  readonly query: Readonly<Record<string, unknown>>;
}

export interface EndpointResponse {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The transaction that the response is about, if any. */
  readonly entry?: Entry | undefined;
}

/** A refused request: answered with `status` and `{message}`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, message: string, headers?: Readonly<Record<string, string>>) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The same whether a transaction doesn't exist or belongs to the other service. */
export const unknownTransaction = (): ApiError => new ApiError(404, 'transId: no such transaction');

export const LOW_BALANCE = 'The balance of the service is too low for this payout';

/** The service's own transaction with this id. @throws ApiError 404 */
export function ownEntry(ledger: Ledger, service: Service, transId: string): Entry {
  const entry = ledger.find(transId);
  if (entry?.service !== service.kind) throw unknownTransaction();
  return entry;
}

/**
 * Validates a request's body.
 * @throws ApiError 400, naming the first invalid field
 */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError(400, 'The body must be a JSON object, sent with Content-Type: application/json');
  }
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const field = issue?.path.join('.') ?? '';
  const message = issue?.message ?? 'invalid';
  throw new ApiError(400, field && !message.startsWith(field) ? `${field}: ${message}` : message);
}
