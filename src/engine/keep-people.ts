import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { BookUnavailable } from '../book/database.js';
import { recordPeople } from '../book/people.js';
import type { PersonsKey } from '../payments/words/person.js';

const AGAIN_MS = 5_000;

/**
 * Writes down what a merchants' file calls its keys, once the book is there. Never rejects: whatever is ordered or
 * approved writes down what it knows of its own merchant, too.
 */
export async function keepPeople(book: Book, keys: readonly PersonsKey[], logger: Logger): Promise<void> {
  const now = book.now();
  for (;;) {
    try {
      return await recordPeople(book.query, keys, now);
    } catch (error) {
      if (!(error instanceof BookUnavailable)) {
        logger.error({ err: error }, "the names of the merchants' keys could not be written down");
        return;
      }
    }
    await pause(AGAIN_MS, undefined, { ref: false });
  }
}
