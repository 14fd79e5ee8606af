import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { TooManyNotifications } from './errors.js';

/**
 * Notifications within a minute that are passed on to one payment, and of those that match no payment. More would be of
 * no use: a notification only makes the payment ask the provider, which it may do a few times a minute.
 */
export const MAX_HINTS = 60;

/**
 * Notifications within a minute that reopen an ended payment. Each time the payment may ask the provider at once, so
 * this keeps forged ones from using up a transaction's status budget.
 */
const MAX_REOPENINGS = 5;

/** Notifications refused with 429 that are kept for an operator within a minute, repetitions not counted. */
export const MAX_KEPT = { ofPayment: 10, all: 60 } as const;

const MINUTE_S = 60;

/**
 * Keys that a limit remembers. Whoever knows the webhook's address can invent as many as they like: beyond that, the
 * one used longest ago is forgotten.
 */
const MAX_KEYS = 5_000;

/** Limits on the provider's notifications; each process counts for itself. */
export interface NotificationLimits {
  readonly hints: NotificationLimit;
  readonly reopenings: NotificationLimit;
  readonly kept: KeptLimit;
}

export function createNotificationLimits(): NotificationLimits {
  return {
    hints: new NotificationLimit(MAX_HINTS),
    reopenings: new NotificationLimit(MAX_REOPENINGS),
    kept: new KeptLimit(),
  };
}

/** Limits the number for each key within the minute that begins with the first. */
export class NotificationLimit {
  readonly #limiter: RateLimiterMemory;
  /** The one used last comes last. */
  readonly #keys = new Set<string>();

  constructor(
    max: number,
    private readonly maxKeys = MAX_KEYS,
  ) {
    this.#limiter = new RateLimiterMemory({ points: max, duration: MINUTE_S });
  }

  /**
   * Takes one for a key.
   *
   * @throws {TooManyNotifications} when none is left.
   */
  async pass(key: string): Promise<void> {
    const { consumedPoints, msBeforeNext } = await this.#count(key);
    if (consumedPoints > this.#limiter.points) throw new TooManyNotifications(msBeforeNext);
  }

  /** Takes one for a key, if any is left. */
  async take(key: string): Promise<boolean> {
    const { consumedPoints } = await this.#count(key);
    return consumedPoints <= this.#limiter.points;
  }

  async isUsedUp(key: string): Promise<boolean> {
    return (await this.#limiter.get(key))?.remainingPoints === 0;
  }

  /** Gives back everything taken for a key. */
  async forget(key: string): Promise<void> {
    this.#keys.delete(key);
    await this.#limiter.delete(key);
  }

  async #count(key: string): Promise<RateLimiterRes> {
    this.#keys.delete(key);
    this.#keys.add(key);
    const counted = this.#limiter.penalty(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > this.maxKeys && oldest !== undefined) await this.forget(oldest);
    return await counted;
  }
}

/** The fields that tell a refused notification from others. */
export interface RefusedNotification {
  /** The payment's id, or the externalId that the notification has in its place. */
  readonly payment: string;
  readonly transId: string;
  readonly status: string;
}

/**
 * Chooses the refused notifications to keep. A flood repeats itself or makes things up: it must neither displace
 * notifications that an operator has to see, nor use up the room of other payments.
 */
export class KeptLimit {
  readonly #same = new NotificationLimit(1);
  readonly #ofPayment = new NotificationLimit(MAX_KEPT.ofPayment);
  readonly #all = new NotificationLimit(MAX_KEPT.all);

  /** Decides whether to keep a notification. */
  async take(refused: RefusedNotification): Promise<boolean> {
    const { payment } = refused;
    // Without room, nothing is remembered: a flood can't fill the memory.
    if ((await this.#all.isUsedUp('')) || (await this.#ofPayment.isUsedUp(payment))) return false;
    if (!(await this.#same.take(keyOf(refused)))) return false;
    return (await this.#ofPayment.take(payment)) && (await this.#all.take(''));
  }

  /** Forgets a notification that couldn't be kept after all: the next one isn't a repetition. */
  async giveBack(refused: RefusedNotification): Promise<void> {
    await this.#same.forget(keyOf(refused));
  }
}

function keyOf({ payment, transId, status }: RefusedNotification): string {
  return JSON.stringify([payment, transId, status]);
}
