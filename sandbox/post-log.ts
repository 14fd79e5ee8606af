/** How many POSTs to initiate-pay, direct-pay or payout named an externalId. */
export interface PostCount {
  readonly externalId: string;
  /** Those that came with good credentials, whatever became of them: refused, struck by a fault, never answered. */
  readonly received: number;
  /** Those that made a transaction, whatever was answered. */
  readonly committed: number;
}

/** Most externalIds that are counted; the oldest are forgotten first. */
const MAX_KEPT = 200_000;

/**
 * Counts the POSTs that begin payments, by externalId, so that an audit sees how often each payment was sent: the ledger
 * shows only those that made a transaction.
 */
export class PostLog {
  readonly #counts = new Map<string, PostCount>();
  readonly #onChange: (count: PostCount) => void;

  /**
   * @param kept the counts of an earlier run
   * @param onChange called with each count that changes, before anything else is done about the POST
   */
  constructor(kept: readonly PostCount[] = [], onChange: (count: PostCount) => void = () => undefined) {
    this.#onChange = onChange;
    for (const count of kept) this.#counts.set(count.externalId, count);
  }

  /** A POST has come in. */
  receive(externalId: string): void {
    const { received, committed } = this.of(externalId);
    this.#set({ externalId, received: received + 1, committed });
  }

  /** A POST that has come in has made a transaction. */
  commit(externalId: string): void {
    const { received, committed } = this.of(externalId);
    this.#set({ externalId, received, committed: committed + 1 });
  }

  of(externalId: string): PostCount {
    return this.#counts.get(externalId) ?? { externalId, received: 0, committed: 0 };
  }

  /** Every externalId that was named, in the order in which they first were; those of an earlier run come first. */
  all(): PostCount[] {
    return [...this.#counts.values()];
  }

  #set(count: PostCount): void {
    this.#counts.set(count.externalId, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_KEPT && oldest !== undefined) this.#counts.delete(oldest);
    this.#onChange(count);
  }
}
