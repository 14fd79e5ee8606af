import { ownerOf } from '../payments/machine/matching.js';
import type { PaymentOrder } from '../payments/words/order.js';
import type { ListAnswer } from '../payments/words/outcome.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { Transaction } from '../payments/words/transaction.js';
import type { CallOptions } from '../provider/calls.js';
import type { ProviderClient } from '../provider/client.js';

/**
 * The most transactions that a look-up returns. Its result becomes part of the payment's state, and more than one
 * already needs a person's decision.
 */
const MAX_LISTED = 20;

/** The most characters of an identifier that a look-up returns. */
const MAX_IDENTIFIER = 500;

/**
 * Lists the payment's transactions, and those that name no payment, at most {@link MAX_LISTED} in all. Other payments'
 * transactions are left out: they must not get into this payment's state.
 */
export async function listOwn(
  provider: ProviderClient,
  { id, kind }: Pick<PaymentOrder, 'id' | 'kind'>,
  call: CallOptions,
): Promise<ListAnswer> {
  const answer = await provider.transactionsOf(id, kind === 'direct', call);
  return answer.kind === 'listed' ? { ...answer, transactions: ownFirst(id, answer.transactions) } : answer;
}

/** The payment's transactions, and those that name no payment: these come last, so that the limit drops them first. */
function ownFirst(paymentId: PaymentId, listed: readonly Transaction[]): readonly Transaction[] {
  const named = listed.filter((one) => ownerOf(paymentId, one) === 'payment');
  const disputed = listed.filter((one) => ownerOf(paymentId, one) === 'disputed');
  const unnamed = listed.filter((one) => ownerOf(paymentId, one) === 'unnamed');
  return [...named, ...disputed, ...unnamed].slice(0, MAX_LISTED).map(withoutLongTexts);
}

/** Shortens the two identifiers that the provider's interface doesn't limit: the client reads lists of up to 8 MiB. */
function withoutLongTexts(transaction: Transaction): Transaction {
  const { financialTransId, userId } = transaction;
  return {
    ...transaction,
    financialTransId: financialTransId?.slice(0, MAX_IDENTIFIER),
    userId: userId?.slice(0, MAX_IDENTIFIER),
  };
}
