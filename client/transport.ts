import { MAX_TIMEOUT_MS, refuseNoObject, refuseNoSignal, refuseWrongMs, said } from './arguments.js';
import { ApiError, ConnectionError, OutcomeUnknownError, TimeoutError, UnexpectedResponseError } from './errors.js';
import { type ApiResponse, readResponse, toConnectionError } from './read-response.js';
import { type ApiRequest, readBaseUrl, type Written, write } from './write-request.js';

export interface ClientOptions {
  /** `sk_…`, as your operator gave it to you. Keep it on your server. */
  readonly apiKey: string;
  /** The API's address, such as `https://sanaga.example`: without `/v1`. */
  readonly baseUrl: string;
  /** Sends requests: the runtime's own fetch by default. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * The time limit of one attempt, in ms: 75 s by default. The API waits 10 s for the provider when it creates a
   * payment, and takes up to 70 s where its turn, Temporal and the book are slow, too.
   */
  readonly timeoutMs?: number;
  /** Number of times that a request is repeated: 2 by default. */
  readonly maxRetries?: number;
}

export interface RequestOptions {
  /** Stops the request. Its change may have taken effect: see {@link OutcomeUnknownError}. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly maxRetries?: number;
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

/** Longest Retry-After that is waited for; for a longer one, the error tells when to come back. */
const MAX_RETRY_AFTER_MS = 30_000;

/** Address and credentials of the API. */
interface Endpoint {
  readonly base: string;
  readonly apiKey: string;
  readonly fetch: typeof globalThis.fetch;
}

/** @throws {TypeError} for options that can't be right. */
export function createTransport(options: ClientOptions): Send {
  refuseNoObject('options', options);
  const { timeoutMs: usualTimeoutMs = TIMEOUT_MS, maxRetries: usualRetries = MAX_RETRIES } = options;
  const endpoint = readEndpoint(options);
  refuseWrongNumbers(options);

  return async <Body>(request: ApiRequest, given: RequestOptions = {}) => {
    refuseNoObject('options', given);
    const { signal, timeoutMs = usualTimeoutMs, maxRetries = usualRetries } = given;
    refuseWrongNumbers(given);
    refuseNoSignal(signal);
    signal?.throwIfAborted();
    const written = write(endpoint.base, request);
    /** `true` once an attempt may have taken effect. */
    let isInDoubt = false;
    for (let retries = 0; ; retries++) {
      let failure: unknown;
      try {
        return await attempt<Body>(endpoint, request, written, timeoutMs, signal);
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

function readEndpoint({ apiKey, baseUrl, fetch: given }: ClientOptions): Endpoint {
  // Called without an object, as some runtimes require.
  const fetch: typeof globalThis.fetch = given ?? ((...request) => globalThis.fetch(...request));
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key of Sanaga, without spaces');
  }
  if (typeof fetch !== 'function') throw new TypeError(`fetch must be a function, and not ${said(fetch)}`);
  return { base: readBaseUrl(baseUrl), apiKey, fetch };
}

async function attempt<Body>(
  { base, apiKey, fetch }: Endpoint,
  request: ApiRequest,
  { address, body }: Written,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ApiResponse<Body>> {
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

/** @throws {TypeError} for an invalid time limit, or a number of retries that would never end. */
function refuseWrongNumbers({ timeoutMs, maxRetries }: Pick<RequestOptions, 'timeoutMs' | 'maxRetries'>): void {
  if (timeoutMs !== undefined) refuseWrongMs('timeoutMs', timeoutMs);
  if (maxRetries !== undefined && !(Number.isSafeInteger(maxRetries) && maxRetries >= 0)) {
    throw new TypeError(`maxRetries must be a whole number from 0, and not ${said(maxRetries)}`);
  }
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

/** Waits for a time in ms. @throws the signal's reason when it is aborted before that. */
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

/**
 * Reports whether a request that failed like this may have taken effect. Only one that wasn't sent, or was refused with
 * a 4xx, certainly has not. A 408 comes from a proxy that gave up waiting.
 */
function mayHaveTakenEffect(failure: unknown): boolean {
  if (failure instanceof ConnectionError) return failure.sent;
  const isAnswer = failure instanceof ApiError || failure instanceof UnexpectedResponseError;
  return !isAnswer || failure.status < 400 || failure.status >= 500 || failure.status === 408;
}

/**
 * Reports whether a failure settles an earlier attempt that was in doubt. Only one that contains the payment does: any
 * other refusal is about the last request, not the earlier one.
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

/** Statuses that proxies answer with when the API behind them is restarted or slow. */
const PROXY_STATUSES: readonly number[] = [408, 429, 502, 503, 504];
