import { WriteStream } from 'node:tty';
import Table from 'cli-table3';
import { createLogUpdate } from 'log-update';
import type { DemoResult, Row } from './run-scenario.js';

/** Shows the demo's progress. */
export interface DemoView {
  /** A row has changed. */
  show(rows: readonly Row[], changed: Row): void;
  finish(rows: readonly Row[], result: DemoResult): void;
  /** The demo has failed: leaves the screen as it is. */
  leave(): void;
}

type Output = Pick<WriteStream, 'write'>;

export interface Streams {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** A live table in a terminal, lines of text elsewhere, or JSON lines. */
export function demoView(json: boolean, { stdout, stderr }: Streams): DemoView {
  if (json) return jsonView(stdout, stderr);
  // A dumb terminal can't move the cursor, and one without a size, as some CI services have, shows nothing that is
  // redrawn.
  const isLive = stdout instanceof WriteStream && process.env.TERM !== 'dumb' && stdout.rows > 0;
  return isLive ? liveView(stdout) : plainView(stdout);
}

/** One JSON line on stdout for each payment when it has ended, and the progress on stderr. */
function jsonView(stdout: Output, stderr: Output): DemoView {
  const progress = progressLines(stderr);
  return {
    show(_, changed) {
      progress(changed);
      const line = changed.done ? jsonOf(changed) : undefined;
      if (line !== undefined) stdout.write(`${line}\n`);
    },
    finish: (_, result) => stderr.write(closing(result)),
    leave: () => undefined,
  };
}

/** One line for each change, and the table at the end. */
function plainView(stdout: Output): DemoView {
  const progress = progressLines(stdout);
  return {
    show: (_, changed) => progress(changed),
    finish(rows, result) {
      const look = { width: Number.POSITIVE_INFINITY, color: false, address: 'full' } as const;
      stdout.write(`\n${paymentTable(rows, look)}\n\n${closing(result)}`);
    },
    leave: () => undefined,
  };
}

/** The table, redrawn at each change, with hyperlinks. At the end, the addresses are printed in full below it. */
function liveView(terminal: WriteStream): DemoView {
  const screen = createLogUpdate(terminal);
  const draw = (rows: readonly Row[]) => {
    screen(paymentTable(rows, { width: terminal.columns, color: terminal.hasColors(), address: 'link' }));
  };
  return {
    show: draw,
    finish(rows, result) {
      draw(rows);
      screen.done();
      const width = Math.max(...rows.map(({ scenario }) => scenario.name.length));
      const links = rows.map(({ scenario, payment }) => {
        return `  ${scenario.name.padEnd(width)}  ${payment?.temporalUrl ?? ''}\n`;
      });
      terminal.write(`\nIn Temporal's Web UI, while this ran:\n${links.join('')}\n${closing(result)}`);
    },
    leave: () => screen.done(),
  };
}

/** Prints each new status of a payment. */
function progressLines(stream: Output): (row: Row) => void {
  const begun = performance.now();
  const printed = new Map<string, string>();
  return ({ scenario, payment, problems }) => {
    const problem = problems.length > 0 ? ` (${problems.join('; ')})` : '';
    const state = `${payment?.status ?? 'not created'}${payment?.final ? ', final' : ''}${problem}`;
    if (printed.get(scenario.name) === state) return;
    printed.set(scenario.name, state);
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1).padStart(5);
    stream.write(`${seconds} s  ${scenario.name}: ${state}\n`);
  };
}

function closing({ problems, summary }: DemoResult): string {
  return `${problems.map((problem) => `problem: ${problem}\n`).join('')}demo: ${summary}\n`;
}

/** A payment's line with `--json`: the interface of the demo to other programs. */
export function jsonOf({ payment, ms, events }: Row): string | undefined {
  if (payment === undefined) return undefined;
  const { id, kind, method, status, final, temporalUrl } = payment;
  return JSON.stringify({
    id,
    kind,
    method: method ?? null,
    status,
    final,
    ms: ms ?? null,
    events: events ?? null,
    url: temporalUrl ?? null,
  });
}

/** The look of the table. */
export interface TableLook {
  /** In characters. Columns that matter less are left out to fit. */
  readonly width: number;
  readonly color: boolean;
  /** Each payment's address in the Web UI in full, or as a hyperlink of the terminal. */
  readonly address: 'full' | 'link';
}

interface Column {
  readonly head: string;
  readonly width: number;
  readonly align: 'left' | 'right';
  /** The column with the highest number is left out first; one with 0, never. */
  readonly dispensable: number;
  readonly cell: (row: Row, look: TableLook) => Table.Cell;
}

const GAP = 2;
const LINK_TEXT = 12;

const number = (value: number | undefined) => value?.toLocaleString('en-US') ?? '';

const COLUMNS: readonly Column[] = [
  { head: 'Payment', width: 34, align: 'left', dispensable: 0, cell: ({ scenario }) => scenario.name },
  { head: 'Kind', width: 10, align: 'left', dispensable: 2, cell: ({ payment }) => payment?.kind },
  { head: 'Method', width: 6, align: 'left', dispensable: 3, cell: ({ payment }) => payment?.method },
  { head: 'XAF', width: 6, align: 'right', dispensable: 0, cell: ({ payment }) => number(payment?.amount) },
  { head: 'Status', width: 10, align: 'left', dispensable: 0, cell: statusCell },
  {
    head: 'Final',
    width: 5,
    align: 'left',
    dispensable: 1,
    cell: ({ payment }) => payment && (payment.final ? 'yes' : 'no'),
  },
  { head: 'ms', width: 6, align: 'right', dispensable: 0, cell: ({ ms }) => number(ms) },
  { head: 'Events', width: 6, align: 'right', dispensable: 4, cell: ({ events }) => number(events) },
  { head: 'Web UI', width: LINK_TEXT, align: 'left', dispensable: 5, cell: addressCell },
];

/** The payments as a table without borders. */
export function paymentTable(rows: readonly Row[], look: TableLook): string {
  const columns = fitting(look.width);
  const table = new Table({
    head: columns.map(({ head }) => head),
    colAligns: columns.map(({ align }) => align),
    // Without a width, the column is as wide as the longest address.
    colWidths: columns.map(({ head, width }) => (look.address === 'full' && head === 'Web UI' ? null : width + GAP)),
    chars: NO_LINES,
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => columns.map(({ cell }) => cell(row, look) ?? '')));
  return table.toString().replace(/(?<! ) +$/gm, '');
}

function fitting(width: number): Column[] {
  let columns = [...COLUMNS];
  const needed = () => columns.reduce((sum, column) => sum + column.width + GAP, 0);
  while (needed() > width) {
    const most = Math.max(...columns.map(({ dispensable }) => dispensable));
    if (most === 0) break;
    columns = columns.filter(({ dispensable }) => dispensable < most);
  }
  return columns;
}

function statusCell({ payment, problems }: Row, { color }: TableLook): string {
  if (problems.length > 0) return paint(payment?.status ?? 'ERROR', RED, color);
  if (payment === undefined) return '…';
  return paint(payment.status, payment.final ? GREEN : YELLOW, color);
}

function addressCell({ payment }: Row, { address }: TableLook): Table.Cell {
  const url = payment?.temporalUrl;
  if (payment === undefined || url === undefined) return '';
  return address === 'full' ? url : { content: payment.id.slice(0, LINK_TEXT), href: url };
}

const [RED, GREEN, YELLOW] = [31, 32, 33];

function paint(text: string, code: number, color: boolean): string {
  return color ? `\u001b[${code}m${text}\u001b[39m` : text;
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
} as const;
