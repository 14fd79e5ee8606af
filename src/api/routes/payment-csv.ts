import type { PaymentSummary } from '../../payments/words/payment.js';
import { BYTE_ORDER_MARK, type Separator, toCsv } from './csv.js';

/** The columns of a list as CSV; operators have another with the merchant. */
export const CSV_COLUMNS = [
  'id',
  'kind',
  'method',
  'status',
  'final',
  'amount',
  'amountPaid',
  'currency',
  'revenue',
  'fee',
  'medium',
  'transId',
  'failureCode',
  'reason',
  'externalId',
  'userId',
  'refundOf',
  'createdAt',
  'updatedAt',
  'metadata',
] as const satisfies readonly (keyof PaymentSummary)[];

/** A payment of a list; one that can't be read has its id alone. */
type CsvRow = { readonly [Name in Exclude<keyof PaymentSummary, 'createdAt' | 'updatedAt'>]?: unknown } & {
  readonly createdAt?: string;
  readonly updatedAt?: string | undefined;
  readonly merchant?: string;
};

/**
 * Payments as CSV with a header, as {@link toCsv} writes it.
 *
 * @param isOperator whether merchants are shown
 */
export function paymentCsv(rows: readonly CsvRow[], isOperator: boolean, separator: Separator = 'comma'): string {
  const columns = isOperator ? [...CSV_COLUMNS, 'merchant'] : CSV_COLUMNS;
  const inDouala = rows.map((row) => ({
    ...row,
    ...(row.createdAt !== undefined && { createdAt: new Date(row.createdAt) }),
    ...(row.updatedAt !== undefined && { updatedAt: new Date(row.updatedAt) }),
  }));
  return BYTE_ORDER_MARK + toCsv(inDouala, { columns, header: true, separator });
}
