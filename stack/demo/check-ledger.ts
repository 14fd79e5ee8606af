import type { LedgerEntry } from './ledger.js';
import type { Row } from './row.js';

/**
 * What Sanaga says of a payment against what truly happened at the provider: exactly one transaction, of its status
 * and amount, and in its direction. Gives one line for each difference.
 */
export function ledgerProblems({ payment, scenario }: Row, ledger: readonly LedgerEntry[]): string[] {
  if (payment === undefined) return [];
  const own = ledger.filter(({ transaction }) => transaction.externalId === payment.id);
  const [entry] = own;
  if (entry === undefined) return ['the provider has no transaction of it'];
  const { transaction } = entry;
  const direction = payment.kind === 'payout' ? 'Payout' : 'Collection';
  const differences = [
    own.length === 1 ? undefined : `the provider has ${own.length} transactions of it`,
    transaction.transId === payment.transId
      ? undefined
      : `the provider calls it ${transaction.transId}, not ${payment.transId}`,
    transaction.status === payment.status
      ? undefined
      : `the provider says ${transaction.status}, not ${payment.status}`,
    transaction.amount === payment.amount ? undefined : `the provider says ${transaction.amount} XAF`,
    transaction.transType === direction ? undefined : `the provider says ${transaction.transType}`,
    scenario.proof?.(entry),
  ];
  return differences.filter((difference) => difference !== undefined);
}

/** Transactions of the provider that belong to none of the payments. */
export function strayTransactions(rows: readonly Row[], ledger: readonly LedgerEntry[]): string[] {
  const ids = new Set(rows.map(({ payment }) => payment?.id));
  return ledger
    .filter(({ transaction }) => !ids.has(transaction.externalId))
    .map(({ transaction }) => `the provider has a transaction ${transaction.transId} that nobody asked for`);
}
