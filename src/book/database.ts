import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** The book's database: a pool of connections, and transactions on it. */

/** The book can't be reached, or doesn't answer in time. A statement may or may not have taken effect. */
export class BookUnavailable extends Error {
  override readonly name = 'BookUnavailable';

  /** @param mayHaveCommitted `false` where nothing was changed for certain */
  constructor(
    message: string,
    readonly mayHaveCommitted: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Between two tries while the book is away, in ms: one that refuses connections does so at once. */
const AGAIN_MS = 250;

/**
 * Does something again and again while the book is away: what it would lose can't be had again.
 *
 * @param withinMs after this time, it isn't tried again
 * @throws {BookUnavailable} when it never came back
 */
export async function patiently<T>(work: () => Promise<T>, withinMs: number): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BookUnavailable) || Date.now() > end) throw error;
    }
    await pause(AGAIN_MS);
  }
}

/** A parameter of a query. */
export type SqlValue = string | number | boolean | Date | Buffer | null | readonly string[] | readonly Buffer[];

/** A row with its columns in camel case, and `undefined` for null. A bigint is text. */
export type Row = Readonly<Record<string, unknown>>;

/** A query within a transaction, or by itself. */
export type Query = (text: string, values?: readonly SqlValue[]) => Promise<Row[]>;

/** Time limits of a connection, and of a statement with its wait for locks, in ms: whoever waits longer tries again. */
const CONNECT_LIMIT_MS = 2_000;
const STATEMENT_LIMIT_MS = 2_000;

/** Connections that one process holds at most. */
const MAX_CONNECTIONS = 10;

/** In one message, before each transaction. Its limits end with it: with a pooler, a session isn't ours. */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${STATEMENT_LIMIT_MS};
  SET LOCAL idle_in_transaction_session_timeout = ${STATEMENT_LIMIT_MS}`;

export class Database {
  readonly #pool: pg.Pool;

  /** @param url `postgres://user:password@host:port/database`, with `pg`'s options in its query, such as `sslmode` */
  constructor(url: string) {
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: 'sanaga',
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      keepAlive: true,
      max: MAX_CONNECTIONS,
      query_timeout: 2 * STATEMENT_LIMIT_MS,
    });
    // A connection that breaks while nobody uses it is replaced by the next query.
    this.#pool.on('error', () => undefined);
    // One that breaks between two statements of a transaction fails the second: the pool listens to idle ones alone,
    // and an error that nobody listens to ends the process.
    this.#pool.on('connect', (connection) => connection.on('error', () => undefined));
  }

  readonly query: Query = (text, values) => queryOf(this.#pool)(text, values);

  /**
   * Runs a transaction, READ COMMITTED: each of its statements sees what was committed before it, so a lock is taken in
   * a statement before the one that reads what it guards.
   *
   * @throws {BookUnavailable} also when the answer to the COMMIT is lost: it may have taken effect.
   */
  async transaction<T>(body: (query: Query) => Promise<T>): Promise<T> {
    const client = await answered(() => this.#pool.connect(), false);
    const query = queryOf(client);
    let broken: Error | undefined;
    let isCommitting = false;
    try {
      await answered(() => client.query(BEGIN), false);
      const result = await body(query);
      isCommitting = true;
      await query('COMMIT');
      return result;
    } catch (error) {
      // The server rolls back the transaction of a closed connection.
      if (!(error instanceof BookUnavailable)) {
        await query('ROLLBACK').catch((reason: Error) => {
          broken = reason;
        });
        throw error;
      }
      broken = new BookUnavailable(error.message, isCommitting, { cause: error.cause });
      throw broken;
    } finally {
      client.release(broken);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

function queryOf(connection: pg.Pool | pg.PoolClient): Query {
  return async (text, values = []) => {
    const { rows } = await answered(() => connection.query<Record<string, unknown>>(text, [...values]));
    return rows.map((columns) =>
      Object.fromEntries(Object.entries(columns).map(([name, value]) => [camelCased(name), value ?? undefined])),
    );
  };
}

/** Returns a column's name as rows have it: `createdAt` for `created_at`. */
export function camelCased(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * SQLSTATEs of a mistake of ours: invalid data, a broken constraint, wrong SQL. All others can be put right without us:
 * connections, passwords, missing rights, a deadlock, a lock that wasn't had in time, a server that is full or stops.
 */
const MISTAKES = /^(22|23|42601|42703|42804|42883)/;

/** @param mayHaveCommitted whether the call may take effect though it fails */
async function answered<T>(call: () => Promise<T>, mayHaveCommitted = true): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof pg.DatabaseError && MISTAKES.test(error.code ?? '')) throw error;
    throw new BookUnavailable("the book can't be reached", mayHaveCommitted, { cause: error });
  }
}
