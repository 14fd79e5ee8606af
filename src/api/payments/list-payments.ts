import type { Client } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type proto from '@temporalio/proto';
import { CURRENCY } from '../../payments/limits.js';
import type { Payment, PaymentSummary, RecordedSummary } from '../../payments/payment.js';
import { type PaymentId, type PaymentKind, parsePaymentId, type TransId } from '../../payments/payment-id.js';
import { RecordsUnavailableError } from '../../records/database.js';
import { orphaned, type PaymentRecord } from '../../records/payment-record.js';
import { outcomeOf } from '../../records/read-run.js';
import { pagesOf } from '../../temporal/list-workflows.js';
import { paymentSearchAttributes as attributes } from '../../temporal/search-attributes.js';
import { noRecords } from '../http/problem.js';
import { memoSchema } from './find-payment.js';
import { askRecords, isOver, type RecordsContext } from './recorded-payments.js';
import { callTemporal } from './temporal-calls.js';
import { type PaymentFilter, queryByIds, visibilityQuery } from './visibility.js';

/** Which payments to list. */
interface ListFilter extends PaymentFilter {
  /** The mobile operator's reference. Only the records know it, so a payment is found once it is recorded. */
  readonly financialTransId?: string | undefined;
}

/** A payment's place in a list, newest first: by its creation (ms since the epoch), then by its id. */
export interface Place {
  readonly createdAt: number;
  readonly id: PaymentId;
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

/** A run of a payment's workflow in Temporal's index. */
interface Run extends Entry {
  /** ms since the epoch. */
  readonly startedAt: number;
  readonly isOpen: boolean;
}

/** Runs that one call to Temporal gives: enough for a page, and as many again for payments with several runs. */
const runsPerCall = (pageSize: number): number => Math.max(50, 2 * (pageSize + 1));

/** Runs that one call to Temporal gives where all are read. */
const RUNS_PER_CALL = 250;

/** How much wider than the last window the next one is. */
const SPAN_FACTOR = 8;

/**
 * Payments in Temporal and, where it has forgotten them, in the records; newest first.
 *
 * @throws {ApiError} `temporarily_unavailable`; `recordOfunavailable` or `no_records` for what only the records know.
 */
export async function listPayments(
  context: { readonly client: Client } & RecordsContext,
  { financialTransId, ...filter }: ListFilter,
  pageSize: number,
  after: Place | undefined,
): Promise<Page> {
  if (financialTransId !== undefined) {
    return toPage(await listByReference(context, financialTransId, filter, pageSize, after), pageSize, false);
  }
  const inTemporal = await listInTemporal(context, filter, pageSize, after);
  if (context.records === undefined) return toPage(inTemporal, pageSize, false);
  try {
    return toPage(await withRecorded(context, inTemporal, filter, pageSize, after), pageSize, false);
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
 * The payments of the records that Temporal no longer has, in their places among those that it has. What Temporal has, it knows
 * better: its records add what the index lacks. Beyond the end of a list that goes on, nothing is known of what belongs there.
 */
async function withRecorded(
  { client, records }: { readonly client: Client } & RecordsContext,
  inTemporal: Entries,
  filter: PaymentFilter,
  pageSize: number,
  after: Place | undefined,
): Promise<Entries> {
  const recorded = (await records?.list({ ...filter, after }, pageSize)) ?? [];
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
  const inIndex = inTemporal.entries
    .filter(isWithin)
    .map((entry) => withRecord(entry, recordOf.get(entry.id)));
  const entries = [...inIndex, ...forgotten].sort(compare);
  return { entries, end };
}

const REFERENCES = 'financialTransId to look for: look by externalId, userId or transId';
const REFERENCES_UNREAD =
  "Only the records know a payment's financialTransId, and they can't be read at the moment. Try again shortly, or look by externalId, userId or transId.";

/**
 * The recorded payments that have a mobile operator's reference. As long as Temporal has one of them, it knows better what else is
 * asked for, such as the status: that is compared with what the list shows.
 */
async function listByReference(
  { client, records }: { readonly client: Client } & RecordsContext,
  financialTransId: string,
  filter: PaymentFilter,
  pageSize: number,
  after: Place | undefined,
): Promise<Entries> {
  if (records === undefined) throw noRecords(REFERENCES);
  const { owner, createdFrom, createdBefore } = filter;
  const wanted = { financialTransId, owner, createdFrom, createdBefore, after };
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
 * A payment of the index with what its record knows besides, as long as both are of the same outcome: the record is written after
 * the index, and what it says of an earlier outcome is over.
 */
function withRecord(entry: Entry, record: PaymentRecord | undefined): Entry {
  const { summary } = entry;
  const payment = record?.content?.payment;
  if (summary === undefined || payment === undefined || record?.indexed.createdAt !== entry.createdAt)
    return entry;
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
  const payment = content && (isOver(record) ? content.payment : orphaned(content.payment));
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
 * Payments as Temporal's index has them, newest first. The index follows each change within moments: it is good enough
 * to look through, and to choose what to read by itself.
 *
 * A page usually takes a call or two to Temporal, however many payments are on it, and one more with a filter for what can
 * change: an earlier run of a payment that was reopened or reset may still have what is looked for.
 *
 * @param after the last place of the page before
 * @throws {ApiError} `temporarily_unavailable`.
 */
async function listInTemporal(
  { client }: { readonly client: Client },
  filter: PaymentFilter,
  pageSize: number,
  after: Place | undefined,
): Promise<Entries> {
  const page: Run[] = [];
  for await (const runs of newestFirst(client, filter, pageSize, after)) {
    for (const run of await latestRuns(client, filter, runs)) {
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

/** The payments whose latest run is what the filter wants, in order. */
async function latestRuns(client: Client, filter: PaymentFilter, runs: readonly Run[]): Promise<Run[]> {
  const latest = latestOfEach(runs);
  // All runs of a payment agree in everything else.
  if (filter.status !== undefined || filter.final !== undefined || filter.transId !== undefined) {
    const ended = [...latest.values()].filter(({ isOpen }) => !isOpen).map(({ id }) => id);
    for (const [id, run] of latestOfEach(await allRuns(client, ended))) latest.set(id, run);
  }
  return [...latest.values()].filter(({ summary }) => fits(summary, filter)).sort(compare);
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
  summary:
    | Pick<PaymentSummary, 'status' | 'final' | 'kind' | 'externalId' | 'userId' | 'transId'>
    | undefined,
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
 * The runs that a filter finds, in batches: those of a later batch were created before those of an earlier one. All runs
 * of a payment have its time of creation, so they come in one batch.
 *
 * Temporal's visibility puts running workflows first and orders the others by when they ended, and most of
 * its stores refuse any other order. So windows of time are read, each with no more runs than one call gives: one for
 * all time if that suffices. Otherwise, what the call did give shows how wide a window may be.
 *
 * @throws {ApiError} `temporarily_unavailable`.
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
    yield runs.filter((run) => isOwn(run, filter) && (after === undefined || isAfter(run, after)));
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
    // From the last of a page and one more on, a page is certain. Half of the window at least is left out, lest it take many calls where
    // those that began last were created first. So many within one ms come by themselves.
    from = Math.max([...runs].sort(compare)[pageSize]?.createdAt ?? 0, from + Math.ceil((end - from) / 2));
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
  let read = 0;
  const request = { query, pageSize: limit ?? RUNS_PER_CALL };
  for await (const page of pagesOf(client, request, (list) => callTemporal(client, list))) {
    for (const info of page.executions) runs.push(...(await toRun(client, info)));
    read += page.executions.length;
    if (limit !== undefined && read >= limit) return { runs, isAll: page.isLast };
  }
  return { runs, isAll: true };
}

type RunInfo = proto.temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** A run in the index; none for a workflow that isn't a payment's. */
async function toRun(client: Client, info: RunInfo): Promise<Run[]> {
  const id = parsePaymentId(info.execution?.workflowId);
  const indexed = decodeTypedSearchAttributes(info.searchAttributes?.indexedFields);
  const createdAt = indexed.get(attributes.createdAt);
  if (id === undefined || createdAt === undefined) return [];
  const run: Run = {
    id,
    createdAt,
    merchant: indexed.get(attributes.merchant),
    startedAt: Number(info.startTime?.seconds ?? 0) * 1_000 + (info.startTime?.nanos ?? 0) / 1e6,
    isOpen: outcomeOf(info, indexed).isOpen,
  };
  return [{ ...run, summary: await summaryOf(client, run, indexed, info) }];
}

/** What a list shows of a run; `undefined` when its memo can't be decoded, or isn't a payment's. */
async function summaryOf(
  client: Client,
  { id, createdAt }: Run,
  indexed: TypedSearchAttributes,
  info: RunInfo,
): Promise<PaymentSummary | undefined> {
  const { namespace, loadedDataConverter } = client.options;
  const context = { type: 'workflow', namespace, workflowId: id } as const;
  const decoded = await decodeMapFromPayloads(loadedDataConverter, info.memo?.fields, context).catch(
    () => undefined,
  );
  const memo = memoSchema.safeParse(decoded);
  const amount = indexed.get(attributes.amount);
  if (amount === undefined || !memo.success) return undefined;
  const { status, final, amountPaid } = outcomeOf(info, indexed);
  return {
    id,
    object: 'payment',
    kind: indexed.get(attributes.kind) as PaymentKind,
    method: memo.data.method,
    status,
    final,
    amount,
    amountPaid,
    currency: CURRENCY,
    transId: indexed.get(attributes.transId) as TransId | undefined,
    externalId: indexed.get(attributes.externalId),
    userId: indexed.get(attributes.userId),
    metadata: memo.data.metadata ?? {},
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

/** Whether a payment comes after another one in a list. */
export function isAfter(one: Place, other: Place): boolean {
  return compare(one, other) > 0;
}

/** Orders places, newest first. */
export function compare(one: Place, other: Place): number {
  if (one.createdAt !== other.createdAt) return other.createdAt - one.createdAt;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
