import PQueue from 'p-queue';
import type { Statement } from '../reconciliation/statement.js';
import { BookUnavailable } from './database.js';

/** Statements that are held at most, one that is being opened among them. */
const MAX_HELD = 2;

/**
 * The last ones are held for this long after one was opened, in ms: a merchant's programs, and many merchants, read a
 * day at about the same time.
 */
const HELD_MS = 30_000;

/** A reader waits this long for its turn, in ms. Otherwise, each would wait for all before it when a database hangs. */
const MAX_WAIT_MS = 10_000;

/**
 * Opens one statement at a time in this process, and holds the last ones for other readers. A busy day's has 20 MB,
 * with all merchants. However many read it at once, they neither fill the memory nor take the connections that payouts
 * need.
 */
export class OpenedStatements {
  readonly #turns = new PQueue({ concurrency: 1 });
  /** By the run that made it. Erasing a payer changes no statement: it names none. */
  readonly #held = new Map<string, Statement>();
  #forgetting: NodeJS.Timeout | undefined;

  /** @throws {BookUnavailable} when its turn doesn't come in time. It was not run then, and never will be. */
  async inTurn<T>(read: () => Promise<T>): Promise<T> {
    const late = new AbortController();
    const reason = new BookUnavailable(`no statement could be read within ${MAX_WAIT_MS} ms`, false);
    const timer = setTimeout(() => late.abort(reason), MAX_WAIT_MS);
    const begin = () => {
      clearTimeout(timer);
      return read();
    };
    return await this.#turns.add(begin, { signal: late.signal });
  }

  /** Returns the statement of a run. Call it in turn. */
  async get(runId: string, open: () => Promise<Statement>): Promise<Statement> {
    const held = this.#held.get(runId);
    if (held !== undefined) return held;
    const [oldest] = this.#held.keys();
    if (this.#held.size >= MAX_HELD && oldest !== undefined) this.#held.delete(oldest);
    const opened = await open();
    this.#held.set(runId, opened);
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => this.#held.clear(), HELD_MS).unref();
    return opened;
  }
}
