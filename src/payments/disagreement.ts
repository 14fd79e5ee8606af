import { CURRENCY } from './limits.js';
import type { PaymentOrder } from './order.js';
import { PROVIDER_STATUSES, type Transaction, type TransType } from './transaction.js';

/** The provider's word for the direction of an order. */
export function transTypeOf(order: Pick<PaymentOrder, 'kind'>): TransType {
  return order.kind === 'collection' ? 'Collection' : 'Payout';
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
  if (!possible(order).includes(status)) {
    return `transaction ${transId} is ${status}, which only a payment link can be`;
  }
  return undefined;
}

function possible(order: PaymentOrder): readonly string[] {
  return order.method === 'link'
    ? PROVIDER_STATUSES
    : PROVIDER_STATUSES.filter((status) => status !== 'EXPIRED');
}
