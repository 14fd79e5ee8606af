import { BookUnavailable } from '../book/database.js';
import { UnreadableRecordError } from '../book/versioned-json.js';
import { type EngineError, isEngineError } from '../engine/errors.js';
import { invalidRequest, Problem, retryAfter } from '../http/problem.js';
import { xaf } from '../payments/words/limits.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { ApiError, paymentNotFound, recordUnreadable, temporarilyUnavailable } from './api-error.js';

/**
 * An error as the problem that it is answered with; `undefined` for a mistake of ours.
 *
 * @param paymentId the payment that the request was about
 */
export function toProblem(error: unknown, paymentId?: PaymentId): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof BookUnavailable) return temporarilyUnavailable(AWAY, { cause: error });
  if (error instanceof UnreadableRecordError) {
    return recordUnreadable(UNREADABLE, { cause: error, ...(paymentId && { paymentId }) });
  }
  return isEngineError(error) ? problemOf(error) : undefined;
}

const AWAY = "Payments can't be read or changed at the moment. Try again shortly.";

const UNREADABLE =
  "There was such a payment, and it may have been paid, but its record can't be read. Don't pay it again: tell your operator.";

/** Translates an error of the engine into a problem of the API. */
function problemOf(error: EngineError): Problem {
  const { message, cause = error } = error;
  switch (error.kind) {
    case 'unavailable':
      return temporarilyUnavailable(message, { cause });
    case 'takesApproval':
      return temporarilyUnavailable('Other refunds of the collection were ordered meanwhile. Try again.', { cause });
    case 'startUncertain': {
      const { paymentId, repeatable } = error;
      const next = repeatable
        ? 'Repeat the request with the same Idempotency-Key: it never pays twice.'
        : `Check /v1/payments/${paymentId} before sending it again.`;
      return temporarilyUnavailable(`The payment may or may not have been accepted. ${next}`, { paymentId, cause });
    }
    case 'keyReused': {
      const { paymentId, isErased } = error;
      const first = 'Look at that first: it may be paid, and another key would pay besides it.';
      const detail = isErased
        ? `This Idempotency-Key was used by the payment ${paymentId}, whose payer's data was erased since, so that it can't be said whether it had this body. ${first}`
        : `This Idempotency-Key was used with another body, by the payment ${paymentId}. ${first}`;
      return new ApiError('idempotency_key_reused', detail, { paymentId });
    }
    case 'paymentNotFound':
      return paymentNotFound();
    case 'tooManyNotifications': {
      const detail = 'Too many notifications. Send this one again after the time in Retry-After.';
      return new ApiError('too_many_notifications', detail, { headers: retryAfter(error.waitMs) });
    }
    case 'amountTooLarge':
      return invalidRequest([{ field: 'amount', message: `must be at most ${xaf(error.max)}` }]);
    case 'dailyLimitReached':
      return new ApiError('daily_limit_reached', message);
    case 'notRefundable':
      return new ApiError('not_refundable', `${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
    case 'moreThanRefundable':
      return new ApiError('more_than_refundable', `${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  }
}
