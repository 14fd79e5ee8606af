import type { Client } from '@temporalio/client';
import type { PaymentSummary } from '../payments/words/payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { RecordsUnavailableError } from '../records/database.js';
import type { PaymentFilter } from '../records/index-queries.js';
import { COMPARE, type Place } from '../records/places.js';
import { NoRecords } from './errors.js';
import { type Entries, type Entry, fits, isOwn, toEntry, withRecord } from './list-entries.js';
import { type ListPart, latestRunsOf, listInTemporal } from './list-in-temporal.js';
import { askRecords, type RecordsContext } from './recorded-payments.js';

/** Selects payments of a list. */
interface ListFilter extends PaymentFilter {
  /** The mobile operator's reference. Only the records know it, so a payment is found once it is recorded. */
  readonly financialTransId?: string | undefined;
}

/** A payment of a list, with its merchant. */
export interface ListedPayment {
  readonly payment: PaymentSummary;
  readonly merchant: string;
}

/** One page of a list. */
export interface Page {
  readonly payments: readonly ListedPayment[];
  /** Payments that belong in the list, but whose entry in the index can't be read. */
  readonly unreadable: readonly { readonly id: PaymentId; readonly merchant: string }[];
  /** The place after which the next page begins; without it, this one is the last. */
  readonly last?: Place | undefined;
  /** The records couldn't be read: payments that Temporal has forgotten may be missing. */
  readonly isIncomplete: boolean;
}

/** Dependencies of listing payments. */
type ListContext = { readonly client: Client } & RecordsContext;

/**
 * Lists payments of Temporal and, where it has forgotten them, of the records.
 *
 * @throws {Unavailable}
 * @throws {RecordsUnavailable | NoRecords} for what only the records know.
 */
export async function listPayments(
  context: ListContext,
  { financialTransId, ...filter }: ListFilter,
  part: ListPart,
): Promise<Page> {
  const { pageSize } = part;
  // What is held has no transaction yet.
  if (financialTransId !== undefined && filter.held !== undefined) return toPage({ entries: [] }, pageSize, false);
  if (financialTransId !== undefined)
    return toPage(await listByReference(context, financialTransId, filter, part), pageSize, false);
  const inTemporal = await listInTemporal(context.client, filter, part);
  if (filter.held !== undefined) return toPage(inTemporal, pageSize, false);
  try {
    return toPage(await withRecorded(context, inTemporal, filter, part), pageSize, false);
  } catch (error) {
    if (!(error instanceof RecordsUnavailableError)) throw error;
    return toPage(inTemporal, pageSize, true);
  }
}

/**
 * Adds the payments of the records that Temporal no longer has, in their places among those that it has. Temporal's
 * data is newer: its records add only fields that the index lacks. Beyond the end of a list that continues, nothing is
 * known of the payments that belong there.
 */
async function withRecorded(
  { client, records }: ListContext,
  inTemporal: Entries,
  filter: PaymentFilter,
  { pageSize, after, order }: ListPart,
): Promise<Entries> {
  if (records === undefined) return inTemporal;
  const compare = COMPARE[order];
  const recorded = await records.list({ ...filter, after, order }, pageSize);
  const old = recorded.map(toEntry);
  const ends: (Place | undefined)[] = [inTemporal.end, old.length === pageSize ? old.at(-1) : undefined];
  const [end] = ends.filter((place) => place !== undefined).sort(compare);
  const isWithin = (entry: Place) => end === undefined || compare(entry, end) <= 0;

  const recordOf = new Map(recorded.map((record) => [record.id, record]));
  const listed = new Set(inTemporal.entries.map(({ id }) => id));
  const candidates = old.filter((entry) => isWithin(entry) && !listed.has(entry.id));
  const known = await latestRunsOf(client, candidates);
  const forgotten = candidates.filter(({ id }) => !known.has(id));
  const inIndex = inTemporal.entries.filter(isWithin).map((entry) => withRecord(entry, recordOf.get(entry.id)));
  const entries = [...inIndex, ...forgotten].sort(compare);
  return { entries, end };
}

const REFERENCES = 'financialTransId to look for: look by externalId, userId or transId';
const REFERENCES_UNREAD =
  "Only the records know a payment's financialTransId, and they can't be read at the moment. Try again shortly, or look by externalId, userId or transId.";

/**
 * Lists the recorded payments that have a mobile operator's reference. While Temporal still has one of them, its data
 * decides the other conditions, such as the status.
 */
async function listByReference(
  { client, records }: ListContext,
  financialTransId: string,
  filter: PaymentFilter,
  { pageSize, after, order }: ListPart,
): Promise<Entries> {
  if (records === undefined) throw new NoRecords(REFERENCES);
  const { merchant, createdFrom, createdBefore } = filter;
  const wanted = { financialTransId, merchant, createdFrom, createdBefore, after, order };
  const recorded = await askRecords(() => records.list(wanted, pageSize), REFERENCES_UNREAD);
  const latest = await latestRunsOf(client, recorded);
  const entries = recorded.flatMap((record): Entry[] => {
    const run = latest.get(record.id);
    // A run created at another time is another payment under the same id, without this reference.
    if (run?.createdAt === record.indexed.createdAt)
      return isOwn(run, filter) && fits(run.summary, filter) ? [withRecord(run, record)] : [];
    const entry = toEntry(record);
    return fits(entry.summary ?? record.indexed, filter) ? [entry] : [];
  });
  const last = recorded.length === pageSize ? recorded.at(-1) : undefined;
  return { entries, end: last && { id: last.id, createdAt: last.indexed.createdAt } };
}

/** Makes a page of the first entries. */
function toPage({ entries, end }: Entries, pageSize: number, isIncomplete: boolean): Page {
  const shown = entries.slice(0, pageSize);
  const last = entries.length > pageSize ? shown.at(-1) : end;
  return {
    isIncomplete,
    payments: shown.flatMap(({ summary: payment, merchant }) => (payment === undefined ? [] : { payment, merchant })),
    unreadable: shown.filter(({ summary }) => summary === undefined).map(({ id, merchant }) => ({ id, merchant })),
    last: last && { createdAt: last.createdAt, id: last.id },
  };
}
