import { fileURLToPath } from 'node:url';
import { type RunnerOption, runner } from 'node-pg-migrate';
import pg from 'pg';
import type { Logger } from 'pino';

/** The records' database, PostgreSQL: a pool of connections, and the migrations of its schema. */

/** The database can't be reached, or doesn't answer in time. What was asked of it may or may not have been done. */
export class RecordsUnavailableError extends Error {
  override readonly name = 'RecordsUnavailableError';
}

/** How long a connection, and a statement on it, may take, in ms: a payout waits for them. */
const CONNECT_LIMIT_MS = 5_000;
const STATEMENT_LIMIT_MS = 5_000;

/** Connections that one process holds at most. */
const MAX_CONNECTIONS = 10;

/** Taken by each transaction that writes, so that events get their positions in the order in which readers see them. */
const WRITERS_LOCK = 7_311_001;
/** Taken while the schema is brought up to date. */
const MIGRATION_LOCK = 7_311_002;

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));

/** What a query can be given. */
export type SqlValue =
  | string
  | number
  | boolean
  | Date
  | Buffer
  | null
  | readonly string[]
  | readonly Buffer[];

/** A query within a transaction, or by itself. */
export type Query = (
  text: string,
  values?: readonly SqlValue[],
) => Promise<Readonly<Record<string, unknown>>[]>;

/** A pool of connections to the records' database. */
export interface Database {
  /** @throws {RecordsUnavailableError} */
  readonly query: Query;
  /**
   * Runs a transaction that writes. Only one runs at a time, over all processes.
   *
   * @throws {RecordsUnavailableError}
   */
  write<T>(transaction: (query: Query) => Promise<T>): Promise<T>;
  /**
   * Brings the schema up to date, which all others do before their first query. It may be called again, and by several processes
   * at once.
   *
   * @throws {RecordsUnavailableError}
   */
  migrate(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects at the first query, so that a process can start while the database is away.
 *
 * @param url `postgres://user:password@host:port/database`, with `pg`'s options in its query, such as `sslmode`
 */
export function openDatabase(url: string, logger: Logger): Database {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'sanaga',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: STATEMENT_LIMIT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  });
  // A connection that breaks while nobody uses it is replaced by the next query.
  pool.on('error', (error) => logger.debug({ err: error }, 'a connection to the records was lost'));

  async function inTransaction<T>(lock: number, run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await answered(() => pool.connect());
    let broken: Error | undefined;
    try {
      await queryOf(client)('BEGIN');
      await queryOf(client)(`SELECT pg_advisory_xact_lock(${lock})`);
      const result = await run(client);
      await queryOf(client)('COMMIT');
      return result;
    } catch (error) {
      broken = error instanceof RecordsUnavailableError ? error : undefined;
      // The server takes back what a connection that is closed has begun.
      await client.query('ROLLBACK').catch((reason: Error) => {
        broken = reason;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async function migrate(): Promise<void> {
    await inTransaction(MIGRATION_LOCK, async (dbClient) => {
      // Its own lock belongs to a session, and fails whoever comes second: ours waits. Its transaction ends ours.
      const options: RunnerOption = {
        dbClient,
        dir: MIGRATIONS,
        direction: 'up',
        migrationsTable: 'migrations',
        noLock: true,
        logger: { info: () => undefined, warn: () => undefined, error: (text) => logger.error(text) },
      };
      const done = await answered(() => runner(options));
      if (done.length > 0) {
        logger.info(
          { migrations: done.map(({ name }) => name) },
          "the records' tables were brought up to date",
        );
      }
    });
  }

  let migrated: Promise<void> | undefined;
  const untilMigrated = () => {
    migrated ??= migrate().catch((error: unknown) => {
      migrated = undefined;
      throw error;
    });
    return migrated;
  };

  return {
    async query(text, values) {
      await untilMigrated();
      return await queryOf(pool)(text, values);
    },
    async write(transaction) {
      await untilMigrated();
      return await inTransaction(WRITERS_LOCK, (client) => transaction(queryOf(client)));
    },
    migrate,
    close: () => pool.end(),
  };
}

function queryOf(connection: pg.Pool | pg.PoolClient): Query {
  return async (text, values = []) => {
    const { rows } = await answered(() => connection.query<Record<string, unknown>>(text, [...values]));
    return rows;
  };
}

/**
 * SQLSTATEs of a mistake of ours: invalid data, a broken constraint, wrong SQL. All others can be mended without us: connections,
 * passwords, missing rights, a database or tables that aren't there yet, a server that is full or is stopping.
 */
const MISTAKES = /^(22|23|42601|42703|42804|42883)/;

async function answered<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof pg.DatabaseError && MISTAKES.test(error.code ?? '')) throw error;
    throw new RecordsUnavailableError('the records can not be reached', { cause: error });
  }
}
