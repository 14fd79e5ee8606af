import Table from 'cli-table3';
import type { Row } from './row.js';

/** How a table is to look. */
export interface TableLook {
  /** Characters that fit side by side; columns that matter less are left out to fit. */
  readonly width: number;
  readonly color: boolean;
  /** The whole address of each payment in the Web UI, or a short link for a terminal that makes it one. */
  readonly address: 'full' | 'link';
}

interface Column {
  readonly head: string;
  readonly width: number;
  readonly align: 'left' | 'right';
  /** The one with the highest is left out first; 0 never is. */
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

/** The payments as a table without lines, for a terminal or a file. */
export function paymentTable(rows: readonly Row[], look: TableLook): string {
  const columns = fitting(look.width);
  const table = new Table({
    head: columns.map(({ head }) => head),
    colAligns: columns.map(({ align }) => align),
    // Without a limit of its own, an address takes the room that it needs.
    colWidths: columns.map(({ head, width }) =>
      look.address === 'full' && head === 'Web UI' ? null : width + GAP,
    ),
    chars: NO_LINES,
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => columns.map(({ cell }) => cell(row, look) ?? '')));
  return table.toString().replace(/ +$/gm, '');
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
