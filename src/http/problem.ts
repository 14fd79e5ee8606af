import type { ErrorRequestHandler } from 'express';
import type { Force } from '../payments/words/decision.js';
import type { Payment } from '../payments/words/payment.js';
import type { PaymentId, PaymentKind } from '../payments/words/payment-id.js';
import type { Scope } from '../settings/merchants.js';
import { recordOf } from './request-log.js';

/**
 * The codes of problem documents, with status and title, what causes them and what the caller should do (both in
 * Markdown), and an example of their detail. Codes are stable: programs act on them.
 */
export const PROBLEMS = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    cause:
      "a field or parameter is missing, unknown, repeated or has a value that isn't allowed; `errors` has each one",
    cure: 'correct the fields or parameters in `errors`',
    example: 'amount must be at least 100 XAF',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not valid JSON',
    cause: 'the body is empty, cut off, not UTF-8, or not JSON; `detail` says where',
    cure: 'send JSON in UTF-8',
    example: 'The body is not valid JSON: see line 1, column 17.',
  },
  idempotency_key_required: {
    status: 400,
    title: 'A payout needs an Idempotency-Key',
    cause: 'a payout was sent without an Idempotency-Key',
    cure: 'send an Idempotency-Key with every payout',
    example:
      "Send an Idempotency-Key that is new for each payout, such as your order's id. Without one, a payout whose answer is lost could only be repeated at the risk of paying twice.",
  },
  invalid_idempotency_key: {
    status: 400,
    title: 'The Idempotency-Key is not valid',
    cause: 'the header is empty, too long, was sent twice, or has other characters',
    cure: 'send one header of 1 to 255 printable ASCII characters',
    example: 'Send only one Idempotency-Key header.',
  },
  unauthenticated: {
    status: 401,
    title: 'A valid API key is required',
    cause:
      'there is no API key in `Authorization: Bearer …`, or it is unknown: mistyped, removed, or of another installation',
    cure: 'send a valid API key',
    example: 'The API key is unknown.',
  },
  forbidden: {
    status: 403,
    title: 'The API key does not allow this',
    cause: "the API key is valid, but doesn't have the scope that this call needs",
    cure: 'use a key with the scope in `detail`',
    example: 'Use an API key with the scope payouts.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    cause: "the address doesn't exist, or the payment doesn't, or it belongs to another merchant",
    cure: 'check the address and the id; the payment must be your own',
    example: 'This API key has no payment with this id.',
  },
  no_such_notification: {
    status: 404,
    title: 'The payment has no such notification',
    cause: 'the payment has no notification with this number, or it is no longer kept',
    cure: "check the number against the list of the payment's notifications",
    example: 'The payment has no notification with this number, or it is no longer kept.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    cause: "the address exists, and doesn't have this method",
    cure: 'use a method in the header `Allow`',
    example: 'This address allows only POST.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'The Idempotency-Key was used for another request',
    cause: 'this Idempotency-Key was used for a request with another body',
    cure: 'use a new key for a new payment; `paymentId` is the payment that has this key',
    example: 'This Idempotency-Key was used with another body.',
  },
  not_a_link: {
    status: 409,
    title: 'Only a payment link can be expired once it was sent',
    cause: "a direct collection was to be ended, and its request has reached the payer's phone, or may have",
    cure: "wait for the outcome: a direct collection can't be ended",
    example: "The request was sent to the payer's phone, or may have been sent: it can't be withdrawn any more.",
  },
  not_expirable: {
    status: 409,
    title: "The payment can't be expired",
    cause:
      'a link was to be ended that was paid, or has failed for good, has been paid according to a notification that the provider has yet to confirm, or is in REVIEW',
    cure: 'see `payment`, which has its status; read it again in a few minutes if it is not `final`',
    example: 'The payment is SUCCESSFUL and can no longer be expired.',
  },
  not_initiated: {
    status: 409,
    title: 'The provider has not confirmed the payment yet',
    cause: "it isn't known yet whether the provider has accepted the payment",
    cure: 'try again in a moment',
    example: 'The provider has not confirmed the payment yet. Try again in a moment.',
  },
  not_cancelable: {
    status: 409,
    title: 'The payout can no longer be cancelled',
    cause: 'a payout was to be withdrawn that was sent, may have been, or has ended',
    cure: 'see `payment`, and wait for its outcome',
    example: 'The payout was sent: the provider has accepted it.',
  },
  not_under_review: {
    status: 409,
    title: 'The payment is not under review',
    cause: "a decision was sent about a payment that isn't in REVIEW",
    cure: 'operators only: see `payment`; there is nothing to decide',
    example: 'The payment is SUCCESSFUL: there is nothing to decide. Refresh it to check its outcome again.',
  },
  resolution_refused: {
    status: 409,
    title: 'The decision was refused',
    cause:
      "the provider's records contradict the decision or can't be read, it came too early, the review has changed since, or it is your own that waits for a second person",
    cure: 'operators only: see `detail` for the reason, and `payment` for the review as it is now; `force`, if it is there, has what the decision would have to overrule',
    example: 'Transaction ntLE9hHMsiKRMFBw already belongs to the payment pay_428b1c9a6c0e4d7f8a1b2c3d4e5f6071.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    cause: 'the body has more than 64 KiB',
    cure: 'send at most 64 KiB',
    example: 'A body may have at most 65536 bytes.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    cause: "the body isn't declared as JSON, or its `Content-Encoding` is unknown",
    cure: 'send `Content-Type: application/json`',
    example: 'Send a JSON object with "Content-Type: application/json".',
  },
  rejected_by_provider: {
    status: 422,
    title: 'The provider rejected the payment',
    cause: 'the provider refused the payment, for example for an insufficient balance. The payment is FAILED',
    cure: "see `detail` for the provider's message; use a new Idempotency-Key for a new attempt",
    example: 'Insufficient balance',
  },
  daily_limit_reached: {
    status: 422,
    title: "The payouts of the day have reached the merchant's limit",
    cause: 'the payout would exceed what the merchant may pay out in a day',
    cure: 'nothing was made: send a smaller payout, or wait until the time in `detail`',
    example: 'Payouts of a day may amount to 2,000,000 XAF at most. The next day begins at 2026-11-21T23:00:00.000Z.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests with one API key',
    cause:
      'the API key made too many requests in a minute, or has too many in progress or waiting, or the merchant has so many that the turn of this one did not come in time. Nothing was done',
    cure: 'repeat after `Retry-After`, with the same Idempotency-Key, and make fewer requests, or fewer at the same time',
    example: 'This API key may make 6000 requests a minute. Try again after the time in Retry-After.',
  },
  too_many_attempts: {
    status: 429,
    title: 'Too many requests without a valid API key',
    cause: 'many requests without a valid API key came from this address',
    cure: 'wait for as long as `Retry-After` says, and send a valid API key',
    example:
      'Too many requests without a valid API key came from this address. Try again after the time in Retry-After.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many simultaneous requests for one payment',
    cause: 'four different requests for this payment are in progress',
    cure: 'repeat after `Retry-After`',
    example: 'Too many requests for this payment are in progress. Try again in a moment.',
  },
  too_many_notifications: {
    status: 429,
    title: 'Too many notifications',
    cause: "more of the provider's notifications came within a minute than are passed on",
    cure: "only for the provider's notifications",
    example: 'Too many notifications. Send this one again after the time in Retry-After.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    cause: 'a mistake in Sanaga. It was logged, with the `requestId`',
    cure: 'repeat with the same Idempotency-Key; if it persists, give your operator the `requestId`',
    example: 'An internal error occurred. It was logged with this requestId.',
  },
  record_unreadable: {
    status: 500,
    title: "The record can't be read",
    cause:
      "there is such a payment, or such a statement, but its record can't be decrypted or is damaged. The payment was made, and may have been paid",
    cure: "don't pay by other means or with another Idempotency-Key: give your operator the `paymentId`, and repeat with the same key once the record can be read",
    example:
      "There was such a payment, and it may have been paid, but its record can't be read. Don't pay it again: tell your operator.",
  },
  provider_refused: {
    status: 502,
    title: 'The provider refused the request',
    cause: 'the provider refused to tell the balance, for example because of wrong credentials',
    cure: 'only for balances: see `detail`, and tell your operator',
    example: 'The provider refused the request for the balance: Invalid credentials',
  },
  temporarily_unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    cause: "Temporal doesn't answer, or no worker does",
    cure: 'repeat after `Retry-After`, with the same Idempotency-Key',
    example: "Payments can't be read or changed at the moment. Try again shortly.",
  },
  no_records: {
    status: 501,
    title: 'This installation keeps no records',
    cause:
      'events, statements or payments with a `financialTransId` were asked for, and the operator has set no database for records',
    cure: "rely on notifications, and on each payment's own list of them; look for payments by another identifier; ask your operator for records",
    example: 'This installation keeps no records (RECORDS_URL is not set), and so no events.',
  },
  records_unavailable: {
    status: 503,
    title: "The records can't be read at the moment",
    cause:
      "the database of the records doesn't answer. A payout or a direct collection isn't made then, because its Idempotency-Key may be an old one; a payment of long ago can't be read, nor can payments be looked for by `financialTransId`. Nothing was sent",
    cure: 'repeat after `Retry-After`, with the same Idempotency-Key',
    example:
      "Nothing was sent: it can't be checked at the moment whether this Idempotency-Key was used long ago. Repeat the request with the same key.",
  },
  provider_unavailable: {
    status: 503,
    title: 'The provider is temporarily unavailable',
    cause: "the provider didn't answer",
    cure: "only for balances and operators' checks of a final payment: repeat after `Retry-After`",
    example: 'The provider did not answer. Try again shortly.',
  },
} as const satisfies Record<string, { status: number; title: string; cause: string; cure: string; example: string }>;
export type ProblemCode = keyof typeof PROBLEMS;

/** What is wrong with one field. `${field} ${message}` is a sentence. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Members of a problem document beside the standard ones. */
interface ProblemExtras {
  readonly errors?: readonly FieldError[] | undefined;
  readonly payment?: Payment | undefined;
  readonly paymentId?: PaymentId | undefined;
  readonly force?: Force | undefined;
  readonly beingMade?: true | undefined;
}

interface ApiErrorOptions extends ProblemExtras {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error that becomes a problem document. The caller sees its detail; its cause is only logged. */
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

/** @param key `malformed`: there is an Authorization, and it isn't a Bearer's */
export const unauthenticated = (key: 'missing' | 'malformed' | 'unknown'): ApiError =>
  key !== 'unknown'
    ? new ApiError(
        'unauthenticated',
        key === 'missing'
          ? 'Send an API key as "Authorization: Bearer <key>".'
          : 'Send the API key as "Authorization: Bearer <key>". What was sent begins otherwise, or has no key or more than one.',
        { headers: { 'WWW-Authenticate': 'Bearer realm="sanaga"' } },
      )
    : new ApiError('unauthenticated', 'The API key is unknown.', {
        headers: { 'WWW-Authenticate': 'Bearer realm="sanaga", error="invalid_token"' },
      });

export const forbidden = (scopes: readonly Scope[]): ApiError =>
  new ApiError('forbidden', `Use an API key with the scope ${scopes.join(' or ')}.`, {
    headers: {
      'WWW-Authenticate': `Bearer realm="sanaga", error="insufficient_scope", scope="${scopes.join(' ')}"`,
    },
  });

/** @param path of the request */
export const notFound = (path = ''): ApiError =>
  new ApiError(
    'not_found',
    /^\/v1\/(collections|payouts)\/[^/]+\/?$/.test(path)
      ? 'Nothing exists at this address. GET /v1/payments/{id} reads a collection or a payout.'
      : "Nothing exists at this address. The API's paths begin with /v1.",
  );

/** Another merchant's payment is not found either, so that nobody learns which ids exist. */
export const paymentNotFound = (): ApiError => new ApiError('not_found', 'This API key has no payment with this id.');

/** For what can be no payment's id, such as the merchant's own: it says how to find the payment by that. */
export const notAPaymentId = (): ApiError =>
  new ApiError(
    'not_found',
    "This isn't a payment's id, which begins with col_ or pay_. Payments are found by other ids with GET /v1/payments: externalId or userId, which are yours; transId, the provider's; financialTransId, the mobile operator's.",
  );

/** By its id, whoever has it. */
export const otherKind = (kind: PaymentKind): ApiError =>
  new ApiError(
    'not_found',
    kind === 'payout'
      ? "This is a payout's id: POST /v1/payouts/{id}/cancel withdraws a payout."
      : "This is a collection's id: POST /v1/collections/{id}/expire ends a collection.",
  );

export const methodNotAllowed = (allow: string): ApiError =>
  new ApiError('method_not_allowed', `This address allows only ${allow}.`, { headers: { Allow: allow } });

export const noSuchNotification = (): ApiError =>
  new ApiError('no_such_notification', 'The payment has no notification with this number, or it is no longer kept.');

const retryAfter = (ms: number) => ({ 'Retry-After': String(Math.ceil(ms / 1_000)) });

/** @param waitMs ms until the next notification is accepted */
export const tooManyNotifications = (waitMs: number): ApiError =>
  new ApiError('too_many_notifications', 'Too many notifications. Send this one again after the time in Retry-After.', {
    headers: retryAfter(waitMs),
  });

/** The payment has the maximum number of requests in flight. */
export const tooManyRequests = (): ApiError =>
  new ApiError('too_many_requests', 'Too many requests for this payment are in progress. Try again in a moment.', {
    headers: retryAfter(1_000),
  });

/**
 * @param perMinute requests that a key may make in a minute
 * @param waitMs ms until it may make the next
 */
export const tooManyOfKey = (perMinute: number, waitMs: number, headers: Readonly<Record<string, string>>): ApiError =>
  new ApiError(
    'rate_limited',
    `This API key may make ${perMinute} requests a minute. Try again after the time in Retry-After.`,
    { headers: { ...headers, ...retryAfter(waitMs) } },
  );

export const tooManyConcurrent = (max: number, headers: Readonly<Record<string, string>>): ApiError =>
  new ApiError(
    'rate_limited',
    `This API key may have ${max} requests in progress at the same time. Wait for some of them to be answered.`,
    { headers: { ...headers, ...retryAfter(1_000) } },
  );

/** @param max requests of a merchant that are carried out at the same time */
export const tooManyActive = (max: number): ApiError =>
  new ApiError(
    'rate_limited',
    `Nothing was done: ${max} requests of this merchant are carried out at the same time, and this one's turn did not come in time. Repeat it, with the same Idempotency-Key.`,
    { headers: retryAfter(1_000) },
  );

export const tooManyWaits = (max: number): ApiError =>
  new ApiError(
    'rate_limited',
    `With this API key, ${max} requests may wait for an outcome at the same time. Ask without "wait", or listen to notifications.`,
    { headers: retryAfter(1_000) },
  );

/** @param waitMs ms until the address may try again */
export const tooManyAttempts = (waitMs: number, headers: Readonly<Record<string, string>> = {}): ApiError =>
  new ApiError(
    'too_many_attempts',
    'Too many requests without a valid API key came from this address. Try again after the time in Retry-After.',
    { headers: { ...retryAfter(waitMs), ...headers } },
  );

/** When a repeated request is likely to succeed, in ms. */
const RETRY_AFTER_MS = 5_000;

/** Temporal doesn't answer, or no worker does. */
export const temporarilyUnavailable = (
  detail = "Payments can't be read or changed at the moment. Try again shortly.",
  { paymentId, cause }: { paymentId?: PaymentId; cause?: unknown } = {},
): ApiError =>
  new ApiError('temporarily_unavailable', detail, { headers: retryAfter(RETRY_AFTER_MS), paymentId, cause });

export const noRecords = (missing: string): ApiError =>
  new ApiError('no_records', `This installation keeps no records (RECORDS_URL is not set), and so no ${missing}.`);

/**
 * A record is there, and can't be read: an operator has to do something about it. Unlike {@link recordsUnavailable}, it
 * is known that something was done.
 */
export const recordUnreadable = (
  detail: string,
  { paymentId, cause }: { paymentId?: PaymentId; cause?: unknown } = {},
): ApiError => new ApiError('record_unreadable', detail, { paymentId, cause });

/** The records can't be read. */
export const recordsUnavailable = (
  detail: string,
  { paymentId, cause }: { paymentId?: PaymentId; cause?: unknown } = {},
): ApiError => new ApiError('records_unavailable', detail, { headers: retryAfter(RETRY_AFTER_MS), paymentId, cause });

/**
 * @param reason for the log only
 * @param retryAfterMs the provider's Retry-After, in ms
 */
export const providerUnavailable = (reason: string, retryAfterMs = RETRY_AFTER_MS): ApiError =>
  new ApiError('provider_unavailable', 'The provider did not answer. Try again shortly.', {
    headers: retryAfter(retryAfterMs),
    cause: reason,
  });

/** A final payment couldn't be compared with the provider's records, because they couldn't be read. */
export const notChecked = (payment: Payment): ApiError =>
  new ApiError(
    'provider_unavailable',
    "The payment couldn't be checked, because the provider did not answer. Sanaga keeps trying; ask again shortly.",
    { headers: retryAfter(RETRY_AFTER_MS), payment },
  );

/** Where a kind of problem is described, relative to the address of the request (RFC 9457 allows that). */
export const problemType = (code: ProblemCode) => `/docs/errors#${code}`;

/** Turns errors into problem documents (RFC 9457). Only an {@link ApiError} shows its message; others are logged. */
export const sendProblem: ErrorRequestHandler = (thrown: unknown, request, response, next) => {
  const record = recordOf(request);
  const error = toApiError(thrown);
  const { code, message: detail, extras } = error;
  const { status, title } = PROBLEMS[code];
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

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  // Express throws these for a path with invalid percent-encoding.
  if (thrown instanceof URIError) {
    return invalidRequest([{ field: 'path', message: 'is not correctly percent-encoded' }]);
  }
  return new ApiError('internal_error', 'An internal error occurred. It was logged with this requestId.', {
    cause: thrown,
  });
}
