import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { pino } from 'pino';
import { migrate } from '../../src/book/migrate.js';
import { connectClient } from '../../src/temporal/connection.js';
import { NO_KEYS } from '../../src/temporal/encryption.js';
import { atCheckout } from '../../stack/demo/payer.js';
import { startPostgres } from '../../stack/postgres/postgres.js';
import { steadyPort } from '../../stack/processes/ports.js';
import { bringUpStack } from '../../stack/processes/stack.js';
import { auditByBooks } from '../audit/audit-all.js';
import { countByInvariant, type Invariant, type Violation } from '../audit/case.js';
import { Counts } from '../counts.js';
import { Killer } from '../faults/killer.js';
import { AllPayments } from '../people/all-payments.js';
import { ApiClient } from '../people/api-client.js';
import { operate } from '../people/chaos-operators.js';
import type { PayerManners } from '../people/context.js';
import { askForPayment } from '../people/merchant.js';
import { MerchantEndpoint, type MerchantFault, type ReceivedNotification } from '../people/merchant-endpoint.js';
import { isEndAcknowledged, type ObservedPayment, wasReviewed } from '../people/observed-payment.js';
import { Refunders } from '../people/refunders.js';
import { WebUi } from '../people/web-ui.js';
import { planChaosPayments, planChaosPresses, planChaosRefunds } from '../plan/chaos-payments.js';
import type { PlannedPayment } from '../plan/planned-payment.js';
import { type KillTarget, planKills, planOutages, planRestores } from '../plan/server-faults.js';
import { MERCHANT_SECRET } from '../world/credentials.js';
import { LocalServer } from '../world/local-server.js';
import { type ChaosContext, persistentMerchants, RealTimeline, untilOver, wait } from './context.js';
import { bookOf, lossIn, untilDone } from './end.js';
import { chaosSettings } from './settings.js';

export interface ChaosOptions {
  readonly payments: number;
  readonly kills: number;
  readonly seed: number;
  /** Folder of databases and logs. */
  readonly folder: string;
  readonly report: (line: string) => void;
  readonly stop: AbortSignal;
}

/** The result of a chaos run: its last line of output. */
export interface ChaosResult {
  readonly payments: number;
  readonly seed: number;
  /** Processes killed with SIGKILL. */
  readonly kills: Readonly<Record<KillTarget, number>>;
  /**
   * Number of times that each fault struck, including those of the merchant's endpoint. Faults that a killed process
   * hadn't reported yet are missing.
   */
  readonly faults: Readonly<Record<string, number>>;
  /** Violations of each invariant. */
  readonly invariants: Readonly<Record<Invariant, number>>;
  /** Payments that were put before operators. */
  readonly reviews: number;
  readonly seconds: number;
}

export interface ChaosReport {
  readonly result: ChaosResult;
  readonly violations: readonly Violation[];
  /** Processes that ended by themselves. */
  readonly collapses: readonly string[];
  /** People's actions, counted by kind. */
  readonly actions: Counts;
}

/** The time in which payments arrive, in ms: so much for each payment or for each kill, whichever is longer. */
const PER_PAYMENT_MS = 500;
const PER_KILL_MS = 5_000;

/**
 * Time limit for everything to end once the last payment has arrived and the last process is up, in ms. A notification
 * that failed twice, at the merchant's and with a worker's death, is tried again after five minutes.
 */
const DRAIN_MS = 360_000;
/** The pauses between two looks at the open payments, and between two reports, in ms. */
const LOOK_MS = 500;
const REPORT_MS = 10_000;

/**
 * Payers look for the form on the checkout page, and try for ten seconds to reach it. No visit is planned without a
 * button.
 */
const PAYERS: PayerManners = {
  maxTries: 20,
  pauseMs: 500,
  look: async () => undefined,
  press: atCheckout,
};

/** One run: starts everything, takes payments while processes are killed, audits them, and stops everything. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { payments, kills, seed, report, stop } = options;
  const startedAt = performance.now();
  const lengthMs = Math.max(payments * PER_PAYMENT_MS, kills * PER_KILL_MS);
  const all = new AllPayments(planChaosPayments(payments, lengthMs, seed));
  const { records } = all;
  const faults = new Counts();
  const onNotification = (notification: ReceivedNotification) => {
    const record = all.of(notification.content.data.id);
    record?.notifications.push(notification);
    if (record !== undefined) refunders.take(record, notification);
  };
  const merchant = merchantOf(onNotification, seed, faults);
  const address = new LocalServer(merchant.take);
  await address.listen();

  const temporalFile = join(options.folder, 'temporal.db');
  const { book, stack } = await startStack(options, `${address.url}/notifications`, temporalFile);
  const api = new ApiClient(stack.apiUrl);
  const end = new AbortController();
  setMaxListeners(0, end.signal);
  const over = AbortSignal.any([end.signal, stop]);
  setMaxListeners(0, over);
  const actions = new Counts();
  const context: ChaosContext = {
    ...{ seed, stack, book, temporalFile, api, records, actions, over, report },
    timeline: new RealTimeline(over),
    now: Date.now,
    booksOf: () => [],
    payers: PAYERS,
    merchants: persistentMerchants(actions, over),
  };
  const client = connectClient(stack.temporal.target, NO_KEYS);
  const webUi = new WebUi(context, client, true);
  const refunders = refundersOf(all, webUi, context);
  const killer = new Killer(context);
  try {
    await killer.start();
    report(`taking ${payments} payments in ${lengthMs / 1_000} s, with ${kills} kills`);
    await takePayments(context, killer, webUi, { kills, lengthMs });
    end.abort();
    report("comparing the provider's books with every payment");
    await killer.countFaults();
    const lossOf = (record: ObservedPayment) => lossIn(record, killer.lost);
    const violations = await auditByBooks(context, merchant.unreadable, await bookOf(context), lossOf);
    faults.addAll(killer.faults);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return {
      result: {
        payments,
        seed,
        kills: killer.kills,
        faults: faults.toJSON(),
        invariants: countByInvariant(violations),
        reviews: records.filter(wasReviewed).length,
        seconds,
      },
      violations,
      collapses: killer.collapses,
      actions,
    };
  } finally {
    end.abort();
    await client.connection.close();
    await stack.stop();
    await book.stop();
    api.close();
    await address.leave();
  }
}

/** The clerks who refund collections; their refunds' workflows are cancelled, reset and terminated, too. */
function refundersOf(all: AllPayments, webUi: WebUi, context: ChaosContext): Refunders {
  const { seed } = context;
  const add = (planned: PlannedPayment) => {
    const refund = all.add(planned);
    webUi.plan(refund, context.now() + planned.arrivesAt, planChaosPresses(seed, planned.id));
    return refund;
  };
  return new Refunders(context, (collection) => planChaosRefunds(collection, seed), add);
}

/** Starts the processes that are to be killed, and the book's PostgreSQL. */
async function startStack({ folder, report, stop }: ChaosOptions, merchantUrl: string, databaseFile: string) {
  const ports = { api: await steadyPort(), sandbox: await steadyPort() };
  const book = await startPostgres();
  const url = book.url('postgres');
  try {
    await migrate(url, pino({ level: 'error' }, process.stderr));
    const env = { ...chaosSettings(process.env, ports, folder, merchantUrl), DATABASE_URL: url };
    const stack = await bringUpStack({
      ...{ ports, env, report, stop },
      taskQueue: 'payments',
      logFolder: join(folder, 'logs'),
      appendLogs: true,
      temporal: {
        databaseFile,
        port: await steadyPort(),
        ui: false,
        // The server of this run is to be killed, not one that the environment names.
        env: { ...process.env, TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' },
      },
    });
    return { book, stack };
  } catch (error) {
    await book.stop();
    throw error;
  }
}

/**
 * Takes the payments while processes are killed. Resolves when each payment has ended and people have done all that
 * they had planned, or when they have had the time for it.
 */
async function takePayments(
  context: ChaosContext,
  killer: Killer,
  webUi: WebUi,
  { kills, lengthMs }: { readonly kills: number; readonly lengthMs: number },
): Promise<void> {
  const { timeline, records, seed, report } = context;
  const start = context.now();
  for (const record of records) {
    const { id, arrivesAt } = record.planned;
    timeline.exactly(start + arrivesAt, () => askForPayment(record, context));
    webUi.plan(record, start + arrivesAt, planChaosPresses(seed, id));
  }
  const mayEnd = (record: ObservedPayment) => !lossIn(record, killer.lost).isForgotten;
  const isOpen = () => timeline.pending > 0 || records.some((record) => mayEnd(record) && !hasEnded(record));

  const reporting = setInterval(() => report(progress(context)), REPORT_MS);
  try {
    const untilEnd = async () => {
      const strikes = killer.run(planKills(kills, lengthMs, seed), planOutages(lengthMs, seed), planRestores(lengthMs));
      await Promise.all([strikes, wait(lengthMs, context)]);
      report('the last process is up again; waiting for the payments to end');
      const deadline = performance.now() + DRAIN_MS;
      while (isOpen() && performance.now() < deadline) await wait(LOOK_MS, context);
      await killer.settled();
      await untilDone(context);
    };
    await Promise.race([untilEnd(), timeline.failed, failureOf(operate(context))]);
  } finally {
    clearInterval(reporting);
  }
}

/** Rejects as the work does, unless the end of the run has cut it short; never resolves. */
async function failureOf(work: Promise<void>): Promise<never> {
  await untilOver(work);
  return await new Promise(() => undefined);
}

/** The merchant knows the outcome, or was refused. */
function hasEnded(record: ObservedPayment): boolean {
  return record.refused || isEndAcknowledged(record);
}

function progress({ records, actions }: ChaosContext): string {
  const taken = records.filter((record) => record.taken).length;
  const ended = records.filter(hasEnded).length;
  const unanswered = actions.of('merchant: no answer') + actions.of('merchant: 503');
  return `${taken} of ${records.length} payments taken, ${ended} ended; ${unanswered} requests without an answer`;
}

/**
 * The merchant's endpoint: it fails at times, but never twice with the same notification, whose third try comes late.
 */
function merchantOf(
  onNotification: (notification: ReceivedNotification) => void,
  seed: number,
  faults: Counts,
): MerchantEndpoint {
  return new MerchantEndpoint({
    seed,
    secret: MERCHANT_SECRET,
    now: async () => Date.now(),
    truthOf: () => [],
    onNotification,
    count: (fault) => faults.add(fault),
    faultOf: (random, nth) =>
      nth > 0
        ? undefined
        : random.pick<MerchantFault | undefined>('fault', [
            [93, undefined],
            [4, 'merchant500'],
            [3, 'merchantCut'],
          ]),
  });
}
