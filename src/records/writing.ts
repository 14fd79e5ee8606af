import type { Logger } from 'pino';
import type { z } from 'zod';
import { notificationId } from '../payments/machine/notification.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { Query, SqlValue } from './database.js';
import type { Payers } from './payers.js';
import type { PaymentContents } from './payment-content.js';
import { type NewRecord, type PaymentRun, referenceOf, withoutPayer } from './payment-record.js';
import { knownRow, RUN_COLUMNS, toColumn } from './rows.js';

/** The runs that the recorder has to write, and how it writes them. */

/**
 * Returns the runs that aren't recorded as they are now.
 *
 * @param again when a run was recorded before this (ms since the epoch), it is to be read again though nothing shows a
 *   change, if it was open then or couldn't be read
 */
export async function missingAmong<Run extends PaymentRun>(
  query: Query,
  logger: Logger,
  runs: readonly Run[],
  again: number,
): Promise<Run[]> {
  const rows = await query(
    `SELECT id, created_at, run_id, run_started_at, closed_at, status, recorded_at, content IS NULL AS unread
       FROM payments WHERE id = ANY($1)`,
    [runs.map(({ id }) => id)],
  );
  const known = new Map(rows.map((row) => knownRow.parse(row)).map((row) => [row.id, row]));
  return runs.filter((run) => {
    const row = known.get(run.id);
    if (row === undefined) return true;
    if (row.createdAt === run.indexed.createdAt || row.status !== 'SUCCESSFUL') return isMissing(run, row, again);
    logger.error(
      { paymentId: run.id },
      'a payment was made under the key of one that was paid long ago, while the records were away or off; the first stays recorded, and this one is not',
    );
    return false;
  });
}

function isMissing(run: PaymentRun, row: z.infer<typeof knownRow>, again: number): boolean {
  const { closedAt } = row;
  // After a restore from a backup, Temporal ends runs again. A run that is stopped then has less than it had at its
  // first end.
  if (isLater(run.closedAt, closedAt) && !run.stopped) return true;
  if (row.runId !== run.runId) return row.runStartedAt <= run.startedAt && !isLater(closedAt, run.closedAt);
  const isOld = row.recordedAt < again;
  if (closedAt !== undefined) return row.unread && isOld;
  return run.closedAt !== undefined || run.indexed.status !== row.status || isOld;
}

/** Reports whether both are known, and the first is later. */
function isLater(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && one > other;
}

/** Writes payments and their events within one transaction. */
export class RecordWriter {
  constructor(
    private readonly payers: Payers,
    private readonly contents: PaymentContents,
  ) {}

  async write(query: Query, records: readonly NewRecord[]): Promise<void> {
    const keyIds = await this.payers.keyIds(query);
    for (const some of distinct(records)) await this.#writeDistinct(query, some, keyIds);
  }

  /** Writes each table with one statement: meanwhile, an embedded database answers nobody else. */
  async #writeDistinct(query: Query, given: readonly NewRecord[], keyIds: readonly string[]): Promise<void> {
    const erased = await this.payers.erasedAmong(query, given, keyIds);
    const presentKey = keyIds.slice(0, 1);
    const records = given.map((record) => (erased.has(record.id) ? withoutPayer(record) : record));
    const rows = await Promise.all(
      records.map(async (record) => {
        const isErased = erased.has(record.id);
        const payers = isErased ? [] : await this.payers.hashesOf(record, presentKey);
        return { ...(await this.#toRow(record)), payers, erasedAt: isErased ? 'now' : undefined };
      }),
    );
    await insertPayments(query, rows);
    await insertEvents(query, records);
  }

  /** The columns of a payment without its payer's. PostgreSQL takes the text `now` for the time of the transaction. */
  async #toRow(record: NewRecord) {
    const { id, merchant, indexed, runId, startedAt, closedAt, stopped, content } = record;
    return {
      ...indexed,
      id,
      merchant,
      financialTransId: content && referenceOf(content),
      createdAt: new Date(indexed.createdAt),
      releasedAt: indexed.releasedAt === undefined ? undefined : new Date(indexed.releasedAt),
      runId,
      runStartedAt: new Date(startedAt),
      closedAt: closedAt === undefined ? undefined : new Date(closedAt),
      stopped,
      content: content && (await this.contents.seal(content)),
      recordedAt: 'now',
    };
  }
}

/**
 * Groups records so that none has a payment twice, which one statement couldn't write: several runs of it may have
 * ended.
 */
function distinct(records: readonly NewRecord[]): readonly (readonly NewRecord[])[] {
  const groups: Map<PaymentId, NewRecord>[] = [];
  for (const record of records) {
    const group = groups.find((some) => !some.has(record.id));
    if (group === undefined) groups.push(new Map([[record.id, record]]));
    else group.set(record.id, record);
  }
  return groups.map((group) => [...group.values()]);
}

const COLUMNS = [...RUN_COLUMNS, 'financial_trans_id', 'payers', 'content', 'erased_at', 'recorded_at'];

/** Columns that another run of a payment leaves as they are. */
const KEPT = ['id', 'merchant', 'erased_at'];
const CHANGES = COLUMNS.filter((column) => !KEPT.includes(column)).map((column) => `${column} = excluded.${column}`);

/** Inserts payments. For a recorded one, the run that {@link missingAmong} finds missing takes its place. */
async function insertPayments(
  query: Query,
  rows: readonly Readonly<Record<string, SqlValue | undefined>>[],
): Promise<void> {
  const values = rows
    .map((row) => new Map(Object.entries(row).map(([field, value]) => [toColumn(field), value])))
    .flatMap((row) => COLUMNS.map((column) => row.get(column) ?? null));
  const places = rows.map((_, row) => `(${COLUMNS.map((__, place) => `$${row * COLUMNS.length + place + 1}`).join()})`);
  await query(
    `INSERT INTO payments (${COLUMNS.join()}) VALUES ${places.join()}
     ON CONFLICT (id) DO UPDATE SET ${CHANGES.join()}, erased_at = coalesce(payments.erased_at, excluded.erased_at)
     WHERE (payments.created_at = excluded.created_at OR payments.status <> 'SUCCESSFUL')
       AND (payments.content IS NULL OR (excluded.content IS NOT NULL
         AND (payments.run_started_at <= excluded.run_started_at
                AND (payments.closed_at > excluded.closed_at) IS NOT TRUE
                AND NOT (payments.run_id = excluded.run_id AND payments.closed_at IS NOT NULL
                         AND (excluded.closed_at IS NULL OR excluded.stopped))
              OR payments.closed_at < excluded.closed_at AND NOT excluded.stopped)))`,
    values,
  );
}

/** Inserts what merchants are notified of, each once, in the order of the records. */
async function insertEvents(query: Query, records: readonly NewRecord[]): Promise<void> {
  const events = records.flatMap(({ id, merchant, content }) =>
    (content?.state.notifications ?? []).map((notification) => ({ id, merchant, notification })),
  );
  if (events.length === 0) return;
  await query(
    `INSERT INTO events (id, payment_id, merchant, type, at)
     SELECT given.id, given.payment_id, given.merchant, given.type, given.at
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
         WITH ORDINALITY AS given (id, payment_id, merchant, type, at, place)
       ORDER BY given.place
     ON CONFLICT (id) DO NOTHING`,
    [
      events.map(({ id, notification }) => notificationId(id, notification)),
      events.map(({ id }) => id),
      events.map(({ merchant }) => merchant),
      events.map(({ notification }) => notification.type),
      events.map(({ notification }) => new Date(notification.at).toISOString()),
    ],
  );
}
