import type { PaymentOrder } from './order.js';
import type { ProviderStatus } from './transaction.js';

/**
 * Whether the provider will never move a transaction on from this status. A link's payer may try again after FAILED,
 * so a link ends as SUCCESSFUL or EXPIRED; a direct payment and a payout end as SUCCESSFUL or FAILED.
 */
export function isFinal(order: Pick<PaymentOrder, 'method'>, status: ProviderStatus): boolean {
  if (status === 'SUCCESSFUL') return true;
  return order.method === 'link' ? status === 'EXPIRED' : status === 'FAILED';
}
