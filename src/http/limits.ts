import { tooManyNotifications } from './problem.js';

/**
 * Notifications that are passed on to one payment within a minute, and of those that match no payment. More
 * would be of no use: one only makes the payment ask the provider, which it may do a few times a minute.
 */
export const MAX_HINTS = 60;

/**
 * How often notifications reopen an ended payment within a minute. Each time the payment may ask the provider
 * at once, so this keeps forged ones from using up a transaction's status budget.
 */
const MAX_REOPENINGS = 5;

/** Notifications refused with 429 that are kept for an operator within a minute, repetitions not counted. */
export const MAX_KEPT = { ofPayment: 10, all: 60 } as const;

const WINDOW_MS = 60_000;

/** Keys remembered. Beyond that the one used longest ago is forgotten: a flood can't fill the memory. */
const MAX_KEYS = 5_000;

/** Limits on the provider's notifications; each process counts for itself. */
export interface Limits {
  readonly hints: RateLimit;
  readonly reopenings: RateLimit;
  readonly kept: KeptLimit;
}

export function createLimits(): Limits {
  return {
    hints: new RateLimit(MAX_HINTS),
    reopenings: new RateLimit(MAX_REOPENINGS),
    kept: new KeptLimit(),
  };
}

/**
 * Allows so many for each key within any minute.
 *
 * @example new RateLimit(MAX_HINTS).pass(paymentId)
 */
export class RateLimit {
  /** Times (ms since the epoch) at which one was taken, by key; the key used last comes last. */
  readonly #taken = new Map<string, readonly number[]>();

  constructor(
    private readonly max: number,
    private readonly maxKeys = MAX_KEYS,
  ) {}

  /**
   * Takes one for a key now.
   *
   * @throws {ApiError} `too_many_notifications`.
   */
  pass(key: string): void {
    const waitMs = this.take(key, Date.now());
    if (waitMs > 0) throw tooManyNotifications(waitMs);
  }

  /**
   * Takes one for a key, if any is left.
   *
   * @param now ms since the epoch
   * @returns 0 if it was taken, or else the ms until the next can be
   */
  take(key: string, now: number): number {
    const recent = (this.#taken.get(key) ?? []).filter((time) => time > now - WINDOW_MS);
    const [first = now] = recent;
    const isFull = recent.length >= this.max;
    this.#remember(key, isFull ? recent : [...recent, now]);
    return isFull ? first + WINDOW_MS - now : 0;
  }

  /** Gives back all that was taken for a key. */
  forget(key: string): void {
    this.#taken.delete(key);
  }

  #remember(key: string, times: readonly number[]): void {
    this.#taken.delete(key);
    this.#taken.set(key, times);
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > this.maxKeys && oldest !== undefined) this.#taken.delete(oldest);
  }
}

/** What tells a refused notification from others. */
export interface RefusedNotification {
  /** The payment's id, or the externalId that the notification has in its place. */
  readonly payment: string;
  readonly transId: string;
  readonly status: string;
}

/**
 * Chooses the refused notifications to keep. A flood repeats itself or makes things up: it may neither push
 * out what an operator has to see, nor use up the room of other payments.
 */
export class KeptLimit {
  readonly #same = new RateLimit(1);
  readonly #ofPayment = new RateLimit(MAX_KEPT.ofPayment);
  readonly #all = new RateLimit(MAX_KEPT.all);

  /**
   * Whether to keep one.
   *
   * @param now ms since the epoch
   */
  take(refused: RefusedNotification, now: number): boolean {
    if (this.#same.take(keyOf(refused), now) > 0) return false;
    return this.#ofPayment.take(refused.payment, now) === 0 && this.#all.take('', now) === 0;
  }

  /** For one that couldn't be kept after all: when it comes again, it doesn't count as a repetition. */
  giveBack(refused: RefusedNotification): void {
    this.#same.forget(keyOf(refused));
  }
}

function keyOf({ payment, transId, status }: RefusedNotification): string {
  return JSON.stringify([payment, transId, status]);
}
