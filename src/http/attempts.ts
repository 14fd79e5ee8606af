import { setTimeout as pause } from 'node:timers/promises';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { Counts } from './counts.js';
import { networkOf } from './network.js';
import { tooMany } from './problem.js';

/** Delay of the refusal of a wrong key for an address that has tried too many, in ms. */
const REFUSED_AFTER_MS = 1_000;

/**
 * Delayed refusals of an address at a time. Further wrong keys are refused at once, and cost their connection: a flood
 * of guesses would otherwise hold as many connections as the address may have.
 */
const MAX_HELD = 50;

const DETAIL =
  'Too many requests without a valid API key came from this address. Try again after the time in Retry-After.';

/**
 * Limits wrong keys. A valid key is always accepted: many callers may share an address. After too many wrong keys,
 * refusals are delayed, so that nobody can try many.
 *
 * Each network with a wrong key is remembered for a minute, in half a kilobyte. Nobody can invent one: it takes a
 * connection from there, so a flood fills the memory no faster than the process answers.
 */
export class Attempts {
  readonly #wrong: RateLimiterMemory;
  readonly #held = new Counts();

  /** @param max wrong keys of an address within a minute, after which others are refused late */
  constructor(private readonly max: number) {
    this.#wrong = new RateLimiterMemory({ points: max, duration: 60 });
  }

  /**
   * Authenticates a caller.
   *
   * @param address the caller's IP address
   * @throws {Problem} as `authenticate`, and `too_many_attempts`.
   */
  async guard<Caller>(address: string, authenticate: () => Caller): Promise<Caller> {
    try {
      return authenticate();
    } catch (failure) {
      const network = networkOf(address);
      const { consumedPoints, msBeforeNext } = await this.#wrong.penalty(network);
      if (consumedPoints <= this.max) throw failure;
      const leave = this.#held.enter(network, MAX_HELD);
      if (leave === undefined) throw tooMany('too_many_attempts', DETAIL, msBeforeNext, { Connection: 'close' });
      await pause(REFUSED_AFTER_MS);
      leave();
      throw tooMany('too_many_attempts', DETAIL, msBeforeNext);
    }
  }
}
