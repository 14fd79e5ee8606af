import { z } from 'zod';
import { MAX_SEARCH_LIMIT } from '../payments/words/limits.js';
import type { Service } from '../payments/words/order.js';
import type {
  BalanceAnswer,
  ExpiryAnswer,
  InitiationOutcome,
  ListAnswer,
  SearchAnswer,
  StatusAnswer,
} from '../payments/words/outcome.js';
import { Breaker, Bulkhead, MAX_TIMEOUTS } from './breaker.js';
import {
  createProviderHttp,
  type Exchange,
  type ExchangeRequest,
  exchange,
  MAX_BODY,
  type ProviderHttpOptions,
} from './http.js';
import {
  interpretBalance,
  interpretExchange,
  interpretExpiry,
  interpretInitiation,
  interpretList,
  interpretSearch,
  interpretStatus,
  type ProviderAnswer,
} from './interpret.js';
import type { Confidential } from './provider-text.js';
import { userIdOf } from './requests.js';
import {
  type DirectPayRequest,
  type InitiatePayRequest,
  initiationSchema,
  linkInitiationSchema,
  type PayoutRequest,
  phoneMediumSchema,
} from './schemas.js';

/** The endpoints of each of the provider's services. */
export const PROVIDER_ENDPOINTS = {
  collection: ['initiate-pay', 'direct-pay', 'payment-status', 'expire-pay', 'transaction', 'search', 'balance'],
  payout: ['payout', 'payment-status', 'transaction', 'search', 'balance'],
} as const;

/**
 * What came of a call to the provider, as far as the call itself goes:
 *
 * - `succeeded`: 2xx; `refused`: a 4xx with the provider's message; `unauthorized`: 401 or 403; `throttled`: 429.
 * - `failed`: an answer that doesn't say what the provider did, such as a 5xx, or a connection that broke on the way.
 * - `timed_out`: no connection, or no answer, within the time limit.
 * - `unreachable`: no connection could be made, so nothing was sent.
 * - `held_back`: not sent, because the provider hangs.
 */
export const PROVIDER_CALL_OUTCOMES = [
  'succeeded',
  'refused',
  'unauthorized',
  'throttled',
  'failed',
  'timed_out',
  'unreachable',
  'held_back',
] as const;

/** A call to the provider that has ended, without anything of what was asked or answered. */
export interface ProviderCall {
  readonly service: Service;
  /** The first segment of its path: one of {@link PROVIDER_ENDPOINTS}. */
  readonly endpoint: string;
  readonly outcome: (typeof PROVIDER_CALL_OUTCOMES)[number];
  readonly durationMs: number;
}

/** Puts a call into a trace: makes it by `send`, with the headers that carry the trace's context. */
export type TraceCall = <T extends { readonly outcome: ProviderCall['outcome'] }>(
  call: Pick<ProviderCall, 'service' | 'endpoint'>,
  send: (headers: Readonly<Record<string, string>>) => Promise<T>,
) => Promise<T>;

export interface ProviderClientOptions extends ProviderHttpOptions {
  readonly service: Service;
  /** Traces each call; none is traced by default. */
  readonly traceCall?: TraceCall | undefined;
  /** Is told of each call when it has ended. */
  readonly onCall?: ((call: ProviderCall) => void) | undefined;
  /**
   * How many orders that move money the caller can have under way, those of both services together. While this one
   * hangs, it is sent no more than leave a quarter of them. No limit by default.
   */
  readonly orderSlots?: number | undefined;
  /** A monotonic clock in ms for the breakers; `performance.now` by default. */
  readonly now?: (() => number) | undefined;
}

interface CallOptions {
  /** The caller's time limit for the answer in ms, if it is shorter than the client's. */
  readonly withinMs?: number | undefined;
  /** Stops waiting for the answer. Whether a POST took effect then stays unknown. */
  readonly signal?: AbortSignal | undefined;
}

/** What may be answered to a question. Nothing in a list, least of all in an empty one, shows whom it is about. */
const SINGLE = { bodyMax: MAX_BODY.single };
const LIST = { bodyMax: MAX_BODY.list, isFresh: true };

/** Why nothing was sent while the provider hangs. */
const HELD_BACK = {
  question: `not asked: the provider left the last ${MAX_TIMEOUTS} questions without an answer in time`,
  initiation: 'the provider is slow to answer the last requests, or leaves them without an answer',
} as const;

/**
 * One of the provider's services. Each call resolves to one of its typed outcomes, whatever the provider or the network
 * does; it rejects only when it was called wrongly. While the provider hangs, questions (all but initiatePay,
 * directPay and payout) are `unavailable` at once, and a link is `notSent`: see {@link Breaker}. What moves money is
 * sent all the same, as long as it leaves some of {@link ProviderClientOptions.orderSlots}; if not, it is `notSent`:
 * see {@link Bulkhead}.
 */
export interface ProviderClient {
  readonly service: Service;
  /** `POST /initiate-pay`: makes a link to a checkout page. Collections only. Amounts in XAF. */
  initiatePay(request: InitiatePayRequest, call?: CallOptions): Promise<InitiationOutcome>;
  /** `POST /direct-pay`: asks for the money on the payer's phone. Collections only. Amounts in XAF. */
  directPay(request: DirectPayRequest, call?: CallOptions): Promise<InitiationOutcome>;
  /** `POST /payout`: sends money. Payouts only. Amounts in XAF. */
  payout(request: PayoutRequest, call?: CallOptions): Promise<InitiationOutcome>;
  /** `GET /payment-status/{transId}`. The provider answers 6 a minute for one transaction; the caller keeps count. */
  paymentStatus(transId: string, call?: CallOptions): Promise<StatusAnswer>;
  /** `POST /expire-pay`: expires a link before its 24 hours are over. */
  expirePay(transId: string, call?: CallOptions): Promise<ExpiryAnswer>;
  /**
   * `GET /transaction/{userId}`: every transaction that was made for a payment, in any order. Sanaga sends a payment's
   * own id as externalId, so an element that can't be read and names another externalId belongs to another payment, and
   * is left out. Any other that can't be read makes the list unavailable.
   *
   * @param isDirect whether it is a payment straight to a phone, which is listed under a userId of its own
   */
  transactionsOf(paymentId: string, isDirect: boolean, call?: CallOptions): Promise<ListAnswer>;
  /** `GET /search`. Rejects with a ZodError on a query that the provider would silently ignore. */
  search(query: SearchQuery, call?: CallOptions): Promise<SearchAnswer>;
  /** `GET /balance`, in XAF. */
  balance(call?: CallOptions): Promise<BalanceAnswer>;
  /** Ends every connection. Call it when the process stops. */
  close(): void;
}

/**
 * Makes the client of one of the provider's two services.
 *
 * @example
 * const client = createProviderClient({ service: 'payout', url, apiUser, apiKey, timeoutMs: 15_000 });
 * const outcome = await client.payout({ amount: 500, phone, externalId: id });
 *
 * @throws TypeError or RangeError on settings that can't be used
 */
export function createProviderClient(settings: ProviderClientOptions): ProviderClient {
  const { service, now = () => performance.now(), orderSlots = Infinity, ...options } = settings;
  const { onCall = () => undefined, traceCall = (_, send) => send({}) } = settings;
  const http = createProviderHttp(options);
  const questions = new Breaker(now);
  const links = new Breaker(now);
  const orders = new Bulkhead(orderSlots, now);
  const credentials = [options.apiUser, options.apiKey];

  /** Sends a request by `send`, which holds it back by resolving to `undefined`, and reports what came of it. */
  const reporting = async (
    request: ExchangeRequest,
    confidential: Confidential,
    send: (request: ExchangeRequest) => Promise<Exchange | undefined>,
    heldBack: string,
    isInitiation = false,
  ): Promise<ProviderAnswer> => {
    const [endpoint = ''] = request.path.split(/[/?]/);
    const begun = performance.now();
    const { answer, outcome } = await traceCall({ service, endpoint }, async (headers) => {
      const exchanged = await send({ ...request, headers });
      const answer: ProviderAnswer =
        exchanged === undefined
          ? { kind: 'undecided', sent: 'no', reason: heldBack }
          : interpretExchange(exchanged, confidential, isInitiation);
      return { answer, outcome: outcomeOf(exchanged, answer) };
    });
    onCall({ service, endpoint, outcome, durationMs: performance.now() - begun });
    return answer;
  };

  /** Sends a question, unless the provider hangs. */
  const ask = (request: ExchangeRequest): Promise<ProviderAnswer> =>
    reporting(request, { credentials }, (sent) => questions.call(() => exchange(http, sent)), HELD_BACK.question);

  const get = (path: string, answer: typeof SINGLE | typeof LIST, call?: CallOptions) =>
    ask({ method: 'GET', path, ...answer, ...call });

  /** GETs the resource with this identifier. */
  const getById = async (
    folder: string,
    id: string,
    answer: typeof SINGLE | typeof LIST,
    call?: CallOptions,
  ): Promise<ProviderAnswer> => {
    const segment = pathSegment(id);
    if (segment === undefined) return { kind: 'undecided', sent: 'no', reason: 'no address can carry this identifier' };
    return get(`${folder}/${segment}`, answer, call);
  };

  /** Makes a request for a link or an order. Its answer shows that the provider doesn't hang. */
  const initiation = async (request: ExchangeRequest): Promise<Exchange> => {
    const exchanged = await exchange(http, request);
    if (exchanged.kind === 'answered') questions.answered();
    return exchanged;
  };

  /** Sends an order that moves money, even while the provider hangs, unless that would take too many slots. */
  const sendOrder = (request: ExchangeRequest) => orders.call(() => initiation(request));

  /**
   * Sends a request for a link, unless the provider hangs: it can be made later. Questions don't wait for links, which
   * have a breaker of their own, for links may be all that hangs.
   */
  const sendLink = async (request: ExchangeRequest): Promise<Exchange | undefined> => {
    if (!questions.isOpen()) return await links.call(() => initiation(request));
    // The questions' pause may end without one that tries. Then one link does, and not all of them.
    links.hangs();
    return undefined;
  };

  const initiate = async (path: string, body: Initiation, call?: CallOptions): Promise<ProviderAnswer> => {
    const needed = path === 'payout' ? 'payout' : 'collection';
    if (service !== needed) throw new TypeError(`The ${service} service can't do ${path}: use the ${needed} service`);
    const { phone, name, email } = body;
    const confidential = { credentials, phone, name, email };
    const send = path === 'initiate-pay' ? sendLink : sendOrder;
    return await reporting(postOf(path, body, call), confidential, send, HELD_BACK.initiation, true);
  };

  return {
    service,
    close: http.close,
    async initiatePay(request, call) {
      return interpretInitiation(await initiate('initiate-pay', request, call), linkInitiationSchema);
    },
    async directPay(request, call) {
      return interpretInitiation(await initiate('direct-pay', request, call), initiationSchema);
    },
    async payout(request, call) {
      return interpretInitiation(await initiate('payout', request, call), initiationSchema);
    },
    async paymentStatus(transId, call) {
      return interpretStatus(await getById('payment-status', transId, SINGLE, call), transId);
    },
    async expirePay(transId, call) {
      return interpretExpiry(await ask(postOf('expire-pay', { transId }, call)), transId);
    },
    async transactionsOf(paymentId, isDirect, call) {
      const userId = userIdOf(paymentId, isDirect);
      return interpretList(await getById('transaction', userId, LIST, call), paymentId);
    },
    async search(query, call) {
      return interpretSearch(await get(searchPath(query), LIST, call));
    },
    async balance(call) {
      return interpretBalance(await get('balance', SINGLE, call));
    },
  };
}

function outcomeOf(exchanged: Exchange | undefined, answer: ProviderAnswer): ProviderCall['outcome'] {
  if (exchanged === undefined) return 'held_back';
  if (exchanged.kind === 'failed' && exchanged.timedOut) return 'timed_out';
  if (exchanged.kind === 'failed' && exchanged.sent === 'no') return 'unreachable';
  return answer.kind === 'undecided' ? 'failed' : answer.kind;
}

/** Fields that name a person are confidential: the provider may repeat them in an error. */
type Initiation = (InitiatePayRequest | DirectPayRequest | PayoutRequest) & Omit<Confidential, 'credentials'>;

function postOf(path: string, body: object, call?: CallOptions): ExchangeRequest {
  return { method: 'POST', path, body, bodyMax: MAX_BODY.single, ...call };
}

/**
 * An identifier as one segment of a URL. `undefined` for identifiers that no segment can hold: the empty string, text
 * that isn't valid Unicode, and `.` and `..`, which a URL would resolve to another path.
 */
export function pathSegment(identifier: string): string | undefined {
  if (identifier === '' || identifier === '.' || identifier === '..') return undefined;
  try {
    return encodeURIComponent(identifier);
  } catch {
    return undefined;
  }
}

/** The filters of `GET /search`. The provider's dates are calendar dates; amounts are in XAF. */
const searchQuerySchema = z.strictObject({
  status: z.enum(['created', 'successful', 'failed', 'expired']).optional(),
  medium: phoneMediumSchema.optional(),
  start: z.iso.date().optional(),
  end: z.iso.date().optional(),
  amt: z.int().optional(),
  limit: z.int().min(1).max(MAX_SEARCH_LIMIT).optional(),
  sort: z.enum(['asc', 'desc']).optional(),
});
export type SearchQuery = z.infer<typeof searchQuerySchema>;

/**
 * The path of a search, including its query.
 *
 * @throws ZodError on a wrong value: the provider ignores those, and would list the wrong transactions
 */
export function searchPath(query: SearchQuery): string {
  const parameters = Object.entries(searchQuerySchema.parse(query))
    .filter(([, value]) => value !== undefined)
    // Not URLSearchParams: it encodes a space as `+`, which not every server decodes.
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parameters.length === 0 ? 'search' : `search?${parameters.join('&')}`;
}
