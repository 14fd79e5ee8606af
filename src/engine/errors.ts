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

/** Temporal doesn't answer, or no worker does. The request may or may not have taken effect. */
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

/** The records can't be read at the moment. The message names what needs them. */
export class RecordsUnavailable extends ExpectedError {
  readonly kind = 'recordsUnavailable';
}

/** The installation keeps no records. */
export class NoRecords extends ExpectedError {
  readonly kind = 'noRecords';

  /** @param missing the data or feature that is therefore missing */
  constructor(readonly missing: string) {
    super(`without records there is no ${missing}`);
  }
}

/** The payment, or a record of it, exists and can't be read. An operator has to do something about it. */
export class RecordUnreadable extends ExpectedError {
  readonly kind = 'recordUnreadable';

  /** @param cause for the log */
  constructor(
    readonly paymentId: PaymentId,
    cause?: unknown,
  ) {
    super(
      "There was such a payment, and it may have been paid, but its record can't be read. Don't pay it again: tell your operator.",
      { cause },
    );
  }
}

/** The payment has as many updates in flight as merchants may have at a time. */
export class TooManyUpdates extends ExpectedError {
  readonly kind = 'tooManyUpdates';

  constructor() {
    super('Too many requests for this payment are in progress. Try again in a moment.');
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

/** Temporal's limits are too small for this payment. */
export class PaymentTooLarge extends ExpectedError {
  readonly kind = 'paymentTooLarge';

  /** @param limit in Temporal's words */
  constructor(limit: string, cause: unknown) {
    super(
      `Temporal can't keep a payment as large as this (${limit}): nothing came of the request. Send less in metadata.`,
      { cause },
    );
  }
}

/** The payment's workflow was stopped by hand: it asks nothing and does nothing. */
export class Stopped extends Error {
  override readonly name = 'Stopped';

  constructor() {
    super("the payment's workflow was stopped by hand");
  }
}

/** The errors that any request may meet. {@link Stopped} isn't one: those who ask expect it. */
export type EngineError =
  | Unavailable
  | StartUncertain
  | KeyReused
  | PaymentNotFound
  | RecordsUnavailable
  | NoRecords
  | RecordUnreadable
  | TooManyUpdates
  | TooManyNotifications
  | AmountTooLarge
  | DailyLimitReached
  | PaymentTooLarge;

/** Reports whether the engine expects an error, so that a caller can be told of it. */
export function isEngineError(error: unknown): error is EngineError {
  return error instanceof ExpectedError;
}
