import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type RunnerOption, runner } from 'node-pg-migrate';
import pg from 'pg';
import type { Logger } from 'pino';

/** The records' database, PostgreSQL: a pool of connections, and the migrations of its schema. */

/** The database can't be reached, or doesn't answer in time. The statement may or may not have taken effect. */
export class RecordsUnavailableError extends Error {
  override readonly name = 'RecordsUnavailableError';
}

/**
 * Time limit for a connection, for a statement on it, and for both together when a query comes by itself, in ms: a
 * payout waits for it. A database that accepts connections and answers nothing then counts as one that refuses them.
 */
const CONNECT_LIMIT_MS = 5_000;
const STATEMENT_LIMIT_MS = 5_000;
const QUERY_LIMIT_MS = 5_000;

/** Time limit of a migration, in ms: an index over years of payments takes its time. */
const MIGRATION_LIMIT_MS = 30 * 60_000;

/**
 * Longest pause within a transaction, in ms. The server then ends it, with its lock: it may never hear that its client
 * has died.
 */
const IDLE_LIMIT_MS = 15_000;

/** Connections that one process holds at most. */
const MAX_CONNECTIONS = 10;

/** Taken by each transaction that writes, so that events get their positions in the order in which readers see them. */
const WRITERS_LOCK = 7_311_001;
/** Taken while the schema is brought up to date. */
const MIGRATION_LOCK = 7_311_002;

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));

/** A parameter of a query. */
export type SqlValue = string | number | boolean | Date | Buffer | null | readonly string[] | readonly Buffer[];

/** A row with its columns in camel case, and `undefined` for null. A bigint is text. */
export type Row = Readonly<Record<string, unknown>>;

/** A query within a transaction, or by itself. */
export type Query = (text: string, values?: readonly SqlValue[]) => Promise<Row[]>;

/**
 * A pool of connections to the records' database. It connects at the first query, so that a process can start while the
 * database is away, and brings the schema up to date before it.
 *
 * All methods throw {@link RecordsUnavailableError} when the database can't be reached.
 */
export class Database {
  readonly #settings: pg.ClientConfig;
  readonly #pool: pg.Pool;
  #migrated: Promise<void> | undefined;

  /** @param url `postgres://user:password@host:port/database`, with `pg`'s options in its query, such as `sslmode` */
  constructor(
    url: string,
    private readonly logger: Logger,
  ) {
    this.#settings = {
      connectionString: url,
      application_name: 'sanaga',
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      keepAlive: true,
    };
    this.#pool = new pg.Pool({
      ...this.#settings,
      max: MAX_CONNECTIONS,
      query_timeout: STATEMENT_LIMIT_MS,
      idleTimeoutMillis: 30_000,
      onConnect: limitStatements,
    });
    // A connection that breaks while nobody uses it is replaced by the next query.
    this.#pool.on('error', this.#logLoss);
  }

  readonly query: Query = (text, values) =>
    withinLimit(async () => {
      await this.#untilMigrated();
      return await queryOf(this.#pool)(text, values);
    });

  /** Runs a transaction that writes. Only one runs at a time, over all processes. */
  async write<T>(transaction: (query: Query) => Promise<T>): Promise<T> {
    await withinLimit(() => this.#untilMigrated());
    const client = await answered(() => this.#pool.connect());
    const query = queryOf(client);
    let broken: Error | undefined;
    try {
      await begin(query, WRITERS_LOCK, STATEMENT_LIMIT_MS);
      const result = await transaction(query);
      await query('COMMIT');
      return result;
    } catch (error) {
      // The server rolls back the transaction of a closed connection.
      if (error instanceof RecordsUnavailableError) broken = error;
      else {
        await query('ROLLBACK').catch((reason: Error) => {
          broken = reason;
        });
      }
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Brings the schema up to date. It may be called again, and by several processes at once. */
  async migrate(): Promise<void> {
    if (await this.#isUpToDate()) return;
    // A connection of its own: on the others, statements have a shorter time limit.
    const dbClient = new pg.Client({ ...this.#settings, query_timeout: MIGRATION_LIMIT_MS });
    dbClient.on('error', this.#logLoss);
    try {
      await answered(() => dbClient.connect());
      await begin(queryOf(dbClient), MIGRATION_LOCK, MIGRATION_LIMIT_MS);
      // The library's lock belongs to a session, and fails the second process: ours waits. Its transaction ends ours.
      const options: RunnerOption = {
        dbClient,
        dir: MIGRATIONS,
        direction: 'up',
        migrationsTable: 'migrations',
        noLock: true,
        // The first file's own transaction would end ours, and let another process in before the second file.
        singleTransaction: true,
        logger: { info: () => undefined, warn: () => undefined, error: (text) => this.logger.error(text) },
      };
      const done = await answered(() => runner(options));
      if (done.length > 0) {
        this.logger.info({ migrations: done.map(({ name }) => name) }, "the records' tables were brought up to date");
      }
    } finally {
      // A server that no longer answers may never see the connection close.
      void dbClient.end().catch(() => undefined);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #untilMigrated(): Promise<void> {
    this.#migrated ??= this.migrate().catch((error: unknown) => {
      this.#migrated = undefined;
      throw error;
    });
    return this.#migrated;
  }

  /** Checks first: the database's user may have no right to change the schema. */
  async #isUpToDate(): Promise<boolean> {
    const query = queryOf(this.#pool);
    const [table] = await query("SELECT to_regclass('migrations') IS NOT NULL AS exists");
    if (table?.exists !== true) return false;
    const done = new Set((await query('SELECT name FROM migrations')).map(({ name }) => name));
    return (await readdir(MIGRATIONS)).every((file) => done.has(file.replace(/\.sql$/, '')));
  }

  readonly #logLoss = (error: Error): void => this.logger.debug({ err: error }, 'a connection to the records was lost');
}

/**
 * Has the server give up a statement, too, when nobody waits for its answer any more: it would go on with it, and the
 * next ones would come on top. A statement and not a parameter of the connection, which poolers such as PgBouncer
 * refuse.
 */
async function limitStatements(client: pg.ClientBase): Promise<void> {
  await client.query(`SELECT set_config('statement_timeout', '${STATEMENT_LIMIT_MS}', false)`);
}

/** Begins a transaction, and waits for its turn. The server gives it up when its client no longer does anything. */
async function begin(query: Query, lock: number, limitMs: number): Promise<void> {
  await query('BEGIN');
  await query(
    `SELECT set_config('statement_timeout', '${limitMs}', true),
       set_config('idle_in_transaction_session_timeout', '${Math.max(limitMs, IDLE_LIMIT_MS)}', true)`,
  );
  await query(`SELECT pg_advisory_xact_lock(${lock})`);
}

/** Rejects when the answer takes too long. The query isn't cancelled. */
async function withinLimit<T>(ask: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new RecordsUnavailableError(`the records have not answered within ${QUERY_LIMIT_MS} ms`)),
      QUERY_LIMIT_MS,
    );
  });
  try {
    return await Promise.race([ask(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function queryOf(connection: pg.Pool | pg.Client | pg.PoolClient): Query {
  return async (text, values = []) => {
    const { rows } = await answered(() => connection.query<Record<string, unknown>>(text, [...values]));
    return rows.map(toRow);
  };
}

function toRow(columns: Readonly<Record<string, unknown>>): Row {
  return Object.fromEntries(Object.entries(columns).map(([name, value]) => [camelCased(name), value ?? undefined]));
}

function camelCased(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * SQLSTATEs of a mistake of ours: invalid data, a broken constraint, wrong SQL. All others can be put right without us:
 * connections, passwords, missing rights, a database or tables that aren't there yet, a server that is full or is
 * stopping.
 */
const MISTAKES = /^(22|23|42601|42703|42804|42883)/;

async function answered<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof pg.DatabaseError && MISTAKES.test(error.code ?? '')) throw error;
    throw new RecordsUnavailableError("the records can't be reached", { cause: error });
  }
}
