import { setTimeout as pause } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import PQueue from 'p-queue';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { tooManyActive, tooManyAttempts, tooManyConcurrent, tooManyOfKey, tooManyWaits } from './problem.js';

/**
 * Limits on what callers of the API may ask for, so that none of them takes the service from the others. Each process
 * counts for itself. The provider's notifications are limited elsewhere: see limits.ts.
 */

/** How much each API key, and each address without one, may ask for. */
export interface RequestAllowance {
  readonly perMinute: number;
  /** Requests in progress at the same time. Half of them may be waiting for an outcome. */
  readonly concurrent: number;
  /** Requests of one merchant that are carried out at the same time. The others wait for their turn. */
  readonly active: number;
  /** Failed authentications within a minute after which further ones of an address are refused late. */
  readonly failures: number;
  /** When one is refused from then on, in ms; a second by default. */
  readonly refusedAfterMs?: number;
}

const MINUTE_S = 60;

/** How long a request may wait for its turn, in ms. */
const MAX_TURN_WAIT_MS = 10_000;

/** When a wrong key is refused by an address that has tried too many, in ms. */
export const REFUSED_AFTER_MS = 1_000;

/**
 * Wrong keys of an address that wait for that at a time. Further ones are refused at once, and cost their connection: a
 * flood of guesses would otherwise hold as many connections as the address may have.
 */
const MAX_HELD = 50;

/** A request of a key that is in progress. */
export interface Admission {
  /** What is left for the key, as draft-ietf-httpapi-ratelimit-headers-10 says it. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be called once, when the request is over. */
  leave(): void;
}

export class RequestLimits {
  readonly #requests: RateLimiterMemory;
  readonly #failures: RateLimiterMemory;
  readonly #inProgress = new Counts();
  readonly #waiting = new Counts();
  readonly #held = new Counts();
  readonly #turns = new Map<string, PQueue>();

  constructor(private readonly allowance: RequestAllowance) {
    this.#requests = new RateLimiterMemory({ points: allowance.perMinute, duration: MINUTE_S });
    this.#failures = new RateLimiterMemory({ points: allowance.failures, duration: MINUTE_S });
  }

  /**
   * Authenticates a caller. A right key is let in, whatever others at its address have tried: many callers may share
   * one. Wrong ones are limited, and answered late then, so that nobody can try many.
   *
   * @param address the caller's IP address
   * @throws {ApiError} as `authenticate`, and `too_many_attempts`.
   */
  async guard<Caller>(address: string, authenticate: () => Caller): Promise<Caller> {
    try {
      return authenticate();
    } catch (failure) {
      const network = networkOf(address);
      const { consumedPoints, msBeforeNext } = await this.#failures.penalty(network);
      if (consumedPoints <= this.allowance.failures) throw failure;
      const leave = this.#held.enter(network, MAX_HELD);
      if (leave === undefined) throw tooManyAttempts(msBeforeNext, { Connection: 'close' });
      await pause(this.allowance.refusedAfterMs ?? REFUSED_AFTER_MS);
      leave();
      throw tooManyAttempts(msBeforeNext);
    }
  }

  /**
   * Lets a request of a key in, and counts it.
   *
   * @throws {ApiError} `rate_limited`, also when too many of the key's requests are in progress.
   */
  async admit(key: string): Promise<Admission> {
    const { perMinute, concurrent } = this.allowance;
    const taken = await this.#requests.penalty(key);
    const headers = {
      'RateLimit-Policy': `"key";q=${perMinute};w=${MINUTE_S}`,
      RateLimit: `"key";r=${taken.remainingPoints};t=${Math.ceil(taken.msBeforeNext / 1_000)}`,
    };
    if (taken.consumedPoints > perMinute) throw tooManyOfKey(perMinute, taken.msBeforeNext, headers);
    const leave = this.#inProgress.enter(key, concurrent);
    if (leave === undefined) throw tooManyConcurrent(concurrent, headers);
    return { headers, leave };
  }

  /**
   * Runs something that may keep a request waiting for a minute.
   *
   * @throws {ApiError} `rate_limited` when too many requests of the key wait.
   */
  async whileWaiting<T>(key: string, wait: () => Promise<T>): Promise<T> {
    const max = Math.max(1, Math.floor(this.allowance.concurrent / 2));
    const leave = this.#waiting.enter(key, max);
    if (leave === undefined) throw tooManyWaits(max);
    try {
      return await wait();
    } finally {
      leave();
    }
  }

  /**
   * Runs something when its turn has come: few of a merchant's requests at a time, in the order in which they came.
   * Workers take payments in that order, too, no matter whose they are. So a merchant who sends hundreds at once has
   * them wait here, and not before other merchants' requests.
   *
   * @param group what takes turns with what: a merchant's requests of one method
   * @throws {ApiError} `rate_limited` when its turn doesn't come in time. It was not run then, and never will be.
   */
  async inTurn<T>(group: string, run: () => Promise<T>): Promise<T> {
    const { active } = this.allowance;
    const turns = this.#turns.get(group) ?? new PQueue({ concurrency: active });
    this.#turns.set(group, turns);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooManyActive(active)), MAX_TURN_WAIT_MS);
    const begin = () => {
      clearTimeout(timer);
      return run();
    };
    return await turns.add(begin, { signal: late.signal });
  }
}

/** How many of something are open, by key. */
class Counts {
  readonly #open = new Map<string, number>();

  /** @returns what to call at the end; `undefined` when there are `max` already. */
  enter(key: string, max: number): (() => void) | undefined {
    const before = this.#open.get(key) ?? 0;
    if (before >= max) return undefined;
    this.#open.set(key, before + 1);
    return () => {
      const left = (this.#open.get(key) ?? 1) - 1;
      if (left === 0) this.#open.delete(key);
      else this.#open.set(key, left);
    };
  }
}

/**
 * What counts as one address: an IPv4 address, or an IPv6 network of 64 bits, which a single customer usually has.
 *
 * @param address as a proxy may write it: with a port, in brackets, or with a zone
 */
export function networkOf(address: string): string {
  const [, bracketed, four] =
    /^(?:\[([^\]]{1,100})\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/.exec(address.trim()) ?? [];
  const host = (bracketed ?? four ?? address.trim()).replace(/%.*$/s, '');
  if (host.length > 100 || !ipaddr.isValid(host)) return 'unknown';
  const parsed = ipaddr.process(host);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed.toByteArray().slice(0, 8).join('.');
}
