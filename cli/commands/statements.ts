import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import {
  NotFoundError,
  type Sanaga,
  type ServiceStatement,
  type Statement,
  type StatementDifference,
  type StatementSummary,
} from '../../client/index.js';
import { dayOf, isDay } from '../../src/payments/words/time.js';
import { note, paint, print, printCsv, printJson, table, timeOf, xaf } from '../output.js';
import { EXIT, UsageError, untilDone } from '../run.js';
import { clientFor, withTarget } from '../target.js';
import { type CsvOptions, separatorOption } from './csv.js';

interface StatementsOptions extends CsvOptions {
  readonly version?: number;
  readonly make?: boolean;
  readonly limit: number;
}

/** Between two looks for a statement that is being made, in ms. */
const LOOK_EVERY_MS = 1_000;

/** The command `statements`: lists statements, shows a day's, and has one made. */
export function addStatementsCommand(program: Command): void {
  withTarget(
    program
      .command('statements')
      .summary("list the statements of days, show a day's, or make it")
      .description(
        "Without a day, lists the statements that were made, newest first. With one, shows that day's: totals, balances, what " +
          "doesn't agree with the provider's records and, with --csv or --json, every payment.",
      )
      .argument('[day]', 'a day in Douala, such as 2026-11-21, or `today`', readDay)
      .option('--csv', 'print the statement as CSV, with every payment')
      .addOption(separatorOption())
      .option('--version <number>', 'an earlier version of the statement', readNumber)
      .option(
        '--make',
        'make the statement of the day, or make it again, and wait for it (operators). That of today covers the day so far',
      )
      .option('-n, --limit <number>', 'list at most this many, up to 100', readLimit, 31),
  )
    .addHelpText(
      'after',
      `
Examples:
  sanaga statements
  sanaga statements 2026-11-21
  sanaga statements 2026-11-21 --csv > 2026-11-21.csv
  sanaga statements 2026-11-20 --make
  sanaga statements today --make

Exit code: 0 when it was read; 3 when a part of the day could not be covered, or the day was not over.`,
    )
    .action((day: string | undefined, options: StatementsOptions) =>
      untilDone((stop) => statements(day, options, stop), options),
    );
}

async function statements(day: string | undefined, options: StatementsOptions, stop: AbortSignal): Promise<number> {
  const { csv, json, make, limit } = options;
  if (day === undefined && (csv || make || options.version !== undefined)) {
    throw new UsageError('which day? Give it, such as: sanaga statements 2026-11-21');
  }
  if (csv && json) throw new UsageError('--csv or --json? Give one of them');
  const sanaga = await clientFor(options);
  if (day === undefined) {
    const { data, hasMore } = await sanaga.statements.list({ limit }, { signal: stop });
    if (json) data.forEach(printJson);
    else if (data.length > 0) print(listOf(data));
    else note("No statement was made yet: a day's is made in the following night.");
    if (hasMore && !json) note('There are earlier ones: give a larger --limit.');
    return EXIT.ok;
  }
  const version = make ? await made(sanaga, day, stop) : options.version;
  const chosen = version === undefined ? {} : { version };
  const statement = await sanaga.statements.retrieve(day, chosen, { signal: stop });
  if (csv) {
    const { version: shown } = statement;
    const { separator } = options;
    printCsv(await sanaga.statements.retrieveCsv(day, { version: shown, separator }, { signal: stop }));
  } else if (json) printJson(statement);
  else print(describe(statement));
  return statement.complete ? EXIT.ok : EXIT.unknown;
}

/** Has the statement made, and waits for it. @returns its version */
async function made(sanaga: Sanaga, day: string, stop: AbortSignal): Promise<number> {
  const { version } = await sanaga.statements.make(day, { signal: stop });
  note(`Version ${version} of the statement of ${day} is being made. Ctrl-C stops waiting, and not the making.`);
  for (;;) {
    try {
      await sanaga.statements.retrieve(day, { version }, { signal: stop });
      return version;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    await pause(LOOK_EVERY_MS, undefined, { signal: stop });
  }
}

function listOf(data: readonly StatementSummary[]): string {
  const rows = data.map(({ date, version, madeAt, complete, payments, differences }) => [
    date,
    String(version),
    timeOf(madeAt),
    payments === undefined ? '' : String(payments),
    differences === undefined ? '' : String(differences),
    complete ? 'complete' : paint('yellow', 'incomplete'),
  ]);
  return table(['Day', 'Version', 'Made (Douala)', 'Payments', 'Differences', 'Coverage'], rows, [
    'Payments',
    'Differences',
  ]);
}

function describe(statement: Statement): string {
  const { date, version, madeAt, services, differences, complete } = statement;
  const head = `${paint('bold', `Statement of ${date}`)}  version ${version}, made ${timeOf(madeAt)} (Douala)`;
  return [
    complete ? head : `${head}  ${paint('yellow', 'incomplete')}`,
    ...serviceLines('Collections', services.collection),
    ...serviceLines('Payouts', services.payout),
    '',
    differences.length === 0 ? 'Nothing differs.' : paint('bold', `Differences: ${differences.length}`),
    ...differences.map(differenceLine),
  ].join('\n');
}

function serviceLines(name: string, { totals, opening, closing, change, coverage }: ServiceStatement): string[] {
  const counted = Object.entries(totals.byStatus)
    .filter(([, { count }]) => count > 0)
    .map(([status, { count, amount }]) => `  ${status.padEnd(12)}${String(count).padStart(6)}  ${xaf(amount)}`);
  const unknown = totals.withoutFee === 0 ? '' : `, and ${totals.withoutFee} payments whose fee isn't known`;
  const balances = [
    ['opening', opening],
    ['closing', closing],
  ] as const;
  return [
    '',
    paint('bold', `${name}: ${totals.payments}`),
    ...counted,
    `  fees ${xaf(totals.fees)}${unknown}`,
    ...balances.flatMap(([when, balance]) =>
      balance === undefined ? [] : [`  ${when} balance ${xaf(balance.balance)} (${timeOf(balance.asOf)})`],
    ),
    ...(change === undefined
      ? []
      : [
          `  the balance changed by ${xaf(change.balance)}: ${xaf(change.payments)} by the day's payments, ${xaf(change.rest)} by other days' payments, withdrawals, or what isn't known`,
        ]),
    ...coverage.gaps.map((gap) => `  ${paint('yellow', 'not covered')}: ${gap}`),
    ...(coverage.notCompared === 0 ? [] : [`  ${paint('yellow', 'not compared')}: ${coverage.notCompared} payments`]),
    ...(coverage.cutOff ? [`  ${paint('yellow', 'cut off')}: there are more payments`] : []),
  ];
}

function differenceLine({ kind, paymentId, transId, text, handling, statusAfter, problem }: StatementDifference) {
  const done = [handling, statusAfter, problem].filter(Boolean).join(', ');
  return `  ${paint('yellow', kind)}  ${paymentId ?? transId ?? ''}: ${text} (${done})`;
}

function readDay(text: string): string {
  if (text === 'today') return dayOf(Date.now());
  if (!isDay(text)) throw new InvalidArgumentError('It must be a day, such as 2026-11-21, or "today".');
  return text;
}

function readNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

function readLimit(text: string): number {
  const limit = readNumber(text);
  if (limit > 100) throw new InvalidArgumentError('It must be a whole number from 1 to 100.');
  return limit;
}
