import type { TransId } from '../payments/payment-id.js';
import type { Transaction } from '../payments/transaction.js';
import { providerText } from './provider-text.js';
import type { WireTransaction } from './wire.js';

/** A transaction id as the provider gave it. */
export function toTransId(text: string): TransId {
  return text as TransId;
}

/**
 * What Sanaga keeps of a transaction as the provider tells it. Each field is named here, so that the payer's name and
 * e-mail, and whatever the provider adds one day, stay out; `reason` is masked, as it may repeat them.
 */
export function toTransaction(wire: WireTransaction): Transaction {
  return {
    transId: toTransId(wire.transId),
    status: wire.status,
    transType: wire.transType,
    amount: wire.amount,
    medium: wire.medium,
    revenue: wire.revenue,
    reason: wire.reason === undefined ? undefined : providerText(wire.reason),
    financialTransId: wire.financialTransId,
    externalId: wire.externalId,
    userId: wire.userId,
  };
}
