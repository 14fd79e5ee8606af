import { disagreement } from './disagreement.js';
import type { PaymentOrder } from './order.js';
import type { Transaction } from './transaction.js';

/** What a look-up after an ambiguous POST says of the payment it was for. */
export type Finding =
  | { readonly kind: 'absent' }
  | { readonly kind: 'found'; readonly transaction: Transaction }
  /** Made for this payment, but not what was ordered. */
  | { readonly kind: 'mismatch'; readonly reason: string }
  /** More than one transaction for one payment: money may move twice. */
  | { readonly kind: 'several'; readonly reason: string }
  /** Something that could be ours, but doesn't say for which payment it was made. */
  | { readonly kind: 'unclear'; readonly reason: string };

/**
 * Finds the payment's own transaction among those listed for its user: the one whose externalId is the payment's
 * id. Others of the same user, of the same amount even, are other payments. One without an externalId, which the
 * provider doesn't promise to give, is ours when the user listed is the payment itself, and may be ours otherwise.
 */
export function findOwn(order: PaymentOrder, transactions: readonly Transaction[]): Finding {
  const unnamed = transactions.filter(({ externalId }) => externalId === undefined);
  const named = transactions.filter(({ externalId }) => externalId === order.id);
  const own = order.userId === undefined ? [...named, ...unnamed] : named;
  const [first] = own;
  if (own.length > 1)
    return {
      kind: 'several',
      reason: `the provider has several transactions for this payment: ${idsOf(own)}`,
    };
  if (first !== undefined) {
    const reason = disagreement(order, first);
    return reason === undefined ? { kind: 'found', transaction: first } : { kind: 'mismatch', reason };
  }
  const possible = unnamed.filter((transaction) => disagreement(order, transaction) === undefined);
  return possible.length === 0
    ? { kind: 'absent' }
    : { kind: 'unclear', reason: `the provider doesn't say what these were made for: ${idsOf(possible)}` };
}

function idsOf(transactions: readonly Transaction[]): string {
  return transactions.map(({ transId }) => transId).join(', ');
}

/** The userId that the provider is sent: the merchant's, or else the payment's own id, so that a look-up finds just it. */
export function sentUserId(order: PaymentOrder): string {
  return order.userId ?? order.id;
}
