import { setImmediate as letOthersRun } from 'node:timers/promises';
import { z } from 'zod';
import type { Service } from '../payments/words/order.js';
import { DAY_MS, dayOf, TIME_ZONE } from '../payments/words/time.js';
import type { StatementLine } from '../reconciliation/reconciliation.js';
import type { Difference, MidnightBalance, Statement } from '../reconciliation/statement.js';
import type { Book } from './book.js';
import type { Row } from './database.js';
import { OpenedStatements } from './opened-statements.js';
import type { Place } from './seals.js';
import { firstPiece, furtherPiece, piecesOf } from './statement-content.js';
import { damaged, type UnreadableRecordError } from './versioned-json.js';

/** A statement in a list. */
export interface StatementSummary {
  readonly date: string;
  readonly version: number;
  /** ISO 8601. */
  readonly madeAt: string;
  readonly complete: boolean;
  readonly payments: number;
  readonly differences: number;
}

/** The progress of the statements. */
export interface StatementsState {
  /** The latest statement of the latest day that is over and has one. */
  readonly latest: StatementSummary | undefined;
  /**
   * Time from which statements are due, in ms since the epoch: since there is a first payment. `undefined` before.
   */
  readonly dueSince: number | undefined;
}

/** A part of the result of a run that makes a statement. */
export interface StatementPart<Value> {
  readonly name: string;
  readonly schema: z.ZodType<Value>;
  /** Before the run's first result. */
  readonly empty: Value;
}

/** For how long the parts of an abandoned run are kept, in ms. */
const PARTS_KEPT_MS = 30 * DAY_MS;

/** Held while a statement is published: each day's versions are counted one after the other. */
const PUBLISHING_LOCK = 7_311_003;

/**
 * The statements of days, and the results so far of the runs that make them. Their data on payments is encrypted, as
 * payments themselves are.
 */
export class Statements {
  readonly #opened = new OpenedStatements();

  constructor(private readonly book: Book) {}

  /** Keeps the provider's balance at the beginning of this day. The first answer counts. */
  async saveBalance(day: string, service: Service, balance: number, askedAt: number): Promise<void> {
    await this.book.query(
      'INSERT INTO balances (day, service, balance, asked_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [day, service, balance, new Date(askedAt)],
    );
  }

  /** Reads the balance at the beginning of this day; `undefined` when nobody could ask for it then. */
  async balance(day: string, service: Service): Promise<MidnightBalance | undefined> {
    const text = 'SELECT balance, asked_at FROM balances WHERE day = $1 AND service = $2';
    const [row] = await this.book.query(text, [day, service]);
    if (row === undefined) return undefined;
    const { balance, askedAt } = balanceRow.parse(row);
    return { balance, asOf: askedAt.toISOString() };
  }

  /** Keeps a part of a run's result, in place of an earlier version of the part. */
  async savePart<Value>(
    runId: string,
    { name }: StatementPart<Value>,
    part: Value,
    now = this.book.now(),
  ): Promise<void> {
    await this.book.query(
      `INSERT INTO statement_parts (run_id, name, content, saved_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (run_id, name) DO UPDATE SET content = excluded.content, saved_at = excluded.saved_at`,
      [runId, name, await this.book.seals.seal(partPlace(runId, name), { part }), new Date(now)],
    );
  }

  /**
   * Reads a part as it was kept, or as it is at the beginning.
   *
   * @throws {UnreadableRecordError} when its key is missing, or another version has written it.
   */
  async part<Value>(runId: string, { name, schema, empty }: StatementPart<Value>): Promise<Value> {
    const text = 'SELECT content FROM statement_parts WHERE run_id = $1 AND name = $2';
    const [row] = await this.book.query(text, [runId, name]);
    if (row === undefined) return empty;
    const { content } = contentRow.parse(row);
    return (await this.book.seals.open(partPlace(runId, name), content, z.object({ part: schema }))).part;
  }

  /**
   * Keeps a statement as the next version of its day, and forgets the run's parts. A run that has published gets its
   * statement back.
   *
   * @param make the statement as this version
   */
  async publish(runId: string, day: string, make: (version: number) => Statement): Promise<StatementSummary> {
    return await this.book.transaction(async (query) => {
      await query('SELECT pg_advisory_xact_lock($1)', [PUBLISHING_LOCK]);
      const [known] = await query(`SELECT ${SUMMARY} FROM statements WHERE run_id = $1`, [runId]);
      if (known !== undefined) return toSummary(known);
      const [last] = await query('SELECT max(version) AS version FROM statements WHERE day = $1', [day]);
      const statement = make(lastRow.parse(last).version + 1);
      const { version, madeAt, complete, payments, differences } = statement;
      const [made = {}] = await query(
        `INSERT INTO statements (day, version, run_id, made_at, complete, payments, differences)
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${SUMMARY}`,
        [day, version, runId, new Date(madeAt), complete, payments.length, differences.length],
      );
      let number = 0;
      for (const piece of piecesOf(statement)) {
        await query('INSERT INTO statement_pieces (run_id, number, content) VALUES ($1, $2, $3)', [
          ...[runId, number, await this.book.seals.seal(piecePlace(runId, number), piece)],
        ]);
        number++;
      }
      await query('DELETE FROM statement_parts WHERE run_id = $1 OR saved_at < $2', [
        ...[runId, new Date(Date.parse(madeAt) - PARTS_KEPT_MS)],
      ]);
      return toSummary(made);
    });
  }

  /** The latest statement of each day, the newest day first. @param before only days before this one */
  async list(before: string | undefined, limit: number): Promise<StatementSummary[]> {
    const rows = await this.book.query(
      `SELECT DISTINCT ON (day) ${SUMMARY} FROM statements WHERE ($1::text IS NULL OR day < $1) AND ${isCurrent('$3')}
       ORDER BY day DESC, version DESC LIMIT $2`,
      [before ?? null, limit, this.#today()],
    );
    return rows.map(toSummary);
  }

  /** The version of the last statement of a day, whether or not the day was over; 0 without one. */
  async lastVersion(day: string): Promise<number> {
    const [last] = await this.book.query('SELECT max(version) AS version FROM statements WHERE day = $1', [day]);
    return lastRow.parse(last).version;
  }

  async state(): Promise<StatementsState> {
    const [[latest], [due]] = await Promise.all([
      this.list(this.#today(), 1),
      this.book.query('SELECT created_at AS since FROM payments ORDER BY created_at LIMIT 1'),
    ]);
    return { latest, dueSince: due && dueRow.parse(due).since.getTime() };
  }

  /**
   * Reads the statement of a day: the latest, or an earlier version. One of the day so far is the latest only until the
   * day is over. Several readers may get the same object.
   *
   * @throws {UnreadableRecordError} when its key is missing, it is damaged, or another version has written it.
   */
  async find(day: string, version: number | undefined): Promise<Statement | undefined> {
    return await this.#opened.inTurn(async () => {
      const [row] = await this.book.query(
        `SELECT run_id, payments, differences FROM statements
          WHERE day = $1 AND (version = $2::integer OR ($2 IS NULL AND ${isCurrent('$3')}))
          ORDER BY version DESC LIMIT 1`,
        [day, version ?? null, this.#today()],
      );
      const found = row && foundRow.parse(row);
      return found && (await this.#opened.get(found.runId, () => this.#read(found)));
    });
  }

  #today(): string {
    return dayOf(this.book.now());
  }

  /** Reads a statement piece by piece. Others have their turn between two. */
  async #read({ runId, ...counts }: z.infer<typeof foundRow>): Promise<Statement> {
    const text = 'SELECT content FROM statement_pieces WHERE run_id = $1 ORDER BY number';
    const [first, ...further] = (await this.book.query(text, [runId])).map((row) => contentRow.parse(row).content);
    if (first === undefined) throw incomplete();
    const rest = await this.book.seals.open(piecePlace(runId, 0), first, firstPiece);
    const payments: StatementLine[] = [];
    const differences: Difference[] = [];
    for (const [index, content] of further.entries()) {
      await letOthersRun();
      const piece = await this.book.seals.open(piecePlace(runId, index + 1), content, furtherPiece);
      payments.push(...piece.payments);
      differences.push(...piece.differences);
    }
    if (payments.length !== counts.payments || differences.length !== counts.differences) throw incomplete();
    return { ...rest, payments, differences };
  }
}

/** The row of a statement's piece. */
export const piecePlace = (runId: string, number: number): Place => ({
  table: 'statement_pieces',
  id: runId,
  version: number,
});

const partPlace = (runId: string, name: string): Place => ({ table: 'statement_parts', id: `${runId} ${name}` });

function incomplete(): UnreadableRecordError {
  return damaged('some of its pieces are missing');
}

/**
 * Selects statements that aren't out of date: all but those of days so far that have ended since. Nobody may take these
 * for the day's, when its night was missed. What is made before the end of its day is of the day so far.
 */
const isCurrent = (today: string) =>
  `(day >= ${today} OR made_at >= (day::date + 1)::timestamp AT TIME ZONE '${TIME_ZONE}')`;

const SUMMARY = 'day, version, made_at, complete, payments, differences';

const contentRow = z.object({ content: z.instanceof(Buffer) });
const foundRow = z.object({ runId: z.string(), payments: z.number(), differences: z.number() });
const balanceRow = z.object({ balance: z.coerce.number(), askedAt: z.date() });
const dueRow = z.object({ since: z.date() });
const lastRow = z.object({ version: z.number().default(0) });
const summaryRow = z.object({
  day: z.string(),
  version: z.number(),
  madeAt: z.date(),
  complete: z.boolean(),
  payments: z.number(),
  differences: z.number(),
});

function toSummary(row: Row): StatementSummary {
  const { day: date, madeAt, ...rest } = summaryRow.parse(row);
  return { date, madeAt: madeAt.toISOString(), ...rest };
}
