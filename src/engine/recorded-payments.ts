import { Gauge, type Registry } from 'prom-client';
import type { PaymentId } from '../payments/words/payment-id.js';
import { RecordsUnavailableError } from '../records/database.js';
import type { PaymentRecord, RecordContent } from '../records/payment-record.js';
import type { Records } from '../records/records.js';
import { RecordsUnavailable, RecordUnreadable } from './errors.js';

/** Dependencies of reading the records. */
export interface RecordsContext {
  /** Undefined without records: then a payment is known for as long as Temporal keeps it. */
  readonly records?: Records | undefined;
}

/** A payment that Temporal has forgotten. */
export interface RecordedPayment {
  readonly kind: 'recorded';
  readonly id: PaymentId;
  readonly merchant: string;
  readonly running: false;
  readonly runId: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** Missing when its record can't be read. */
  readonly requestId: string | undefined;
  /** Missing when its payer's data was erased, too. */
  readonly fingerprint: string | undefined;
  readonly record: PaymentRecord;
}

/** Reason for refusing a request to pay: `records_unavailable` before anything was sent. */
export const UNCHECKED =
  "Nothing was sent: it can't be checked at the moment whether this Idempotency-Key was used long ago. Repeat the request with the same key.";

/** Detail of `records_unavailable` for a payment that Temporal doesn't have. */
const UNREAD =
  "The payment isn't among the recent ones, and the records can't be read at the moment. Try again shortly.";

/**
 * Finds a payment in the records; `undefined` when there is none.
 *
 * @param unread what to say when they can't be read
 * @throws {RecordsUnavailable}
 */
export async function findRecorded(
  { records }: RecordsContext,
  id: PaymentId,
  unread = UNREAD,
): Promise<RecordedPayment | undefined> {
  const record = await askRecords(() => records?.find(id), unread);
  return record && toRecordedPayment(record);
}

function toRecordedPayment(record: PaymentRecord): RecordedPayment {
  const { id, merchant, runId, indexed, content } = record;
  const { requestId, fingerprint } = content ?? {};
  const { createdAt } = indexed;
  return { kind: 'recorded', id, merchant, running: false, runId, createdAt, requestId, fingerprint, record };
}

/**
 * A payment as it was recorded.
 *
 * @throws {RecordUnreadable}
 */
export function recordedContent({ id, record: { content } }: RecordedPayment): RecordContent {
  if (content === undefined) throw new RecordUnreadable(id);
  return content;
}

/**
 * Reports whether its workflow has ended. A payment that was open when it was recorded, and isn't in Temporal, is lost.
 */
export function isRecordFinal({ closedAt, stopped }: PaymentRecord): boolean {
  return closedAt !== undefined && !stopped;
}

/**
 * Returns an answer of the records.
 *
 * @param detail what can't be said or done without it
 * @throws {RecordsUnavailable}
 */
export async function askRecords<T>(ask: () => Promise<T> | T, detail: string): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RecordsUnavailableError) throw new RecordsUnavailable(detail, { cause: error });
    throw error;
  }
}

/**
 * Adds a gauge of the recorder's lag to a registry. While the records can't be read, the lag is infinite, so that an
 * alert notices. Without records it is `NaN`, which no alert does.
 */
export function measureRecords(registry: Registry, { records }: RecordsContext): void {
  new Gauge({
    name: 'sanaga_records_lag_seconds',
    help: "How long ago the payments ended up to which all are recorded, about a minute when all is well; +Inf when the records can't be read or nothing was recorded yet, NaN without records. Every API process shows the same: take the minimum",
    registers: [registry],
    async collect() {
      this.set(records === undefined ? Number.NaN : await lagOf(records));
    },
  });
}

async function lagOf(records: Records): Promise<number> {
  try {
    const { recordedUntil = Number.NEGATIVE_INFINITY } = await records.recorderState();
    return (Date.now() - recordedUntil) / 1_000;
  } catch (error) {
    if (!(error instanceof RecordsUnavailableError)) throw error;
    return Number.POSITIVE_INFINITY;
  }
}
