import type { ErrorRequestHandler } from 'express';
import type { Scope } from '../settings/merchants.js';
import { recordOf } from './request-log.js';

/** A problem as RFC 9457 has it: one status and one title for each code. */
interface ProblemKind {
  readonly status: number;
  readonly title: string;
}

/** The problems of any server of ours, by their codes. */
export const HTTP_PROBLEMS = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  unauthenticated: { status: 401, title: 'A valid API key is required' },
  forbidden: { status: 403, title: 'The API key does not allow this' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  rate_limited: { status: 429, title: 'Too many requests with one API key' },
  too_many_attempts: { status: 429, title: 'Too many requests without a valid API key' },
  internal_error: { status: 500, title: 'Internal error' },
} as const satisfies Record<string, ProblemKind>;

/** The mistake in one field. `${field} ${message}` is a sentence. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

interface ProblemOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
  /** Members of the document beside the standard ones. */
  readonly extras?: { readonly errors?: readonly FieldError[] | undefined; readonly [member: string]: unknown };
}

/** An error that is answered with a problem document. The caller sees its detail; its cause is only logged. */
export class Problem extends Error {
  override readonly name: string = 'Problem';
  readonly status: number;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly extras: NonNullable<ProblemOptions['extras']>;

  constructor(
    readonly code: string,
    { status, title }: ProblemKind,
    detail: string,
    { headers = {}, cause, extras = {} }: ProblemOptions = {},
  ) {
    super(detail, cause === undefined ? undefined : { cause });
    this.status = status;
    this.title = title;
    this.headers = headers;
    this.extras = extras;
  }
}

/** One of {@link HTTP_PROBLEMS}. */
export const httpProblem = (code: keyof typeof HTTP_PROBLEMS, detail: string, options?: ProblemOptions): Problem =>
  new Problem(code, HTTP_PROBLEMS[code], detail, options);

export const invalidRequest = (
  errors: readonly FieldError[],
  headers: Readonly<Record<string, string>> = {},
): Problem =>
  httpProblem('invalid_request', errors.map(({ field, message }) => `${field} ${message}`).join('; '), {
    headers,
    extras: { errors },
  });

/** @param key `malformed`: there is an Authorization, and it isn't a Bearer's */
export const unauthenticated = (key: 'missing' | 'malformed' | 'unknown'): Problem =>
  key !== 'unknown'
    ? httpProblem(
        'unauthenticated',
        key === 'missing'
          ? 'Send an API key as "Authorization: Bearer <key>".'
          : 'Send the API key as "Authorization: Bearer <key>". What was sent begins otherwise, or has no key or more than one.',
        { headers: { 'WWW-Authenticate': 'Bearer realm="sanaga"' } },
      )
    : httpProblem('unauthenticated', 'The API key is unknown.', {
        headers: { 'WWW-Authenticate': 'Bearer realm="sanaga", error="invalid_token"' },
      });

export const forbidden = (scopes: readonly Scope[]): Problem =>
  httpProblem('forbidden', `Use an API key with the scope ${scopes.join(' or ')}.`, {
    headers: {
      'WWW-Authenticate': `Bearer realm="sanaga", error="insufficient_scope", scope="${scopes.join(' ')}"`,
    },
  });

/** @param waitMs ms until the caller may try again */
export const tooMany = (
  code: 'rate_limited' | 'too_many_attempts',
  detail: string,
  waitMs: number,
  headers: Readonly<Record<string, string>> = {},
): Problem => httpProblem(code, detail, { headers: { ...retryAfter(waitMs), ...headers } });

/** Tells a caller when to try again. */
export const retryAfter = (ms: number) => ({ 'Retry-After': String(Math.ceil(ms / 1_000)) });

/** Address of a problem's description, relative to the address of the request (RFC 9457 allows that). */
export const problemType = (code: string) => `/docs/errors#${code}`;

/** Answers errors with problem documents (RFC 9457). Only a {@link Problem} shows its message; others are logged. */
export const sendProblem: ErrorRequestHandler = (thrown: unknown, request, response, next) => {
  const record = recordOf(request);
  const error = toProblem(thrown);
  const { code, status, title, message: detail, extras } = error;
  record.code = code;
  if (extras.errors) record.fields = [...new Set(extras.errors.map(({ field }) => loggable(field)))];
  if (status >= 500) record.error = error.cause ?? error;
  // Too late for a problem document: Express closes the connection, so that the response is seen to be incomplete.
  if (response.headersSent) return next(thrown);

  response
    .status(status)
    .set(error.headers)
    .type('application/problem+json')
    .send(
      JSON.stringify({
        type: problemType(code),
        title,
        status,
        detail,
        code,
        requestId: record.id,
        ...extras,
      }),
    );
};

/** A field's name without what is below it. A name that isn't a word may be anything, including personal data. */
function loggable(field: string): string {
  const [name = ''] = field.split('.');
  return /^[A-Za-z_[\]]{1,30}$/.test(name) ? name : 'another';
}

function toProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  // Express throws these for a path with invalid percent-encoding.
  if (thrown instanceof URIError) {
    return invalidRequest([{ field: 'path', message: 'is not correctly percent-encoded' }]);
  }
  return httpProblem('internal_error', 'An internal error occurred. It was logged with this requestId.', {
    cause: thrown,
  });
}
