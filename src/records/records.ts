import type { Logger } from 'pino';
import { z } from 'zod';
import { notificationId } from '../payments/machine/notification.js';
import {
  PAYMENT_EVENT_TYPES,
  PAYMENT_STATUSES,
  type Payment,
  type PaymentEventType,
  type PaymentStatus,
} from '../payments/words/payment.js';
import { PAYMENT_KINDS, type PaymentId, type PaymentKind, type TransId } from '../payments/words/payment-id.js';
import type { Encryption } from '../temporal/encryption.js';
import { RecordCipher } from './cipher.js';
import { type Database, openDatabase, type Query, RecordsUnavailableError, type SqlValue } from './database.js';
import {
  type PaymentRecord,
  type PaymentRun,
  payersOf,
  type RecordContent,
  referenceOf,
  withoutPayer,
} from './payment-record.js';
import { Statements } from './statements.js';

/** Which recorded payments to list; times in ms since the epoch. */
export interface RecordFilter {
  /** The merchant; without it, everybody's payments. */
  readonly owner?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  readonly final?: boolean | undefined;
  readonly kind?: PaymentKind | undefined;
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  readonly transId?: string | undefined;
  /** The mobile operator's reference. */
  readonly financialTransId?: string | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdBefore?: number | undefined;
  /** The last payment of the page before. */
  readonly after?: { readonly createdAt: number; readonly id: PaymentId } | undefined;
  /** By their creation, then by their ids; `newest first` by default. */
  readonly order?: 'newest first' | 'oldest first' | undefined;
}

/** Which events to list. */
export interface EventFilter {
  readonly owner?: string | undefined;
  readonly type?: PaymentEventType | undefined;
  /** ms since the epoch. */
  readonly since?: number | undefined;
  /** The position of the last event of the page before; 0 for the first page. */
  readonly after: number;
}

/** Something that a merchant was to be notified of. */
export interface RecordedEvent {
  /** Events get their positions in the order in which they are recorded. */
  readonly position: number;
  /** The `webhook-id` of the notification. */
  readonly id: string;
  readonly type: PaymentEventType;
  readonly merchant: string;
  /** When it happened, in ms since the epoch. */
  readonly at: number;
  readonly paymentId: PaymentId;
  /** As it was recorded last; `undefined` when it can't be read. */
  readonly payment: Payment | undefined;
}

/** How far the recorder has come. */
export interface RecorderState {
  /** All payments that ended before this are recorded, in ms since the epoch; `undefined` before its first round. */
  readonly recordedUntil: number | undefined;
}

/**
 * An encryption key is missing without which a payer's data can't be erased whole. The message says which, and what to
 * do.
 */
export class MissingKeyError extends Error {
  override readonly name = 'MissingKeyError';
}

/** Payments that are read at once to be erased: one payer can have thousands. */
const ERASED_AT_ONCE = 50;

/** Which payments of one payer were erased. */
export interface Erasure {
  readonly payments: readonly PaymentId[];
}

/**
 * The records: what is known of payments for good, when Temporal has long forgotten them. They are PostgreSQL tables.
 * The payment itself is encrypted; what Temporal's index has of it isn't, nor is the mobile operator's reference.
 *
 * All methods throw {@link RecordsUnavailableError} when the database can't be reached.
 */
export class Records {
  /** The statements of days, in the same database. */
  readonly statements: Statements;
  /** The database didn't answer the last question for a key. */
  #isAway = false;
  /** Somebody asks whether it is back. */
  #isProbed = false;

  private constructor(
    private readonly database: Database,
    private readonly cipher: RecordCipher,
    private readonly logger: Logger,
  ) {
    this.statements = new Statements(database, cipher);
  }

  /** Doesn't connect before its first use. Call `close` when done. */
  static open(url: string, encryption: Encryption, logger: Logger): Records {
    return new Records(openDatabase(url, logger), new RecordCipher(encryption), logger);
  }

  /** Brings the tables up to date. It may be called again, and by several processes at once. */
  migrate(): Promise<void> {
    return this.database.migrate();
  }

  close(): Promise<void> {
    return this.database.close();
  }

  /**
   * Whether there is such a payment, which is what an Idempotency-Key comes to. While the database doesn't answer, one
   * call at a time waits for it, and the others fail at once: they come from those who want to pay.
   */
  async has(id: PaymentId): Promise<boolean> {
    if (this.#isAway && this.#isProbed) throw new RecordsUnavailableError('the records do not answer');
    const isProbe = this.#isAway;
    if (isProbe) this.#isProbed = true;
    try {
      const rows = await this.database.query('SELECT 1 FROM payments WHERE id = $1', [id]);
      this.#isAway = false;
      return rows.length > 0;
    } catch (error) {
      this.#isAway = error instanceof RecordsUnavailableError;
      throw error;
    } finally {
      if (isProbe) this.#isProbed = false;
    }
  }

  async find(id: PaymentId): Promise<PaymentRecord | undefined> {
    const [row] = await this.database.query('SELECT * FROM payments WHERE id = $1', [id]);
    return row && (await this.#toRecord(row));
  }

  /** Payments, newest first, then by id. */
  async list(filter: RecordFilter, limit: number): Promise<PaymentRecord[]> {
    const { owner, status, kind, externalId, userId, createdFrom, createdBefore, after } = filter;
    const [beyond, direction] = filter.order === 'oldest first' ? ['>', 'ASC'] : ['<', 'DESC'];
    const where = new Conditions();
    where.add('merchant = ?', owner);
    where.add('status = ?', status);
    // As the index of those that aren't says it.
    if (filter.final !== undefined) where.are(filter.final ? 'final' : 'NOT final');
    where.add('kind = ?', kind);
    where.add('external_id = ?', externalId);
    where.add('user_id = ?', userId);
    where.add('trans_id = ?', filter.transId);
    where.add('financial_trans_id = ?', filter.financialTransId);
    where.add('created_at >= ?', createdFrom === undefined ? undefined : new Date(createdFrom));
    where.add('created_at < ?', createdBefore === undefined ? undefined : new Date(createdBefore));
    if (after !== undefined) {
      const time = where.value(new Date(after.createdAt));
      // The first condition is the second's, too; an index can begin where it says.
      where.add(`created_at ${beyond}= ${time} AND (created_at ${beyond} ${time} OR id > ?)`, after.id);
    }
    const text = `SELECT * FROM payments ${where} ORDER BY created_at ${direction}, id LIMIT ${where.value(limit)}`;
    const rows = await this.database.query(text, where.values);
    return await Promise.all(rows.map((row) => this.#toRecord(row)));
  }

  /** Events in the order in which they were recorded, each once. */
  async events({ owner, type, since, after }: EventFilter, limit: number): Promise<RecordedEvent[]> {
    const where = new Conditions();
    where.add('position > ?', after);
    where.add('events.merchant = ?', owner);
    where.add('type = ?', type);
    where.add(
      // By the time alone, all events from before it would be read.
      `at >= ? AND position >=
         coalesce((SELECT position FROM event_hours WHERE hour <= ? ORDER BY hour DESC LIMIT 1), 0)`,
      since === undefined ? undefined : new Date(since),
    );
    const text = `SELECT position, events.id, type, at, payment_id, events.merchant, content
      FROM events JOIN payments ON payments.id = payment_id ${where} ORDER BY position LIMIT ${where.value(limit)}`;
    const rows = await this.database.query(text, where.values);
    return await Promise.all(
      rows.map(async (given) => {
        const { content, payment_id: paymentId, ...row } = eventRow.parse(given);
        const opened = await this.#open(paymentId, content);
        return { ...row, at: row.at.getTime(), paymentId, payment: opened?.payment };
      }),
    );
  }

  /** Those of the payments that are recorded, without their content. */
  async runsOf(ids: readonly PaymentId[]): Promise<PaymentRun[]> {
    const rows = await this.database.query(`SELECT ${RUN} FROM payments WHERE id = ANY($1)`, [ids]);
    return rows.map(toRun);
  }

  /**
   * Payments of a time without their content, in the order of their ids.
   *
   * @param from created at or after this, and before `before`, in ms since the epoch
   * @param after the last id of the ones before
   */
  async runsCreated(from: number, before: number, after: string, limit: number): Promise<PaymentRun[]> {
    const rows = await this.database.query(
      `SELECT ${RUN} FROM payments WHERE created_at >= $1 AND created_at < $2 AND id > $3
       ORDER BY id LIMIT $4`,
      [new Date(from), new Date(before), after, limit],
    );
    return rows.map(toRun);
  }

  async recorderState(): Promise<RecorderState> {
    const [row = {}] = await this.database.query('SELECT recorded_until FROM recorder');
    return toRecorderState(row);
  }

  /**
   * Takes the recorder's lease, or renews it, so that one recorder is at work.
   *
   * @returns `undefined` while another has it
   */
  async lease(holder: string, forMs: number): Promise<RecorderState | undefined> {
    const [row] = await this.database.query(
      `UPDATE recorder SET holder = $1, held_until = now() + $2 * interval '1 millisecond'
        WHERE holder IS NULL OR holder = $1 OR held_until <= now() RETURNING recorded_until`,
      [holder, forMs],
    );
    return row && toRecorderState(row);
  }

  /** Gives the lease back, so that another recorder needn't wait for its end. */
  async release(holder: string): Promise<void> {
    await this.database.query('UPDATE recorder SET holder = NULL WHERE holder = $1', [holder]);
  }

  /** Notes down how far the recorder has come, in ms since the epoch. It never goes back. */
  async advance(recordedUntil: number): Promise<void> {
    await this.database.query('UPDATE recorder SET recorded_until = greatest(recorded_until, $1)', [
      new Date(recordedUntil),
    ]);
  }

  /**
   * Those of the runs that aren't recorded as they are now.
   *
   * @param again when a run was recorded before this (ms since the epoch), it is to be read again though nothing shows
   *   a change, if it was open then or couldn't be read
   */
  async missing<Run extends PaymentRun>(runs: readonly Run[], again: number): Promise<Run[]> {
    if (runs.length === 0) return [];
    const rows = await this.database.query(
      `SELECT id, created_at, run_id, run_started_at, closed_at, status, recorded_at, content IS NULL AS unread
         FROM payments WHERE id = ANY($1)`,
      [runs.map(({ id }) => id)],
    );
    const known = new Map(rows.map((row) => knownRow.parse(row)).map((row) => [row.id, row]));
    return runs.filter((run) => {
      const row = known.get(run.id);
      if (row === undefined) return true;
      const isAnother = row.created_at.getTime() !== run.indexed.createdAt;
      if (isAnother && row.status === 'SUCCESSFUL') {
        this.logger.error({ paymentId: run.id }, UNRECORDED);
        return false;
      }
      // Temporal, restored from a backup, has runs end again. What was stopped then is less than what it had come to
      // before.
      const closedAt = row.closed_at?.getTime();
      if (isLater(run.closedAt, closedAt) && !run.stopped) return true;
      if (row.run_id !== run.runId) {
        return row.run_started_at.getTime() <= run.startedAt && !isLater(closedAt, run.closedAt);
      }
      const isOld = row.recorded_at.getTime() < again;
      if (row.closed_at !== undefined) return row.unread && isOld;
      return run.closedAt !== undefined || run.indexed.status !== row.status || isOld;
    });
  }

  /**
   * Writes payments down, with what their merchants are notified of. To write one again changes nothing; a run that is
   * older than what is recorded changes nothing either, unless it has ended later, by itself. Nor does another payment
   * under the id of one that was paid: a link that was made while nobody could tell that its key was an old one.
   */
  async write(records: readonly PaymentRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.database.write(async (query) => {
      const keyIds = await this.#keyIds(query);
      for (const some of distinct(records)) await this.#write(query, some, keyIds);
    });
  }

  /**
   * Erases a payer's personal data from all that is recorded, and from what will be recorded later of payments that
   * were created until now.
   *
   * @param payer a phone number as nine digits, or an e-mail address in lower case
   * @throws {MissingKeyError} when some of the payer's records may be found or read only with a key that is gone.
   *   Nothing is erased then.
   */
  async erase(payer: string): Promise<Erasure> {
    return await this.database.write(async (query) => {
      const keyIds = await this.#keyIds(query);
      const hashes = await this.#hashesOf([payer], keyIds);
      if (hashes.length < keyIds.length) throw new MissingKeyError(await this.#missingOf(keyIds));
      await query('INSERT INTO erasures (payer, at) SELECT unnest($1::bytea[]), now()', [hashes]);
      const payments: PaymentId[] = [];
      for (;;) {
        // Those that were erased have no payers any more.
        const rows = await query('SELECT * FROM payments WHERE payers && $1::bytea[] LIMIT $2', [
          hashes,
          ERASED_AT_ONCE,
        ]);
        if (rows.length === 0) return { payments };
        for (const row of rows) payments.push(await this.#eraseOne(query, await this.#toRecord(row)));
      }
    });
  }

  async #eraseOne(query: Query, record: PaymentRecord): Promise<PaymentId> {
    // Without the key, it isn't known what else would be lost with the personal data.
    if (record.content === undefined) {
      throw new MissingKeyError(
        `Nothing was erased: ${record.id} can't be read with the keys in ENCRYPTION_KEYS. Add the key that it was written with, after the present one, and erase again.`,
      );
    }
    await query("UPDATE payments SET content = $2, user_id = NULL, payers = '{}', erased_at = now() WHERE id = $1", [
      record.id,
      await this.#seal(withoutPayer(record)),
    ]);
    return record.id;
  }

  /**
   * Writes records of different payments, each table with one statement: until they are written, an embedded database
   * answers nobody else.
   */
  async #write(query: Query, given: readonly PaymentRecord[], keyIds: readonly string[]): Promise<void> {
    const erased = await this.#erasedOf(query, given, keyIds);
    const records = given.map((record) => (erased.has(record.id) ? withoutPayer(record) : record));
    const rows = await Promise.all(
      records.map((record) => this.#toRow(record, erased.has(record.id), keyIds.slice(0, 1))),
    );
    await query(
      `INSERT INTO payments (id, merchant, kind, status, final, amount, amount_paid, trans_id, financial_trans_id, external_id, user_id,
         created_at, run_id, run_started_at, closed_at, stopped, payers, content, erased_at, recorded_at)
       VALUES ${placeholders(rows)}
       ON CONFLICT (id) DO UPDATE SET
         kind = excluded.kind, status = excluded.status, final = excluded.final, amount = excluded.amount,
         amount_paid = excluded.amount_paid,
         trans_id = excluded.trans_id, financial_trans_id = excluded.financial_trans_id, external_id = excluded.external_id, user_id = excluded.user_id,
         created_at = excluded.created_at, run_id = excluded.run_id, run_started_at = excluded.run_started_at, closed_at = excluded.closed_at,
         stopped = excluded.stopped, payers = excluded.payers, content = excluded.content,
         erased_at = coalesce(payments.erased_at, excluded.erased_at), recorded_at = excluded.recorded_at
       WHERE (payments.created_at = excluded.created_at OR payments.status <> 'SUCCESSFUL')
         AND (payments.content IS NULL OR (excluded.content IS NOT NULL
           AND (payments.run_started_at <= excluded.run_started_at
                  AND (payments.closed_at > excluded.closed_at) IS NOT TRUE
                  AND NOT (payments.run_id = excluded.run_id AND payments.closed_at IS NOT NULL
                           AND (excluded.closed_at IS NULL OR excluded.stopped))
                OR payments.closed_at < excluded.closed_at AND NOT excluded.stopped)))`,
      rows.flat(),
    );
    const told = records.flatMap(({ id, merchant, content }) =>
      (content?.state.notifications ?? []).map((notification) => ({ id, merchant, notification })),
    );
    if (told.length === 0) return;
    await query(
      `INSERT INTO events (id, payment_id, merchant, type, at)
       SELECT told.id, told.payment_id, told.merchant, told.type, told.at
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
           WITH ORDINALITY AS told (id, payment_id, merchant, type, at, place)
         ORDER BY told.place
       ON CONFLICT (id) DO NOTHING`,
      [
        told.map(({ id, notification }) => notificationId(id, notification)),
        told.map(({ id }) => id),
        told.map(({ merchant }) => merchant),
        told.map(({ notification }) => notification.type),
        told.map(({ notification }) => new Date(notification.at).toISOString()),
      ],
    );
  }

  /**
   * The columns of a payment, in the order of its INSERT. PostgreSQL takes the text `now` for the time of the
   * transaction.
   */
  async #toRow(record: PaymentRecord, isErased: boolean, keyIds: readonly string[]): Promise<readonly SqlValue[]> {
    const { id, merchant, indexed, content } = record;
    const payers = isErased || content === undefined ? [] : payersOf(content);
    return [
      ...[id, merchant, indexed.kind, indexed.status, indexed.final],
      ...[indexed.amount, indexed.amountPaid ?? null],
      ...[indexed.transId ?? null, (content && referenceOf(content)) ?? null],
      ...[indexed.externalId ?? null, indexed.userId ?? null],
      ...[new Date(indexed.createdAt), record.runId, new Date(record.startedAt)],
      record.closedAt === undefined ? null : new Date(record.closedAt),
      record.stopped,
      await this.#hashesOf(payers, keyIds),
      content === undefined ? null : await this.#seal(record),
      isErased ? 'now' : null,
      'now',
    ];
  }

  /**
   * The payments of which personal data was erased, or is the data of a payer who was, later than they were created.
   */
  async #erasedOf(
    query: Query,
    records: readonly PaymentRecord[],
    keyIds: readonly string[],
  ): Promise<ReadonlySet<unknown>> {
    const payers = await Promise.all(
      records.map(async ({ id, indexed, content }) => {
        const hashes = content === undefined ? [] : await this.#hashesOf(payersOf(content), keyIds);
        return hashes.map((hash) => ({ id, hash, createdAt: new Date(indexed.createdAt).toISOString() }));
      }),
    );
    const asked = payers.flat();
    const found = await query(
      `SELECT id FROM payments WHERE id = ANY($1::text[]) AND erased_at IS NOT NULL
       UNION ALL SELECT asked.id FROM unnest($2::text[], $3::bytea[], $4::timestamptz[]) AS asked (id, payer, created_at)
         WHERE EXISTS (SELECT 1 FROM erasures WHERE erasures.payer = asked.payer AND erasures.at >= asked.created_at)`,
      [
        records.map(({ id }) => id),
        asked.map(({ id }) => id),
        asked.map(({ hash }) => hash),
        asked.map(({ createdAt }) => createdAt),
      ],
    );
    return new Set(found.map(({ id }) => id));
  }

  /** The ids of all keys that hashes are and were made with, the present one first. */
  async #keyIds(query: Query): Promise<string[]> {
    const present = await this.cipher.hashKeyId();
    const known = (await query('SELECT id FROM payer_keys')).map(({ id }) => String(id));
    if (!known.includes(present)) {
      await query('INSERT INTO payer_keys (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [present]);
    }
    return [present, ...known.filter((id) => id !== present)];
  }

  /** The payers' hashes by each of the keys, but for those that are gone. */
  async #hashesOf(payers: readonly string[], keyIds: readonly string[]): Promise<Buffer[]> {
    const hashes = await Promise.all(payers.flatMap((payer) => keyIds.map((keyId) => this.cipher.hash(payer, keyId))));
    return hashes.filter((hash) => hash !== undefined);
  }

  /** What to do about the keys that are gone. */
  async #missingOf(keyIds: readonly string[]): Promise<string> {
    const known = await Promise.all(keyIds.map((id) => this.cipher.hash('', id)));
    const missing = keyIds.filter((_, index) => known[index] === undefined).map((id) => JSON.stringify(id));
    return `Nothing was erased: records of this payer that were made with the encryption key ${missing.join(', ')} can't be found without it. Add it to ENCRYPTION_KEYS, after the present one, and erase again.`;
  }

  #seal({ content }: PaymentRecord): Promise<Buffer> {
    return this.cipher.seal(JSON.stringify(content));
  }

  /** A record that can't be opened is one whose content isn't known. */
  /**
   * A place in the feed of events as an opaque text: the position itself would tell merchants how many events all of
   * them have.
   */
  async toEventCursor(position: number): Promise<string> {
    return (await this.cipher.seal(`event ${position}`)).toString('base64url');
  }

  /** The position that a cursor stands for; `undefined` when it isn't a valid cursor. */
  async readEventCursor(cursor: string): Promise<number | undefined> {
    const [, position] = /^event (\d{1,15})$/.exec((await this.cipher.openText(cursor)) ?? '') ?? [];
    return position === undefined ? undefined : Number(position);
  }

  async #open(id: PaymentId, sealed: Buffer | undefined): Promise<RecordContent | undefined> {
    if (sealed === undefined) return undefined;
    try {
      const content = JSON.parse(await this.cipher.open(sealed)) as RecordContent;
      if (content.payment.id !== id) throw new Error("it is another payment's");
      return content;
    } catch (error) {
      this.logger.error({ err: error, paymentId: id }, "a record can't be read");
      return undefined;
    }
  }

  async #toRecord(given: Row): Promise<PaymentRecord> {
    const { id, erased_at: erasedAt, content: sealed } = paymentRow.parse(given);
    return { ...toRun(given), isErased: erasedAt !== undefined, content: await this.#open(id, sealed) };
  }
}

/**
 * The records in groups in which no payment is twice, which one statement couldn't write: several runs of it may have
 * ended.
 */
function distinct(records: readonly PaymentRecord[]): readonly (readonly PaymentRecord[])[] {
  const groups: Map<PaymentId, PaymentRecord>[] = [];
  for (const record of records) {
    const group = groups.find((some) => !some.has(record.id));
    if (group === undefined) groups.push(new Map([[record.id, record]]));
    else group.set(record.id, record);
  }
  return groups.map((group) => [...group.values()]);
}

/** `($1, $2), ($3, $4)` for two rows of two columns. */
function placeholders(rows: readonly (readonly SqlValue[])[]): string {
  let place = 0;
  return rows.map((row) => `(${row.map(() => `$${++place}`).join(', ')})`).join(', ');
}

function toRun(given: Row): PaymentRun {
  const row = runRow.parse(given);
  return {
    id: row.id,
    merchant: row.merchant,
    indexed: {
      kind: row.kind,
      status: row.status,
      final: row.final,
      amount: row.amount,
      amountPaid: row.amount_paid,
      transId: row.trans_id,
      externalId: row.external_id,
      userId: row.user_id,
      createdAt: row.created_at.getTime(),
    },
    runId: row.run_id,
    startedAt: row.run_started_at.getTime(),
    closedAt: row.closed_at?.getTime(),
    stopped: row.stopped,
  };
}
const UNRECORDED =
  'a payment was made under the key of one that was paid long ago, while the records were away or off; the first stays recorded, and this one is not';

/** A row as the database gives it: a bigint as text, and null for what isn't there. */
type Row = Readonly<Record<string, unknown>>;

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullable().transform((value) => value ?? undefined);
const paymentId = z.string().transform((text) => text as PaymentId);
const content = optional(z.instanceof(Buffer));

const runRow = z.object({
  id: paymentId,
  merchant: z.string(),
  kind: z.enum(PAYMENT_KINDS),
  status: z.enum(PAYMENT_STATUSES),
  final: z.boolean(),
  amount: z.coerce.number(),
  amount_paid: optional(z.coerce.number()),
  trans_id: optional(z.string().transform((text) => text as TransId)),
  external_id: optional(z.string()),
  user_id: optional(z.string()),
  created_at: z.date(),
  run_id: z.string(),
  run_started_at: z.date(),
  closed_at: optional(z.date()),
  stopped: z.boolean(),
});

/** The columns of a run. */
const RUN = Object.keys(runRow.shape).join(', ');

const paymentRow = z.object({ id: paymentId, content, erased_at: optional(z.date()) });

const knownRow = z.object({
  id: z.string(),
  created_at: z.date(),
  run_id: z.string(),
  run_started_at: z.date(),
  closed_at: optional(z.date()),
  status: z.string(),
  recorded_at: z.date(),
  unread: z.boolean(),
});

const eventRow = z.object({
  position: z.coerce.number(),
  id: z.string(),
  type: z.enum(PAYMENT_EVENT_TYPES),
  merchant: z.string(),
  at: z.date(),
  payment_id: paymentId,
  content,
});

const recorderRow = z.object({ recorded_until: optional(z.date()) });

/** Whether both are known, and the first is later. */
function isLater(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && one > other;
}

function toRecorderState(row: Row): RecorderState {
  return { recordedUntil: recorderRow.parse(row).recorded_until?.getTime() };
}

/** The conditions of a query, and the values of its parameters. */
class Conditions {
  readonly #conditions: string[] = [];
  readonly values: SqlValue[] = [];

  /** A parameter of the query, such as `$1`. */
  value(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Adds a condition with `?` where its value belongs, unless there is no value. */
  add(condition: string, value: SqlValue | undefined): void {
    if (value !== undefined) this.#conditions.push(condition.replaceAll('?', this.value(value)));
  }

  /** Adds a condition that has no value. */
  are(condition: string): void {
    this.#conditions.push(condition);
  }

  toString(): string {
    return this.#conditions.length === 0 ? '' : `WHERE ${this.#conditions.join(' AND ')}`;
  }
}
