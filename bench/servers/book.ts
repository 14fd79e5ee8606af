import { pino } from 'pino';
import { migrate } from '../../src/book/migrate.js';
import { type Postgres, startPostgres } from '../../stack/postgres/postgres.js';

/** The book's database of a system that was started for the benchmark, with its tables. */
export interface BenchBook {
  readonly url: string;
  /** Its own; none where Temporal's database is on the same server. */
  readonly processes: Readonly<Record<string, number>>;
  bytes(): Promise<number>;
  stop(): Promise<void>;
}

const DATABASE = 'book';

/** Starts a PostgreSQL for the book alone, as `npm start` has it. */
export async function startBook(): Promise<BenchBook> {
  const postgres = await startPostgres();
  try {
    return { ...(await bookOn(postgres)), processes: { postgres: postgres.pid }, stop: postgres.stop };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** Makes the book on a server that others use, too, and that stops by itself. */
export async function bookOn(postgres: Postgres): Promise<BenchBook> {
  await postgres.query('postgres', `CREATE DATABASE ${DATABASE}`);
  const url = postgres.url(DATABASE);
  await migrate(url, pino({ level: 'silent' }));
  return { url, processes: {}, bytes: () => postgres.size([DATABASE]), stop: async () => undefined };
}
