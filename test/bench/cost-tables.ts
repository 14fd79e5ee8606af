import { table } from '../../bench/document.js';
import { monthlyBill } from './cloud-bill.js';
import type { PaymentCost } from './cost-meter.js';

/** The budget of each kind of payment, as docs/performance.md shows it, and what follows from it. */

const COLUMNS = {
  events: 'events',
  workflowTasks: 'workflow tasks',
  actions: 'Cloud actions',
  historyBytes: 'history, bytes at most',
  stateTransitions: 'state transitions',
  providerCalls: 'provider calls',
  apiCalls: "API's calls to Temporal",
  workerCalls: "worker's calls to Temporal",
  notifications: 'merchant notifications',
} as const satisfies Record<keyof PaymentCost, string>;

const FIGURES = Object.keys(COLUMNS) as (keyof PaymentCost)[];

/** Histories differ by some bytes from payment to payment, since times and ids aren't all of one length. */
const BYTES_ABOVE = 1.02;
const BYTES_STEP = 100;
/** A budget that is further above what is used than this no longer guards anything. */
const MAX_BYTES_ABOVE = 1.06;

export type Budgets = ReadonlyMap<string, PaymentCost>;

/** The budget that a measured payment makes: every count as it is, its bytes rounded up. */
export function toBudget(cost: PaymentCost): PaymentCost {
  return {
    ...cost,
    historyBytes: Math.ceil((cost.historyBytes * BYTES_ABOVE) / BYTES_STEP) * BYTES_STEP,
  };
}

/**
 * Returns the budget that a measured payment is within: the present one, if its bytes are at least as many, and not too
 * many more.
 */
export function expectedBudget(cost: PaymentCost, budget: PaymentCost | undefined): PaymentCost {
  const share = (budget?.historyBytes ?? 0) / cost.historyBytes;
  const isFit = budget !== undefined && share >= 1 && share <= MAX_BYTES_ABOVE;
  return isFit ? { ...cost, historyBytes: budget.historyBytes } : toBudget(cost);
}

/** The command that writes the tables into docs/performance.md. */
export const WRITTEN_BY = 'npm run bench:cost';

/** The budgets in docs/performance.md. @throws Error when a row lacks a figure */
export function readBudgets(document: string): Budgets {
  const [, generated = ''] = document.split(`<!-- ${WRITTEN_BY}: `);
  const [header = '', , ...lines] = generated.split('\n').filter((line) => line.startsWith('|'));
  const width = cellsOf(header).length;
  const rows = lines.map(cellsOf);
  // The tables behind the first one have another number of columns.
  const end = rows.findIndex((cells) => cells.length !== width);
  return new Map(
    rows.slice(0, end < 0 ? undefined : end).map(([name = '', ...cells]) => {
      const figures = FIGURES.map((figure, index) => [figure, figureIn(cells[index])] as const);
      return [name, Object.fromEntries(figures) as Record<keyof PaymentCost, number>];
    }),
  );
}

const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

function figureIn(cell: string | undefined): number {
  if (cell === undefined || !/^\d+$/.test(cell)) throw new Error(`${cell} is no figure of a budget`);
  return Number(cell);
}

const PAYMENTS_A_DAY = 1e6;
const DAYS = 30;
const RETENTION_HOURS = 30 * 24;

/** The budgets as tables, with the bill that a million such payments a day make at Temporal Cloud. */
export function costTables(budgets: Budgets, openHours: ReadonlyMap<string, number>): string {
  const costs = table(
    ['a payment', ...Object.values(COLUMNS)],
    [...budgets].map(([name, cost]) => [name, ...FIGURES.map((one) => String(cost[one]))]),
  );
  const bills = table(
    ['a million a day', 'actions a month', 'open for', 'actions', 'storage', 'plan', 'a month', '1,000 payments'],
    [...budgets].map(([name, cost]) => billOf(name, cost, openHours.get(name) ?? 0)),
  );
  return `${costs}\n\n${bills}`;
}

function billOf(name: string, { actions, historyBytes }: PaymentCost, openHours: number): string[] {
  const payments = PAYMENTS_A_DAY * DAYS;
  const gigabytes = (payments * historyBytes) / 2 ** 30;
  const bill = monthlyBill({
    actions: payments * actions,
    activeGigabyteHours: gigabytes * openHours,
    retainedGigabyteHours: gigabytes * RETENTION_HOURS,
  });
  // Of what is shown, so that whoever adds finds the same.
  const parts = [bill.actions, bill.storage, bill.plan].map(Math.round);
  const total = parts.reduce((sum, part) => sum + part, 0);
  return [
    name,
    `${(payments * actions) / 1e6} million`,
    openHours < 1 ? `${Math.round(openHours * 60)} min` : `${openHours} h`,
    ...[...parts, total].map((each) => `$${each.toLocaleString('en')}`),
    `$${(total / (payments / 1_000)).toFixed(2)}`,
  ];
}
