import { fieldOf, MAX_TIMEOUT_MS, refuseNoObject, refuseNoSignal, refuseWrongMs, said } from './arguments.js';
import {
  ApiError,
  ConnectionError,
  OutcomeUnknownError,
  type Problem,
  TimeoutError,
  toApiError,
  UnexpectedResponseError,
} from './errors.js';

export interface ClientOptions {
  /** `sk_…`, as your operator gave it to you. Keep it on your server. */
  readonly apiKey: string;
  /** The API's address, such as `https://sanaga.example`: without `/v1`. */
  readonly baseUrl: string;
  /** What sends requests: the runtime's own fetch by default. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * The time limit of one attempt, in ms: 75 s by default. The API waits 10 s for the provider when it creates a
   * payment, and takes up to 70 s where its turn, Temporal and the records are slow, too.
   */
  readonly timeoutMs?: number;
  /** How often a request is repeated: 2 by default. */
  readonly maxRetries?: number;
}

export interface RequestOptions {
  /** Stops the request. What it changes may have taken effect then: see {@link OutcomeUnknownError}. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly maxRetries?: number;
}

/** A request of the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  /**
   * What it changes: nothing; the same, however often it is sent; or something each time, so that only one that was
   * certainly refused is repeated.
   */
  readonly changes: 'nothing' | 'once' | 'each time';
  readonly idempotencyKey?: string;
  /** Fields that Sanaga's answer has: without them, it is another server's. Or CSV, whose text is the body. */
  readonly expects: readonly string[] | 'text/csv';
  /** The payment that it is about, for errors. */
  readonly paymentId?: string;
  /** ms that the API is asked to wait before it answers. */
  readonly waitMs?: number;
}

export interface ApiResponse<Body> {
  readonly body: Body;
  readonly headers: Headers;
}

/**
 * Sends a request, and repeats it where that is safe.
 *
 * @throws {ApiError} when the API refused it
 * @throws {ConnectionError} when there is no answer, and nothing was changed
 * @throws {UnexpectedResponseError} when the answer isn't Sanaga's, and nothing was changed
 * @throws {OutcomeUnknownError} when it may have changed something
 */
export type Send = <Body>(request: ApiRequest, options?: RequestOptions) => Promise<ApiResponse<Body>>;

export const VERSION = '0.1.0';

const TIMEOUT_MS = 75_000;
const MAX_RETRIES = 2;

/** Pauses without a Retry-After, in ms: the first, which doubles each time, and the longest. */
const PAUSE_MS = { first: 500, max: 8_000 } as const;

/** The longest Retry-After that is waited for; beyond it, the error tells when to come back. */
const MAX_RETRY_AFTER_MS = 30_000;

/** @throws {TypeError} for options that can't be right. */
export function createTransport(options: ClientOptions): Send {
  refuseNoObject('options', options);
  const { apiKey, timeoutMs: usualTimeoutMs = TIMEOUT_MS, maxRetries: usualRetries = MAX_RETRIES } = options;
  // Called without an object, as some runtimes require.
  const fetch: typeof globalThis.fetch = options.fetch ?? ((...given) => globalThis.fetch(...given));
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key of Sanaga, without spaces');
  }
  if (typeof fetch !== 'function') throw new TypeError(`fetch must be a function, and not ${said(fetch)}`);
  const base = readBaseUrl(options.baseUrl);
  refuseWrongNumbers(options);

  async function attempt<Body>(
    request: ApiRequest,
    { address, body }: Written,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ) {
    const { method, idempotencyKey, expects } = request;
    const limit = timeLimit(Math.min(timeoutMs + (request.waitMs ?? 0), MAX_TIMEOUT_MS), signal);
    try {
      const response = await fetch(address, {
        method,
        headers: {
          Authorization: `Bearer ${apiKey}`,
          Accept: expects === 'text/csv' ? expects : 'application/json',
          'User-Agent': `sanaga-client/${VERSION}`,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        },
        ...(body !== undefined && { body }),
        // Sanaga never redirects, and the key must not go elsewhere.
        redirect: 'manual',
        signal: limit.signal,
      });
      return readResponse<Body>(response, await response.text(), { base, expects });
    } catch (error) {
      if (error instanceof ApiError || error instanceof UnexpectedResponseError) throw error;
      if (limit.isOver()) throw new TimeoutError(timeoutMs + (request.waitMs ?? 0));
      if (signal?.aborted) throw signal.reason;
      throw toConnectionError(error, base);
    } finally {
      limit.clear();
    }
  }

  return async <Body>(request: ApiRequest, given: RequestOptions = {}) => {
    refuseNoObject('options', given);
    const { signal, timeoutMs = usualTimeoutMs, maxRetries = usualRetries } = given;
    refuseWrongNumbers(given);
    refuseNoSignal(signal);
    signal?.throwIfAborted();
    const written = write(base, request);
    /** Whether an attempt so far may have taken effect. */
    let isInDoubt = false;
    for (let retries = 0; ; retries++) {
      let failure: unknown;
      try {
        return await attempt<Body>(request, written, timeoutMs, signal);
      } catch (error) {
        failure = error;
      }
      isInDoubt ||= request.changes !== 'nothing' && mayHaveTakenEffect(failure);
      const pauseMs = retries < maxRetries ? pauseBefore(request, failure, retries) : undefined;
      if (pauseMs !== undefined) {
        failure = await pause(pauseMs, signal).catch((reason: unknown) => reason);
        if (failure === undefined) continue;
      }
      if (!isInDoubt || settles(failure)) throw failure;
      const { idempotencyKey, paymentId } = request;
      const named = failure instanceof ApiError ? failure.paymentId : undefined;
      throw new OutcomeUnknownError({ idempotencyKey, paymentId: paymentId ?? named }, failure);
    }
  };
}

/** A request as it is sent. */
interface Written {
  readonly address: string;
  readonly body: string | undefined;
}

/** @throws {TypeError} for a number that is none, and for what JSON can't say. */
function write(base: string, { path, query, body }: ApiRequest): Written {
  return {
    address: `${base}${path}${queryString(query)}`,
    body: body === undefined ? undefined : toJson(body),
  };
}

/** @throws {TypeError} with the name of the field that JSON can't say, such as an object within itself. */
function toJson(body: object): string {
  const fields = Object.entries(body).flatMap(([name, value]) => {
    const json = fieldJson(name, value);
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`];
  });
  return `{${fields.join()}}`;
}

function fieldJson(field: string, value: unknown): string | undefined {
  const refuse = (name: string, one: unknown) => refuseUnwritten(name || field, one);
  try {
    return JSON.stringify(value, refuse);
  } catch (error) {
    if (error instanceof UnwrittenError) throw error;
    throw new TypeError(`${field} can't be written as JSON: ${String(fieldOf(error, 'message') ?? error)}`);
  }
}

/** @throws {TypeError} for a time limit that is none, or a number of retries that would never end. */
function refuseWrongNumbers({ timeoutMs, maxRetries }: Pick<RequestOptions, 'timeoutMs' | 'maxRetries'>): void {
  if (timeoutMs !== undefined) refuseWrongMs('timeoutMs', timeoutMs);
  if (maxRetries !== undefined && !(Number.isSafeInteger(maxRetries) && maxRetries >= 0)) {
    throw new TypeError(`maxRetries must be a whole number from 0, and not ${said(maxRetries)}`);
  }
}

/** A value that JSON can't say, or would silently make null of, or leave out. */
class UnwrittenError extends TypeError {}

/** @throws {TypeError} for such a value. */
function refuseUnwritten(name: string, value: unknown): unknown {
  const isWrong = typeof value === 'number' ? !Number.isFinite(value) : typeof value === 'bigint';
  if (isWrong) throw new UnwrittenError(`${name} must be a number, and not ${said(value)}`);
  if (typeof value !== 'function' && typeof value !== 'symbol') return value;
  throw new UnwrittenError(`${name} must be text, a number or an object, and not ${said(value)}`);
}

function readBaseUrl(baseUrl: string): string {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`baseUrl must be an http or https address, and not ${said(baseUrl)}`);
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new TypeError('baseUrl must have no query, fragment, user or password');
  }
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '');
}

function queryString(query: ApiRequest['query'] = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      throw new TypeError(`${name} must be a whole number, and not ${value}`);
    }
    if (value !== undefined && typeof value !== 'number' && typeof value !== 'string') {
      throw new TypeError(`${name} must be text or a number, and not ${said(value)}`);
    }
    return value === undefined ? [] : [[name, String(value)]];
  });
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

/** A signal for one attempt: it ends with its time, or with the caller's signal. */
function timeLimit(limitMs: number, given: AbortSignal | undefined) {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, limitMs);
  const stop = () => controller.abort(given?.reason);
  given?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    clear() {
      clearTimeout(timer);
      given?.removeEventListener('abort', stop);
    },
  };
}

/** Waits for so many ms. @throws the signal's reason when it is aborted before that. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
  signal?.throwIfAborted();
}

function readResponse<Body>(
  response: Response,
  text: string,
  { base, expects }: { readonly base: string; readonly expects: ApiRequest['expects'] },
): ApiResponse<Body> {
  const { status, headers } = response;
  const isCsv = headers.get('content-type')?.startsWith('text/csv') ?? false;
  if (status === 200 && expects === 'text/csv' && isCsv) return { body: text as Body, headers };
  const said = parse(text);
  if (status >= 200 && status < 300 && hasFields(said, expects)) return { body: said as Body, headers };
  const retryAfterMs = readRetryAfter(headers.get('retry-after'));
  if (status >= 400 && isProblem(said)) throw toApiError(status, said, retryAfterMs);
  throw new UnexpectedResponseError(describeUnexpected(response, base), status, retryAfterMs);
}

function describeUnexpected({ status, type }: Response, base: string): string {
  // A runtime may hide the status of a redirect.
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return `${base} redirects elsewhere: set baseUrl to the address of Sanaga itself.`;
  }
  return `${base} answered ${status} in a form that isn't Sanaga's. Is baseUrl right, and is Sanaga behind that proxy up?`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasFields(said: unknown, fields: ApiRequest['expects']): boolean {
  if (fields === 'text/csv') return false;
  return typeof said === 'object' && said !== null && fields.every((field) => field in said);
}

function isProblem(said: unknown): said is Problem {
  return typeof fieldOf(said, 'code') === 'string' && typeof fieldOf(said, 'detail') === 'string';
}

/** Seconds or a date, in ms from now. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** Codes of failures before a connection stood, so that nothing was sent. Not every runtime tells. */
const NOT_CONNECTED: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

function toConnectionError(error: unknown, base: string): ConnectionError {
  // fetch hides the reason in its cause. Errors may be of another realm, where `instanceof` doesn't know them.
  const cause = fieldOf(error, 'cause') ?? error;
  const code = fieldOf(cause, 'code');
  // Ports that no fetch connects to have no code.
  if (NOT_CONNECTED.includes(code) || fieldOf(cause, 'message') === 'bad port') {
    const message = `There is no connection to Sanaga at ${base} (${String(code ?? 'bad port')}). Nothing was sent.`;
    return new ConnectionError(message, false, error);
  }
  const reason = typeof code === 'string' ? code : (fieldOf(cause, 'message') ?? cause);
  return new ConnectionError(`The connection to Sanaga at ${base} failed (${String(reason)}).`, true, error);
}

/**
 * Whether a request that failed like this may have taken effect: only one that wasn't sent, or that was refused with a
 * 4xx, certainly has not. A 408 is a proxy's, which has given up waiting.
 */
function mayHaveTakenEffect(failure: unknown): boolean {
  if (failure instanceof ConnectionError) return failure.sent;
  // It wasn't even tried.
  if (failure instanceof ApiError && failure.code === 'records_unavailable') return false;
  const isAnswer = failure instanceof ApiError || failure instanceof UnexpectedResponseError;
  return !isAnswer || failure.status < 400 || failure.status >= 500 || failure.status === 408;
}

/**
 * Whether a failure settles what an earlier attempt has left open. Only one with the payment in it does: any other
 * refusal is about the request that was refused, and not about the one before.
 */
function settles(failure: unknown): boolean {
  return failure instanceof ApiError && failure.payment !== undefined;
}

/** @returns ms to wait before the next attempt; `undefined` when there must be none. */
function pauseBefore(request: ApiRequest, failure: unknown, retries: number): number | undefined {
  if (!isTemporary(failure)) return undefined;
  if (request.changes === 'each time' && mayHaveTakenEffect(failure)) return undefined;
  const retryAfterMs = failure instanceof ConnectionError ? undefined : failure.retryAfterMs;
  if (retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS) return undefined;
  const backoffMs = Math.min(PAUSE_MS.first * 2 ** retries, PAUSE_MS.max);
  // Many clients that failed together must not come back together.
  return (retryAfterMs ?? backoffMs / 2) + Math.random() * (backoffMs / 2);
}

function isTemporary(failure: unknown): failure is ConnectionError | ApiError | UnexpectedResponseError {
  if (failure instanceof ConnectionError) return true;
  if (failure instanceof ApiError) return failure.status === 429 || failure.status === 503;
  return failure instanceof UnexpectedResponseError && PROXY_STATUSES.includes(failure.status);
}

/** What proxies answer when the API behind them is restarted or slow. */
const PROXY_STATUSES: readonly number[] = [408, 429, 502, 503, 504];
