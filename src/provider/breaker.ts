import type { Exchange } from './http.js';

/** Time-outs in a row after which nothing is sent any more. */
export const MAX_TIMEOUTS = 5;

/** Pause without calls after that, in ms. */
export const PAUSE_MS = 10_000;

type State =
  | { readonly kind: 'closed'; readonly timeouts: number }
  | { readonly kind: 'open'; readonly untilMs: number }
  /** One call is under way, as a trial. */
  | { readonly kind: 'halfOpen' };

const CLOSED: State = { kind: 'closed', timeouts: 0 };

/**
 * A circuit breaker for calls to one of the provider's services that may wait: questions (status, lists, expiry,
 * balance), or requests for a link. Each call without an answer holds one of the worker's slots until its time limit,
 * so a provider that hangs would stop everything else. After {@link MAX_TIMEOUTS} time-outs in a row no call is sent
 * for {@link PAUSE_MS}; then one is sent as a trial, and its answer lets all others through again.
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

  /** Sends a call, or resolves to `undefined` at once while the breaker is open. Rejects as `send` does. */
  async call(send: () => Promise<Exchange>): Promise<Exchange | undefined> {
    const before = this.#state;
    if (before.kind === 'halfOpen') return undefined;
    if (before.kind === 'closed') return this.#record(await send());
    if (this.#now() < before.untilMs) return undefined;

    const trial: State = { kind: 'halfOpen' };
    this.#state = trial;
    try {
      return this.#record(await send(), trial);
    } finally {
      // Neither answered nor timed out: the next call is the trial.
      if (this.#state === trial) this.#state = before;
    }
  }

  /** Reports whether the breaker sends nothing at present: the service hangs, or a trial is under way. */
  isOpen(): boolean {
    const state = this.#state;
    return state.kind === 'halfOpen' || (state.kind === 'open' && this.#now() < state.untilMs);
  }

  /** The service has answered something else, such as an order. */
  answered(): void {
    this.#state = CLOSED;
  }

  /** The service hangs, as something else has shown. The next call is a trial, without a pause before it. */
  hangs(): void {
    if (this.#state.kind === 'closed') this.#state = { kind: 'open', untilMs: this.#now() };
  }

  /** Time-outs of calls that were sent before the breaker opened are ignored. */
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

/** An order that has had no answer for this long, in ms, is a sign that its service hangs. */
const SLOW_MS = 5_000;

/**
 * Keeps a service that hangs from holding every slot for orders that move money, since the other service needs some.
 * All orders are sent until {@link MAX_TIMEOUTS} of them have no answer: time-outs in a row, by any limit, and those
 * under way for {@link SLOW_MS}. After that, orders leave a quarter of the slots free.
 */
export class Bulkhead {
  readonly #now: () => number;
  readonly #max: number;
  readonly #underWay = new Set<{ readonly sentAt: number }>();
  #timeouts = 0;

  /**
   * @param slots for the orders of both services
   * @param now a monotonic clock in ms
   */
  constructor(slots: number, now: () => number) {
    this.#now = now;
    this.#max = Math.max(1, Math.floor(slots * 0.75));
  }

  /** Sends an order, or resolves to `undefined` at once. Rejects as `send` does. */
  async call(send: () => Promise<Exchange>): Promise<Exchange | undefined> {
    if (this.#underWay.size >= this.#max && this.#unanswered() >= MAX_TIMEOUTS) return undefined;
    const order = { sentAt: this.#now() };
    this.#underWay.add(order);
    try {
      const exchange = await send();
      if (exchange.kind === 'answered') this.#timeouts = 0;
      else if (exchange.timedOut || order.sentAt <= this.#slowSince()) this.#timeouts += 1;
      return exchange;
    } finally {
      this.#underWay.delete(order);
    }
  }

  #unanswered(): number {
    const since = this.#slowSince();
    return this.#timeouts + [...this.#underWay].filter(({ sentAt }) => sentAt <= since).length;
  }

  #slowSince(): number {
    return this.#now() - SLOW_MS;
  }
}
