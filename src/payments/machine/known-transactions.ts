import { isFinal } from '../words/order.js';
import type { TransId } from '../words/payment-id.js';
import { isKnownTransaction, type OtherTransaction, type PaymentState } from '../words/payment-state.js';
import type { ProviderStatus, Transaction } from '../words/transaction.js';
import { ownerOf } from './matching.js';
import { paidClaimUntil } from './paid-claims.js';

/** The most further transactions that are remembered, unless more of them can move money. */
const MAX_OTHERS = 20;

/** Marks the payment as possibly accepted twice: whatever its outcome, it is checked again afterwards. */
export function markPossiblyDouble(payment: PaymentState): PaymentState {
  return { ...payment, sends: { ...payment.sends, mayBeDouble: true } };
}

/** Reports whether a transaction is this payment's: the provider says so, or has done so before. */
export function isOfPayment(payment: PaymentState, transaction: Transaction): boolean {
  return isKnownTransaction(payment, transaction.transId) || ownerOf(payment.order.id, transaction) === 'payment';
}

/** Remembers the status that the provider has shown of the payment's own transaction. Ignores an old answer. */
export function withShown(payment: PaymentState, transId: TransId, status: ProviderStatus): PaymentState {
  const known = payment.lastShown?.transId === transId ? payment.lastShown : undefined;
  const latest = latestOf(payment, known, status);
  if (known?.status === latest) return payment;
  const wasPaid = known?.wasPaid === true || latest === 'SUCCESSFUL';
  return { ...payment, lastShown: { transId, status: latest, ...(wasPaid && { wasPaid }) } };
}

/**
 * Reports whether a transaction has moved money, or may still move it by itself. A link that is CREATED or FAILED is
 * neither this nor {@link cannotMoveMoney}: only a payer who was given it can pay it.
 */
export function canMoveMoney({ order }: PaymentState, status: ProviderStatus): boolean {
  return order.kind === 'link'
    ? status === 'SUCCESSFUL' || status === 'PENDING'
    : status !== 'FAILED' && status !== 'EXPIRED';
}

/** Remembers a further transaction. With the status that a decision took it for, it stays decided. */
export function withTransaction(payment: PaymentState, transaction: Transaction): PaymentState {
  const known = payment.others.find((other) => other.transId === transaction.transId);
  const changed = shownAs(payment, known, transaction);
  if (known?.status === changed.status && known.amount === changed.amount) return payment;
  return {
    ...payment,
    others: selectRemembered(payment, [...payment.others.filter((other) => other !== known), changed]),
  };
}

/** Returns a further transaction after an answer, which may leave out its amount. */
function shownAs(
  payment: PaymentState,
  known: OtherTransaction | undefined,
  { transId, status, amount = known?.amount }: Transaction,
): OtherTransaction {
  return { ...known, transId, status: latestOf(payment, known, status), ...(amount !== undefined && { amount }) };
}

/** Selects the further transactions to remember: all that can move money, and the latest of the rest. */
function selectRemembered(payment: PaymentState, others: readonly OtherTransaction[]): readonly OtherTransaction[] {
  const spare = others.filter((other) => !isOpen(payment, other)).slice(0, Math.max(0, others.length - MAX_OTHERS));
  return spare.length === 0 ? others : others.filter((other) => !spare.includes(other));
}

/**
 * Returns the status of a transaction after an answer that may be an old one. Only its end can come after
 * SUCCESSFUL, and a link that somebody has tried to pay isn't CREATED again.
 */
export function latestOf(
  payment: PaymentState,
  known: Pick<OtherTransaction, 'status'> | undefined,
  status: ProviderStatus,
): ProviderStatus {
  if (known === undefined) return status;
  const isOld =
    (known.status === 'SUCCESSFUL' && !cannotMoveMoney(payment, status)) ||
    (payment.order.kind === 'link' && status === 'CREATED');
  return isOld ? known.status : status;
}

/**
 * Reports whether the provider has ever shown this transaction of the payment as SUCCESSFUL: its latest answer may be
 * an old one.
 */
export function hasBeenPaid({ others, lastShown }: PaymentState, transId: TransId): boolean {
  const known = others.find((other) => other.transId === transId);
  return known?.status === 'SUCCESSFUL' || (lastShown?.transId === transId && lastShown.wasPaid === true);
}

/**
 * Reports whether a transaction may have been paid: the provider has shown it so, or a hint says so, and may yet be
 * confirmed.
 */
export function mayBePaid(payment: PaymentState, transId: TransId, now: number): boolean {
  return hasBeenPaid(payment, transId) || paidClaimUntil(payment, transId, now) !== undefined;
}

/** Tells why a transaction may have been paid, though the provider doesn't say so now. */
export function whyPaid(payment: PaymentState, transId: TransId): string {
  return hasBeenPaid(payment, transId)
    ? `the provider has shown ${transId} (SUCCESSFUL) for this payment`
    : `a notification says that ${transId} has been paid, and the provider hasn't confirmed that yet`;
}

/**
 * Reports whether a further transaction has moved money, or can still move it, for all that is known. Of links that
 * nobody is paying, only those count that a decision has left: the merchant may have been given one of them.
 */
export function isOpen(payment: PaymentState, { status, decidedAs }: OtherTransaction): boolean {
  return canMoveMoney(payment, status) || (decidedAs !== undefined && !cannotMoveMoney(payment, status));
}

/** Finds a further transaction that has moved money, or can still move it. */
export function openOther(payment: PaymentState): OtherTransaction | undefined {
  return payment.others.find((other) => isOpen(payment, other));
}

/** Tells why a transaction that has moved no money doesn't end the payment. */
export function whyNotEnded(transId: TransId, status: ProviderStatus, open: OtherTransaction): string {
  return `${transId} is ${status}, but the provider has another transaction for this payment: ${open.transId} (${open.status})`;
}

/**
 * Remembers the transactions that a review is about: one of them may be matched, and the others must not be forgotten.
 */
export function withPossibleDoubles(payment: PaymentState, transactions: readonly Transaction[]): PaymentState {
  return withTransactions(markPossiblyDouble(payment), transactions);
}

/** Remembers transactions of the payment. */
export function withTransactions(payment: PaymentState, transactions: readonly Transaction[]): PaymentState {
  const added = transactions.map((transaction) =>
    shownAs(
      payment,
      payment.others.find(({ transId }) => transId === transaction.transId),
      transaction,
    ),
  );
  const kept = payment.others.filter(({ transId }) => !added.some((one) => one.transId === transId));
  return { ...payment, others: selectRemembered(payment, [...kept, ...added]) };
}

/** Reports whether a transaction has moved no money, and never will. Not the opposite of {@link canMoveMoney}. */
export function cannotMoveMoney(payment: PaymentState, status: ProviderStatus): boolean {
  return status === 'EXPIRED' || (status !== 'SUCCESSFUL' && isFinal(payment.order, status));
}
