import type { EndpointName } from './endpoints/endpoint.js';

/** The number of POSTs to initiate-pay, direct-pay or payout with one externalId. */
export interface PostCount {
  readonly externalId: string;
  /** Requests with valid credentials, whatever the response: refused, hit by a fault, never answered. */
  readonly received: number;
  /** Requests that created a transaction, whatever the response. */
  readonly committed: number;
}

/** Maximum number of externalIds counted; the oldest are dropped first. */
const MAX_COUNTED = 200_000;

/** Counts the POSTs for each externalId, since the ledger only has those that created a transaction. */
export class PostCounter {
  readonly #counts = new Map<string, PostCount>();
  readonly #onChange: (count: PostCount) => void;

  /**
   * @param restored the counts of an earlier run
   * @param onChange called with each changed count, before the POST is processed any further
   */
  constructor(restored: readonly PostCount[] = [], onChange: (count: PostCount) => void = () => undefined) {
    this.#onChange = onChange;
    for (const count of restored) this.#counts.set(count.externalId, count);
  }

  /** Counts a POST that was received. */
  receive(externalId: string): void {
    const count = this.of(externalId);
    this.#set({ ...count, received: count.received + 1 });
  }

  /** Counts a received POST that created a transaction. */
  commit(externalId: string): void {
    const count = this.of(externalId);
    this.#set({ ...count, committed: count.committed + 1 });
  }

  of(externalId: string): PostCount {
    return this.#counts.get(externalId) ?? { externalId, received: 0, committed: 0 };
  }

  /** All counts, in the order in which their externalIds were first received. */
  all(): PostCount[] {
    return [...this.#counts.values()];
  }

  #set(count: PostCount): void {
    this.#counts.set(count.externalId, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_COUNTED && oldest !== undefined) this.#counts.delete(oldest);
    this.#onChange(count);
  }
}

/** Counts requests by endpoint. */
export class RequestCounter {
  readonly requests = new Map<EndpointName, number>();
  /** Requests answered with 429, by the status limit or a fault. */
  throttled = 0;

  count(endpoint: EndpointName): void {
    this.requests.set(endpoint, (this.requests.get(endpoint) ?? 0) + 1);
  }
}
