import type { Client } from '@temporalio/client';
import type { PaymentId } from '../payments/words/payment-id.js';
import { type PaymentFilter, queryByIds, visibilityQuery } from '../records/index-queries.js';
import { keepLatest, listRuns } from '../records/list-runs.js';
import { COMPARE, compareNewest, type Place } from '../records/places.js';
import { type Entries, fits, isOwn, type RunEntry, toRunEntry } from './list-entries.js';
import { listOldestFirst } from './oldest-first.js';
import { callTemporal } from './temporal-calls.js';

/** Selects a part of a list. */
export interface ListPart {
  readonly pageSize: number;
  /** `last` of the page before. */
  readonly after: Place | undefined;
  readonly order: 'newest first' | 'oldest first';
}

/** Runs that one call to Temporal gives: enough for a page, and as many again for payments with several runs. */
const runsPerCall = (pageSize: number): number => Math.max(50, 2 * (pageSize + 1));

/** Factor by which the next window is wider than the last. */
const SPAN_FACTOR = 8;

/**
 * Lists payments from Temporal's index. The index follows each change within moments: it is good enough to look
 * through, and to choose payments to read.
 *
 * A page of the newest usually takes a call or two to Temporal, however many payments are on it, and one more with a
 * filter for what can change: an earlier run of a payment that was reopened or reset may still have what is looked for.
 *
 * @throws {Unavailable}
 */
export async function listInTemporal(
  client: Client,
  filter: PaymentFilter,
  { pageSize, after, order }: ListPart,
): Promise<Entries> {
  const page: RunEntry[] = [];
  const read = order === 'newest first' ? newestFirst : oldestFirst;
  for await (const runs of read(client, filter, pageSize, after)) {
    for (const run of (await latestRuns(client, filter, runs)).sort(COMPARE[order])) {
      if (page.length === pageSize) return { entries: page, end: page.at(-1) };
      page.push(run);
    }
  }
  return { entries: page };
}

/** Keeps the payments whose latest run matches the filter. */
async function latestRuns(client: Client, filter: PaymentFilter, runs: readonly RunEntry[]): Promise<RunEntry[]> {
  const latest = latestOfEach(runs);
  // All runs of a payment agree in everything else.
  if (filter.status !== undefined || filter.final !== undefined || filter.transId !== undefined) {
    const ended = [...latest.values()].filter(({ closedAt }) => closedAt !== undefined);
    for (const [id, run] of await latestRunsOf(client, ended)) latest.set(id, run);
  }
  return [...latest.values()].filter(({ summary }) => fits(summary, filter));
}

/** Reads the latest run of each payment that Temporal still has. */
export async function latestRunsOf(
  client: Client,
  payments: readonly { readonly id: PaymentId }[],
): Promise<Map<PaymentId, RunEntry>> {
  const ids = payments.map(({ id }) => id);
  return latestOfEach(ids.length === 0 ? [] : (await readRuns(client, queryByIds(ids))).runs);
}

function latestOfEach(runs: readonly RunEntry[]): Map<PaymentId, RunEntry> {
  const latest = new Map<PaymentId, RunEntry>();
  for (const run of runs) keepLatest(latest, run);
  return latest;
}

/**
 * Reads the runs that a filter finds, in batches, one of each payment: payments of a later batch were created after
 * those of an earlier one.
 */
async function* oldestFirst(
  client: Client,
  filter: PaymentFilter,
  pageSize: number,
  after: Place | undefined,
): AsyncGenerator<readonly RunEntry[]> {
  let place = after;
  do {
    const { runs, last } = await listOldestFirst(client, visibilityQuery(filter), pageSize + 1, place);
    const read = await Promise.all(runs.map((run) => toRunEntry(client, run)));
    yield read.filter((run) => isOwn(run, filter));
    place = last;
  } while (place !== undefined);
}

/**
 * Reads the runs that a filter finds, in batches: those of a later batch were created before those of an earlier one.
 * All runs of a payment have its time of creation, so they come in one batch.
 *
 * Temporal's visibility puts running workflows first and orders the others by when they ended, and most of its stores
 * refuse any other order. So windows of time are read, each with no more runs than one call gives: one for
 * all time if that suffices. Otherwise, what the call did give shows how wide a window may be.
 *
 * @throws {Unavailable}
 */
async function* newestFirst(
  client: Client,
  filter: PaymentFilter,
  pageSize: number,
  after: Place | undefined,
): AsyncGenerator<readonly RunEntry[]> {
  const floor = filter.createdFrom ?? 0;
  let before = earliest(filter.createdBefore, after && after.createdAt + 1);
  let spanMs = Number.POSITIVE_INFINITY;
  while (before === undefined || before > floor) {
    const end: number = before ?? Date.now();
    const { runs, from } = await readWindow(client, filter, pageSize, {
      from: Math.max(floor, end - spanMs),
      before,
    });
    yield runs.filter((run) => isOwn(run, filter) && (after === undefined || compareNewest(run, after) > 0));
    before = from;
    spanMs = Math.max(1, end - from) * SPAN_FACTOR;
  }
}

/** Reads the runs of a window that ends at `before`, and begins at `from` unless it has too many. */
async function readWindow(
  client: Client,
  filter: PaymentFilter,
  pageSize: number,
  window: { readonly from: number; readonly before: number | undefined },
): Promise<{ readonly runs: readonly RunEntry[]; readonly from: number }> {
  const end = window.before ?? Date.now();
  for (let { from } = window; ; ) {
    const query = visibilityQuery({ ...filter, createdFrom: from, createdBefore: window.before });
    const isNarrowest = end - from <= 1;
    const { runs, isAll } = await readRuns(client, query, isNarrowest ? undefined : runsPerCall(pageSize));
    if (isAll) return { runs, from };
    // A window that begins at the last run of a page and one more surely has a page. At least half of the window is
    // left out, or it takes many calls when the runs that began last were created first. The runs of one ms are read
    // however many they are.
    from = Math.max([...runs].sort(compareNewest)[pageSize]?.createdAt ?? 0, from + Math.ceil((end - from) / 2));
    if (window.before !== undefined) from = Math.min(from, window.before - 1);
  }
}

/**
 * Reads the runs that a query finds.
 *
 * @param limit runs to read, at most; without it, all of them
 */
async function readRuns(
  client: Client,
  query: string,
  limit?: number,
): Promise<{ readonly runs: RunEntry[]; readonly isAll: boolean }> {
  const runs: RunEntry[] = [];
  const pages = listRuns(client, query, (list) => callTemporal(client, list), limit);
  for await (const page of pages) {
    for (const run of page.runs) runs.push(await toRunEntry(client, run));
    if (limit !== undefined && runs.length >= limit) return { runs, isAll: page.isLast };
  }
  return { runs, isAll: true };
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
