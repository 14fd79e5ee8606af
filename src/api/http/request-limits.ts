import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import PQueue from 'p-queue';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { tooManyActive, tooManyAttempts, tooManyConcurrent, tooManyOfKey, tooManyWaits } from './problem.js';

/**
 * Limits on what callers of the API may ask for, so that none of them takes the service from the others. Each process counts
 * for itself. The provider's notifications are limited elsewhere: see limits.ts.
 */

/** How much each API key, and each address without one, may ask for. */
export interface RequestAllowance {
  readonly perMinute: number;
  /** Requests in progress at the same time. Half of them may be waiting for an outcome. */
  readonly concurrent: number;
  /** Requests of one merchant that are carried out at the same time. The others wait for their turn. */
  readonly active: number;
  /** Failed authentications within a minute after which an address is refused. */
  readonly failures: number;
}

const MINUTE_S = 60;

/** How long a request may wait for its turn, in ms. */
const MAX_TURN_WAIT_MS = 10_000;

/** Pairs of an address and a key that are remembered. Beyond that, the one used longest ago is forgotten. */
const MAX_KNOWN = 10_000;

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
  readonly #turns = new Map<string, PQueue>();
  readonly #known = new KnownCallers();

  constructor(private readonly allowance: RequestAllowance) {
    this.#requests = new RateLimiterMemory({ points: allowance.perMinute, duration: MINUTE_S });
    this.#failures = new RateLimiterMemory({ points: allowance.failures, duration: MINUTE_S });
  }

  /**
   * Authenticates a caller, unless too many others have failed to from the same address: keys could be guessed otherwise. A
   * key that was used from the address before is let in all the same, because many callers may share one address.
   *
   * @param address the caller's IP address
   * @throws {ApiError} as `authenticate`, and `too_many_attempts`.
   */
  async guard<Caller extends { readonly key: string }>(
    address: string,
    authenticate: () => Caller,
  ): Promise<Caller> {
    const network = networkOf(address);
    const before = await this.#failures.get(network);
    const isBlocked = before !== null && before.consumedPoints > this.allowance.failures;
    let caller: Caller | undefined;
    let failure: unknown;
    try {
      caller = authenticate();
    } catch (error) {
      failure = error;
    }
    if (caller !== undefined && (!isBlocked || this.#known.has(address, caller.key))) {
      this.#known.remember(address, caller.key);
      return caller;
    }
    if (isBlocked) throw tooManyAttempts(before.msBeforeNext);
    const after = await this.#failures.penalty(network);
    throw after.consumedPoints > this.allowance.failures ? tooManyAttempts(after.msBeforeNext) : failure;
  }

  /**
   * Lets a request of a key in, and counts it.
   *
   * @throws {ApiError} `rate_limited`, also when too many of the key's requests are in progress.
   */
  async admit(key: string): Promise<Admission> {
    const { perMinute, concurrent } = this.allowance;
    const taken = await this.#requests.consume(key).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
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
   * Runs something when its turn has come: few of a merchant's requests at a time, in the order in which they came. Workers
   * take payments in that order, too, no matter whose they are. So a merchant who sends hundreds at once has them wait here,
   * and not before other merchants' requests.
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

/** Who has called with a valid key, and from where: those are let in when others from there have failed too often. */
export class KnownCallers {
  readonly #pairs = new Set<string>();

  has(address: string, key: string): boolean {
    return this.#pairs.has(pairOf(address, key));
  }

  remember(address: string, key: string): void {
    this.forget(address, key);
    this.#pairs.add(pairOf(address, key));
    const [oldest] = this.#pairs;
    if (this.#pairs.size > MAX_KNOWN && oldest !== undefined) this.#pairs.delete(oldest);
  }

  forget(address: string, key: string): void {
    this.#pairs.delete(pairOf(address, key));
  }
}

/** A digest, so that no key is kept. */
function pairOf(address: string, key: string): string {
  return createHash('sha256')
    .update(`${networkOf(address)} ${key}`)
    .digest('base64');
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

/** What counts as one address: an IPv4 address, or an IPv6 network of 64 bits, which a single customer usually has. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed.toByteArray().slice(0, 8).join('.');
}
