import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  ApiError,
  ConnectionError,
  type ListParams,
  type Payment,
  type PaymentEvent,
  type PaymentKind,
  type PaymentStatus,
  type PaymentSummary,
  type Sanaga,
  UnexpectedResponseError,
  WaitTimeoutError,
} from '../../client/index.js';
import { Interrupted } from '../../stack/processes/stop-signal.js';
import {
  amountOf,
  describePayment,
  kindOf,
  note,
  outcomeCode,
  paint,
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

interface GetOptions extends TargetOptions {
  readonly wait?: number | true;
  readonly refresh?: boolean;
}

interface ListOptions extends TargetOptions {
  readonly status?: PaymentStatus;
  readonly final?: boolean;
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
      .addOption(new Option('--kind <kind>', 'only these').choices(['collection', 'payout']))
      .option('--external-id <id>', 'with this identifier of yours')
      .option('--user-id <id>', 'of this customer of yours')
      .option('--trans-id <id>', "with this transaction of the provider's")
      .option('--financial-trans-id <id>', "with this reference of the mobile operator's, once ended")
      .option('--merchant <name>', "this merchant's alone (operators)")
      .option('--since <time>', 'created at or after: 2026-11-21 or 2026-11-21T08:20:32Z')
      .option('--until <time>', 'created before')
      .option('-n, --limit <number>', 'at most this many; 0 for all', readCount, 20)
      .option('--csv', 'print them as CSV'),
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

  withTarget(
    program
      .command('watch')
      .summary('follow a payment until it is final, or all of them')
      .description(
        'Shows each change of a payment as it happens, until the payment is final. Without an id, shows the changes of all ' +
          'recent payments, until you press Ctrl-C.',
      )
      .argument('[id]', 'col_… or pay_…'),
  )
    .addHelpText(
      'after',
      `
Examples:
  sanaga watch col_2775d55233b9d4be2a8db3491967ed92
  sanaga watch

Exit code: 0 when the payment has succeeded, 1 when it has failed or expired,
130 after Ctrl-C.`,
    )
    .action((id: string | undefined, options: TargetOptions) =>
      untilDone(async (stop) => {
        const sanaga = await clientFor(options);
        const watching =
          id === undefined ? watchAll(sanaga, options, stop) : watchOne(sanaga, paymentId(id), options, stop);
        return await watching.catch((error: unknown) => {
          // Ctrl-C is how it is ended.
          if (stop.reason instanceof Interrupted) return stop.reason.exitCode;
          throw error;
        });
      }, options),
    );

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
  const { payments, unreadable, isIncomplete } = await read(sanaga, options, stop);
  if (options.csv) {
    const isOperator = payments.some(({ merchant }) => merchant !== undefined);
    // This module takes a while to load.
    const { paymentCsv } = await import('../../src/api/routes/payment-csv.js');
    printCsv(paymentCsv([...payments, ...unreadable.map((id) => ({ id }))], isOperator));
  } else if (options.json) payments.forEach(printJson);
  else if (payments.length > 0) print(paymentTable(payments));
  else if (unreadable.length === 0 && !isIncomplete) note('No payments.');
  for (const id of unreadable) note(`${id} belongs in the list, but can't be read at the moment: read it later.`);
  if (isIncomplete) note(INCOMPLETE);
  return unreadable.length > 0 || isIncomplete ? EXIT.unknown : EXIT.ok;
}

/** Told when a list lacks what only the records have. */
export const INCOMPLETE =
  "Payments that ended long ago may be missing: Sanaga's records can't be read at the moment. Try again later.";

async function read(sanaga: Sanaga, options: ListOptions, signal: AbortSignal) {
  const { status, final, kind, externalId, userId, transId, financialTransId } = options;
  const { merchant, since, until, limit } = options;
  const params: ListParams = {
    ...(status !== undefined && { status }),
    ...(final !== undefined && { final }),
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
  let isIncomplete = false;
  const all = sanaga.payments.list(params, {
    signal,
    onUnreadable: (id) => unreadable.push(id),
    onIncomplete: () => {
      isIncomplete = true;
    },
  });
  for await (const payment of all) {
    payments.push(payment);
    if (payments.length === limit) break;
  }
  return { payments, unreadable, isIncomplete };
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

/** Intervals of reading one payment and all payments, in ms. */
const EVERY_MS = { one: 1_000, all: 2_000 } as const;

/** Number of the latest payments to watch. */
const WATCHED = 50;

async function watchOne(
  sanaga: Sanaga,
  id: string,
  { json = false }: TargetOptions,
  stop: AbortSignal,
): Promise<number> {
  const shown = changes(json, ({ status, final, reason, transId }) => [status, final, reason, transId]);
  // A wrong id or key ends it at once; what fails later may be over soon.
  let payment = await sanaga.payments.retrieve(id, {}, { signal: stop });
  for (;;) {
    shown.show(payment);
    if (payment.final) return outcomeCode(payment);
    await pause(EVERY_MS.one, undefined, { signal: stop }).catch(() => stop.throwIfAborted());
    payment =
      (await shown.unlessAway(() => sanaga.payments.retrieve(id, {}, { signal: stop, maxRetries: 0 }))) ?? payment;
  }
}

async function watchAll(sanaga: Sanaga, { json = false }: TargetOptions, stop: AbortSignal): Promise<number> {
  // The rest of what a list has comes later, when the payment is recorded.
  const shown = changes(json, ({ status, final, transId }) => [status, final, transId]);
  const readAll = () => sanaga.payments.list({ limit: WATCHED }, { signal: stop, maxRetries: 0 });
  const first = await readAll();
  if (!json) note('Watching all payments. Ctrl-C ends it.');
  first.data.forEach(shown.remember);
  for (;;) {
    await pause(EVERY_MS.all, undefined, { signal: stop }).catch(() => stop.throwIfAborted());
    const page = await shown.unlessAway(readAll);
    for (const payment of [...(page?.data ?? [])].reverse()) shown.show(payment);
  }
}

/** Shows each payment when it has changed, and once when Sanaga is away. */
function changes(json: boolean, partsOf: (payment: PaymentSummary) => readonly unknown[]) {
  const seen = new Map<string, string>();
  let isAway = false;
  const stateOf = (payment: PaymentSummary) => JSON.stringify(partsOf(payment));
  return {
    remember: (payment: PaymentSummary) => seen.set(payment.id, stateOf(payment)),
    show(payment: PaymentSummary): void {
      const state = stateOf(payment);
      if (seen.get(payment.id) === state) return;
      seen.set(payment.id, state);
      if (json) printJson(payment);
      else print(changeLine(payment));
    },
    async unlessAway<Result>(call: () => Promise<Result>): Promise<Result | undefined> {
      try {
        const result = await call();
        if (isAway) note('Sanaga is back.');
        isAway = false;
        return result;
      } catch (error) {
        if (!isOutage(error)) throw error;
        if (!isAway) note(`${error.message} Trying again…`);
        isAway = true;
        return undefined;
      }
    },
  };
}

/** A change, by the time of the payment or, in a list that doesn't tell it yet, by that at which it was seen. */
function changeLine(payment: PaymentSummary & Pick<Payment, 'link'>): string {
  const { id, reason, link, updatedAt = new Date().toISOString(), externalId, final } = payment;
  const more = reason ?? (final ? undefined : link);
  return [
    paint('dim', timeOf(updatedAt)),
    id,
    amountOf(payment),
    kindOf(payment),
    statusOf(payment),
    ...(externalId === undefined ? [] : [externalId]),
    ...(more === undefined ? [] : [paint('dim', more)]),
  ].join('  ');
}

function isOutage(error: unknown): error is Error {
  if (error instanceof ConnectionError) return true;
  const isAnswer = error instanceof ApiError || error instanceof UnexpectedResponseError;
  return isAnswer && (error.status >= 500 || error.status === 429);
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
  else if (all.length === 0) note('Nothing was recorded of which you were to be notified.');
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
