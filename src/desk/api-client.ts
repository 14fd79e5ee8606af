import got, { type Got, RequestError } from 'got';
import type { z } from 'zod';
import { DESK_AGENT } from '../http/browser.js';
import type { Force } from '../payments/words/decision.js';
import type { Service } from '../payments/words/order.js';
import { keySchema } from '../schemas/key.js';
import { notificationListSchema, unacknowledgedListSchema, unmatchedListSchema } from '../schemas/notification.js';
import { paymentPageSchema, paymentSchema, reviewPageSchema } from '../schemas/payment.js';
import { type Problem, problemSchema } from '../schemas/problem.js';
import { balanceSchema, providerRecordsSchema } from '../schemas/provider.js';
import { refundsSchema } from '../schemas/refund.js';
import { statementListSchema, statementRequestSchema, statementSchema } from '../schemas/statement.js';
import { timelineSchema } from '../schemas/timeline.js';

/** The API's answer: what was asked for, or a problem. */
export type Answer<T> =
  | { readonly kind: 'ok'; readonly status: number; readonly value: T }
  | { readonly kind: 'problem'; readonly problem: Problem };

/**
 * Thrown when the API can't be reached, or its answer can't be read. A request that changes something may have taken
 * effect then.
 */
export class ApiAway extends Error {
  override readonly name = 'ApiAway';
}

export type Payment = z.output<typeof paymentSchema>;
export type Proposed = NonNullable<NonNullable<Payment['review']>['proposed']>;
export type PaymentPage = z.output<typeof paymentPageSchema>;
export type Refunds = z.output<typeof refundsSchema>;
export type Timeline = z.output<typeof timelineSchema>;
export type Notifications = z.output<typeof notificationListSchema>;
export type ProviderView = z.output<typeof providerRecordsSchema>;
export type Unmatched = z.output<typeof unmatchedListSchema>;
export type StatementList = z.output<typeof statementListSchema>;
/** Without its payments, which pages don't show: a busy day has tens of thousands. */
const statementWithoutPayments = statementSchema.omit({ payments: true });
export type Statement = z.output<typeof statementWithoutPayments>;

/** A decision, as the API takes it. */
export interface DecisionRequest {
  readonly action: 'match' | 'fail' | 'resend' | 'reject';
  readonly review: number;
  readonly why: string;
  readonly transId?: string | undefined;
  readonly force?: Force | undefined;
}

/** The parameters of lists and statements. Empty ones aren't sent. */
type Parameter =
  | 'kind'
  | 'merchant'
  | 'held'
  | 'externalId'
  | 'userId'
  | 'transId'
  | 'financialTransId'
  | 'reference'
  | 'totals'
  | 'limit'
  | 'service'
  | 'cursor'
  | 'before'
  | 'version'
  | 'separator';
type Query = Readonly<Partial<Record<Parameter, string | number>>>;
type Body = DecisionRequest | { readonly date: string } | { readonly digest: string } | { readonly why: string };

/** The forms that the API has a statement in, by the names that files of them end with. */
const FORMATS = { csv: 'text/csv', json: 'application/json' } as const;
export type StatementFormat = keyof typeof FORMATS;

/** Longer than the API ever takes: it answers 202 or 503 before. */
const TIMEOUT_MS = 75_000;

/** Calls the API with an operator's key. `requestId` is found in the logs of both. */
export type ConnectApi = (key: string, requestId: string) => OperatorApi;

/** @param url base address of the API */
export function apiAt(url: string): ConnectApi {
  const client = got.extend({
    prefixUrl: url,
    timeout: { request: TIMEOUT_MS },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    responseType: 'text',
    headers: { accept: 'application/json', 'user-agent': DESK_AGENT },
  });
  return (key, requestId) =>
    operatorApi(client.extend({ headers: { authorization: `Bearer ${key}`, 'x-request-id': requestId } }));
}

/** The API as one operator sees it. All that the desk knows and does goes through it, with the operator's own key. */
export type OperatorApi = ReturnType<typeof operatorApi>;

function operatorApi(caller: Got) {
  const read = <T>(path: string, schema: z.ZodType<T>, query: Query = {}) =>
    ask(caller, 'GET', path, schema, { query });
  const post = <T>(path: string, schema: z.ZodType<T>, body?: Body) => ask(caller, 'POST', path, schema, { body });
  const paymentPath = (id: string, rest = '') => `v1/payments/${encodeURIComponent(id)}${rest}`;
  const payoutPath = (id: string, rest: string) => `v1/payouts/${encodeURIComponent(id)}${rest}`;
  const statementPath = (date: string) => `v1/statements/${encodeURIComponent(date)}`;
  return {
    key: () => read('v1/key', keySchema),
    list: (query: Query) => read('v1/payments', paymentPageSchema, query),
    reviews: (query: Query) => read('v1/reviews', reviewPageSchema, query),
    payment: (id: string) => read(paymentPath(id), paymentSchema),
    refunds: (id: string) => read(`v1/collections/${encodeURIComponent(id)}/refunds`, refundsSchema),
    timeline: (id: string) => read(paymentPath(id, '/events'), timelineSchema),
    notifications: (id: string) => read(paymentPath(id, '/notifications'), notificationListSchema),
    records: (id: string) => read(paymentPath(id, '/provider'), providerRecordsSchema),
    refresh: (id: string) => post(paymentPath(id, '/refresh'), paymentSchema),
    resolve: (id: string, decision: DecisionRequest) => post(paymentPath(id, '/resolve'), paymentSchema, decision),
    approve: (id: string, digest: string) => post(payoutPath(id, '/approve'), paymentSchema, { digest }),
    reject: (id: string, why: string) => post(payoutPath(id, '/reject'), paymentSchema, { why }),
    resend: (id: string, number: string) =>
      post(paymentPath(id, `/notifications/${encodeURIComponent(number)}/resend`), paymentSchema),
    unmatched: () => read('v1/notifications/unmatched', unmatchedListSchema),
    /** Notifications that are still tried, or were given up. */
    unacknowledged: (which: 'due' | 'abandoned', query: Query) =>
      read(`v1/notifications/${which}`, unacknowledgedListSchema, query),
    balance: (service: Service) => read('v1/balance', balanceSchema, { service }),
    statements: (query: Query) => read('v1/statements', statementListSchema, query),
    statement: (date: string, query: Query) => read(statementPath(date), statementWithoutPayments, query),
    /** A statement as the API has written it, to be passed on as it is. */
    statementFile: (date: string, format: StatementFormat, query: Query) =>
      askFile(caller, statementPath(date), FORMATS[format], query),
    makeStatement: (date: string) => post('v1/statements', statementRequestSchema, { date }),
  };
}

interface ApiRequestOptions {
  readonly query?: Query;
  readonly body?: Body | undefined;
  /** The content type to ask for, if not JSON. */
  readonly accept?: string;
}

interface Received {
  readonly statusCode: number;
  readonly contentType: string;
  readonly text: string;
}

async function ask<T>(
  caller: Got,
  method: 'GET' | 'POST',
  path: string,
  schema: z.ZodType<T>,
  asked: ApiRequestOptions,
): Promise<Answer<T>> {
  const received = await send(caller, method, path, asked);
  const { statusCode, text } = received;
  if (statusCode < 200 || statusCode >= 300) return problemIn(received);
  const read = schema.safeParse(parse(text));
  if (!read.success) throw unreadable(received);
  return { kind: 'ok', status: statusCode, value: read.data };
}

/** Reads all of a file before any of it is passed on: one that is cut off is an error, and never a shorter file. */
async function askFile(caller: Got, path: string, accept: string, query: Query): Promise<Answer<string>> {
  const received = await send(caller, 'GET', path, { query, accept });
  const { statusCode, contentType, text } = received;
  if (statusCode !== 200) return problemIn(received);
  if (!contentType.startsWith(accept)) throw unreadable(received);
  return { kind: 'ok', status: statusCode, value: text };
}

function problemIn(received: Received): Answer<never> {
  const read = problemSchema.safeParse(parse(received.text));
  if (!read.success) throw unreadable(received);
  return { kind: 'problem', problem: read.data };
}

function unreadable({ statusCode }: Received): ApiAway {
  return new ApiAway(`the API answered ${statusCode} with a body that can't be read`);
}

async function send(
  caller: Got,
  method: 'GET' | 'POST',
  path: string,
  { query = {}, body, accept }: ApiRequestOptions,
): Promise<Received> {
  const searchParams = Object.entries(query)
    .filter(([, value]) => value !== '')
    .map(([name, value]): [string, string] => [name, String(value)]);
  try {
    const response = await caller(path, {
      method,
      searchParams: new URLSearchParams(searchParams),
      ...(body !== undefined && { json: body }),
      ...(accept !== undefined && { headers: { accept } }),
    });
    const { statusCode, headers, body: text } = response;
    return { statusCode, contentType: headers['content-type'] ?? '', text };
  } catch (error) {
    // The error holds the request, and so the key: only its code is kept.
    throw new ApiAway(`the API can't be reached: ${error instanceof RequestError ? error.code : 'unknown'}`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
