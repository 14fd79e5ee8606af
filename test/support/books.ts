import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Book } from '../../src/book/book.js';
import type { Encryption } from '../../src/temporal/encryption.js';
import { testEncryption } from './test-encryption.js';

/** A book of a test's own, on the PostgreSQL server of all suites. */
export interface TestBook {
  readonly book: Book;
  /** Its database, for processes that open it themselves. */
  readonly url: string;
  /** Ends all connections to it, and takes none until something is done. */
  whileAway<T>(act: () => Promise<T>): Promise<T>;
  /** Closes it, and drops the database with all connections to it. */
  drop(): Promise<void>;
}

export async function newBook(encryption: Encryption = testEncryption, now?: () => number): Promise<TestBook> {
  const { BOOK_SERVER: server } = process.env;
  if (server === undefined) throw new Error('no database server: run the tests through jest.config.js');
  const name = `book_${randomUUID().replaceAll('-', '')}`;
  await execute(`${server}postgres`, `CREATE DATABASE ${name} TEMPLATE empty_book`);
  const url = `${server}${name}`;
  // Suites have times of their own: for them, the book is always known not to have gone back.
  await execute(url, "UPDATE beats SET at = 'infinity'");
  const book = new Book(url, encryption, now);
  return {
    book,
    url,
    async whileAway(act) {
      await execute(`${server}postgres`, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await execute(
        `${server}postgres`,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
      );
      try {
        return await act();
      } finally {
        await execute(`${server}postgres`, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      }
    },
    async drop() {
      await book.close();
      await execute(`${server}postgres`, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** Rows of a table that were read so far, by whatever way. */
export async function rowsRead({ query }: Book, table: string): Promise<number> {
  await query('SELECT pg_stat_force_next_flush()');
  const [row] = await query(
    'SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS read FROM pg_stat_user_tables WHERE relname = $1',
    [table],
  );
  return Number(row?.read);
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
