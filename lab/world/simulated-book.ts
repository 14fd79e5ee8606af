import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { Book } from '../../src/book/book.js';
import { migrate } from '../../src/book/migrate.js';
import type { Encryption } from '../../src/temporal/encryption.js';
import { startPostgres } from '../../stack/postgres/postgres.js';

/** Tries to start the server again, and the pause between two, in real ms. */
const MAX_TRIES = 10;
const PAUSE_MS = 200;

/** The book of a simulated world, on a PostgreSQL server of its own. */
export interface SimulatedBook {
  readonly book: Book;
  /** For a worker in a process of its own. */
  readonly url: string;
  /** Ends every connection. */
  cut(): Promise<void>;
  /** Kills the server, and starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** @param now simulated ms since the epoch */
export async function startSimulatedBook(encryption: Encryption, now: () => number): Promise<SimulatedBook> {
  // It is killed, and the machine never: what it has written stays, also what isn't on the disk yet.
  const server = await startPostgres(undefined, { settings: { fsync: 'off' } });
  const url = server.url('postgres');
  try {
    await migrate(url, pino({ level: 'error' }, process.stderr));
  } catch (error) {
    await server.stop();
    throw error;
  }
  const book = new Book(url, encryption, now);
  return {
    book,
    url,
    async cut() {
      await server.query(
        'postgres',
        'SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename IS NOT NULL AND pid <> pg_backend_pid()',
      );
    },
    async restart() {
      await server.kill();
      for (let tries = 1; ; tries++) {
        try {
          return await server.start();
        } catch (error) {
          // A process that is about to end may still hold the memory of the last server.
          if (tries === MAX_TRIES) throw error;
          await pause(PAUSE_MS);
        }
      }
    },
    async stop() {
      await book.close();
      await server.stop();
    },
  };
}
