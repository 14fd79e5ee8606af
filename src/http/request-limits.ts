import PQueue from 'p-queue';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { Attempts } from './attempts.js';
import { Counts } from './counts.js';
import { tooMany } from './problem.js';

/**
 * Limits on what callers of the API may ask for, so that none of them takes the service from the others. Each process
 * counts for itself. The provider's notifications are limited elsewhere: see notification-limits.ts.
 */

/** The limits of each API key, and of each address without one. */
export interface RequestAllowance {
  readonly perMinute: number;
  /** Requests in progress at the same time. Half of them may be waiting for an outcome. */
  readonly concurrent: number;
  /** Requests of one merchant that are carried out at the same time. The others wait for their turn. */
  readonly active: number;
  /** Failed authentications of an address within a minute, after which its refusals are delayed. */
  readonly failures: number;
}

const MINUTE_S = 60;

/** The longest wait of a request for its turn, in ms. */
const MAX_TURN_WAIT_MS = 10_000;

/** A request refused because of others in progress may be repeated after this time, in ms. */
const BUSY_MS = 1_000;

/** A request of a key that is in progress. */
export interface Admission {
  /** The key's remaining requests, in the headers of draft-ietf-httpapi-ratelimit-headers-10. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called once, when the request is over. */
  leave(): void;
}

export class RequestLimits {
  /** Wrong keys, by their addresses. */
  readonly attempts: Attempts;
  readonly #requests: RateLimiterMemory;
  readonly #inProgress = new Counts();
  readonly #waiting = new Counts();
  readonly #turns = new Map<string, PQueue>();

  constructor(private readonly allowance: RequestAllowance) {
    this.attempts = new Attempts(allowance.failures);
    this.#requests = new RateLimiterMemory({ points: allowance.perMinute, duration: MINUTE_S });
  }

  /**
   * Admits a request of a key, and counts it.
   *
   * @throws {Problem} `rate_limited`, also when too many of the key's requests are in progress.
   */
  async admit(key: string): Promise<Admission> {
    const { perMinute, concurrent } = this.allowance;
    const taken = await this.#requests.penalty(key);
    const headers = {
      'RateLimit-Policy': `"key";q=${perMinute};w=${MINUTE_S}`,
      RateLimit: `"key";r=${taken.remainingPoints};t=${Math.ceil(taken.msBeforeNext / 1_000)}`,
    };
    if (taken.consumedPoints > perMinute) {
      const detail = `This API key may make ${perMinute} requests a minute. Try again after the time in Retry-After.`;
      throw tooMany('rate_limited', detail, taken.msBeforeNext, headers);
    }
    const leave = this.#inProgress.enter(key, concurrent);
    if (leave === undefined) {
      const detail = `This API key may have ${concurrent} requests in progress at the same time. Wait for some of them to be answered.`;
      throw tooMany('rate_limited', detail, BUSY_MS, headers);
    }
    return { headers, leave };
  }

  /**
   * Runs work that may keep a request waiting for a minute.
   *
   * @throws {Problem} `rate_limited` when too many requests of the key wait.
   */
  async whileWaiting<T>(key: string, wait: () => Promise<T>): Promise<T> {
    const max = Math.max(1, Math.floor(this.allowance.concurrent / 2));
    const leave = this.#waiting.enter(key, max);
    if (leave === undefined) {
      const detail = `With this API key, ${max} requests may wait for an outcome at the same time. Ask without "wait", or listen to notifications.`;
      throw tooMany('rate_limited', detail, BUSY_MS);
    }
    try {
      return await wait();
    } finally {
      leave();
    }
  }

  /**
   * Runs work when its turn has come: a merchant has few requests carried out at a time, in the order of their arrival.
   * Workers take payments in that order, too, whatever their merchant. So the requests of a merchant who sends hundreds
   * at once wait here, and not before those of other merchants.
   *
   * @param group what takes turns with what: a merchant's requests of one method
   * @throws {Problem} `rate_limited` when its turn doesn't come in time. It was not run then, and never will be.
   */
  async inTurn<T>(group: string, run: () => Promise<T>): Promise<T> {
    const { active } = this.allowance;
    const turns = this.#turns.get(group) ?? new PQueue({ concurrency: active });
    this.#turns.set(group, turns);
    const late = new AbortController();
    const detail = `Nothing was done: ${active} requests of this merchant are carried out at the same time, and this one's turn did not come in time. Repeat it, with the same Idempotency-Key.`;
    const timer = setTimeout(() => late.abort(tooMany('rate_limited', detail, BUSY_MS)), MAX_TURN_WAIT_MS);
    const begin = () => {
      clearTimeout(timer);
      return run();
    };
    return await turns.add(begin, { signal: late.signal });
  }
}
