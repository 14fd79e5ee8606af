import type { ErrorCode, FieldError, Force, Open, Payment, ProblemDocument } from './types.js';

/** Base of every error of this client, except a TypeError for an argument that can't be right. */
export class SanagaError extends Error {
  override readonly name: string = 'SanagaError';
}

/**
 * There is no answer: the connection failed or broke. A request that changes something fails with an
 * {@link OutcomeUnknownError} instead, unless it is certain that nothing was sent.
 */
export class ConnectionError extends SanagaError {
  override readonly name: string = 'ConnectionError';

  constructor(
    message: string,
    /** `false` when the request certainly didn't reach the API. */
    readonly sent: boolean,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

/** There is no answer within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';

  constructor(readonly timeoutMs: number) {
    super(`Sanaga did not answer within ${timeoutMs} ms.`, true, undefined);
  }
}

/** The answer isn't Sanaga's: most likely it comes from a proxy, or `baseUrl` is wrong. */
export class UnexpectedResponseError extends SanagaError {
  override readonly name = 'UnexpectedResponseError';

  constructor(
    message: string,
    readonly status: number,
    /** Wait in ms, from the header Retry-After. */
    readonly retryAfterMs: number | undefined,
  ) {
    super(message);
  }
}

/** An error document: the API's, or one with no more than a code and a message. */
export interface Problem extends Partial<Omit<ProblemDocument, 'force'>> {
  readonly code: string;
  readonly detail: string;
  /** As a decision takes it. */
  readonly force?: Force;
}

/** The API refused the request or failed, and gave a reason. The message is the API's `detail`. */
export class ApiError extends SanagaError {
  override readonly name: string = 'ApiError';
  /** Stable; see docs/errors.md. A later version of the API can have others than these. */
  readonly code: Open<ErrorCode>;
  /** Give this to your operator. */
  readonly requestId: string | undefined;
  /** The mistake in each field; empty when the request's fields are fine. */
  readonly errors: readonly FieldError[];
  /** The payment as it is now, where the error is about one. */
  readonly payment: Payment | undefined;
  /** The payment that the error is about. */
  readonly paymentId: string | undefined;
  /** The `force` with which an operator's decision is accepted despite the objection. */
  readonly force: Force | undefined;
  /** The amount of a refused match's transaction, where it differs from the order; XAF. */
  readonly transactionAmount: number | undefined;
  /** What can still be refunded of the collection, where a refund was refused because of it; XAF. */
  readonly refundable: number | undefined;

  constructor(
    readonly status: number,
    problem: Problem,
    /** Wait in ms, from the header Retry-After. */
    readonly retryAfterMs: number | undefined,
  ) {
    super(problem.detail);
    this.code = problem.code;
    this.requestId = problem.requestId;
    this.errors = problem.errors ?? [];
    this.payment = problem.payment;
    this.paymentId = problem.paymentId ?? problem.payment?.id;
    this.force = problem.force;
    this.transactionAmount = problem.transactionAmount;
    this.refundable = problem.refundable;
  }
}

/** The request itself is wrong. `errors` says which fields are. */
export class InvalidRequestError extends ApiError {
  override readonly name = 'InvalidRequestError';
}

/** The API key is missing or unknown. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
}

/** The API key lacks the scope that the message names, or is of the person who ordered what it was to approve. */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError';
}

/** There is no such payment or notification, or it isn't yours. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/**
 * The Idempotency-Key was used for another request, by the payment `paymentId`. Read that first: it may be paid, and
 * the same order with another key would be paid besides it.
 */
export class IdempotencyError extends ApiError {
  override readonly name = 'IdempotencyError';
}

/** The payment isn't in a state that allows this: see `payment`. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/** The provider rejected the payment. `payment` is FAILED. Once it is final, another attempt takes a key of its own. */
export class PaymentRejectedError extends ApiError {
  override readonly name = 'PaymentRejectedError';
}

/** More than you may pay out in a day, or than is left to refund. Nothing was sent. */
export class LimitError extends ApiError {
  override readonly name = 'LimitError';
}

/** Too many requests: repeat after `retryAfterMs`. Nothing was done. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}

/** Sanaga or the provider is unavailable at the moment: repeat after `retryAfterMs`. */
export class UnavailableError extends ApiError {
  override readonly name = 'UnavailableError';
}

/** Something went wrong at Sanaga or the provider. */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

const CLASSES: Readonly<Record<ErrorCode, typeof ApiError>> = {
  invalid_request: InvalidRequestError,
  malformed_json: InvalidRequestError,
  idempotency_key_required: InvalidRequestError,
  invalid_idempotency_key: InvalidRequestError,
  phone_required: InvalidRequestError,
  method_not_allowed: InvalidRequestError,
  body_too_large: InvalidRequestError,
  unsupported_media_type: InvalidRequestError,
  unauthenticated: AuthenticationError,
  forbidden: PermissionError,
  same_person: PermissionError,
  not_found: NotFoundError,
  no_such_notification: NotFoundError,
  idempotency_key_reused: IdempotencyError,
  not_a_link: ConflictError,
  not_expirable: ConflictError,
  not_initiated: ConflictError,
  not_cancelable: ConflictError,
  not_held: ConflictError,
  digest_mismatch: ConflictError,
  not_refundable: ConflictError,
  refundable_mismatch: ConflictError,
  not_under_review: ConflictError,
  resolution_refused: ConflictError,
  rejected_by_provider: PaymentRejectedError,
  daily_limit_reached: LimitError,
  more_than_refundable: LimitError,
  rate_limited: RateLimitError,
  too_many_attempts: RateLimitError,
  too_many_notifications: RateLimitError,
  internal_error: ServerError,
  provider_refused: ServerError,
  record_unreadable: ServerError,
  temporarily_unavailable: UnavailableError,
  provider_unavailable: UnavailableError,
};

/** The error of an error document. A code of a later version of the API gets the class of its status. */
export function toApiError(status: number, problem: Problem, retryAfterMs: number | undefined): ApiError {
  const { code } = problem;
  const Class = isErrorCode(code) ? CLASSES[code] : classOfStatus(status);
  return new Class(status, problem, retryAfterMs);
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(CLASSES, code);
}

function classOfStatus(status: number): typeof ApiError {
  if (status === 429) return RateLimitError;
  if (status === 503) return UnavailableError;
  return status >= 500 ? ServerError : ApiError;
}

/**
 * Nobody can say whether a request that changes something took effect: there was no answer, or an unclear one. The
 * `cause` is the last failure. A payment may have been created, and be paid.
 *
 * - When you were creating a payment, repeat the call with this `idempotencyKey` and the same parameters. That never
 *   pays twice. With another key, it might.
 * - Otherwise, read the payment to see what became of it.
 */
export class OutcomeUnknownError extends SanagaError {
  override readonly name = 'OutcomeUnknownError';
  /** The key to repeat the request with. Only for requests that create a payment. */
  readonly idempotencyKey: string | undefined;
  /** The payment, where it is known. */
  readonly paymentId: string | undefined;

  constructor(
    facts: { readonly idempotencyKey: string | undefined; readonly paymentId: string | undefined },
    cause: unknown,
  ) {
    super(`${whatToDo(facts)} (${cause instanceof Error ? cause.message : String(cause)})`, { cause });
    this.idempotencyKey = facts.idempotencyKey;
    this.paymentId = facts.paymentId;
  }
}

function whatToDo({ idempotencyKey, paymentId }: Pick<OutcomeUnknownError, 'idempotencyKey' | 'paymentId'>) {
  if (idempotencyKey !== undefined) {
    return `It isn't known whether the payment was created. Repeat the request with the Idempotency-Key ${idempotencyKey}: that never pays twice.`;
  }
  const subject = paymentId === undefined ? 'the payment' : `the payment ${paymentId}`;
  return `It isn't known whether the request took effect. Read ${subject} to find out.`;
}

/** The payment wasn't final in time. That says nothing about its outcome. */
export class WaitTimeoutError extends SanagaError {
  override readonly name = 'WaitTimeoutError';

  constructor(
    readonly timeoutMs: number,
    /** The payment when it was last read. */
    readonly payment: Payment,
  ) {
    super(`The payment ${payment.id} is ${payment.status}, and not final after ${timeoutMs} ms.`);
  }
}

/** Some payments of a list can't be read at the moment, so the list would have a gap. */
export class IncompleteListError extends SanagaError {
  override readonly name = 'IncompleteListError';

  constructor(
    /** The payment that can't be read. */
    readonly paymentId: string,
    cause?: unknown,
  ) {
    super(`The payment ${paymentId} belongs in the list, but can't be read at the moment.`, { cause });
  }
}

/** Reason why a webhook isn't accepted. */
export type WebhookRefusal =
  /** One of the headers webhook-id, webhook-timestamp and webhook-signature is missing. */
  | 'missing_header'
  /** webhook-timestamp isn't a time. */
  | 'invalid_timestamp'
  /** It was signed longer ago than the tolerance: it is old, or this machine's clock is wrong. */
  | 'too_old'
  /** It was signed in the future: this machine's clock is wrong. */
  | 'too_new'
  /** It wasn't signed with any of the secrets, or was changed on the way. */
  | 'wrong_signature'
  /** It is signed correctly, but isn't a notification of Sanaga's. */
  | 'invalid_payload';

/** A webhook isn't Sanaga's, or not of this moment: answer 400, and do nothing else. */
export class WebhookVerificationError extends SanagaError {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly reason: WebhookRefusal,
    message: string,
  ) {
    super(message);
  }
}
