import type { PaymentEventType } from './payment.js';
import type { PaymentId } from './payment-id.js';
import { HOUR_MS, MINUTE_MS } from './time.js';

/* The rules by which notifications are delivered to merchants. */

/** State of a notification's delivery; times in ms since the epoch. */
export type Delivery =
  /** To be tried at `at`. The rest is of the tries so far. */
  | ({ readonly kind: 'due'; readonly at: number; readonly tries: number } & LastTry)
  | { readonly kind: 'delivered'; readonly at: number }
  /** There was no address to deliver it to. */
  | { readonly kind: 'noAddress'; readonly at: number }
  /** Nobody took it for three days. It can be sent again by hand, as can one that had no address. */
  | ({ readonly kind: 'abandoned'; readonly at: number } & LastTry);

/** When it was last tried, and why that failed. */
interface LastTry {
  readonly lastTriedAt?: number | undefined;
  readonly lastError?: string | undefined;
}

/** Result of one try. */
export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'noAddress' }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** The endpoints that have taken it, at this try or an earlier one. */
      readonly takenBy?: readonly string[] | undefined;
      /** For how long the merchant asks not to be tried again. */
      readonly retryAfterMs?: number | undefined;
    };

/** For how long a notification is tried, in ms: three days from its own first try, whatever was before it. */
export const DELIVERY_PATIENCE_MS = 72 * HOUR_MS;

/**
 * Pauses after the first, second, … failed try, in ms; the last one repeats. The steps are those that Standard Webhooks
 * suggests. Each is made longer by up to {@link SPREAD} of it.
 */
const PAUSES_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS] as const;

/** The part by which a pause is lengthened at most: what failed together isn't tried again together. */
const SPREAD = 0.2;

/**
 * Returns when a notification is tried again after a failed try, in ms since the epoch: after a growing pause, not
 * before the merchant asks for it, and the last time when its three days are just over. `undefined` when they are.
 *
 * @param tries so far, with the failed one
 * @param firstTriedAt in ms since the epoch
 * @param random from 0 to 1
 */
export function triedAgainAt(
  { tries, firstTriedAt }: { readonly tries: number; readonly firstTriedAt: number },
  retryAfterMs: number,
  now: number,
  random: number,
): number | undefined {
  const lastAt = firstTriedAt + DELIVERY_PATIENCE_MS;
  if (now >= lastAt) return undefined;
  const pause = PAUSES_MS[Math.min(tries, PAUSES_MS.length) - 1] ?? PAUSES_MS[0];
  return Math.min(now + Math.max(Math.round(pause * (1 + SPREAD * random)), retryAfterMs), lastAt);
}

/**
 * Returns the `webhook-id` of a notification, the same for every try: a merchant drops an id that it has seen.
 *
 * @param era when the book had last gone back as the notification was written, in seconds since the epoch; 0 if never:
 *   what it lost may have been told under the same number
 */
export function webhookId(payment: PaymentId, type: PaymentEventType, number: number, era: number): string {
  return `evt_${payment}_${type.replace('payment.', '')}_${number}${era === 0 ? '' : `_${era}`}`;
}
