import type { PaymentEventType } from '../words/payment.js';
import type { PaymentId } from '../words/payment-id.js';
import { HOUR_MS, MINUTE_MS } from '../words/time.js';

/** One event of a payment that its merchant is notified of; times in ms since the epoch. */
export interface PaymentNotification {
  /** 1 for the payment's first. */
  readonly number: number;
  readonly type: PaymentEventType;
  /** Time of the event, in ms since the epoch. */
  readonly at: number;
  readonly delivery: Delivery;
}

/** State of the delivery; times in ms since the epoch. */
export type Delivery =
  /**
   * To be tried at `at`; `since` is when it was first tried. The rest is of the last try: when it was, why it failed,
   * and which of several endpoints have taken the notification so far.
   */
  | {
      readonly kind: 'due';
      readonly at: number;
      readonly tries: number;
      readonly since?: number | undefined;
      readonly lastTriedAt?: number | undefined;
      readonly lastError?: string | undefined;
      readonly takenBy?: readonly string[] | undefined;
    }
  | { readonly kind: 'delivered'; readonly at: number }
  /** There was no address to deliver it to. */
  | { readonly kind: 'noAddress'; readonly at: number }
  /** Nobody took it for three days. It can be sent again by hand, as can one that had no address. */
  | {
      readonly kind: 'abandoned';
      readonly at: number;
      readonly lastTriedAt?: number | undefined;
      readonly lastError?: string | undefined;
    };

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
    }
  /** No worker began it. That is no try: it is sent at once, as the payment is by then. */
  | { readonly kind: 'notSent' };

/**
 * The type of the failure of a try that has no turn yet, because the merchant's others hold their share of the worker.
 */
export const HELD_BACK = 'HeldBack';

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
 * Returns the delivery after one more try. A failed one is tried again with growing pauses, and not before the merchant
 * asks for it; the last time when its three days are just over.
 *
 * @param payment its id seeds the jitter
 */
export function afterTry(due: Due, outcome: DeliveryOutcome, payment: PaymentId, now: number): Delivery {
  if (outcome.kind === 'notSent') return { ...due, at: now };
  if (outcome.kind !== 'failed') return { kind: outcome.kind, at: now };
  const { reason: lastError, takenBy, retryAfterMs = 0 } = outcome;
  const tries = due.tries + 1;
  const since = due.since ?? now;
  const lastAt = since + DELIVERY_PATIENCE_MS;
  if (now >= lastAt) return { kind: 'abandoned', at: now, lastTriedAt: now, lastError };
  const at = Math.min(now + Math.max(pauseAfter(tries, payment), retryAfterMs), lastAt);
  return { kind: 'due', at, tries, since, lastTriedAt: now, lastError, ...(takenBy && { takenBy }) };
}

function pauseAfter(tries: number, payment: PaymentId): number {
  const pause = PAUSES_MS[Math.min(tries, PAUSES_MS.length) - 1] ?? PAUSES_MS[0];
  return Math.round(pause * (1 + SPREAD * shareOf(`${payment}${tries}`)));
}

/** Returns a number from 0 to 1 that looks random, and is the same whenever a workflow is replayed. */
function shareOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index++) hash = (hash * 31 + text.charCodeAt(index)) % 1_009;
  return hash / 1_009;
}

/** Notifications remembered for a payment: the latest, so that a link of many attempts doesn't grow without end. */
const REMEMBERED = 50;

/**
 * Returns the `webhook-id` of a notification, the same for every try. It names the type, too: when an operator resets
 * the workflow to a moment before the event, something else may happen first. That is another event of the same number,
 * and a merchant who drops an id that it has seen must not miss it.
 */
export function notificationId(
  payment: PaymentId,
  { number, type }: Pick<PaymentNotification, 'number' | 'type'>,
): string {
  return `evt_${payment}_${type.replace('payment.', '')}_${number}`;
}

/** Adds a notification, due at once. */
export function withNotification(
  notifications: readonly PaymentNotification[],
  type: PaymentEventType,
  now: number,
): readonly PaymentNotification[] {
  const number = (notifications.at(-1)?.number ?? 0) + 1;
  const added: PaymentNotification = { number, type, at: now, delivery: newDelivery(now) };
  return [...notifications.filter(isDue), ...notifications.filter((one) => !isDue(one)).slice(-REMEMBERED), added].sort(
    (one, other) => one.number - other.number,
  );
}

/** Finds the next notification to deliver: they go out in order, one after the other. */
export function nextDue(notifications: readonly PaymentNotification[]) {
  return notifications.find(isDue);
}

/**
 * Gives each due notification the time at which it is tried at the earliest: not before those before it, nor in the
 * past.
 */
export function withNextTries(
  notifications: readonly PaymentNotification[],
  now: number,
): readonly PaymentNotification[] {
  let earliest = now;
  return notifications.map((one) => {
    if (!isDue(one)) return one;
    earliest = Math.max(earliest, one.delivery.at);
    return { ...one, delivery: { ...one.delivery, at: earliest } };
  });
}

/** Reports whether one was given up, and nobody has sent it again. */
export function hasGivenUp(notifications: readonly PaymentNotification[]): boolean {
  return notifications.some(({ delivery }) => delivery.kind === 'abandoned');
}

/** Replaces the delivery of one notification; `undefined` when there is none of that number. */
export function withDelivery(
  notifications: readonly PaymentNotification[],
  number: number,
  delivery: Delivery,
): readonly PaymentNotification[] | undefined {
  if (!notifications.some((one) => one.number === number)) return undefined;
  return notifications.map((one) => (one.number === number ? { ...one, delivery } : one));
}

/** Begins a delivery now, with its whole patience before it. */
export function newDelivery(now: number): Due {
  return { kind: 'due', at: now, tries: 0 };
}

export type Due = Delivery & { readonly kind: 'due' };

function isDue(notified: PaymentNotification): notified is PaymentNotification & { readonly delivery: Due } {
  return notified.delivery.kind === 'due';
}
