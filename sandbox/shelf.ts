import type { Entry } from './entry.js';

/** The shelf holds as many transactions as it may, and all of them are live. */
export class LedgerFullError extends Error {
  override readonly name = 'LedgerFullError';
}

/**
 * Where the ledger keeps its transactions, with ways to find them. It holds at most `capacity`: to make room, those
 * that ended first leave first; live ones never leave.
 */
export class Shelf {
  readonly #capacity: number;
  readonly #byId = new Map<string, Entry>();
  readonly #byToken = new Map<string, Entry>();
  readonly #byUser = new Map<string, Set<Entry>>();
  /** In the order in which they ended: the order in which they leave. */
  readonly #ended = new Set<Entry>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  byId(transId: string): Entry | undefined {
    return this.#byId.get(transId);
  }

  byToken(token: string): Entry | undefined {
    return this.#byToken.get(token);
  }

  /** In order of creation, as all that follow. */
  ofUser(userId: string): Entry[] {
    return [...(this.#byUser.get(userId) ?? [])];
  }

  all(): Entry[] {
    return [...this.#byId.values()];
  }

  put(entry: Entry): void {
    this.#byId.set(entry.transId, entry);
    if (entry.linkToken !== undefined) this.#byToken.set(entry.linkToken, entry);
    if (entry.userId === undefined) return;
    const others = this.#byUser.get(entry.userId) ?? new Set();
    this.#byUser.set(entry.userId, others.add(entry));
  }

  /** Says that an entry has ended, so that it may leave. */
  markEnded(entry: Entry): void {
    this.#ended.add(entry);
  }

  /** Makes room for one more. @throws LedgerFullError when only live entries could leave */
  makeRoom(): void {
    if (this.#byId.size < this.#capacity) return;
    const [leaving] = this.#ended;
    if (leaving === undefined) {
      throw new LedgerFullError(`The sandbox holds ${this.#capacity} live transactions and takes no more`);
    }
    this.#ended.delete(leaving);
    this.#byId.delete(leaving.transId);
    if (leaving.linkToken !== undefined) this.#byToken.delete(leaving.linkToken);
    if (leaving.userId === undefined) return;
    const others = this.#byUser.get(leaving.userId);
    others?.delete(leaving);
    if (others?.size === 0) this.#byUser.delete(leaving.userId);
  }
}
