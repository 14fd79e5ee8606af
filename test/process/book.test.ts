import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { Book } from '../../src/book/book.js';
import { migrate } from '../../src/book/migrate.js';
import { isBookReady } from '../../src/process/book.js';
import { ConfigError } from '../../src/settings/config-error.js';
import { newBook } from '../support/books.js';
import { CLOSED_URL } from '../support/local-servers.js';
import { testEncryption } from '../support/test-encryption.js';

describe('a book', () => {
  it('with older tables is refused, with the command that brings them up to date', async () => {
    const { book, drop } = await newBook();
    expect(await isBookReady(book)).toBe(true);
    await book.query("DELETE FROM migrations WHERE name = '0001_book'");
    const ready = isBookReady(book);
    await expect(ready).rejects.toThrow(ConfigError);
    await expect(ready).rejects.toThrow(/^The book's tables lack 0001_book\.sql\. Run: node lib\/migrate\.js$/);
    await book.query('DROP TABLE migrations');
    await expect(isBookReady(book)).rejects.toThrow('lack 0001_book.sql');
    await drop();
  });

  it('is migrated by several processes at once, once', async () => {
    const { book, url, drop } = await newBook();
    await book.query('DROP SCHEMA public CASCADE');
    await book.query('CREATE SCHEMA public');
    const logger = pino({ level: 'silent' });
    await Promise.all([1, 2, 3].map(() => migrate(url, logger)));
    expect(await isBookReady(book)).toBe(true);
    await drop();
  });

  it('holds nobody up when a table that is to be changed is in use: it fails soon, and can be tried again', async () => {
    const { book, url, drop } = await newBook();
    const logger = pino({ level: 'silent' });
    await book.query('DROP SCHEMA public CASCADE');
    await book.query('CREATE SCHEMA public');
    await book.query('CREATE TABLE migrations (id serial, name text NOT NULL, run_on timestamp NOT NULL)');
    const user = new pg.Client(url);
    await user.connect();
    await user.query('BEGIN');
    await user.query('LOCK TABLE migrations');
    await expect(migrate(url, logger)).rejects.toThrow(/lock timeout/);
    await user.end();
    await migrate(url, logger);
    expect(await isBookReady(book)).toBe(true);
    await drop();
  });

  it('that does not answer is waited for', async () => {
    const book = new Book(`postgresql://nobody@${new URL(CLOSED_URL).host}/none`, testEncryption);
    expect(await isBookReady(book)).toBe(false);
    await book.close();
  });
});
