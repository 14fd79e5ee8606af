import { fieldOf } from './arguments.js';
import { ConnectionError, type Problem, toApiError, UnexpectedResponseError } from './errors.js';
import type { ApiRequest } from './write-request.js';

export interface ApiResponse<Body> {
  readonly body: Body;
  readonly headers: Headers;
}

export function readResponse<Body>(
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

/** Codes of failures before a connection was made, so that nothing was sent. Not every runtime gives them. */
const NOT_CONNECTED: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

export function toConnectionError(error: unknown, base: string): ConnectionError {
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
