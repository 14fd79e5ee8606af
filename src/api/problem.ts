import type { Scope } from '../config.js';
import type { PaymentId } from '../payments/payment-id.js';
import type { PaymentView } from './payment-view.js';

/** Every code that a problem document can carry: stable, so that a merchant's program may act on it. */
export const PROBLEMS = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  malformed_json: { status: 400, title: 'The body is not JSON' },
  invalid_idempotency_key: { status: 400, title: 'The Idempotency-Key is not valid' },
  unauthenticated: { status: 401, title: 'An API key is needed' },
  forbidden: { status: 403, title: 'The API key may not do this' },
  not_found: { status: 404, title: 'There is nothing here' },
  no_such_notification: { status: 404, title: 'The payment has no such notification' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  idempotency_key_reused: { status: 409, title: 'The Idempotency-Key was used for another request' },
  not_a_link: { status: 409, title: 'Only a payment link can be expired once it was sent' },
  not_expirable: { status: 409, title: 'The payment can no longer be expired' },
  not_initiated: { status: 409, title: 'Whether the provider has taken the payment is not known yet' },
  not_cancelable: { status: 409, title: 'The payout can no longer be canceled' },
  not_under_review: { status: 409, title: 'The payment is not under review' },
  resolution_refused: { status: 409, title: 'The decision can’t be carried out' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body is not of a type that is taken here' },
  rejected_by_provider: { status: 422, title: 'The provider rejected the payment' },
  too_many_requests: { status: 429, title: 'Too many requests for one payment' },
  too_many_notifications: { status: 429, title: 'Too many notifications' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  provider_refused: { status: 502, title: 'The provider refused to answer' },
  temporarily_unavailable: { status: 503, title: 'Not available for the moment' },
  provider_unavailable: { status: 503, title: 'The provider is not available for the moment' },
} as const satisfies Record<string, { status: number; title: string }>;
export type ProblemCode = keyof typeof PROBLEMS;

/** What is wrong with one field; the message is said of the field, so `${field} ${message}` is a sentence. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** What a problem carries beside the standard members. */
export interface ProblemExtras {
  readonly errors?: readonly FieldError[] | undefined;
  readonly payment?: PaymentView | undefined;
  readonly paymentId?: PaymentId | undefined;
}

interface ApiErrorOptions extends ProblemExtras {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Anything the API answers with a problem document. The detail is for the merchant: it holds nothing internal. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly headers: Readonly<Record<string, string>>;
  readonly extras: ProblemExtras;

  constructor(
    readonly code: ProblemCode,
    detail: string,
    { headers = {}, cause, ...extras }: ApiErrorOptions = {},
  ) {
    super(detail, cause === undefined ? undefined : { cause });
    this.headers = headers;
    this.extras = extras;
  }
}

export const invalidRequest = (errors: readonly FieldError[]): ApiError =>
  new ApiError('invalid_request', errors.map(({ field, message }) => `${field} ${message}`).join('; '), {
    errors,
  });

/** @param stale a key was given, and it is not one of ours */
export const unauthenticated = (stale: boolean): ApiError =>
  new ApiError(
    'unauthenticated',
    stale ? 'This API key is not known.' : 'Send an API key as "Authorization: Bearer <key>".',
    { headers: { 'WWW-Authenticate': `Bearer realm="sanaga"${stale ? ', error="invalid_token"' : ''}` } },
  );

export const forbidden = (scopes: readonly Scope[]): ApiError =>
  new ApiError('forbidden', `This needs an API key with the scope ${scopes.join(' or ')}.`, {
    headers: {
      'WWW-Authenticate': `Bearer realm="sanaga", error="insufficient_scope", scope="${scopes.join(' ')}"`,
    },
  });

export const notFound = (): ApiError =>
  new ApiError('not_found', 'No such address; the API’s calls begin with /v1.');

/** Also for another merchant's payment, so that nobody learns which ids exist. */
export const paymentNotFound = (): ApiError =>
  new ApiError('not_found', 'No payment with this id belongs to this API key.');

export const methodNotAllowed = (allow: string): ApiError =>
  new ApiError('method_not_allowed', `This address answers ${allow}.`, { headers: { Allow: allow } });

export const noSuchNotification = (): ApiError =>
  new ApiError('no_such_notification', 'The payment has no notification of this number, or has it no more.');

/** @param waitMs ms until another one is taken */
export const tooManyNotifications = (waitMs: number): ApiError =>
  new ApiError(
    'too_many_notifications',
    'Too many notifications for the moment. Send this one again after the time that Retry-After names.',
    { headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) } },
  );

/** One payment has as many requests in flight as it may. */
export const tooManyRequests = (): ApiError =>
  new ApiError('too_many_requests', 'Too many requests for this payment at once. Try again in a moment.', {
    headers: { 'Retry-After': '1' },
  });

/** Seconds after which a repetition has a fair chance. */
const RETRY_AFTER_SECONDS = 5;

/** Temporal, or every worker, is away. */
export const temporarilyUnavailable = (
  detail = 'Payments can’t be reached for the moment. Try again shortly.',
  { paymentId, cause }: { paymentId?: PaymentId; cause?: unknown } = {},
): ApiError =>
  new ApiError('temporarily_unavailable', detail, {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    paymentId,
    cause,
  });

/**
 * @param reason for our log alone
 * @param retryAfterMs what the provider asked for, in ms
 */
export const providerUnavailable = (reason: string, retryAfterMs = RETRY_AFTER_SECONDS * 1_000): ApiError =>
  new ApiError('provider_unavailable', 'The provider did not answer. Try again shortly.', {
    headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) },
    cause: reason,
  });

/** The provider's records can't be read, so an operator's doubt about an outcome stays open. */
export const notChecked = (payment: PaymentView): ApiError =>
  new ApiError(
    'provider_unavailable',
    'The payment couldn’t be compared with the provider’s records, since the provider did not answer. That is tried again by itself; ask again shortly.',
    { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) }, payment },
  );
