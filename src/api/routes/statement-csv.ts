import { setImmediate as letOthersRun } from 'node:timers/promises';
import { CURRENCY } from '../../payments/words/limits.js';
import { SERVICES, type Service } from '../../payments/words/order.js';
import type { StatementLine } from '../../reconciliation/reconciliation.js';
import { type Difference, isSoFar, type ServiceStatement, type Statement } from '../../reconciliation/statement.js';
import { BYTE_ORDER_MARK, type Separator, toCsv } from './csv.js';

/** The columns. `record` says what kind of row it is. */
const COLUMNS = [
  'record',
  'date',
  'service',
  'id',
  'merchant',
  'status',
  'amount',
  'amountPaid',
  'revenue',
  'fee',
  'currency',
  'transId',
  'financialTransId',
  'medium',
  'externalId',
  'refundOf',
  'providerStatus',
  'providerAmount',
  'at',
  'note',
] as const;

type Row = { readonly record: string; readonly service: Service } & Partial<
  Record<(typeof COLUMNS)[number], string | number | Date | undefined>
>;

/**
 * Writes a statement as CSV with a header, as {@link toCsv} does: for each service the opening balance, every payment,
 * the differences, the gaps, the SUCCESSFUL total, and the closing balance. No person is named. The text comes in
 * pieces, so that others get their turn: a day can have tens of thousands of payments.
 *
 * @param isOperator whether balances and merchants are shown
 */
export async function* statementCsv(
  statement: Statement,
  isOperator: boolean,
  separator: Separator = 'comma',
): AsyncGenerator<string> {
  const columns = COLUMNS.filter((column) => isOperator || column !== 'merchant');
  const toText = (rows: readonly Row[], header: boolean) =>
    toCsv(
      rows.map((row) => ({ date: statement.date, currency: CURRENCY, ...row })),
      { columns, header, separator },
    );
  yield BYTE_ORDER_MARK + toText([], true);
  let rows: Row[] = [];
  for (const service of SERVICES) {
    for (const row of rowsOf(statement, service, isOperator)) {
      rows.push(row);
      if (rows.length < ROWS_OF_PIECE) continue;
      yield toText(rows, false);
      rows = [];
      await letOthersRun();
    }
  }
  yield toText(rows, false);
}

/** Rows written without a pause, which takes some milliseconds. */
const ROWS_OF_PIECE = 250;

function* rowsOf(statement: Statement, service: Service, isOperator: boolean): Generator<Row> {
  const { totals, opening, closing, coverage } = statement.services[service];
  const { count, amount } = totals.byStatus.SUCCESSFUL;
  const unknown = totals.withoutFee === 0 ? '' : `, of which ${totals.withoutFee} without a known fee`;
  if (isOperator) yield balanceRow('opening_balance', service, opening);
  for (const line of statement.payments) if (line.kind === service) yield paymentRow(line);
  for (const difference of statement.differences) {
    if (difference.service === service) yield differenceRow(difference);
  }
  for (const note of gapsOf(coverage)) yield { record: 'not_covered', service, note };
  yield {
    record: 'total',
    service,
    status: 'SUCCESSFUL',
    amountPaid: amount,
    revenue: totals.revenue,
    fee: totals.fees,
    note: `${count} payments${unknown}`,
  };
  if (isOperator && !isSoFar(statement)) yield balanceRow('closing_balance', service, closing);
}

function balanceRow(record: string, service: Service, balance: ServiceStatement['opening']): Row {
  return balance === undefined
    ? { record, service, note: 'unknown: the provider could not be asked then' }
    : { record, service, amount: balance.balance, at: new Date(balance.asOf) };
}

function paymentRow(line: StatementLine): Row {
  const { kind: service, createdAt, compared, final: _, ...rest } = line;
  return { record: 'payment', service, at: new Date(createdAt), ...rest, note: compared ? undefined : 'not compared' };
}

function differenceRow({ kind, service, paymentId, text, handling, problem, ...rest }: Difference): Row {
  const { merchant, status, amount, transId, externalId, providerStatus, providerAmount } = rest;
  const note = [kind, text, handling, problem].filter(Boolean).join(' | ');
  const about = { merchant, status, amount, transId, externalId, providerStatus, providerAmount };
  return { record: 'difference', service, id: paymentId, ...about, note };
}

/** Describes the parts of the provider's records that couldn't be seen. */
function gapsOf({ gaps, notCompared, cutOff }: ServiceStatement['coverage']): string[] {
  return [
    ...gaps,
    ...(notCompared === 0 ? [] : [`payments without data: ${notCompared}`]),
    ...(cutOff ? ['payments beyond the number that a statement takes'] : []),
  ];
}
