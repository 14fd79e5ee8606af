import { Book } from '../../src/book/book.js';
import { BookUnavailable } from '../../src/book/database.js';
import { checkSchema, OtherSchema } from '../../src/book/migrate.js';
import { NO_KEYS } from '../../src/temporal/encryption.js';
import { type Finding, fail, ok, reasonOf } from './finding.js';

/** Checks that the book's database answers, and has the tables of this release. */
export async function checkBook(url: string): Promise<Finding> {
  // Neither the user nor the password is shown.
  const { host, pathname } = new URL(url);
  const place = `${host}${pathname}`;
  const book = new Book(url, NO_KEYS);
  try {
    await checkSchema(book.query);
    return ok('book', `${place} answers, and has the tables of this release`);
  } catch (error) {
    if (error instanceof OtherSchema) {
      return fail('book', `${place} lacks tables of this release`, 'Bring it up to date: node lib/migrate.js');
    }
    if (!(error instanceof BookUnavailable)) throw error;
    const todo = 'Check DATABASE_URL, and whether the database is up and takes the user. Without it, no payment moves.';
    return fail('book', `no answer from ${place}: ${reasonOf(error)}`, todo);
  } finally {
    await book.close();
  }
}
