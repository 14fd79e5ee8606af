import type { Client } from '@temporalio/client';
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { CURRENCY } from '../payments/words/limits.js';
import type { Payment, PaymentSummary, RecordedSummary } from '../payments/words/payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { RecordsUnavailableError } from '../records/database.js';
import { type PaymentFilter, queryByIds, visibilityQuery } from '../records/index-queries.js';
import { type ListedRun, listRuns } from '../records/list-runs.js';
import { inReviewUnlessFinal, type PaymentRecord } from '../records/payment-record.js';
import { NoRecords } from './errors.js';
import { memoSchema } from './find-payment.js';
import { listOldestFirst } from './oldest-first.js';
import { compareNewest, compareOldest, type Place } from './places.js';
import { askRecords, isOver, type RecordsContext } from './recorded-payments.js';
import { callTemporal } from './temporal-calls.js';

/** Which payments to list. */
interface ListFilter extends PaymentFilter {
  /** The mobile operator's reference. Only the records know it, so a payment is found once it is recorded. */
  readonly financialTransId?: string | undefined;
}

/** Which part of a list to read. */
export interface ListPart {
  readonly pageSize: number;
  /** `last` of the page before. */
  readonly after: Place | undefined;
  readonly order: 'newest first' | 'oldest first';
}

/** A payment of a list, with its owner. */
export interface ListedPayment {
  readonly payment: PaymentSummary;
  readonly owner: string;
}

/** One page of a list. */
export interface Page {
  readonly payments: readonly ListedPayment[];
  /** Payments that belong in the list, but whose entry in the index can't be read. */
  readonly unreadable: readonly { readonly id: PaymentId; readonly owner: string }[];
  /** The place after which the next page begins; without it, this one is the last. */
  readonly last?: Place | undefined;
  /** The records couldn't be read: payments that Temporal has forgotten may be missing. */
  readonly isIncomplete: boolean;
}

const COMPARE = { 'newest first': compareNewest, 'oldest first': compareOldest } as const;

/** A run of a payment's workflow in Temporal's index. */
interface Run extends Entry {
  /** ms since the epoch. */
  readonly startedAt: number;
  readonly isOpen: boolean;
}

/** Runs that one call to Temporal gives: enough for a page, and as many again for payments with several runs. */
const runsPerCall = (pageSize: number): number => Math.max(50, 2 * (pageSize + 1));

/** How much wider than the last window the next one is. */
const SPAN_FACTOR = 8;

/**
 * Payments in Temporal and, where it has forgotten them, in the records.
 *
 * @throws {Unavailable}
 * @throws {RecordsUnavailable | NoRecords} for what only the records know.
 */
export async function listPayments(
  context: { readonly client: Client } & RecordsContext,
  { financialTransId, ...filter }: ListFilter,
  part: ListPart,
): Promise<Page> {
  const { pageSize } = part;
  if (financialTransId !== undefined) {
    return toPage(await listByReference(context, financialTransId, filter, part), pageSize, false);
  }
  const inTemporal = await listInTemporal(context, filter, part);
  if (context.records === undefined) return toPage(inTemporal, pageSize, false);
  try {
    return toPage(await withRecorded(context, inTemporal, filter, part), pageSize, false);
  } catch (error) {
    if (!(error instanceof RecordsUnavailableError)) throw error;
    return toPage(inTemporal, pageSize, true);
  }
}

/** A payment of a list. */
interface Entry extends Place {
  readonly merchant: string | undefined;
  /** What a list shows of it; without it, it can't be read. */
  readonly summary?: PaymentSummary | undefined;
}

/** Payments in order. If there are more, they come after `end`. */
interface Entries {
  readonly entries: readonly Entry[];
  readonly end?: Place | undefined;
}

/**
 * The payments of the records that Temporal no longer has, in their places among those that it has. What Temporal has,
 * it knows better: its records add what the index lacks. Beyond the end of a list that goes on, nothing is known of
 * what belongs there.
 */
async function withRecorded(
  { client, records }: { readonly client: Client } & RecordsContext,
  inTemporal: Entries,
  filter: PaymentFilter,
  { pageSize, after, order }: ListPart,
): Promise<Entries> {
  const compare = COMPARE[order];
  const recorded = (await records?.list({ ...filter, after, order }, pageSize)) ?? [];
  const old = recorded.map(toEntry);
  const ends: (Place | undefined)[] = [inTemporal.end, old.length === pageSize ? old.at(-1) : undefined];
  const [end] = ends.filter((place) => place !== undefined).sort(compare);
  const isWithin = (entry: Place) => end === undefined || compare(entry, end) <= 0;

  const recordOf = new Map(recorded.map((record) => [record.id, record]));
  const listed = new Set(inTemporal.entries.map(({ id }) => id));
  const candidates = old.filter((entry) => isWithin(entry) && !listed.has(entry.id));
  const known = new Set(
    (
      await allRuns(
        client,
        candidates.map(({ id }) => id),
      )
    ).map(({ id }) => id),
  );
  const forgotten = candidates.filter(({ id }) => !known.has(id));
  const inIndex = inTemporal.entries.filter(isWithin).map((entry) => withRecord(entry, recordOf.get(entry.id)));
  const entries = [...inIndex, ...forgotten].sort(compare);
  return { entries, end };
}

const REFERENCES = 'financialTransId to look for: look by externalId, userId or transId';
const REFERENCES_UNREAD =
  "Only the records know a payment's financialTransId, and they can't be read at the moment. Try again shortly, or look by externalId, userId or transId.";

/**
 * The recorded payments that have a mobile operator's reference. As long as Temporal has one of them, it knows better
 * what else is asked for, such as the status: that is compared with what the list shows.
 */
async function listByReference(
  { client, records }: { readonly client: Client } & RecordsContext,
  financialTransId: string,
  filter: PaymentFilter,
  { pageSize, after, order }: ListPart,
): Promise<Entries> {
  if (records === undefined) throw new NoRecords(REFERENCES);
  const { owner, createdFrom, createdBefore } = filter;
  const wanted = { financialTransId, owner, createdFrom, createdBefore, after, order };
  const recorded = await askRecords(() => records.list(wanted, pageSize), REFERENCES_UNREAD);
  const latest = latestOfEach(
    await allRuns(
      client,
      recorded.map(({ id }) => id),
    ),
  );
  const entries = recorded.flatMap((record): Entry[] => {
    const run = latest.get(record.id);
    // What was created at another time is another payment under the same id, and hasn't got this reference.
    if (run?.createdAt === record.indexed.createdAt)
      return isOwn(run, filter) && fits(run.summary, filter) ? [withRecord(run, record)] : [];
    const entry = toEntry(record);
    return fits(entry.summary ?? record.indexed, filter) ? [entry] : [];
  });
  const last = recorded.length === pageSize ? recorded.at(-1) : undefined;
  return { entries, end: last && { id: last.id, createdAt: last.indexed.createdAt } };
}

/**
 * A payment of the index with what its record knows besides, as long as both are of the same outcome: the record is
 * written after the index, and what it says of an earlier outcome is over.
 */
function withRecord(entry: Entry, record: PaymentRecord | undefined): Entry {
  const { summary } = entry;
  const payment = record?.content?.payment;
  if (summary === undefined || payment === undefined || record?.indexed.createdAt !== entry.createdAt) return entry;
  const isSame =
    payment.status === summary.status &&
    payment.final === summary.final &&
    payment.transId === summary.transId &&
    payment.amountPaid === summary.amountPaid;
  return isSame ? { ...entry, summary: { ...summary, ...recordedSummary(payment) } } : entry;
}

function recordedSummary({ fee, revenue, medium, failureCode, reason, updatedAt }: Payment): RecordedSummary {
  return { fee, revenue, medium, failureCode, reason, updatedAt };
}

function toEntry(record: PaymentRecord): Entry {
  const { id, merchant, indexed, content } = record;
  const payment = content && (isOver(record) ? content.payment : inReviewUnlessFinal(content.payment));
  return {
    id,
    merchant,
    createdAt: indexed.createdAt,
    summary: payment && summarised(payment, indexed.createdAt),
  };
}

function summarised(payment: Payment, createdAt: number): PaymentSummary {
  const { id, object, kind, method, status, final, amount, amountPaid, currency } = payment;
  const { transId, externalId, userId, metadata } = payment;
  const shown = {
    id,
    object,
    kind,
    method,
    status,
    final,
    amount,
    amountPaid,
    currency,
    transId,
    externalId,
    userId,
    metadata,
  };
  return { ...shown, ...recordedSummary(payment), createdAt: new Date(createdAt).toISOString() };
}

/**
 * Payments as Temporal's index has them. The index follows each change within moments: it is good enough
 * to look through, and to choose what to read by itself.
 *
 * A page of the newest usually takes a call or two to Temporal, however many payments are on it, and one more with a
 * filter for what can change: an earlier run of a payment that was reopened or reset may still have what is looked for.
 *
 * @throws {Unavailable}
 */
async function listInTemporal(
  { client }: { readonly client: Client },
  filter: PaymentFilter,
  { pageSize, after, order }: ListPart,
): Promise<Entries> {
  const page: Run[] = [];
  const read = order === 'newest first' ? newestFirst : oldestFirst;
  for await (const runs of read(client, filter, pageSize, after)) {
    for (const run of (await latestRuns(client, filter, runs)).sort(COMPARE[order])) {
      if (page.length === pageSize) return { entries: page, end: page.at(-1) };
      page.push(run);
    }
  }
  return { entries: page };
}

/** The first of the entries, as many as a page has. */
function toPage({ entries, end }: Entries, pageSize: number, isIncomplete: boolean): Page {
  const runs = entries.slice(0, pageSize);
  const last = entries.length > pageSize ? runs.at(-1) : end;
  return {
    isIncomplete,
    payments: runs.flatMap(({ summary, merchant = '' }) =>
      summary === undefined ? [] : [{ payment: summary, owner: merchant }],
    ),
    unreadable: runs
      .filter(({ summary }) => summary === undefined)
      .map(({ id, merchant = '' }) => ({ id, owner: merchant })),
    last: last && { createdAt: last.createdAt, id: last.id },
  };
}

/** The payments whose latest run is what the filter wants. */
async function latestRuns(client: Client, filter: PaymentFilter, runs: readonly Run[]): Promise<Run[]> {
  const latest = latestOfEach(runs);
  // All runs of a payment agree in everything else.
  if (filter.status !== undefined || filter.final !== undefined || filter.transId !== undefined) {
    const ended = [...latest.values()].filter(({ isOpen }) => !isOpen).map(({ id }) => id);
    for (const [id, run] of latestOfEach(await allRuns(client, ended))) latest.set(id, run);
  }
  return [...latest.values()].filter(({ summary }) => fits(summary, filter));
}

function latestOfEach(runs: readonly Run[]): Map<PaymentId, Run> {
  const latest = new Map<PaymentId, Run>();
  for (const run of runs) {
    const other = latest.get(run.id);
    const isNewer = other === undefined || run.isOpen || (!other.isOpen && run.startedAt > other.startedAt);
    if (isNewer) latest.set(run.id, run);
  }
  return latest;
}

async function allRuns(client: Client, ids: readonly PaymentId[]): Promise<readonly Run[]> {
  return ids.length === 0 ? [] : (await readRuns(client, queryByIds(ids))).runs;
}

/** Whether a payment is what is asked for; one that can't be read may be. */
function fits(
  summary: Pick<PaymentSummary, 'status' | 'final' | 'kind' | 'externalId' | 'userId' | 'transId'> | undefined,
  { status, final, kind, externalId, userId, transId }: PaymentFilter,
): boolean {
  if (summary === undefined) return true;
  return (
    (status ?? summary.status) === summary.status &&
    (final ?? summary.final) === summary.final &&
    (kind ?? summary.kind) === summary.kind &&
    (externalId ?? summary.externalId) === summary.externalId &&
    (userId ?? summary.userId) === summary.userId &&
    (transId ?? summary.transId) === summary.transId
  );
}

/**
 * Runs that a filter finds, in batches, one of each payment: those of a later batch were created after those of an
 * earlier one.
 */
async function* oldestFirst(
  client: Client,
  filter: PaymentFilter,
  pageSize: number,
  after: Place | undefined,
): AsyncGenerator<readonly Run[]> {
  let place = after;
  do {
    const { runs, last } = await listOldestFirst(client, visibilityQuery(filter), pageSize + 1, place);
    const read = await Promise.all(runs.map((run) => toRun(client, run)));
    yield read.filter((run) => isOwn(run, filter));
    place = last;
  } while (place !== undefined);
}

/**
 * The runs that a filter finds, in batches: those of a later batch were created before those of an earlier one. All
 * runs of a payment have its time of creation, so they come in one batch.
 *
 * Temporal's visibility puts running workflows first and orders the others by when they ended, and most of
 * its stores refuse any other order. So windows of time are read, each with no more runs than one call gives: one for
 * all time if that suffices. Otherwise, what the call did give shows how wide a window may be.
 *
 * @throws {Unavailable}
 */
async function* newestFirst(
  client: Client,
  filter: PaymentFilter,
  pageSize: number,
  after: Place | undefined,
): AsyncGenerator<readonly Run[]> {
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

/** The runs of a window that ends at `before`, and begins at `from` unless there are too many. */
async function readWindow(
  client: Client,
  filter: PaymentFilter,
  pageSize: number,
  window: { readonly from: number; readonly before: number | undefined },
): Promise<{ readonly runs: readonly Run[]; readonly from: number }> {
  const end = window.before ?? Date.now();
  for (let { from } = window; ; ) {
    const query = visibilityQuery({ ...filter, createdFrom: from, createdBefore: window.before });
    const isNarrowest = end - from <= 1;
    const { runs, isAll } = await readRuns(client, query, isNarrowest ? undefined : runsPerCall(pageSize));
    if (isAll) return { runs, from };
    // From the last of a page and one more on, a page is certain. Half of the window at least is left out, lest it take
    // many calls where those that began last were created first. So many within one ms come by themselves.
    from = Math.max([...runs].sort(compareNewest)[pageSize]?.createdAt ?? 0, from + Math.ceil((end - from) / 2));
    if (window.before !== undefined) from = Math.min(from, window.before - 1);
  }
}

/**
 * The runs that a query finds.
 *
 * @param limit runs to read, at most; without it, all of them
 */
async function readRuns(
  client: Client,
  query: string,
  limit?: number,
): Promise<{ readonly runs: Run[]; readonly isAll: boolean }> {
  const runs: Run[] = [];
  const pages = listRuns(client, query, (list) => callTemporal(client, list), limit);
  for await (const page of pages) {
    for (const run of page.runs) runs.push(await toRun(client, run));
    if (limit !== undefined && runs.length >= limit) return { runs, isAll: page.isLast };
  }
  return { runs, isAll: true };
}

/** A run in the index. */
async function toRun(client: Client, run: ListedRun): Promise<Run> {
  const { id, merchant, startedAt, closedAt, indexed } = run;
  const { createdAt } = indexed;
  const summary = await summaryOf(client, run);
  return { id, createdAt, merchant, startedAt, isOpen: closedAt === undefined, summary };
}

/** What a list shows of a run; `undefined` when its memo can't be decoded, or isn't a payment's. */
async function summaryOf(
  client: Client,
  { id, indexed, memo: stored }: ListedRun,
): Promise<PaymentSummary | undefined> {
  const { namespace, loadedDataConverter } = client.options;
  const context = { type: 'workflow', namespace, workflowId: id } as const;
  const decoded = await decodeMapFromPayloads(loadedDataConverter, stored?.fields, context).catch(() => undefined);
  const memo = memoSchema.safeParse(decoded);
  if (!memo.success) return undefined;
  const { kind, status, final, amount, amountPaid, transId, externalId, userId, createdAt } = indexed;
  const { method, metadata = {} } = memo.data;
  return {
    id,
    object: 'payment',
    kind,
    method,
    status,
    final,
    amount,
    amountPaid,
    currency: CURRENCY,
    transId,
    externalId,
    userId,
    metadata,
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** Some of visibility's stores ignore case. */
function isOwn({ merchant }: Run, { owner }: PaymentFilter): boolean {
  return owner === undefined || owner === merchant;
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
