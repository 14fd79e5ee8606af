import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Payment, PaymentEventType } from '../payments/words/payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { Encryption } from '../temporal/encryption.js';
import { RecordCipher } from './cipher.js';
import { Database, RecordsUnavailableError, type Row } from './database.js';
import { type EventFilter, eventsQuery, paymentsQuery, type RecordFilter } from './lists.js';
import { PayerData } from './payer-data.js';
import { Payers } from './payers.js';
import { PaymentContents } from './payment-content.js';
import type { NewRecord, PaymentRecord, PaymentRun } from './payment-record.js';
import { eventRow, idRow, RUN_COLUMNS, recorderRow, toRun } from './rows.js';
import { Statements } from './statements.js';
import { missingAmong, RecordWriter } from './writing.js';

/** An event that a merchant is notified of. */
export interface RecordedEvent {
  /** Events get their positions in the order in which they are recorded. */
  readonly position: number;
  /** The `webhook-id` of the notification. */
  readonly id: string;
  readonly type: PaymentEventType;
  readonly merchant: string;
  /** Time of the event, in ms since the epoch. */
  readonly at: number;
  readonly paymentId: PaymentId;
  /** As it was recorded last; `undefined` when it can't be read. */
  readonly payment: Payment | undefined;
}

/** The recorder's progress. */
export type RecorderState = z.infer<typeof recorderRow>;

/**
 * The records: payments that are kept for good, when Temporal has long forgotten them. They are PostgreSQL tables.
 * The payment itself is encrypted; what Temporal's index has of it isn't, nor is the mobile operator's reference.
 *
 * All methods throw {@link RecordsUnavailableError} when the database can't be reached.
 */
export class Records {
  /** The statements of days, in the same database. */
  readonly statements: Statements;
  /** What is recorded of one payer. */
  readonly payerData: PayerData;
  readonly #contents: PaymentContents;
  readonly #writer: RecordWriter;
  /** The database didn't answer the last question that a merchant waits for. */
  #isAway = false;
  /** A caller is checking whether it is back. */
  #isProbed = false;

  private constructor(
    private readonly database: Database,
    private readonly cipher: RecordCipher,
    private readonly logger: Logger,
  ) {
    this.statements = new Statements(database, cipher);
    this.#contents = new PaymentContents(cipher, logger);
    const payers = new Payers(cipher);
    this.#writer = new RecordWriter(payers, this.#contents);
    this.payerData = new PayerData(database, cipher, payers, this.#contents);
  }

  /** Doesn't connect before its first use. Call `close` when done. */
  static open(url: string, encryption: Encryption, logger: Logger): Records {
    return new Records(new Database(url, logger), new RecordCipher(encryption), logger);
  }

  /** Brings the tables up to date. It may be called again, and by several processes at once. */
  migrate(): Promise<void> {
    return this.database.migrate();
  }

  close(): Promise<void> {
    return this.database.close();
  }

  /**
   * Reports whether the payment is recorded, which decides what an Idempotency-Key refers to. While the database
   * doesn't answer, one call at a time waits for it, and the others fail at once: a merchant waits for each of them.
   */
  async has(id: PaymentId): Promise<boolean> {
    return (await this.#queryUnlessAway('SELECT 1 FROM payments WHERE id = $1', id)).length > 0;
  }

  /** Lists the recorded refunds of a collection; fails at once as {@link has} does. */
  async refundsOf(collection: PaymentId): Promise<PaymentId[]> {
    const rows = await this.#queryUnlessAway('SELECT id FROM payments WHERE refund_of = $1', collection);
    return rows.map((row) => idRow.parse(row).id);
  }

  async #queryUnlessAway(text: string, id: PaymentId): Promise<Row[]> {
    if (this.#isAway && this.#isProbed) throw new RecordsUnavailableError('the records do not answer');
    const isProbe = this.#isAway;
    if (isProbe) this.#isProbed = true;
    try {
      const rows = await this.database.query(text, [id]);
      this.#isAway = false;
      return rows;
    } catch (error) {
      this.#isAway = error instanceof RecordsUnavailableError;
      throw error;
    } finally {
      if (isProbe) this.#isProbed = false;
    }
  }

  async find(id: PaymentId): Promise<PaymentRecord | undefined> {
    const [row] = await this.database.query('SELECT * FROM payments WHERE id = $1', [id]);
    return row && (await this.#contents.recordOf(row));
  }

  /** Lists payments by their creation, then by their ids. */
  async list(filter: RecordFilter, limit: number): Promise<PaymentRecord[]> {
    const { text, values } = paymentsQuery(filter, limit);
    const rows = await this.database.query(text, values);
    return await Promise.all(rows.map((row) => this.#contents.recordOf(row)));
  }

  /** Lists events in the order of recording, each once. */
  async events(filter: EventFilter, limit: number): Promise<RecordedEvent[]> {
    const { text, values } = eventsQuery(filter, limit);
    const rows = await this.database.query(text, values);
    return await Promise.all(
      rows.map(async (given) => {
        const { content, stopped, ...event } = eventRow.parse(given);
        const opened = await this.#contents.open(event.paymentId, stopped, content);
        return { ...event, payment: opened?.payment };
      }),
    );
  }

  /**
   * Writes a place in the feed of events as an opaque text: the position would tell merchants how many events there are
   * of all of them.
   */
  async toEventCursor(position: number): Promise<string> {
    return (await this.cipher.encrypt(`event ${position}`)).toString('base64url');
  }

  /** The position that a cursor stands for; `undefined` when it isn't a valid cursor. */
  async readEventCursor(cursor: string): Promise<number | undefined> {
    const [, position] = /^event (\d{1,15})$/.exec((await this.cipher.decryptCursor(cursor)) ?? '') ?? [];
    return position === undefined ? undefined : Number(position);
  }

  /** Reads the recorded ones of these payments, without their content. */
  async runsOf(ids: readonly PaymentId[]): Promise<PaymentRun[]> {
    const rows = await this.database.query(`SELECT ${RUN_COLUMNS.join()} FROM payments WHERE id = ANY($1)`, [ids]);
    return rows.map(toRun);
  }

  /**
   * Lists the payments of a time by their ids, without their content: held payouts by their release, if there was one,
   * and all others by their creation.
   *
   * @param from at or after this, and before `before`, in ms since the epoch
   * @param after the last id of the ones before
   */
  async runsBegun(from: number, before: number, after: string, limit: number): Promise<PaymentRun[]> {
    const rows = await this.database.query(
      `SELECT ${RUN_COLUMNS.join()} FROM payments
        WHERE (released_at IS NULL AND created_at >= $1 AND created_at < $2 OR released_at >= $1 AND released_at < $2)
          AND id > $3
       ORDER BY id LIMIT $4`,
      [new Date(from), new Date(before), after, limit],
    );
    return rows.map(toRun);
  }

  async recorderState(): Promise<RecorderState> {
    const [row = {}] = await this.database.query('SELECT recorded_until FROM recorder');
    return recorderRow.parse(row);
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
    return row && recorderRow.parse(row);
  }

  /** Gives the lease back, so that another recorder needn't wait for its end. */
  async release(holder: string): Promise<void> {
    await this.database.query('UPDATE recorder SET holder = NULL WHERE holder = $1', [holder]);
  }

  /** Records the recorder's progress, in ms since the epoch. It never goes back. */
  async advance(recordedUntil: number): Promise<void> {
    await this.database.query('UPDATE recorder SET recorded_until = greatest(recorded_until, $1)', [
      new Date(recordedUntil),
    ]);
  }

  /**
   * Returns the runs that aren't recorded as they are now.
   *
   * @param again when a run was recorded before this (ms since the epoch), it is to be read again though nothing shows
   *   a change, if it was open then or couldn't be read
   */
  async missing<Run extends PaymentRun>(runs: readonly Run[], again: number): Promise<Run[]> {
    return runs.length === 0 ? [] : await missingAmong(this.database.query, this.logger, runs, again);
  }

  /**
   * Records payments, with what their merchants are notified of. Three things change nothing: the same run again; an
   * older run, unless it has ended later, by itself; and another payment under the id of one that was paid, such as a
   * link that was made while nobody could tell that its key was an old one.
   */
  async write(records: readonly NewRecord[]): Promise<void> {
    if (records.length > 0) await this.database.write((query) => this.#writer.write(query, records));
  }
}
