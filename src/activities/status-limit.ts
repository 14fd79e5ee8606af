import { isRecent, nextFreeAt } from '../payments/machine/polling.js';
import type { StatusAnswer } from '../payments/words/outcome.js';
import type { TransId } from '../payments/words/payment-id.js';

/** A question that was asked. */
interface Question {
  readonly transId: TransId;
  /** Time of the answer, or of the question while it has no answer, in ms by the payments' clock. */
  at: number;
}

/**
 * Keeps one process from asking about a transaction more often than it may. A payment keeps to its budget by what its
 * state has. But a question whose answer couldn't be written into that, since the book was away, is asked again. The
 * rest of the provider's limit, beyond this budget, is left to a second worker, in case this one dies.
 *
 * rate-limiter-flexible counts in fixed windows, by the system's clock: twice as many questions would pass around the
 * end of one. Here the window slides, and a question counts from its answer on.
 */
export class StatusLimit {
  /** The questions of the latest window about each transaction, the one asked last at the end. */
  readonly #recent = new Map<TransId, readonly Question[]>();

  /** @param allowed how many questions about one transaction may be asked within the provider's window */
  constructor(private readonly allowed: number) {}

  /** Number of transactions remembered. */
  get size(): number {
    return this.#recent.size;
  }

  /**
   * Asks, if the window has room.
   *
   * @param now the payment's time, in ms
   */
  async ask(
    transId: TransId,
    now: number,
    question: () => Promise<StatusAnswer>,
    allowed = this.allowed,
  ): Promise<StatusAnswer> {
    this.#forget(now);
    const recent = (this.#recent.get(transId) ?? []).filter(({ at }) => isRecent(at, now));
    const freeAt = nextFreeAt(recent, transId, now, allowed);
    if (freeAt > now) return { kind: 'throttled', retryAfterMs: freeAt - now, isOurs: true };
    const asked: Question = { transId, at: now };
    this.#recent.delete(transId);
    this.#recent.set(transId, [...recent, asked]);
    const begun = performance.now();
    try {
      return await question();
    } finally {
      asked.at = now + performance.now() - begun;
    }
  }

  /** Drops the transactions that were last asked about before the window. */
  #forget(now: number): void {
    for (const [transId, questions] of this.#recent) {
      if (questions.some(({ at }) => isRecent(at, now))) return;
      this.#recent.delete(transId);
    }
  }
}
