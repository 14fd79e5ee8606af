import { RequestError } from 'got';
import { classifyFailure, type Failure } from './classify-failure.js';
import type { ProviderHttp } from './provider-http.js';
import { readRetryAfter } from './retry-after.js';

const MEBIBYTE = 1024 * 1024;

/** Longest body that is read, in bytes: of one thing, and of a list of them. */
export const BODY_MAX = { single: MEBIBYTE, list: 8 * MEBIBYTE } as const;

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  /** Relative to the service's address. */
  readonly path: string;
  /** Sent as JSON, less its undefined fields. */
  readonly body?: object;
  readonly bodyMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** One request and what came of it: an answer read to its end, or a failure. `body` is `undefined` unless it is JSON. */
export type Exchange =
  | {
      readonly kind: 'answered';
      readonly statusCode: number;
      readonly body: unknown;
      readonly retryAfterMs?: number | undefined;
    }
  | ({ readonly kind: 'failed' } & Failure);

/** How long after its time limit a request that the HTTP client itself didn't end is given up, in ms. */
const LATE_MS = 1_000;

/**
 * Sends one request, once, and reads its answer.
 *
 * @throws only what a wrong call throws (a body that JSON can't hold); never for the provider or the network
 */
export async function exchange(
  { got, timeoutMs }: ProviderHttp,
  request: ExchangeRequest,
): Promise<Exchange> {
  const { method, path, bodyMax, signal } = request;
  // Written here and not by the HTTP client, whose errors are all taken for the network's.
  const content =
    request.body === undefined ? {} : { body: JSON.stringify(request.body), headers: JSON_CONTENT };
  if (signal?.aborted) {
    return { kind: 'failed', sent: 'no', timedOut: false, reason: 'cancelled before it was sent' };
  }

  let givenUp: Failure | undefined;
  const ending = new AbortController();
  const giveUp = (reason: string, timedOut = false) => {
    givenUp ??= { sent: 'perhaps', timedOut, reason };
    ending.abort();
  };
  const eitherSignal = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
  const pending = got(path, { method, ...content, signal: eitherSignal });
  pending.on('downloadProgress', ({ transferred }) => {
    if (transferred > bodyMax) giveUp('the answer was too large to read');
  });
  // A 101 takes the connection out of the HTTP client's hands, its time limits included.
  pending.on('request', (sent) => {
    sent.once('upgrade', (_response, socket) => {
      socket.destroy();
      giveUp('the provider answered 101');
    });
  });
  const late = setTimeout(giveUp, timeoutMs + LATE_MS, 'no answer within the time limit', true);
  try {
    const { statusCode, headers, rawBody } = await pending;
    const retryAfterMs = readRetryAfter(headers['retry-after'], headers.date, Date.now());
    return { kind: 'answered', statusCode, body: readJson(rawBody), retryAfterMs };
  } catch (error) {
    if (givenUp !== undefined) return { kind: 'failed', ...givenUp };
    if (error instanceof RequestError) return { kind: 'failed', ...classifyFailure(error) };
    throw error;
  } finally {
    clearTimeout(late);
  }
}

const JSON_CONTENT = { 'content-type': 'application/json' };

function readJson(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return value;
  } catch {
    return undefined;
  }
}
