import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type HeldFor,
  type ListParams,
  type Payment,
  type PaymentEvent,
  type PaymentKind,
  type PaymentStatus,
  type PaymentSummary,
  type Sanaga,
  WaitTimeoutError,
} from '../../client/index.js';
import {
  amountOf,
  describePayment,
  kindOf,
  note,
  outcomeCode,
  print,
  printCsv,
  printJson,
  statusOf,
  table,
  timeOf,
} from '../output.js';
import { EXIT, UsageError, untilDone } from '../run.js';
import { clientFor, paymentId, type TargetOptions, withTarget } from '../target.js';
import { secondsOf, waitOption } from './create.js';
import { type CsvOptions, separatorOption } from './csv.js';
import { addWatchCommand } from './watch.js';

interface GetOptions extends TargetOptions {
  readonly wait?: number | true;
  readonly refresh?: boolean;
}

interface ListOptions extends CsvOptions {
  readonly status?: PaymentStatus;
  readonly final?: boolean;
  readonly held?: HeldFor;
  readonly kind?: PaymentKind;
  readonly externalId?: string;
  readonly userId?: string;
  readonly transId?: string;
  readonly financialTransId?: string;
  readonly merchant?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

interface EventsOptions extends TargetOptions {
  readonly since?: string;
}

const STATUSES: readonly PaymentStatus[] = ['CREATED', 'PENDING', 'SUCCESSFUL', 'FAILED', 'EXPIRED', 'REVIEW'];

/** The commands that read payments: `get`, `list`, `watch` and `events`. */
export function addReadCommands(program: Command): void {
  addGetCommand(program);
  addListCommand(program);
  addWatchCommand(program);
  addEventsCommand(program);
}

function addGetCommand(program: Command): void {
  withTarget(
    program
      .command('get')
      .summary('show a payment')
      .description('Shows a payment as it is now or, with --wait, once it is final.')
      .argument('<id>', 'col_… or pay_…')
      .addOption(waitOption())
      .option('--refresh', 'have Sanaga ask the provider first'),
  )
    .addHelpText(
      'after',
      `
Examples:
  sanaga get col_2775d55233b9d4be2a8db3491967ed92
  sanaga get pay_5e0f… --wait 60 && echo paid
  sanaga get pay_5e0f… --json | jq .status

Exit code: 0 when it was read; with --wait, 0 when it has succeeded, 1 when it
has failed or expired, and 3 when it isn't final yet.`,
    )
    .action((id: string, options: GetOptions) => untilDone((stop) => get(id, options, stop), options));
}

function addListCommand(program: Command): void {
  withTarget(
    program
      .command('list')
      .summary('list payments, newest first')
      .description('Lists payments, newest first. With --json, each is a line of its own.')
      .addOption(new Option('--status <status>', 'payments with this status').choices(STATUSES).argParser(readStatus))
      .addOption(
        new Option('--final [boolean]', 'payments whose outcome is certain; "false" for all that is open')
          .choices(['true', 'false'])
          .preset('true')
          .argParser(readBoolean),
      )
      .addOption(
        new Option('--held <what>', 'payouts that wait for this before they are sent').choices(['approval', 'date']),
      )
      .addOption(new Option('--kind <kind>', 'only these').choices(['collection', 'payout']))
      .option('--external-id <id>', 'with this identifier of yours')
      .option('--user-id <id>', 'of this customer of yours')
      .option('--trans-id <id>', "with this transaction of the provider's")
      .option('--financial-trans-id <id>', "with this reference of the mobile operator's, once ended")
      .option('--merchant <name>', "this merchant's alone (operators)")
      .option('--since <time>', 'created at or after: 2026-11-21 or 2026-11-21T08:20:32Z')
      .option('--until <time>', 'created before')
      .option('-n, --limit <number>', 'at most this many; 0 for all', readCount, 20)
      .option('--csv', 'print them as CSV')
      .addOption(separatorOption()),
  )
    .addHelpText(
      'after',
      `
Examples:
  sanaga list --status REVIEW
  sanaga list --final false --limit 0
  sanaga list --since 2026-11-21 --limit 0 --csv > payments.csv
  sanaga list --kind payout --status SUCCESSFUL --limit 0 --json |
    jq -s 'map(.amountPaid // .amount) | add'

A list can lag behind by a moment; "sanaga get" never does. The fee, the medium
and the reason are missing until a payment is recorded, about a minute after
its end.

Exit code: 0; 3 when payments that belong in the list can't be read at the
moment, which are named on stderr.`,
    )
    .action((options: ListOptions) => untilDone((stop) => list(options, stop), options));
}

function addEventsCommand(program: Command): void {
  withTarget(
    program
      .command('events')
      .summary("show a payment's timeline, or all that you were to be notified of")
      .description(
        'Shows what happened to a payment, when, and on whose word: oldest first. Without an id, shows everything that you ' +
          'were to be notified of, whether or not you were.',
      )
      .argument('[id]', 'col_… or pay_…')
      .option('--since <time>', 'without an id: at or after 2026-11-21 or 2026-11-21T08:20:32Z'),
  )
    .addHelpText(
      'after',
      `
Examples:
  sanaga events col_2775d55233b9d4be2a8db3491967ed92
  sanaga events --since 2026-11-14 --json`,
    )
    .action((id: string | undefined, options: EventsOptions) =>
      untilDone((stop) => (id === undefined ? feed(options, stop) : events(id, options, stop)), options),
    );
}

async function get(given: string, options: GetOptions, stop: AbortSignal): Promise<number> {
  const id = paymentId(given);
  const sanaga = await clientFor(options);
  const show = (payment: Payment) => (options.json ? printJson(payment) : print(describePayment(payment)));
  const request = { signal: stop };
  if (options.refresh) await sanaga.payments.refresh(id, request);
  const wait = secondsOf(options.wait);
  if (wait === undefined) {
    show(await sanaga.payments.retrieve(id, {}, request));
    return EXIT.ok;
  }
  try {
    const payment = await sanaga.payments.waitForOutcome(id, { timeoutMs: wait * 1_000, ...request });
    show(payment);
    return outcomeCode(payment);
  } catch (error) {
    if (!(error instanceof WaitTimeoutError)) throw error;
    show(error.payment);
    note(`Not final after ${wait} s.`);
    return EXIT.unknown;
  }
}

async function list(options: ListOptions, stop: AbortSignal): Promise<number> {
  if (options.csv && options.json) throw new UsageError('--csv or --json? Give one of them');
  const sanaga = await clientFor(options);
  const { payments, unreadable } = await read(sanaga, options, stop);
  if (options.csv) {
    const isOperator = payments.some(({ merchant }) => merchant !== undefined);
    // This module takes a while to load.
    const { paymentCsv } = await import('../../src/api/routes/payment-csv.js');
    printCsv(paymentCsv([...payments, ...unreadable.map((id) => ({ id }))], isOperator, options.separator));
  } else if (options.json) payments.forEach(printJson);
  else if (payments.length > 0) print(paymentTable(payments));
  else if (unreadable.length === 0) note('No payments.');
  for (const id of unreadable) note(`${id} belongs in the list, but can't be read at the moment: read it later.`);
  return unreadable.length > 0 ? EXIT.unknown : EXIT.ok;
}

async function read(sanaga: Sanaga, options: ListOptions, signal: AbortSignal) {
  const { status, final, held, kind, externalId, userId, transId, financialTransId } = options;
  const { merchant, since, until, limit } = options;
  const params: ListParams = {
    ...(status !== undefined && { status }),
    ...(final !== undefined && { final }),
    ...(held !== undefined && { held }),
    ...(kind !== undefined && { kind }),
    ...(externalId !== undefined && { externalId }),
    ...(userId !== undefined && { userId }),
    ...(transId !== undefined && { transId }),
    ...(financialTransId !== undefined && { financialTransId }),
    ...(merchant !== undefined && { merchant }),
    created: { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lt: until }) },
    limit: limit === 0 ? 100 : Math.min(limit, 100),
  };
  const payments: PaymentSummary[] = [];
  const unreadable: string[] = [];
  const all = sanaga.payments.list(params, { signal, onUnreadable: (id) => unreadable.push(id) });
  for await (const payment of all) {
    payments.push(payment);
    if (payments.length === limit) break;
  }
  return { payments, unreadable };
}

function paymentTable(payments: readonly PaymentSummary[]): string {
  // An operator's list has everybody's.
  const isOperators = payments.some(({ merchant }) => merchant !== undefined);
  const head = ['Created (Douala)', 'Payment', 'Kind', 'Amount', 'Status', 'Order or customer'];
  const rows = payments.map((payment) => [
    timeOf(payment.createdAt),
    payment.id,
    kindOf(payment),
    amountOf(payment),
    statusOf(payment),
    payment.externalId ?? payment.userId ?? '',
    ...(isOperators ? [payment.merchant ?? ''] : []),
  ]);
  return table(isOperators ? [...head, 'Merchant'] : head, rows, ['Amount']);
}

async function events(given: string, options: EventsOptions, stop: AbortSignal): Promise<number> {
  if (options.since !== undefined)
    throw new UsageError('--since is for all events: the timeline of a payment is shown whole');
  const sanaga = await clientFor(options);
  const entries = await sanaga.payments.events(paymentId(given), { signal: stop });
  if (options.json) entries.forEach(printJson);
  else
    print(
      table(
        ['When (Douala)', 'Source', 'What happened'],
        entries.map(({ at, source, summary }) => [timeOf(at), source, summary]),
      ),
    );
  return EXIT.ok;
}

async function feed(options: EventsOptions, stop: AbortSignal): Promise<number> {
  const { since } = options;
  const sanaga = await clientFor(options);
  const all: PaymentEvent[] = [];
  for await (const event of sanaga.events.list(since === undefined ? {} : { since }, { signal: stop })) {
    all.push(event);
  }
  if (options.json) all.forEach(printJson);
  else if (all.length === 0) note('No notification event was recorded.');
  else {
    const rows = all.map(({ timestamp, type, paymentId, data }) => [
      timeOf(timestamp),
      type,
      paymentId,
      data === undefined ? 'unreadable' : statusOf(data),
    ]);
    print(table(['When (Douala)', 'Type', 'Payment', 'Status now'], rows));
  }
  return EXIT.ok;
}

function readStatus(text: string): PaymentStatus {
  const status = STATUSES.find((one) => one === text.toUpperCase());
  if (status === undefined) throw new InvalidArgumentError(`Allowed choices are ${STATUSES.join(', ')}.`);
  return status;
}

function readBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('Allowed choices are true, false.');
  return text === 'true';
}

function readCount(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
