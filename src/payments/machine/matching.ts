import { xaf } from '../words/limits.js';
import type { PaymentOrder } from '../words/order.js';
import type { PaymentKind } from '../words/payment-id.js';
import type { KnownDifference } from '../words/payment-state.js';
import { PROVIDER_STATUSES, type Transaction, type TransType } from '../words/transaction.js';

/** Returns the provider's word for the direction of an order. */
export function transTypeOf({ kind }: { readonly kind: PaymentKind | PaymentOrder['kind'] }): TransType {
  return kind === 'payout' ? 'Payout' : 'Collection';
}

/**
 * Tells whose a transaction is by the provider's word. It is sent the payment's id as externalId and as userId, and may
 * leave out either. One that names the payment in one and another in the other is disputed, and so is one that another
 * payment goes by, unless it names only others: a person judges it before anything goes by it, and a list that shows it
 * isn't empty.
 */
export function ownerOf(
  id: string,
  { externalId, userId, takenBy }: Pick<Transaction, 'externalId' | 'userId' | 'takenBy'>,
): 'payment' | 'another' | 'disputed' | 'unnamed' {
  const named = [externalId, userId].filter((one) => one !== undefined);
  if (named.length > 0 && !named.includes(id)) return 'another';
  if (takenBy !== undefined) return 'disputed';
  if (named.length === 0) return 'unnamed';
  if (named.every((one) => one === id)) return 'payment';
  return 'disputed';
}

/** A transaction's difference from the order: the field, and words for a person. */
interface OrderDifference {
  readonly field: KnownDifference['field'];
  readonly words: string;
  /** The transaction's amount, where that differs; XAF. */
  readonly amount?: number;
}

/**
 * Finds how a transaction differs from the order; `undefined` when it doesn't. A field that the provider leaves out
 * doesn't differ: it promises none but the id and the status.
 */
export function differenceOf(order: PaymentOrder, transaction: Transaction): OrderDifference | undefined {
  const { transId, amount, externalId, userId, transType, status, takenBy } = transaction;
  if (takenBy !== undefined && isDisputed(order, transaction)) {
    return { field: 'taken', words: `transaction ${transId} is that of the payment ${takenBy} already` };
  }
  if (!mayBeOwn(order, transaction)) {
    const named = externalId === undefined || externalId === order.id ? userId : externalId;
    return {
      field: isDisputed(order, transaction) ? 'names' : 'externalId',
      words: `transaction ${transId} was made for ${named}, not for ${order.id}`,
    };
  }
  if (amount !== undefined && amount !== order.amount) {
    const words = `transaction ${transId} is of ${xaf(amount)}, and the order of ${xaf(order.amount)}`;
    return { field: 'amount', words, amount };
  }
  if (transType !== undefined && transType !== transTypeOf(order)) {
    const words = `transaction ${transId} is a ${transType}, and the order a ${transTypeOf(order)}`;
    return { field: 'transType', words };
  }
  if (!possibleStatuses(order).includes(status)) {
    return {
      field: 'status',
      words: `transaction ${transId} is ${status}, which only a payment link can be`,
    };
  }
  return undefined;
}

/** Describes a transaction's difference from the order, as {@link differenceOf} finds it. */
export function disagreement(order: PaymentOrder, transaction: Transaction): string | undefined {
  return differenceOf(order, transaction)?.words;
}

function possibleStatuses(order: PaymentOrder): readonly string[] {
  return order.kind === 'link' ? PROVIDER_STATUSES : PROVIDER_STATUSES.filter((status) => status !== 'EXPIRED');
}

/** Reports whether a transaction names nobody but the payment. */
export function mayBeOwn(order: PaymentOrder, transaction: Transaction): boolean {
  const owner = ownerOf(order.id, transaction);
  return owner === 'payment' || owner === 'unnamed';
}

/** Reports whether a transaction names the payment, and another; or another goes by it. */
export function isDisputed(order: PaymentOrder, transaction: Transaction): boolean {
  return ownerOf(order.id, transaction) === 'disputed';
}

/** The finding of a look-up in the provider's list. */
export type LookUpResult =
  | { readonly kind: 'absent' }
  | { readonly kind: 'found'; readonly transaction: Transaction }
  /** Made for this payment, but not what was ordered. */
  | { readonly kind: 'mismatch'; readonly reason: string }
  /** More than one transaction for one payment: money may move twice. */
  | { readonly kind: 'several'; readonly reason: string };

/**
 * Finds the payment's transaction among those listed under its id as userId. One that names another payment is left
 * out; one that names none was listed for this payment, so it is this payment's.
 */
export function findOwn(order: PaymentOrder, transactions: readonly Transaction[]): LookUpResult {
  const own = ownAmong(order, transactions);
  const disputed = transactions.find((one) => isDisputed(order, one));
  if (disputed !== undefined) return { kind: 'mismatch', reason: disagreement(order, disputed) ?? '' };
  const [first] = own;
  if (first === undefined) return { kind: 'absent' };
  if (own.length > 1) {
    const ids = own.map(({ transId }) => transId).join(', ');
    return { kind: 'several', reason: `the provider has several transactions for this payment: ${ids}` };
  }
  const reason = disagreement(order, first);
  return reason === undefined ? { kind: 'found', transaction: first } : { kind: 'mismatch', reason };
}

/** Selects the listed transactions that may be the payment's, each once. */
export function ownAmong(order: PaymentOrder, transactions: readonly Transaction[]): Transaction[] {
  return transactions.filter(
    (one, index) => mayBeOwn(order, one) && transactions.findIndex(({ transId }) => transId === one.transId) === index,
  );
}
