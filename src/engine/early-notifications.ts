import type { Logger } from 'pino';

/**
 * Pauses before looking again for the payment of a notification that came too early, in ms: four minutes in all, longer
 * than the provider may take to answer the request that the notification is about.
 */
const AGAIN_AFTER_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 120_000] as const;

/**
 * Largest number of notifications that are tried again at a time. Beyond it, the oldest is left to the payment's own
 * poll.
 */
const MAX_WAITING = 500;

/**
 * The provider may send a notification about a transaction before it answers the request that made it. Without the
 * payment's id, nobody can tell then which payment is meant; and a link's payment may not have been started. Such
 * notifications are kept at Temporal, and this process tries for a while to deliver them. If it ends before, the
 * payment's own poll finds the outcome.
 */
export class EarlyNotifications {
  readonly #waiting = new Map<symbol, NodeJS.Timeout>();

  constructor(
    private readonly logger: Logger,
    private readonly pauses: readonly number[] = AGAIN_AFTER_MS,
  ) {}

  /** @param give delivers the notification if its payment is known by now, and returns whether it is */
  add(give: () => Promise<boolean>): void {
    const key = Symbol();
    this.#schedule(key, give, 0);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_WAITING && oldest !== undefined) this.#forget(oldest);
  }

  #schedule(key: symbol, give: () => Promise<boolean>, tries: number): void {
    const pause = this.pauses[tries];
    if (pause === undefined) {
      this.#waiting.delete(key);
      return;
    }
    const timer = setTimeout(() => void this.#try(key, give, tries), pause);
    this.#waiting.set(key, timer.unref());
  }

  async #try(key: symbol, give: () => Promise<boolean>, tries: number): Promise<void> {
    try {
      if (await give()) this.#waiting.delete(key);
      else if (this.#waiting.has(key)) this.#schedule(key, give, tries + 1);
    } catch (error) {
      this.logger.debug({ err: error }, 'a notification could not be tried again yet');
      if (this.#waiting.has(key)) this.#schedule(key, give, tries + 1);
    }
  }

  #forget(key: symbol): void {
    clearTimeout(this.#waiting.get(key));
    this.#waiting.delete(key);
  }
}
