import { tooManyNotifications } from './problem.js';

/** Hints that are passed on for one payment, and of those that no payment is known for, within {@link WINDOW_MS}. */
export const MOST_HINTS = 60;

/**
 * How often an ended payment is opened again within {@link WINDOW_MS}. Each time it may ask the provider at once, so
 * this is what keeps a flood of forged late hints from spending a transaction's whole status budget.
 */
export const MOST_REOPENINGS = 5;

/**
 * Notifications that were refused with 429 and are kept all the same, for an operator to look at, within
 * {@link WINDOW_MS}: those of one payment, and all of them. Each different one counts once.
 */
export const MAX_KEPT = { ofPayment: 10, all: 60 } as const;

const WINDOW_MS = 60_000;

/** Keys remembered; a flood of inventions makes the oldest be forgotten, and not the memory be filled. */
const MOST_KEYS = 5_000;

/**
 * How many hints are passed on: at most so many for one key within any minute. More would be of no use, for a hint
 * only makes a payment ask the provider, and that it may do a few times a minute.
 *
 * @example new HintLimit(MOST_HINTS).pass(paymentId)
 */
export class HintLimit {
  /** Times at which hints were passed on, by key; the key used last stands last. */
  readonly #taken = new Map<string, readonly number[]>();

  constructor(
    private readonly most: number,
    private readonly mostKeys = MOST_KEYS,
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
   * Takes one for a key, if there is one left: 0, or the ms until there will be.
   *
   * @param now ms since the epoch
   */
  take(key: string, now: number): number {
    const recent = (this.#taken.get(key) ?? []).filter((time) => time > now - WINDOW_MS);
    const [first = now] = recent;
    const isFull = recent.length >= this.most;
    this.#remember(key, isFull ? recent : [...recent, now]);
    return isFull ? first + WINDOW_MS - now : 0;
  }

  /** Gives back what was taken for a key. */
  forget(key: string): void {
    this.#taken.delete(key);
  }

  #remember(key: string, times: readonly number[]): void {
    this.#taken.delete(key);
    this.#taken.set(key, times);
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > this.mostKeys && oldest !== undefined) this.#taken.delete(oldest);
  }
}

/** A notification that was refused, as far as it tells it from others. */
export interface Refused {
  /** The payment's id, or what the notification has in its place. */
  readonly payment: string;
  readonly transId: string;
  readonly status: string;
}

/**
 * Which of the refused notifications are kept. A flood repeats itself or makes things up: neither may push out what an
 * operator has to see, nor keep another payment's notifications from being kept.
 */
export class KeepLimit {
  readonly #same = new HintLimit(1);
  readonly #ofPayment = new HintLimit(MAX_KEPT.ofPayment);
  readonly #all = new HintLimit(MAX_KEPT.all);

  /**
   * Whether to keep one.
   *
   * @param now ms since the epoch
   */
  take(refused: Refused, now: number): boolean {
    if (this.#same.take(keyOf(refused), now) > 0) return false;
    return this.#ofPayment.take(refused.payment, now) === 0 && this.#all.take('', now) === 0;
  }

  /** For one that could not be kept after all: when it comes again, it is not taken for a repetition. */
  giveBack(refused: Refused): void {
    this.#same.forget(keyOf(refused));
  }
}

function keyOf({ payment, transId, status }: Refused): string {
  return JSON.stringify([payment, transId, status]);
}
