import { Agent as HttpAgent, request as httpRequest, validateHeaderValue } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import got, { type Got, RequestError, type RequestFunction } from 'got';
import { HOUR_MS } from '../payments/words/time.js';
import { parseJson, removeContentCodings, textOf } from './body.js';
import { classifyFailure, type Failure } from './failure.js';
import { credentialHeaders } from './schemas.js';

export interface ProviderHttpOptions {
  /** The service's address, http or https, with or without a path. */
  readonly url: string;
  readonly apiUser: string;
  readonly apiKey: string;
  /** Time limit from the start of a request to the end of its answer, in ms. */
  readonly timeoutMs: number;
  readonly userAgent?: string | undefined;
}

export interface ProviderHttp {
  readonly got: Got;
  readonly timeoutMs: number;
  readonly freshAgents: Agents;
  /** Ends every connection, including those in use. */
  close(): void;
}

/** Longest wait for a connection, in ms, even if answers may take longer. */
const MAX_CONNECT_MS = 5_000;

/**
 * The HTTP client of one of the provider's services. It sends each request once: nothing is retried and no redirect is
 * followed, since the provider can't tell a repeated request from a new one. Credentials are sent in
 * headers, only to the service's own address.
 *
 * @throws TypeError on an address or a credential that can't be used
 * @throws RangeError on a time limit that can't be used
 */
export function createProviderHttp(options: ProviderHttpOptions): ProviderHttp {
  const { timeoutMs, userAgent = 'sanaga' } = options;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) {
    throw new RangeError(`The provider's time limit must be a whole number of ms above 0, not ${timeoutMs}`);
  }
  const connectMs = Math.min(MAX_CONNECT_MS, Math.ceil(timeoutMs / 3));
  const agents = createKeepAliveAgents({ connectMs });
  const freshAgents = createFreshAgents({ connectMs });
  return {
    timeoutMs,
    got: got.extend({
      prefixUrl: readServiceUrl(options.url),
      allowAbsoluteUrls: false,
      headers: {
        [credentialHeaders.user]: readCredential(credentialHeaders.user, options.apiUser),
        [credentialHeaders.key]: readCredential(credentialHeaders.key, options.apiKey),
        'user-agent': userAgent,
        accept: 'application/json',
        // Without the header, any coding would be accepted.
        'accept-encoding': 'identity',
      },
      agent: agents,
      timeout: { lookup: connectMs, connect: connectMs, secureConnect: connectMs, request: timeoutMs },
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      maxHeaderSize: MAX_HEADERS,
      request: requestLeniently,
      // A small compressed body can unpack to any size: see decoded.
      decompress: false,
      responseType: 'buffer',
      // Set explicitly, so that no environment variable turns the check off.
      https: { rejectUnauthorized: true },
    }),
    freshAgents,
    close() {
      for (const { http, https } of [agents, freshAgents]) {
        http.destroy();
        https.destroy();
      }
    },
  };
}

/**
 * Reads what RFC 9112 has a client read that Node's parser refuses by default: lines that end in LF alone, folded
 * headers, spaces behind a chunk's size, HTTP/1.2. A body has to be whole all the same.
 */
const requestLeniently: RequestFunction = (url, options, callback) => {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return send(url, { ...options, insecureHTTPParser: true }, callback);
};

function readServiceUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text isn't quoted, because it may hold a password.
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new TypeError("The provider's address must be an http or https URL");
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError("The provider's address must have no user, password, query or fragment");
  }
  return url;
}

function readCredential(name: string, value: string): string {
  if (value === '') throw new TypeError(`The provider's credential ${name} is empty`);
  validateHeaderValue(name, value);
  return value;
}

/**
 * Lifetime of an idle connection, in ms. Common servers close theirs after 5 s: a POST sent on a connection that the
 * server is just closing may or may not have arrived.
 */
const IDLE_MS = 4_000;

/**
 * Longest wait for one of a host's several addresses before the next is tried, in ms. Node's default, 250, is shorter
 * than the round trip to a distant host.
 */
const NEXT_ADDRESS_MS = 1_000;

interface AgentOptions {
  /** Longest wait for a connection, in ms. */
  readonly connectMs: number;
  /** Time for which an idle connection is kept, in ms. */
  readonly idleMs?: number;
}

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Agents that keep connections to one of the provider's services alive between requests. */
export function createKeepAliveAgents({ connectMs, idleMs = IDLE_MS }: AgentOptions): Agents {
  const options = {
    keepAlive: true,
    // Ends only idle connections; one that waits for an answer is limited by the request's own time limit.
    timeout: idleMs,
    autoSelectFamilyAttemptTimeout: nextAddressMs(connectMs),
  };
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}

/**
 * Agents that open a connection for each request. A server may close an idle connection just as a request is sent on
 * it, and then nobody knows whether the server read it. Any stray answer on it, such as a 408 or a repeated answer,
 * would be taken for this request's.
 */
function createFreshAgents({ connectMs }: AgentOptions): Agents {
  const options = { autoSelectFamilyAttemptTimeout: nextAddressMs(connectMs) };
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}

function nextAddressMs(connectMs: number): number {
  return Math.max(10, Math.min(NEXT_ADDRESS_MS, Math.floor(connectMs / 2)));
}

const MEBIBYTE = 1024 * 1024;

/** Longest body that is read, in bytes: of a single resource, and of a list. */
export const MAX_BODY = { single: MEBIBYTE, list: 8 * MEBIBYTE } as const;

/** Longest headers that are read, in bytes. Node's own maximum is a quarter of it, which cookies may exceed. */
const MAX_HEADERS = 64 * 1024;

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  /** Relative to the service's address. */
  readonly path: string;
  /** Sent as JSON, without its undefined fields. */
  readonly body?: object;
  readonly bodyMax: number;
  /** Sent beside the client's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A time limit that is shorter than the client's, in ms. */
  readonly withinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Sent on a connection of its own, as a POST always is: an answer that doesn't name what was asked about must be this
   * request's.
   */
  readonly isFresh?: boolean | undefined;
}

/** The result of one request: an answer read to its end, or a failure. `body` is `undefined` unless it is JSON. */
export type Exchange =
  | {
      readonly kind: 'answered';
      readonly statusCode: number;
      readonly body: unknown;
      readonly retryAfterMs?: number | undefined;
    }
  | ({ readonly kind: 'failed' } & Failure);

/** A request that the HTTP client hasn't ended this long after its time limit, in ms, is given up. */
const LATE_MS = 1_000;

/**
 * Sends one request, once, and reads its answer.
 *
 * @throws TypeError when the body can't be written as JSON; never for the provider or the network
 */
export async function exchange(
  { got, timeoutMs, freshAgents }: ProviderHttp,
  request: ExchangeRequest,
): Promise<Exchange> {
  const { method, path, bodyMax, signal } = request;
  const limitMs = Math.min(timeoutMs, request.withinMs ?? timeoutMs);
  const timeout = limitMs < timeoutMs && { timeout: { request: limitMs } };
  // Serialized here and not by the HTTP client, whose errors all count as network errors.
  const { headers } = request;
  const content =
    request.body === undefined
      ? headers && { headers }
      : { body: JSON.stringify(request.body), headers: { ...headers, ...JSON_CONTENT } };
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
  const agent = (request.isFresh || method === 'POST') && { agent: freshAgents };
  const pending = got(path, { method, ...content, ...timeout, ...agent, signal: eitherSignal });
  pending.on('downloadProgress', ({ transferred }) => {
    if (transferred > bodyMax) giveUp('the answer was too large to read');
  });
  // After a 101 the HTTP client no longer controls the connection or its time limits.
  pending.on('request', (sent) => {
    sent.once('upgrade', (_response, socket) => {
      socket.destroy();
      giveUp('the provider answered 101');
    });
  });
  const late = setTimeout(giveUp, limitMs + LATE_MS, 'no answer within the time limit', true);
  try {
    const { statusCode, headers, rawBody } = await pending;
    const retryAfterMs = readRetryAfter(headers['retry-after'], headers.date, Date.now());
    const described = { contentType: headers['content-type'], contentEncoding: headers['content-encoding'] };
    const body = parseJson(textOf(await removeContentCodings(rawBody, described, bodyMax), described));
    return { kind: 'answered', statusCode, body, retryAfterMs };
  } catch (error) {
    if (givenUp !== undefined) return { kind: 'failed', ...givenUp };
    if (error instanceof RequestError) return { kind: 'failed', ...classifyFailure(error) };
    throw error;
  } finally {
    clearTimeout(late);
  }
}

const JSON_CONTENT = { 'content-type': 'application/json' };

/** Longest Retry-After that is accepted by default, in ms: asking once too early costs only one request. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/** The only date format that HTTP still sends. `Date.parse` alone would read `-1` as a year. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Reads the wait that a `Retry-After` asks for, in ms, at most `maxMs`. The header holds seconds or a date. Returns
 * `undefined` when it is missing, can't be read, or isn't in the future: the caller then uses its own backoff.
 *
 * @param header the value of `Retry-After`
 * @param date the answer's own `Date`: a date is compared with the clock that wrote it, which may differ from ours
 * @param nowMs ms since 1970, for an answer that has no `Date`
 */
export function readRetryAfter(
  header: string | undefined,
  date: string | undefined,
  nowMs: number,
  maxMs = MAX_RETRY_AFTER_MS,
): number | undefined {
  const value = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(value)
    ? Number(value) * 1000
    : readDate(value) - numberOr(readDate(date?.trim() ?? ''), nowMs);
  return waitMs > 0 ? Math.min(waitMs, maxMs) : undefined;
}

function readDate(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
}

function numberOr(value: number, fallback: number): number {
  return Number.isNaN(value) ? fallback : value;
}
