import type { Client } from '@temporalio/client';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { DayPayment } from '../reconciliation/reconciliation.js';
import { queryByIds, releasedBetween, visibilityQuery } from './index-queries.js';
import { keepLatest, listRuns } from './list-runs.js';
import type { PaymentRun } from './payment-record.js';
import { compareOldest } from './places.js';
import type { Records } from './records.js';

/**
 * Payments by their day, as Temporal's index has them and, where it has forgotten them, the records. A payment's day is
 * that of its creation; of a payout that was held, it is that of its release, since nothing was sent before.
 */

/** Rows in one query of the records. */
const ROWS_PER_QUERY = 1_000;

/** Ids in one query of Temporal's. */
const IDS_PER_QUERY = 100;

export interface DayPayments {
  readonly payments: readonly DayPayment[];
  /** There are more than the limit. */
  readonly cutOff: boolean;
}

/**
 * A run, as far as it is held while a day is read: without its memo, which nothing here reads, and which would fill the
 * memory on a busy day.
 */
interface RunOfDay extends DayPayment {
  readonly startedAt: number;
  readonly closedAt: number | undefined;
}

/**
 * All payments of a day, or of its beginning, in the order of their creation: those that were created first, when there
 * are more than `max`.
 *
 * @param period the day; in ms since the epoch
 * @param onProgress called after each call to Temporal or the records
 */
export async function paymentsOfDay(
  client: Client,
  records: Records,
  { from, before }: { readonly from: number; readonly before: number },
  max: number,
  onProgress: () => void,
): Promise<DayPayments> {
  const latest = new Map<PaymentId, RunOfDay>();
  // Created on this day, and released on another. What was recorded before the release doesn't know of it.
  const ofOtherDays = new Set<PaymentId>();
  // One more than the limit shows that there are more.
  const held = max + 1;
  for (const query of [visibilityQuery({ createdFrom: from, createdBefore: before }), releasedBetween(from, before)]) {
    for await (const { runs } of listRuns(client, query)) {
      onProgress();
      for (const run of runs) {
        if (!isBegunWithin(run, from, before)) ofOtherDays.add(run.id);
        if (ofOtherDays.has(run.id)) latest.delete(run.id);
        else keepLatest(latest, toRunOfDay(run));
      }
      forgetLater(latest, held);
    }
  }
  // Temporal's data is newer. Forgotten payments come again from the records, as late ones as before.
  const inTemporal = new Set([...latest.keys(), ...ofOtherDays]);
  for (let after = '', isMore = true; isMore; ) {
    const rows = await records.runsBegun(from, before, after, ROWS_PER_QUERY);
    onProgress();
    for (const run of rows) if (!inTemporal.has(run.id)) latest.set(run.id, toRunOfDay(inReviewIfOpen(run)));
    forgetLater(latest, held);
    after = rows.at(-1)?.id ?? after;
    isMore = rows.length === ROWS_PER_QUERY;
  }
  const runs = [...latest.values()].sort(compareOldest);
  const payments = runs.slice(0, max).map(({ startedAt, closedAt, ...payment }) => payment);
  return { payments, cutOff: runs.length > max };
}

function isBegunWithin({ indexed: { createdAt, releasedAt = createdAt } }: PaymentRun, from: number, before: number) {
  return releasedAt >= from && releasedAt < before;
}

/**
 * Forgets all but a number of payments, those that were created first, once there are twice as many: a day of any size
 * fits into memory, and isn't sorted for each page.
 */
function forgetLater(latest: Map<PaymentId, RunOfDay>, held: number): void {
  if (latest.size <= 2 * held) return;
  const later = [...latest.values()].sort(compareOldest).slice(held);
  for (const { id } of later) latest.delete(id);
}

/** Finds payments of any day by their ids, as they are now; unknown ones are left out. */
export async function paymentsWith(client: Client, records: Records, ids: readonly PaymentId[]): Promise<DayPayment[]> {
  const found: DayPayment[] = [];
  for (let first = 0; first < ids.length; first += IDS_PER_QUERY) {
    const some = ids.slice(first, first + IDS_PER_QUERY);
    const latest = new Map<PaymentId, PaymentRun>();
    for await (const { runs } of listRuns(client, queryByIds(some))) for (const run of runs) keepLatest(latest, run);
    const forgotten = some.filter((id) => !latest.has(id));
    for (const run of await records.runsOf(forgotten)) latest.set(run.id, inReviewIfOpen(run));
    found.push(...[...latest.values()].map(toDayPayment));
  }
  return found;
}

/** A payment that was open when it was recorded, and that Temporal has lost since, needs a person. */
function inReviewIfOpen(run: PaymentRun): PaymentRun {
  if (run.closedAt !== undefined || run.indexed.final) return run;
  return { ...run, indexed: { ...run.indexed, status: 'REVIEW' } };
}

function toRunOfDay(run: PaymentRun): RunOfDay {
  return { ...toDayPayment(run), startedAt: run.startedAt, closedAt: run.closedAt };
}

function toDayPayment({ id, merchant, indexed }: PaymentRun): DayPayment {
  const { kind, status, final, amount, amountPaid, transId, externalId, refundOf, createdAt } = indexed;
  return { id, merchant, kind, status, final, amount, amountPaid, transId, externalId, refundOf, createdAt };
}
