import type { Entry } from './entry.js';

/** Thrown when the store is full and every transaction in it is still live. */
export class LedgerFullError extends Error {
  override readonly name = 'LedgerFullError';
}

/**
 * The ledger's transactions, indexed by id, link token and user. Holds at most `capacity`: the transactions that
 * ended first are evicted first, live ones never.
 */
export class TransactionStore {
  readonly #capacity: number;
  readonly #byId = new Map<string, Entry>();
  readonly #byToken = new Map<string, Entry>();
  readonly #byUser = new Map<string, Set<Entry>>();
  /** In the order in which they ended, which is the order of eviction. */
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

  /** Oldest first. */
  ofUser(userId: string): Entry[] {
    return [...(this.#byUser.get(userId) ?? [])];
  }

  /** Oldest first. */
  all(): Entry[] {
    return [...this.#byId.values()];
  }

  add(entry: Entry): void {
    this.#byId.set(entry.transId, entry);
    if (entry.linkToken !== undefined) this.#byToken.set(entry.linkToken, entry);
    if (entry.userId === undefined) return;
    const others = this.#byUser.get(entry.userId) ?? new Set();
    this.#byUser.set(entry.userId, others.add(entry));
  }

  /** Allows an entry to be evicted. */
  markEnded(entry: Entry): void {
    this.#ended.add(entry);
  }

  /** Makes room for one more entry. @throws LedgerFullError when all entries are live */
  makeRoom(): void {
    if (this.#byId.size < this.#capacity) return;
    const [evicted] = this.#ended;
    if (evicted === undefined) {
      throw new LedgerFullError(`The sandbox is full: it holds ${this.#capacity} live transactions`);
    }
    this.#ended.delete(evicted);
    this.#byId.delete(evicted.transId);
    if (evicted.linkToken !== undefined) this.#byToken.delete(evicted.linkToken);
    if (evicted.userId === undefined) return;
    const others = this.#byUser.get(evicted.userId);
    others?.delete(evicted);
    if (others?.size === 0) this.#byUser.delete(evicted.userId);
  }
}
