import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { BookUnavailable } from '../book/database.js';
import { checkSchema, OtherSchema } from '../book/migrate.js';
import { ConfigError } from '../settings/config-error.js';

/** Between two looks whether the book answers, in ms. */
const LOOK_AGAIN_MS = 2_000;

/**
 * Reports whether the book answers, and has the tables that this release knows.
 *
 * @throws {ConfigError} with the command to run when it lacks some
 */
export async function isBookReady(book: Book): Promise<boolean> {
  try {
    await checkSchema(book.query);
    return true;
  } catch (error) {
    if (error instanceof BookUnavailable) return false;
    throw error instanceof OtherSchema ? new ConfigError(error.message) : error;
  }
}

/** Waits until the book answers, or until `stop`. @throws {ConfigError} as {@link isBookReady} does */
export async function untilBookIsReady(book: Book, logger: Logger, stop: AbortSignal): Promise<void> {
  logger.warn('the book does not answer yet: payments can neither be ordered nor read');
  while (!stop.aborted && !(await isBookReady(book))) {
    await pause(LOOK_AGAIN_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}
