import { MINIMUM_AMOUNT, xaf } from '../words/limits.js';
import type { TransId } from '../words/payment-id.js';
import { isFinalPayment, otherAmountOf, type PaymentState, statusOf, transIdOf } from '../words/payment-state.js';
import type { Transaction } from '../words/transaction.js';
import { isOpen } from './known-transactions.js';

/*
 * The refunds of a collection: in every state, what was or may have been sent stays within what was collected. The book
 * has each refund's amount count from its order on, and then what {@link sentBy} says.
 */

/** Sums up refunds, in XAF. */
function sumOf(refunds: readonly { readonly amount: number }[]): number {
  return refunds.reduce((sum, { amount }) => sum + amount, 0);
}

/**
 * Returns how much of a refund was sent or may have been, in XAF. Nothing of one that has ended without money, and has
 * nothing left to check. In any other state at least its amount, and as long as checks are left the amounts of all its
 * requests.
 */
export function sentBy(refund: PaymentState): number {
  const { order, phase, sends } = refund;
  const further = sumOf(furtherOf(refund));
  const isSettled = phase.kind === 'ended' && phase.checks.length === 0 && !phase.outstanding?.length;
  if (isSettled && phase.status !== 'SUCCESSFUL') return further;
  const shown = ownOf(refund) + further;
  if (isSettled) return shown;
  const requests = sends.count + (phase.kind === 'sending' ? 1 : 0);
  return Math.max(shown, order.amount * Math.max(requests, 1));
}

/** Returns the amount of the transaction that a refund goes by; nothing while there is none. */
function ownOf(refund: PaymentState): number {
  const transId = transIdOf(refund);
  if (transId === undefined) return 0;
  const { order, facts } = refund;
  return Math.max(order.amount, facts.amountPaid ?? 0, otherAmountOf(refund, transId) ?? 0);
}

/** Lists a refund's further transactions that have moved money, or can still move it. */
function furtherOf(refund: PaymentState): { readonly amount: number }[] {
  const { order, others } = refund;
  return others.filter((one) => isOpen(refund, one)).map(({ amount = order.amount }) => ({ amount }));
}

/**
 * Returns what was collected, in XAF: the payment's own transaction, and further ones of it that were paid, where the
 * provider has given their amounts. `undefined` while that isn't certain.
 */
export function collectedBy(collection: PaymentState): number | undefined {
  const paid = paidFor(collection);
  return paid && sumOf(paid);
}

/** A transaction that a collection was paid by; XAF. */
export interface Paid {
  readonly transId: TransId;
  readonly amount: number;
}

/** Lists what a collection was paid by; `undefined` while that isn't certain. */
function paidFor(collection: PaymentState): readonly Paid[] | undefined {
  const { order, phase, facts, acceptedDifference, others } = collection;
  if (order.kind === 'payout' || phase.kind !== 'ended' || phase.status !== 'SUCCESSFUL') return undefined;
  if (phase.transId === undefined) return undefined;
  // An operator may have matched a transaction of another amount. The latest answer may leave it out, or all of them.
  const moved = facts.amountPaid ?? otherAmountOf(collection, phase.transId);
  const own = moved ?? (acceptedDifference === undefined ? order.amount : 0);
  const further = others.filter(({ transId, status }) => status === 'SUCCESSFUL' && transId !== phase.transId);
  return [{ transId: phase.transId, amount: own }, ...further.map(({ transId, amount = 0 }) => ({ transId, amount }))];
}

/**
 * Whether a refund may be sent, by its collection as it is now. What is `gone` doesn't come back by itself; what is
 * `doubtful` may.
 */
export type Standing =
  /** `toSpare`: what would be left beside the refund, in XAF. */
  | { readonly kind: 'stands'; readonly paid: readonly Paid[]; readonly toSpare: number }
  | { readonly kind: 'gone' | 'doubtful'; readonly why: string };

/**
 * Tells whether a refund may be sent: its order was checked against the collection as it was then.
 *
 * @param amount the refund's, in XAF
 * @param others what the collection's other refunds count for, in XAF
 */
export function standingOf(collection: PaymentState, amount: number, others: number): Standing {
  const { id } = collection.order;
  const paid = paidFor(collection);
  if (paid === undefined) {
    const kind = isFinalPayment(collection) ? 'gone' : 'doubtful';
    return { kind, why: `the collection ${id} is ${statusOf(collection)}` };
  }
  const toSpare = sumOf(paid) - others - amount;
  if (toSpare >= 0) return { kind: 'stands', paid, toSpare };
  const left = `${xaf(sumOf(paid))} were collected, and other refunds have ${xaf(others)} of that`;
  return { kind: 'gone', why: `${xaf(amount)} are more than the collection ${id} has left: ${left}` };
}

/**
 * Tells whether a collection still stands, by what the provider shows now of a transaction that it was paid by.
 *
 * @returns `undefined` when the provider shows it as it was
 */
export function contradictionOf(
  { transId, amount }: Paid,
  { status, amount: shown = amount }: Pick<Transaction, 'status' | 'amount'>,
  toSpare: number,
): Exclude<Standing, { readonly kind: 'stands' }> | undefined {
  if (status !== 'SUCCESSFUL') {
    const kind = status === 'FAILED' || status === 'EXPIRED' ? 'gone' : 'doubtful';
    return { kind, why: `the provider now shows the transaction ${transId}, which was collected, as ${status}` };
  }
  if (shown >= amount) return undefined;
  const why = `the provider now shows ${xaf(shown)} for the transaction ${transId}, where ${xaf(amount)} were collected`;
  return { kind: amount - shown > toSpare ? 'gone' : 'doubtful', why };
}

/** Returns how much can still be refunded, in XAF: nothing when the rest is less than the provider's minimum. */
export function refundableOf(collected: number | undefined, counted: number): number {
  const rest = (collected ?? 0) - counted;
  return rest < MINIMUM_AMOUNT ? 0 : rest;
}
