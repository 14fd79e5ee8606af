import type { RefundSums } from '../engine/refunds.js';
import { Problem, retryAfter } from '../http/problem.js';
import type { Force } from '../payments/words/decision.js';
import type { Payment } from '../payments/words/payment.js';
import type { PaymentId, PaymentKind } from '../payments/words/payment-id.js';
import { PROBLEMS, type ProblemCode } from '../schemas/problems.js';

interface ApiErrorOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
  readonly payment?: Payment | undefined;
  readonly paymentId?: PaymentId | undefined;
  readonly force?: Force | undefined;
  readonly transactionAmount?: number | undefined;
  readonly beingMade?: true | undefined;
  readonly sums?: RefundSums | undefined;
}

/** A problem of the API's, one of {@link PROBLEMS}. */
export class ApiError extends Problem {
  override readonly name = 'ApiError';

  constructor(code: ProblemCode, detail: string, { headers = {}, cause, sums, ...extras }: ApiErrorOptions = {}) {
    super(code, PROBLEMS[code], detail, { headers, cause, extras: { ...extras, ...sums } });
  }
}

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

/**
 * The payment is a collection and the call is for payouts, or the reverse.
 *
 * @param kind by the id, whoever has it
 * @param instead what does to such a payment what was wanted, or that nothing does
 */
export const otherKind = (kind: PaymentKind, instead: string): ApiError =>
  new ApiError('not_found', `This is a ${kind}'s id: ${instead}.`);

export const methodNotAllowed = (allow: string): ApiError =>
  new ApiError('method_not_allowed', `This address allows only ${allow}.`, { headers: { Allow: allow } });

export const noSuchNotification = (): ApiError =>
  new ApiError('no_such_notification', 'The payment has no notification with this number.');

/** A request repeated after this time is likely to succeed, in ms. */
const RETRY_AFTER_MS = 5_000;

/** The book or Temporal doesn't answer. */
export const temporarilyUnavailable = (
  detail: string,
  { paymentId, cause }: { paymentId?: PaymentId; cause?: unknown } = {},
): ApiError =>
  new ApiError('temporarily_unavailable', detail, { headers: retryAfter(RETRY_AFTER_MS), paymentId, cause });

/** It is there, and can't be read: an operator has to do something about it. */
export const recordUnreadable = (
  detail: string,
  { paymentId, cause }: { paymentId?: PaymentId; cause?: unknown } = {},
): ApiError => new ApiError('record_unreadable', detail, { paymentId, cause });

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
