import { setTimeout as pause } from 'node:timers/promises';
import type { Book } from '../book/book.js';
import { BookUnavailable } from '../book/database.js';
import { type FoundPayment, findPayment, versionsOf } from '../book/payments.js';
import type { PaymentId } from '../payments/words/payment-id.js';

/** Between two questions for changes, in ms: a caller hears of one that much later. */
const LOOK_EVERY_MS = 100;

interface Waiter {
  readonly id: PaymentId;
  readonly version: number;
  readonly resolve: () => void;
}

/** Waits for changes of payments: one query at a time asks for all of this process who wait. */
export class Changes {
  readonly #waiters = new Set<Waiter>();
  #isLooking = false;

  constructor(private readonly book: Book) {}

  /**
   * Waits until a payment has changed since a version of it, or until the signal. A book that is away is waited for.
   *
   * @returns whether it has changed
   */
  async since(id: PaymentId, version: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    return await new Promise<boolean>((resolve) => {
      const end = (isChanged: boolean) => {
        signal.removeEventListener('abort', giveUp);
        this.#waiters.delete(waiter);
        resolve(isChanged);
      };
      const giveUp = () => end(false);
      const waiter: Waiter = { id, version, resolve: () => end(true) };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
      void this.#look();
    });
  }

  /**
   * Reads a payment whenever it changes, until something is found in it, or the signal is given.
   *
   * @throws {SealBroken}
   */
  async until<T>(
    id: PaymentId,
    find: (payment: FoundPayment) => T | undefined | Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    for (let version = 0; await this.since(id, version, signal); ) {
      const payment = await findPayment(this.book, id).catch(undefinedWhileAway);
      if (payment === undefined) continue;
      const found = await Promise.resolve(find(payment)).catch(undefinedWhileAway);
      if (found !== undefined) return found;
      version = payment.version;
    }
    return undefined;
  }

  /** Looks as long as somebody waits. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#waiters.size > 0) {
        await this.#ask();
        await pause(LOOK_EVERY_MS, undefined, { ref: false });
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #ask(): Promise<void> {
    const ids = [...new Set([...this.#waiters].map(({ id }) => id))];
    const versions = await versionsOf(this.book, ids).catch(undefinedWhileAway);
    for (const { id, version, resolve } of this.#waiters) {
      if ((versions?.get(id) ?? 0) > version) resolve();
    }
  }
}

function undefinedWhileAway(error: unknown): undefined {
  if (!(error instanceof BookUnavailable)) throw error;
}
