import { type PaymentOrder, sendAtOf } from '../words/order.js';
import type { PaymentId } from '../words/payment-id.js';

/**
 * The payouts of a merchant's day, counted against the merchant's limit for a day. Each counts on the first day on
 * which it may be sent, whatever becomes of it.
 */
export interface CountedPayouts {
  /** The sum of all that were counted, in XAF. */
  readonly total: number;
  /** The latest that were counted. One of them that is counted again, because its request is repeated, adds nothing. */
  readonly latest: readonly CountedPayout[];
}

/** A payout and its amount, in XAF. */
export interface CountedPayout {
  readonly id: PaymentId;
  readonly amount: number;
}

/**
 * Returns a time of the day that a payout counts on, in ms since the epoch: that of its date, or of the order, which
 * somebody may approve at once.
 */
export function countedAt(order: PaymentOrder, now: number): number {
  return Math.max(now, sendAtOf(order) ?? now);
}

export const NO_PAYOUTS: CountedPayouts = { total: 0, latest: [] };

/**
 * Number of payouts that are remembered. A request is repeated soon, if at all; one that is repeated after so many
 * others, and has no payment yet, counts twice. That errs on the side of paying less.
 */
const REMEMBERED = 1_000;

/** Sums up payouts. @param payouts each once, the latest at the end */
export function sumUp(payouts: readonly CountedPayout[]): CountedPayouts {
  return {
    total: payouts.reduce((sum, { amount }) => sum + amount, 0),
    latest: payouts.slice(-REMEMBERED),
  };
}

/**
 * Counts payouts in their order, each if the limit leaves room for it.
 *
 * @param max the limit of the day's payouts, in XAF
 * @returns whether each was counted, by its place: one id may stand in a batch with two amounts, of which only one has
 *   room
 */
export function countPayouts(
  before: CountedPayouts,
  payouts: readonly CountedPayout[],
  max: number,
): { readonly counted: CountedPayouts; readonly isAccepted: readonly boolean[] } {
  let counted = before;
  const isAccepted = payouts.map((payout) => {
    const withIt = withPayout(counted, payout, max);
    counted = withIt ?? counted;
    return withIt !== undefined;
  });
  return { counted, isAccepted };
}

/** Counts a payout; `undefined` when it would exceed the limit. */
function withPayout(payouts: CountedPayouts, payout: CountedPayout, max: number): CountedPayouts | undefined {
  const before = payouts.latest.find(({ id }) => id === payout.id);
  const counted = before?.amount ?? 0;
  // Repeated with another amount, it may be either of the two that is paid.
  const amount = Math.max(counted, payout.amount);
  if (before !== undefined && amount === counted) return payouts;
  const total = payouts.total - counted + amount;
  if (total > max) return undefined;
  const others = payouts.latest.filter(({ id }) => id !== payout.id);
  return { total, latest: [...others, { id: payout.id, amount }].slice(-REMEMBERED) };
}
