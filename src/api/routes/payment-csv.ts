import { stringify } from 'csv-stringify/sync';
import type { PaymentSummary } from '../../payments/words/payment.js';

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
type CsvRow = { readonly [Name in keyof PaymentSummary]?: unknown } & { readonly merchant?: string };

/**
 * Payments as CSV (RFC 4180) with a header, safe to open in a spreadsheet: a text that it would take for a formula
 * begins with an apostrophe. Metadata can be anybody's words. Where the decimal separator is a comma, as in French,
 * spreadsheets may take a semicolon for the end of a cell, even within quotes: so it is written as JSON can also write
 * it.
 *
 * @param isOperator whether merchants are shown
 */
export function paymentCsv(rows: readonly CsvRow[], isOperator: boolean): string {
  return stringify([...rows], {
    columns: isOperator ? [...CSV_COLUMNS, 'merchant'] : [...CSV_COLUMNS],
    header: true,
    // Without it, Excel takes UTF-8 for another encoding.
    bom: true,
    record_delimiter: 'windows',
    escape_formulas: true,
    cast: { boolean: String, object: (value) => JSON.stringify(value).replaceAll(';', '\\u003b') },
  });
}
