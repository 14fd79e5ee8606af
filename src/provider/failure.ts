import { type RequestError, TimeoutError } from 'got';

/**
 * A request that got no complete answer.
 *
 * - `sent: 'no'`: it is proven that no byte of the request was sent; sending it again can't have any effect twice.
 * - `sent: 'perhaps'`: anything else.
 */
export interface Failure {
  readonly sent: 'no' | 'perhaps';
  /** `true` when the time limit of the connection or of the answer was exceeded. */
  readonly timedOut: boolean;
  /** For operators and merchants, without the request's content, address or headers. */
  readonly reason: string;
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while the request was being sent',
  ENOTFOUND: "the provider's address was not found",
  EAI_AGAIN: "the provider's address could not be looked up",
  EHOSTUNREACH: 'the provider could not be reached',
  ENETUNREACH: 'the provider could not be reached',
};

/** Classifies a request's failure: whether anything may have been sent, and the reason in words. */
export function classifyFailure(error: RequestError): Failure {
  // A call may be cancelled at any moment, so don't try to prove that nothing was sent.
  if (wasCancelled(error)) {
    return { sent: 'perhaps', timedOut: false, reason: 'cancelled while waiting for the answer' };
  }
  const timedOut = error instanceof TimeoutError;
  if (isUnsent(error)) return { sent: 'no', timedOut, reason: describeUnsent(error) };
  return { sent: 'perhaps', timedOut, reason: describeSent(error) };
}

/**
 * Reports whether it is proven that nothing was sent: the request had a connection of its own, which was never ready.
 * Node writes a request on `connect`, and over TLS only after the handshake and the check of the certificate. The
 * error's code proves nothing by itself (a reset can happen before, while and after a request is sent), nor does the
 * socket's count of bytes written, which includes those still waiting for the connection.
 */
function isUnsent({ request, timings, options }: RequestError): boolean {
  if (request === undefined || timings === undefined || request.reusedSocket === true) return false;
  return (isSecure(options.url) ? timings.secureConnect : timings.connect) === undefined;
}

function wasCancelled(error: RequestError): boolean {
  if (error.code === 'ERR_ABORTED') return true;
  // `AbortSignal.timeout()` leads to a TimeoutError too, caused by the signal's own reason.
  const { signal } = error.options;
  return error instanceof TimeoutError && signal?.aborted === true && error.cause === signal.reason;
}

function describeUnsent(error: RequestError): string {
  if (error instanceof TimeoutError) return `no connection within ${limitOf(error)}`;
  const codes = codesOf(error);
  const [code] = codes;
  const words = code === undefined || codes.length > 1 ? undefined : WORDS[code];
  if (error.timings?.connect !== undefined) return `no secure connection could be made${inBrackets(codes)}`;
  return words ?? `no connection could be made${inBrackets(codes)}`;
}

function describeSent(error: RequestError): string {
  if (error instanceof TimeoutError) return `no answer within ${limitOf(error)}`;
  const codes = codesOf(error);
  const [code = ''] = codes;
  if (code.startsWith('HPE_')) return `the answer was not valid HTTP${inBrackets(codes)}`;
  return WORDS[code] ?? `the request failed${inBrackets(codes)}`;
}

/** Lists the failure's codes without duplicates: a host with several addresses fails once for each of them. */
function codesOf(error: RequestError): string[] {
  const { cause } = error;
  const causes: unknown[] = hasErrors(cause) ? cause.errors : [error];
  return [...new Set(causes.map(codeOf).filter((code) => code !== undefined))];
}

/** A code in capitals comes from Node or OpenSSL; any other may contain text from outside. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(error.code) ? error.code : undefined;
}

/** Checks the shape, since an error may come from another realm than this module. */
function hasErrors(cause: unknown): cause is { errors: unknown[] } {
  return typeof cause === 'object' && cause !== null && 'errors' in cause && Array.isArray(cause.errors);
}

/** The limit that was exceeded, in words. */
function limitOf({ event, options }: TimeoutError): string {
  const limits: Readonly<Record<string, number | undefined>> = { ...options.timeout };
  const ms = limits[event] ?? 0;
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}

function isSecure(url: string | URL | undefined): boolean {
  return String(url).startsWith('https:');
}

function inBrackets(codes: readonly string[]): string {
  return codes.length === 0 ? '' : ` (${codes.join(', ')})`;
}
