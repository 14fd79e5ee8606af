import type { Service } from '../payments/words/order.js';
import { Breaker, Bulkhead, MAX_TIMEOUTS } from './breaker.js';
import {
  createProviderHttp,
  type Exchange,
  type ExchangeRequest,
  exchange,
  MAX_BODY,
  type ProviderHttpOptions,
} from './http.js';
import { interpretExchange, type ProviderAnswer } from './interpret.js';
import type { Confidential } from './provider-text.js';
import type { DirectPayRequest, InitiatePayRequest, PayoutRequest } from './schemas.js';

/** The endpoints of each of the provider's services. */
export const PROVIDER_ENDPOINTS = {
  collection: ['initiate-pay', 'direct-pay', 'payment-status', 'expire-pay', 'transaction', 'search', 'balance'],
  payout: ['payout', 'payment-status', 'transaction', 'search', 'balance'],
} as const;

/**
 * The outcomes of a call to the provider, as far as the call itself goes:
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

/** A finished call to the provider, without the content of the request and the answer. */
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

/** Options of a client of the provider. */
export interface ProviderClientOptions extends ProviderHttpOptions {
  readonly service: Service;
  /** Traces each call; none is traced by default. */
  readonly traceCall?: TraceCall | undefined;
  /** Called after each call. */
  readonly onCall?: ((call: ProviderCall) => void) | undefined;
  /**
   * Number of orders that move money that the caller can have under way, in both services together. While this service
   * hangs, its orders leave a quarter of them free. No limit by default.
   */
  readonly orderSlots?: number | undefined;
  /** A monotonic clock in ms for the breakers; `performance.now` by default. */
  readonly now?: (() => number) | undefined;
}

export interface CallOptions {
  /** The caller's time limit for the answer in ms, if it is shorter than the client's. */
  readonly withinMs?: number | undefined;
  /** Stops waiting for the answer. Whether a POST took effect then stays unknown. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Options of a question about one transaction, and of a list. A list doesn't say which payment it is about, least of
 * all an empty one, so it comes over a connection of its own.
 */
export const SINGLE = { bodyMax: MAX_BODY.single };
export const LIST = { bodyMax: MAX_BODY.list, isFresh: true };

/** Reasons why nothing was sent while the provider hangs. */
const HELD_BACK = {
  question: `not asked: the provider left the last ${MAX_TIMEOUTS} questions without an answer in time`,
  initiation: 'the provider is slow to answer the last requests, or leaves them without an answer',
} as const;

/** Fields that name a person are confidential: the provider may repeat them in an error. */
type Initiation = (InitiatePayRequest | DirectPayRequest | PayoutRequest) & Omit<Confidential, 'credentials'>;

/**
 * Calls one of the provider's services. While the provider hangs, questions and links are held back; an order that
 * moves money is sent all the same, unless that would take too many of the caller's slots. Each call is traced and
 * reported.
 */
export class ProviderCalls {
  readonly #options: ProviderClientOptions;
  readonly #http: ReturnType<typeof createProviderHttp>;
  readonly #questions: Breaker;
  readonly #links: Breaker;
  readonly #orders: Bulkhead;
  readonly #credentials: readonly string[];

  constructor(options: ProviderClientOptions) {
    const { now = () => performance.now(), orderSlots = Infinity } = options;
    this.#options = options;
    this.#http = createProviderHttp(options);
    this.#questions = new Breaker(now);
    this.#links = new Breaker(now);
    this.#orders = new Bulkhead(orderSlots, now);
    this.#credentials = [options.apiUser, options.apiKey];
  }

  /** Sends a question, unless the provider hangs. */
  ask(request: ExchangeRequest): Promise<ProviderAnswer> {
    const send = (sent: ExchangeRequest) => this.#questions.call(() => exchange(this.#http, sent));
    return this.#report(request, { credentials: this.#credentials }, send, HELD_BACK.question);
  }

  get(path: string, answer: typeof SINGLE | typeof LIST, call?: CallOptions): Promise<ProviderAnswer> {
    return this.ask({ method: 'GET', path, ...answer, ...call });
  }

  /** GETs the resource with this identifier. */
  async getById(
    folder: string,
    id: string,
    answer: typeof SINGLE | typeof LIST,
    call?: CallOptions,
  ): Promise<ProviderAnswer> {
    const segment = pathSegment(id);
    if (segment === undefined) return { kind: 'undecided', sent: 'no', reason: 'no address can carry this identifier' };
    return await this.get(`${folder}/${segment}`, answer, call);
  }

  /**
   * Asks the provider for a link, or gives it an order.
   *
   * @throws TypeError when this service has no such endpoint
   */
  async initiate(
    path: 'initiate-pay' | 'direct-pay' | 'payout',
    body: Initiation,
    call?: CallOptions,
  ): Promise<ProviderAnswer> {
    const { service } = this.#options;
    const needed = path === 'payout' ? 'payout' : 'collection';
    if (service !== needed) throw new TypeError(`The ${service} service can't do ${path}: use the ${needed} service`);
    const { phone, name, email } = body;
    const confidential = { credentials: this.#credentials, phone, name, email };
    const send = (request: ExchangeRequest) =>
      path === 'initiate-pay' ? this.#sendLink(request) : this.#orders.call(() => this.#send(request));
    return await this.#report(postOf(path, body, call), confidential, send, HELD_BACK.initiation, true);
  }

  /** Ends every connection. */
  close(): void {
    this.#http.close();
  }

  /** Sends a request by `send`, which holds it back by resolving to `undefined`, and reports the outcome. */
  async #report(
    request: ExchangeRequest,
    confidential: Confidential,
    send: (request: ExchangeRequest) => Promise<Exchange | undefined>,
    heldBack: string,
    isInitiation = false,
  ): Promise<ProviderAnswer> {
    const { service, onCall, traceCall = (_, untraced) => untraced({}) } = this.#options;
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
    onCall?.({ service, endpoint, outcome, durationMs: performance.now() - begun });
    return answer;
  }

  /** Sends a request for a link or an order. Its answer shows that the provider doesn't hang. */
  async #send(request: ExchangeRequest): Promise<Exchange> {
    const exchanged = await exchange(this.#http, request);
    if (exchanged.kind === 'answered') this.#questions.answered();
    return exchanged;
  }

  /**
   * Sends a request for a link, unless the provider hangs: it can be made later. Links have a breaker of their own,
   * since they may be all that hangs: questions don't wait for them.
   */
  async #sendLink(request: ExchangeRequest): Promise<Exchange | undefined> {
    if (!this.#questions.isOpen()) return await this.#links.call(() => this.#send(request));
    // The pause of questions may end without a trial question. Then one link is the trial, instead of all links.
    this.#links.hangs();
    return undefined;
  }
}

function outcomeOf(exchanged: Exchange | undefined, answer: ProviderAnswer): ProviderCall['outcome'] {
  if (exchanged === undefined) return 'held_back';
  if (exchanged.kind === 'failed' && exchanged.timedOut) return 'timed_out';
  if (exchanged.kind === 'failed' && exchanged.sent === 'no') return 'unreachable';
  return answer.kind === 'undecided' ? 'failed' : answer.kind;
}

/** Makes a POST with this body. */
export function postOf(path: string, body: object, call?: CallOptions): ExchangeRequest {
  return { method: 'POST', path, body, bodyMax: MAX_BODY.single, ...call };
}

/**
 * Writes an identifier as one segment of a URL. Returns `undefined` for those that no segment can hold: the empty
 * string, invalid Unicode, `.` and `..`, which a URL would resolve to another path, and U+0000, at which servers end it
 * and which no database keeps.
 */
export function pathSegment(identifier: string): string | undefined {
  if (identifier === '' || identifier === '.' || identifier === '..' || identifier.includes('\0')) return undefined;
  try {
    return encodeURIComponent(identifier);
  } catch {
    return undefined;
  }
}
