import { fieldOf, said } from './arguments.js';

/** A request of the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  /**
   * Effect of the request: none; the same, however often it is sent; or another each time, so that only one that was
   * certainly refused is repeated.
   */
  readonly changes: 'nothing' | 'once' | 'each time';
  readonly idempotencyKey?: string;
  /** Fields of Sanaga's answer: an answer without them comes from another server. Or CSV, whose text is the body. */
  readonly expects: readonly string[] | 'text/csv';
  /** The payment that it is about, for errors. */
  readonly paymentId?: string;
  /** Time that the API is asked to wait before it answers, in ms. */
  readonly waitMs?: number;
}

/** A request as it is sent. */
export interface Written {
  readonly address: string;
  readonly body: string | undefined;
}

/** @throws {TypeError} for a value that isn't a number, and for one that JSON can't express. */
export function write(base: string, { path, query, body }: ApiRequest): Written {
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

/** A value that JSON can't say, or would silently make null of, or leave out. */
class UnwrittenError extends TypeError {}

/** @throws {TypeError} for such a value. */
function refuseUnwritten(name: string, value: unknown): unknown {
  const isWrong = typeof value === 'number' ? !Number.isFinite(value) : typeof value === 'bigint';
  if (isWrong) throw new UnwrittenError(`${name} must be a number, and not ${said(value)}`);
  if (typeof value !== 'function' && typeof value !== 'symbol') return value;
  throw new UnwrittenError(`${name} must be text, a number or an object, and not ${said(value)}`);
}

export function readBaseUrl(baseUrl: string): string {
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
