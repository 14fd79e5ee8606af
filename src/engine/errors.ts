import { xaf } from '../payments/words/limits.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { dayOf, endOfDay, isoTime } from '../payments/words/time.js';

/*
 * The engine's errors, one for each thing that can be in a caller's way. They know neither HTTP nor who asks: each
 * front door says in its own words what they mean (src/api/engine-problems.ts).
 */

/** An error that the engine expects. Any other is a mistake. */
abstract class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The book or Temporal doesn't answer. The request may or may not have taken effect. */
export class Unavailable extends ExpectedError {
  readonly kind = 'unavailable';

  constructor(message = "Payments can't be read or changed at the moment. Try again shortly.", cause?: unknown) {
    super(message, { cause });
  }
}

/** The payment may or may not have been started: the merchant must find out before paying again. */
export class StartUncertain extends ExpectedError {
  readonly kind = 'startUncertain';

  /** @param repeatable repeating the request leads to the same payment */
  constructor(
    readonly paymentId: PaymentId,
    readonly repeatable: boolean,
    cause: unknown,
  ) {
    super('the payment may or may not have been accepted', { cause });
  }
}

/** The payment's id belongs to another request. */
export class KeyReused extends ExpectedError {
  readonly kind = 'keyReused';

  /** @param isErased the other request can't be compared, because its payer's data was erased */
  constructor(
    readonly paymentId: PaymentId,
    readonly isErased: boolean,
  ) {
    super('the payment was started by another request');
  }
}

/** There is no payment with this id. */
export class PaymentNotFound extends ExpectedError {
  readonly kind = 'paymentNotFound';

  constructor() {
    super('there is no payment with this id');
  }
}

/** The limit of the provider's notifications is exceeded. */
export class TooManyNotifications extends ExpectedError {
  readonly kind = 'tooManyNotifications';

  /** @param waitMs ms until the next is taken */
  constructor(readonly waitMs: number) {
    super('too many notifications');
  }
}

/** The amount is more than the merchant may collect or pay out at a time. */
export class AmountTooLarge extends ExpectedError {
  readonly kind = 'amountTooLarge';

  /** @param max in XAF */
  constructor(readonly max: number) {
    super(`the amount is more than ${xaf(max)}`);
  }
}

/** The payout would exceed what the merchant may pay out in a day. */
export class DailyLimitReached extends ExpectedError {
  readonly kind = 'dailyLimitReached';

  /**
   * @param max in XAF
   * @param total the day's payouts so far, in XAF, if they were counted
   * @param at a time of the day, in ms since the epoch
   * @param isDated the payout has that day as its date
   */
  constructor(max: number, total: number | undefined, at: number, isDated: boolean) {
    const when = isDated ? `for ${dayOf(at)}` : 'today';
    const soFar = total === undefined ? '' : ` Payouts of ${xaf(total)} have been ordered ${when}.`;
    const next = isDated ? 'Date this one to another day: the next' : 'The next day';
    super(`Payouts of a day may amount to ${xaf(max)} at most.${soFar} ${next} begins at ${isoTime(endOfDay(at))}.`);
  }
}

/** The collection that an order refunds isn't SUCCESSFUL. */
export class NotRefundable extends ExpectedError {
  readonly kind = 'notRefundable';

  constructor() {
    super('only a collection that is SUCCESSFUL can be refunded');
  }
}

/** A refund's collection has less left than the refund. */
export class MoreThanRefundable extends ExpectedError {
  readonly kind = 'moreThanRefundable';

  constructor() {
    super('the collection has less left than the refund');
  }
}

/** A refund was ordered without an approval that it takes, since others of its collection came between. */
export class TakesApproval extends ExpectedError {
  readonly kind = 'takesApproval';

  constructor() {
    super("the collection's refunds take an approval together");
  }
}

/** The errors that any request may meet. */
export type EngineError =
  | Unavailable
  | StartUncertain
  | KeyReused
  | PaymentNotFound
  | TooManyNotifications
  | AmountTooLarge
  | DailyLimitReached
  | NotRefundable
  | MoreThanRefundable
  | TakesApproval;

/** Reports whether the engine expects an error, so that a caller can be told of it. */
export function isEngineError(error: unknown): error is EngineError {
  return error instanceof ExpectedError;
}
