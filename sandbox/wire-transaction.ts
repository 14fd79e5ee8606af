import type { WireTransaction } from '../src/provider/schemas.js';
import type { Entry, Status } from './entry.js';

/** The service's fee in the sandbox: 2 % of the amount, rounded up to a whole XAF. */
const feeOf = (amount: number): number => Math.ceil((amount * 2) / 100);

/** The calendar date of a time, in UTC: the provider doesn't say whose midnight it goes by. */
export const dateOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);

/** How an answer is to differ from the truth; nothing differs unless a fault says so. */
export interface Showing {
  /** A status it had before. */
  readonly as?: Status | undefined;
  /** By how much the dates are off, in ms. */
  readonly skewMs?: number | undefined;
}

/**
 * An entry as the Transaction resource. The provider doesn't say which field comes in which state; here `medium` comes
 * once it is known (for a link: from the first attempt on), `revenue`, `financialTransId` and `dateConfirmed` when
 * SUCCESSFUL, `reason` when FAILED, and the rest as it was given.
 */
export function wireTransaction(entry: Entry, { as, skewMs = 0 }: Showing = {}): WireTransaction {
  const status = as ?? entry.status;
  const paid = status === 'SUCCESSFUL' && entry.confirmedAt !== undefined;
  return {
    transId: entry.transId,
    status,
    medium: entry.medium,
    serviceName: entry.serviceName,
    transType: entry.service === 'payout' ? 'Payout' : 'Collection',
    amount: entry.amount,
    revenue: paid ? entry.amount - feeOf(entry.amount) : undefined,
    payerName: entry.payerName,
    email: entry.email,
    redirectUrl: entry.redirectUrl,
    externalId: entry.externalId,
    userId: entry.userId,
    webhook: entry.webhook,
    reason: status === 'FAILED' ? entry.reason : undefined,
    financialTransId: paid ? entry.financialTransId : undefined,
    dateInitiated: dateOf(entry.createdAt + skewMs),
    dateConfirmed: paid && entry.confirmedAt !== undefined ? dateOf(entry.confirmedAt + skewMs) : undefined,
  };
}
