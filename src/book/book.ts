import type { Encryption } from '../temporal/encryption.js';
import { Database, type Query } from './database.js';
import { Seals } from './seals.js';

/** What is so: the book of all payments, in PostgreSQL. */
export class Book {
  readonly #database: Database;
  readonly seals: Seals;
  /** The latest beat that this process knows the book to have had, and when it had it last; see gaps.ts. */
  seen = { number: 0, at: 0 };

  /** @param now ms since the epoch; the machine's clock, by default */
  constructor(
    url: string,
    encryption: Encryption,
    readonly now: () => number = Date.now,
  ) {
    this.#database = new Database(url);
    this.seals = new Seals(encryption);
  }

  readonly query: Query = (text, values) => this.#database.query(text, values);

  /** See {@link Database.transaction}. */
  transaction<T>(body: (query: Query) => Promise<T>): Promise<T> {
    return this.#database.transaction(body);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
