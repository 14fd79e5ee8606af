import type { Book } from '../book/book.js';
import { type FoundPayment, type RefundedSums, sumRefunds } from '../book/payments.js';
import { collectedBy, refundableOf } from '../payments/machine/refunds.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { isFinalPayment, type PaymentState } from '../payments/words/payment-state.js';

/** The sums of a collection's refunds, in XAF. */
export interface RefundSums {
  /** `undefined` while it isn't known. */
  readonly collected: number | undefined;
  /** Refunds that have arrived. */
  readonly refunded: number;
  /** Refunds that were sent or may have been, or that are to be. */
  readonly refunding: number;
  readonly refundable: number;
}

/** Refunds that a collection may have, whatever became of them. */
export const MAX_REFUNDS = 100;

/**
 * Reads the sums of a collection's refunds.
 *
 * @param without the refund that is asked for, which may have been ordered already
 * @returns the sums, and how many refunds there are
 * @throws {BookUnavailable}
 */
export async function readRefundSums(
  book: Book,
  collection: PaymentState,
  without?: PaymentId,
): Promise<RefundSums & { readonly count: number }> {
  const sums = await sumRefunds(book, collection.order.id, without);
  return { ...toSums(collection, sums), count: sums.count };
}

function toSums(collection: PaymentState, { counted, refunded }: RefundedSums): RefundSums {
  const collected = collectedBy(collection);
  return {
    collected: collected ?? (isFinalPayment(collection) ? 0 : undefined),
    refunded,
    refunding: counted - refunded,
    refundable: refundableOf(collected, counted),
  };
}

/**
 * Reads the sums that a payment is shown with: those of a collection that was paid, or that is under review and has
 * refunds.
 *
 * @throws {BookUnavailable}
 */
export async function shownSums(
  book: Book,
  { kind, status, kept: { state } }: FoundPayment,
): Promise<Omit<RefundSums, 'collected'> | undefined> {
  if (kind !== 'collection' || (status !== 'SUCCESSFUL' && status !== 'REVIEW')) return undefined;
  const { count, collected, ...sums } = await readRefundSums(book, state);
  return (status === 'SUCCESSFUL' ? collected !== undefined : sums.refunded + sums.refunding > 0) ? sums : undefined;
}
