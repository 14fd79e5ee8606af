import type { Exchange } from './http.js';

/** Time-outs in a row after which questions are no longer sent. */
export const MAX_TIMEOUTS = 5;

/** For how long no question is sent then, in ms. */
export const PAUSE_MS = 10_000;

type State =
  | { readonly kind: 'closed'; readonly timeouts: number }
  | { readonly kind: 'open'; readonly untilMs: number }
  /** One question is under way, as a trial. */
  | { readonly kind: 'halfOpen' };

const CLOSED: State = { kind: 'closed', timeouts: 0 };

/**
 * A circuit breaker for questions to one of the provider's services (status, lists, expiry, balance). Each question
 * without an answer holds one of the worker's slots until its time limit, so a provider that hangs would stop everything
 * else. After {@link MAX_TIMEOUTS} time-outs in a row no question is sent for {@link PAUSE_MS};
 * then one is sent as a trial, and its answer lets all others through again.
 *
 * Any answer closes the breaker, even an error, since it shows that the provider doesn't hang. A failure other than a
 * time-out (a refused or reset connection, a cancelled call) doesn't hold a slot for long: it neither counts nor ends a
 * series of time-outs.
 */
export class Breaker {
  readonly #now: () => number;
  #state: State = CLOSED;

  /** @param now a monotonic clock in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Sends a question, or resolves to `undefined` at once while the breaker is open. Rejects as `send` does. */
  async ask(send: () => Promise<Exchange>): Promise<Exchange | undefined> {
    const before = this.#state;
    if (before.kind === 'halfOpen') return undefined;
    if (before.kind === 'closed') return this.#record(await send());
    if (this.#now() < before.untilMs) return undefined;

    const trial: State = { kind: 'halfOpen' };
    this.#state = trial;
    try {
      return this.#record(await send(), trial);
    } finally {
      // Neither answered nor timed out: the next question is the trial.
      if (this.#state === trial) this.#state = before;
    }
  }

  /** The service has answered something else, such as an order. */
  answered(): void {
    this.#state = CLOSED;
  }

  /** Time-outs of questions that were sent before the breaker opened are ignored. */
  #record(exchange: Exchange, trial?: State): Exchange {
    const state = this.#state;
    if (exchange.kind === 'answered') this.answered();
    else if (!exchange.timedOut) return exchange;
    else if (state.kind === 'closed') this.#count(state.timeouts + 1);
    else if (state === trial) this.#open();
    return exchange;
  }

  #count(timeouts: number): void {
    if (timeouts < MAX_TIMEOUTS) this.#state = { kind: 'closed', timeouts };
    else this.#open();
  }

  #open(): void {
    this.#state = { kind: 'open', untilMs: this.#now() + PAUSE_MS };
  }
}
