import type { Client } from '@temporalio/client';
import { CURRENCY } from '../payments/words/limits.js';
import type { Payment, PaymentSummary, RecordedSummary } from '../payments/words/payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { isoTime } from '../payments/words/time.js';
import type { PaymentFilter } from '../records/index-queries.js';
import type { ListedRun } from '../records/list-runs.js';
import { type IndexedFields, inReviewUnlessFinal, type PaymentRecord } from '../records/payment-record.js';
import type { Place } from '../records/places.js';
import { readMemo } from '../records/read-run.js';
import { isRecordFinal } from './recorded-payments.js';

/** A payment of a list. */
export interface Entry extends Place {
  readonly merchant: string;
  /** The fields that a list shows; missing when the payment can't be read. */
  readonly summary?: PaymentSummary | undefined;
}

/** A run of a payment's workflow in Temporal's index; times in ms since the epoch. */
export interface RunEntry extends Entry, Pick<ListedRun, 'startedAt' | 'closedAt'> {}

/** Payments in order. If there are more, they come after `end`. */
export interface Entries {
  readonly entries: readonly Entry[];
  readonly end?: Place | undefined;
}

/** Reads a listed payment from its run, unless its memo can't be decoded, or isn't a payment's. */
export async function toRunEntry(client: Client, run: ListedRun): Promise<RunEntry> {
  const { id, merchant, startedAt, closedAt, indexed } = run;
  const memo = await readMemo(client, run).catch(() => undefined);
  const summary = memo && summarise(id, indexed, memo);
  return { id, createdAt: indexed.createdAt, merchant, startedAt, closedAt, summary };
}

/** Shows a recorded payment as a list does. */
export function toEntry(record: PaymentRecord): Entry {
  const { id, merchant, indexed, content } = record;
  const { createdAt } = indexed;
  const payment = content && (isRecordFinal(record) ? content.payment : inReviewUnlessFinal(content.payment));
  const summary = payment && {
    ...summarise(id, { ...payment, createdAt }, payment),
    ...recordedSummary(payment),
  };
  return { id, merchant, createdAt, summary };
}

function summarise(
  id: PaymentId,
  { kind, status, final, amount, amountPaid, transId, externalId, userId, refundOf, createdAt }: IndexedFields,
  {
    method,
    metadata = {},
  }: { readonly method?: Payment['method']; readonly metadata?: Payment['metadata'] | undefined },
): PaymentSummary {
  const order = { id, object: 'payment', kind, method, status, final, amount, amountPaid, currency: CURRENCY } as const;
  return { ...order, transId, externalId, userId, refundOf, metadata, createdAt: isoTime(createdAt) };
}

/**
 * Adds the record's fields to a payment of the index, while both have the same outcome: the record is written after the
 * index, and its fields of an earlier outcome are outdated.
 */
export function withRecord(entry: Entry, record: PaymentRecord | undefined): Entry {
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

/** The fields that a filter and a summary have in common. */
const SHARED_FIELDS = ['status', 'final', 'kind', 'externalId', 'userId', 'transId'] as const;

/** Reports whether a payment matches the filter; one that can't be read may match. */
export function fits(
  summary: Pick<PaymentSummary, (typeof SHARED_FIELDS)[number]> | undefined,
  filter: PaymentFilter,
): boolean {
  return summary === undefined || SHARED_FIELDS.every((name) => (filter[name] ?? summary[name]) === summary[name]);
}

/** Reports whether a payment belongs to the merchant of the filter: some stores of the index ignore case. */
export function isOwn({ merchant }: Entry, filter: PaymentFilter): boolean {
  return filter.merchant === undefined || filter.merchant === merchant;
}
