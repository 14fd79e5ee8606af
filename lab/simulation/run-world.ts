import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { BookUnavailable } from '../../src/book/database.js';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/payments/words/time.js';
import { auditAll } from '../audit/audit-all.js';
import { countUndone, readBook } from '../audit/booked.js';
import type { Violation } from '../audit/case.js';
import type { Counts } from '../counts.js';
import { eachOf } from '../each-of.js';
import { isEndAcknowledged, type ObservedPayment, wasReviewed } from '../people/observed-payment.js';
import { openTasks, StalledError } from '../world/simulated-time.js';
import { type Setup, type SimulationOptions, setUp } from './set-up.js';

/** The result of one simulated world. */
export interface WorldResult {
  readonly violations: readonly Violation[];
  readonly faults: Counts;
  readonly crashes: Counts;
  /** People's actions and payments' ends, counted by kind. */
  readonly actions: Counts;
  /** Payments that were put before operators. */
  readonly reviews: number;
  /** Digest of how the provider answered the first request for each payment. */
  readonly digest: string;
}

/** The sandbox acts at ticks of this length, in ms. */
const STEP_MS = 30 * SECOND_MS;
/** Requests of people under way at a time. */
const MAX_IN_FLIGHT = 32;
/** How long due notifications are waited for, and between two looks at them, in real ms. */
const TELLING_LIMIT_MS = 5_000;
const TELLING_LOOK_MS = 25;
/** The time between two looks at the open payments, in ms. */
const LOOK_MS = 3 * HOUR_MS;
/** Sanaga checks a person's decision against the provider's books for a day; an hour more to be sure. In ms. */
const CHECKED_FOR_MS = DAY_MS + HOUR_MS;
/** Payments end within this time of the last arrival, in ms. */
const DRAIN_MS = 9 * DAY_MS;

/**
 * Runs one world from the first payment to the audit.
 *
 * @param workflowBundle the file with the workflows, as `bundleWorkflows` makes it
 */
export async function runWorld(options: SimulationOptions, workflowBundle: string): Promise<WorldResult> {
  const report = options.report ?? (() => undefined);
  const setup = await setUp(options, workflowBundle);
  try {
    const stalled = await runOrStall(setup, report);
    report('comparing the ledger with every payment');
    const violations = [...stalled, ...(await auditWorld(setup))];
    const { world, faults, crashes, records, context, traffic } = setup;
    faults.addAll(world.sandbox.faults.totals);
    const reviews = records.filter(wasReviewed).length;
    // Whether a held payout or a refund is sent depends on who is first.
    const raced = new Set<string>();
    for (const { planned } of records) if (planned.hold ?? planned.refundOf) raced.add(planned.id);
    const digest = traffic.digest((id) => !raced.has(id));
    return { violations, faults, crashes, actions: context.actions, reviews, digest };
  } finally {
    await setup.close();
  }
}

async function runOrStall(setup: Setup, report: (line: string) => void): Promise<Violation[]> {
  try {
    await runUntilEnd(setup, report);
    return [];
  } catch (error) {
    if (!(error instanceof StalledError)) throw error;
    return [{ invariant: 'stuck', about: 'everything', what: error.message }, ...(await tasksHoldingTime(setup))];
  }
}

/**
 * The payments for whose tasks the server keeps time from going on.
 */
async function tasksHoldingTime({ records, world }: Setup): Promise<Violation[]> {
  const held: Violation[] = [];
  const mayRun = records.filter(({ refused }) => !refused);
  await eachOf(mayRun, MAX_IN_FLIGHT, async ({ planned: { id } }) => {
    // A history that can't be read is none of the audit's, which follows.
    const history = await world.temporal.workflow
      .getHandle(id)
      .fetchHistory()
      .catch(() => undefined);
    const open = openTasks(history?.events ?? []);
    if (open.length > 0) held.push({ invariant: 'stuck', about: id, what: `open: ${open.join(', ')}` });
  });
  return held;
}

/**
 * Lets time pass until every payment has ended, or has had the time for it.
 *
 * @throws StalledError if time stands still
 */
async function runUntilEnd(setup: Setup, report: (line: string) => void): Promise<void> {
  const { world, start, lastArrival } = setup;
  let lookAt = start;
  for (;;) {
    const now = await world.time.now();
    await actWhatIsDue(setup);
    await world.sandbox.quiet();
    await setup.faultInjector.settled();
    await untilTold(setup);
    if (now >= lookAt) {
      const open = setup.records.filter((record) => !hasEnded(record, now)).length;
      report(`day ${((now - start) / DAY_MS).toFixed(2)}: ${open} payments have not ended`);
      const isOver = now > lastArrival && open === 0 && world.clock.nextDue() === undefined;
      lookAt = now + LOOK_MS;
      // What was in doubt is checked for a day after its end.
      if (isOver && (await countUndone(world.book.book.query)) === 0) return;
    }
    if (now > lastArrival + DRAIN_MS) return;
    await world.time.sleepUntil(await nextStop(setup, lookAt));
  }
}

/** Does everything due, including what falls due meanwhile. */
async function actWhatIsDue({ world, timeline }: Setup): Promise<void> {
  for (;;) {
    const due = timeline.takeDue(await world.time.now());
    if (due.length === 0) return;
    await eachOf(due, MAX_IN_FLIGHT, (act) => act());
  }
}

/**
 * Waits until merchants were told what is due: time must not run away from the worker, whose tries are none of
 * Temporal's tasks. A worker that is gone is not waited for.
 */
async function untilTold({ world }: Setup): Promise<void> {
  const { query } = world.book.book;
  const end = performance.now() + TELLING_LIMIT_MS;
  for (;;) {
    const now = new Date(await world.time.now());
    const due = await query('SELECT 1 FROM notifications WHERE due_at <= $1 OR position IS NULL LIMIT 1', [now]).catch(
      orUndefined,
    );
    if (due?.length === 0 || performance.now() > end) return;
    await pause(TELLING_LOOK_MS);
  }
}

/** A connection that was cut isn't noticed before it is used. */
function orUndefined(error: unknown): undefined {
  if (!(error instanceof BookUnavailable)) throw error;
}

const nextSchema = z.object({ at: z.date().optional() });

async function nextStop({ timeline, world, start }: Setup, lookAt: number): Promise<number> {
  const now = new Date(await world.time.now());
  const [row] = await world.book.book.query('SELECT min(due_at) AS at FROM notifications WHERE due_at > $1', [now]);
  const told = nextSchema.parse(row).at?.getTime() ?? Number.POSITIVE_INFINITY;
  const next = Math.min(world.clock.nextDue() ?? Number.POSITIVE_INFINITY, told);
  const step = start + Math.ceil((next - start) / STEP_MS) * STEP_MS;
  return Math.min(lookAt, timeline.next() ?? Number.POSITIVE_INFINITY, step);
}

/** The merchant knows the outcome, or was refused. A payment that was reviewed is checked for a day more. */
function hasEnded(record: ObservedPayment, now: number): boolean {
  if (record.refused) return true;
  const last = record.notifications.findLast(({ acknowledged }) => acknowledged);
  if (last === undefined || !isEndAcknowledged(record)) return false;
  return !wasReviewed(record) || now > last.at + CHECKED_FOR_MS;
}

async function auditWorld({ records, context, merchant, world, traffic }: Setup): Promise<Violation[]> {
  const { ledger, posts } = world.sandbox;
  const book = await readBook(world.book.book.query);
  const ids = new Set<string | undefined>(records.map(({ planned }) => planned.id));
  return await auditAll(records, {
    api: context.api,
    actions: context.actions,
    caseOf: (record, shown, booked) => {
      const { id } = record.planned;
      const transactions = context.transactionsOf(record);
      return {
        record,
        shown,
        transactions,
        posts: posts.of(id).received - traffic.refused(id),
        sentAt: traffic.firstOf(id),
        booked,
        tooManyQuestions: transactions.flatMap(({ transId }) => traffic.tooManyQuestions(transId)),
      };
    },
    strays: ledger
      .all()
      .filter(({ externalId }) => !ids.has(externalId))
      .map(({ transId }) => transId),
    unreadable: merchant.unreadable,
    maxTries: 4,
    pauseMs: 0,
    book,
  });
}
