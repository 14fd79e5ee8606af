import { CURRENCY } from './limits.js';
import type { PaymentOrder } from './order.js';
import { PROVIDER_STATUSES, type Transaction, type TransType } from './transaction.js';

/** The provider's word for the direction of an order. */
export function transTypeOf(order: Pick<PaymentOrder, 'kind'>): TransType {
  return { collection: 'Collection', payout: 'Payout' }[order.kind] as TransType;
}

/** Whether a transaction was made for the order. The provider is sent the payment's id as externalId and as userId. */
export function isOwn(order: PaymentOrder, { externalId, userId }: Transaction): boolean {
  return externalId === undefined ? userId === order.id : externalId === order.id;
}

/**
 * How a transaction differs from what was ordered, in words for a person; `undefined` when it doesn't. What the
 * provider leaves out can't differ, since its interface doesn't promise any field but the id and the status.
 */
export function disagreement(order: PaymentOrder, transaction: Transaction): string | undefined {
  const { transId, amount, externalId, transType, status } = transaction;
  if (externalId !== undefined && externalId !== order.id) {
    return `transaction ${transId} was made for ${externalId}, not for ${order.id}`;
  }
  if (amount !== undefined && amount !== order.amount) {
    return `transaction ${transId} is of ${amount} ${CURRENCY}, ordered were ${order.amount} ${CURRENCY}`;
  }
  if (transType !== undefined && transType !== transTypeOf(order)) {
    return `transaction ${transId} is a ${transType}, ordered was a ${transTypeOf(order)}`;
  }
  if (!possibleStatuses(order).includes(status)) {
    return `transaction ${transId} is ${status}, which only a payment link can be`;
  }
  return undefined;
}

function possibleStatuses(order: PaymentOrder): readonly string[] {
  return order.method === 'link'
    ? PROVIDER_STATUSES
    : PROVIDER_STATUSES.filter((status) => status !== 'EXPIRED');
}

/** What the provider's list says of the payment that it was asked for. */
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
  const [first] = own;
  if (first === undefined) return { kind: 'absent' };
  if (own.length > 1) {
    const ids = own.map(({ transId }) => transId).join(', ');
    return { kind: 'several', reason: `the provider has several transactions for this payment: ${ids}` };
  }
  const reason = disagreement(order, first);
  return reason === undefined ? { kind: 'found', transaction: first } : { kind: 'mismatch', reason };
}

/** Those of a list under the payment's id that may be the payment's, each once. */
export function ownAmong(order: PaymentOrder, transactions: readonly Transaction[]): Transaction[] {
  return transactions.filter(
    ({ externalId, transId }, index) =>
      (externalId === undefined || externalId === order.id) &&
      transactions.findIndex((other) => other.transId === transId) === index,
  );
}
