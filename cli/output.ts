import { styleText } from 'node:util';
import Table from 'cli-table3';
import type { Payment, PaymentStatus } from '../client/index.js';
import { amountOf } from '../src/payments/words/limits.js';
import { TIME_ZONE } from '../src/payments/words/time.js';
import { EXIT } from './run.js';
import { note } from './terminal.js';

export { amountOf, xaf } from '../src/payments/words/limits.js';
export { note, print, printCsv, printJson, shown } from './terminal.js';

type Format = Parameters<typeof styleText>[0];

/** Colours text, if stdout is a terminal and NO_COLOR doesn't forbid it. */
export function paint(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

const COLOURS: Readonly<Record<PaymentStatus, Format> & Record<string, Format | undefined>> = {
  CREATED: 'dim',
  PENDING: 'yellow',
  SUCCESSFUL: 'green',
  FAILED: 'red',
  EXPIRED: 'red',
  REVIEW: ['bold', 'magenta'],
};

/** The status, and whether it is the outcome. */
export function statusOf({ status, final }: Pick<Payment, 'status' | 'final'>): string {
  return paint(COLOURS[status] ?? 'dim', final ? `${status}, final` : status);
}

export function kindOf({ kind, method, refundOf }: Pick<Payment, 'kind' | 'method' | 'refundOf'>): string {
  if (refundOf !== undefined) return 'refund';
  if (method === undefined) return kind;
  return method === 'link' ? 'collection by link' : 'direct collection';
}

/** Fields shown in the first line, or of no use to a reader. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'id',
  'object',
  'kind',
  'method',
  'status',
  'final',
  'amount',
  'amountPaid',
  'currency',
]);

/** A payment: a line that says what it is, then its fields by their names in the API. */
export function describePayment(payment: Payment): string {
  const head = `${paint('bold', payment.id)}  ${amountOf(payment)}  ${kindOf(payment)}  ${statusOf(payment)}`;
  return [head, ...fieldLines(payment)].join('\n');
}

function fieldLines(payment: Payment): string[] {
  const fields = Object.entries(payment).flatMap(([name, value]: [string, unknown]) => {
    if (LEFT_OUT.has(name) || value === false) return [];
    return valuesOf(name, value);
  });
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, text]) => `  ${paint('dim', name.padEnd(width))}  ${text}`);
}

/** Times of the API: those within a payment are shown as in the tables. */
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

/** The values of a field and of those within it, each by its path; a list of words is one value. */
function valuesOf(name: string, value: unknown): (readonly [string, string])[] {
  if (typeof value === 'string' && TIME.test(value) && !name.startsWith('metadata.')) {
    return [[name, `${timeOf(value)} (Douala)`]];
  }
  if (typeof value !== 'object' || value === null) return [[name, String(value)]];
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) {
    return value.length === 0 ? [] : [[name, value.join(', ')]];
  }
  return Object.entries(value).flatMap(([inner, one]) => valuesOf(`${name}.${inner}`, one));
}

/** Rows in columns, with a head and without lines. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
): string {
  const made = new Table({
    head: head.map((text) => paint('dim', text)),
    colAligns: head.map((text) => (right.includes(text) ? 'right' : 'left')),
    chars: NO_LINES,
    style: { 'padding-left': 0, 'padding-right': 2, head: [], border: [], compact: true },
  });
  made.push(...rows.map((row) => [...row]));
  return made.toString().replace(/(?<! ) +$/gm, '');
}

const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'left', 'right']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat('mid', 'mid-mid', 'middle')
    .map((name) => [name, '']),
);

/**
 * A time of the API as clocks in Douala show it, which is the day of statements and of the desk: `2026-11-21 09:20:32`.
 */
export function timeOf(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return at.toLocaleString('sv-SE', { timeZone: TIME_ZONE });
}

/**
 * The exit code of a command that has sent a payment on its way, or has found it there: not 0 for one that has failed,
 * or that nobody may take for paid. Says so, unless the output is JSON.
 */
export function underWayCode({ id, status, final, reason }: Payment, json: boolean | undefined): number {
  const isFailed = final && status !== 'SUCCESSFUL';
  if (!isFailed && status !== 'REVIEW') return EXIT.ok;
  const why = reason === undefined ? '' : ` (${reason})`;
  const what = isFailed
    ? `The payment is ${status}${why}: no money moves by it any more.`
    : `The payment is under review${why}: its money may have moved. Wait for the outcome: sanaga get ${id} --wait`;
  if (!json) note(what);
  return isFailed ? EXIT.failed : EXIT.unknown;
}

/** The exit code that tells the outcome of a payment. */
export function outcomeCode({ status, final }: Pick<Payment, 'status' | 'final'>): number {
  if (!final) return EXIT.unknown;
  return status === 'SUCCESSFUL' ? EXIT.ok : EXIT.failed;
}
