import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BookUnavailable, type Query } from '../../src/book/database.js';
import { newBook, type TestBook } from '../support/books.js';

let made: TestBook;
beforeAll(async () => {
  made = await newBook();
});
afterAll(() => made.drop());

/** Ends a transaction's connection, and waits until it is gone. */
async function breakConnectionOf(query: Query): Promise<void> {
  const [row] = await query('SELECT pg_backend_pid() AS pid');
  const pid = String(row?.pid);
  await made.book.query('SELECT pg_terminate_backend($1)', [pid]);
  for (;;) {
    const left = await made.book.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid]);
    if (left.length === 0) return;
  }
}

describe('a connection that breaks within a transaction', () => {
  it('between two statements fails the second, and no other transaction', async () => {
    const broken = made.book.transaction(async (query) => {
      await breakConnectionOf(query);
      return await query('SELECT 1');
    });
    await expect(broken).rejects.toThrow(BookUnavailable);
    expect(await made.book.transaction((query) => query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
  });

  it('before its end may have committed nothing or all: nobody knows', async () => {
    const broken = made.book.transaction(breakConnectionOf);
    await expect(broken).rejects.toMatchObject({ name: 'BookUnavailable', mayHaveCommitted: true });
  });
});
