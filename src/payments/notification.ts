import type { PaymentEventType } from './payment-event.js';
import type { PaymentId } from './payment-id.js';

/** One thing that a merchant is told of a payment; times in ms since the epoch. */
export interface PaymentNotification {
  /** 1 for the payment's first. */
  readonly number: number;
  readonly type: PaymentEventType;
  /** When it happened. */
  readonly at: number;
  readonly delivery: Delivery;
}

/** How far telling it has come. `abandoned` when nobody took it for three days; it can be sent again by hand. */
export type Delivery =
  | { readonly kind: 'due'; readonly at: number; readonly tries: number; readonly since: number }
  | { readonly kind: 'delivered'; readonly at: number }
  | { readonly kind: 'abandoned'; readonly at: number };

/** Notifications remembered for a payment: the latest, so that a link of many attempts doesn't grow without end. */
const REMEMBERED = 50;

/**
 * The `webhook-id` of a notification, the same for every try. It names the type, too: when a worker dies, or a signal comes
 * in, between telling and writing it down, the next may find that something else has happened first. That is news with the
 * same number, and a merchant who drops an id that it has seen must not miss it.
 */
export function notificationId(
  payment: PaymentId,
  { number, type }: Pick<PaymentNotification, 'number' | 'type'>,
): string {
  return `evt_${payment}_${type.replace('payment.', '')}_${number}`;
}

/** The notifications with one more, due at once. */
export function withNotification(
  notifications: readonly PaymentNotification[],
  type: PaymentEventType,
  now: number,
): readonly PaymentNotification[] {
  const number = (notifications.at(-1)?.number ?? 0) + 1;
  const added: PaymentNotification = { number, type, at: now, delivery: due(now) };
  return [
    ...notifications.filter(isDue),
    ...notifications.filter((told) => !isDue(told)).slice(-REMEMBERED),
    added,
  ].sort((one, other) => one.number - other.number);
}

/** The next notification to deliver: they go out in order, one after the other. */
export function nextDue(notifications: readonly PaymentNotification[]) {
  return notifications.find(isDue);
}

/** The notifications with another state of one of them; `undefined` when there is none of that number. */
export function withDelivery(
  notifications: readonly PaymentNotification[],
  number: number,
  delivery: Delivery,
): readonly PaymentNotification[] | undefined {
  if (!notifications.some((told) => told.number === number)) return undefined;
  return notifications.map((told) => (told.number === number ? { ...told, delivery } : told));
}

/** A delivery that begins now, with its whole patience before it. */
export function due(now: number): Delivery & { readonly kind: 'due' } {
  return { kind: 'due', at: now, tries: 0, since: now };
}

function isDue(
  told: PaymentNotification,
): told is PaymentNotification & { readonly delivery: { readonly kind: 'due' } } {
  return told.delivery.kind === 'due';
}
