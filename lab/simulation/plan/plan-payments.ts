import { derivePaymentId } from '../../../src/payments/derive-payment-id.js';
import type { PaymentId } from '../../../src/payments/payment-id.js';
import { type Dice, diceOf } from './dice.js';
import { DAY, HOUR, MINUTE } from './durations.js';
import { type PlannedOrder, planOrder } from './plan-order.js';
import { type PlannedVisit, planPayer } from './plan-payer.js';

/** Merchants, by the names of their API keys. Both use the same Idempotency-Keys. */
export const OWNERS = ['shop', 'market'] as const;
export type Owner = (typeof OWNERS)[number];

/** What a merchant does beside asking for the payment; times in ms after it has asked. */
export interface MerchantHabits {
  /** Sends the request twice at once. */
  readonly twin: boolean;
  /** Sends the request again, the same as before. */
  readonly repeatsAfter: readonly number[];
  /** Sends another body with the same key. */
  readonly otherBodyAfter?: number | undefined;
  readonly looksAfter: readonly number[];
  readonly refreshesAfter?: number | undefined;
  /** Collections only: expires it, which is taken of a link, and of what was not sent yet. */
  readonly expiresAfter?: number | undefined;
}

/** One payment, as it is going to be asked for. */
export interface PlannedPayment extends PlannedOrder {
  readonly owner: Owner;
  readonly key: string;
  /** The id that owner and key lead to. */
  readonly id: PaymentId;
  /** ms from the beginning. */
  readonly arrivesAt: number;
  readonly habits: MerchantHabits;
  readonly visits: readonly PlannedVisit[];
  /** The provider answers no question about it for more than a day. */
  readonly isSilent?: boolean | undefined;
  /** When an operator meddles with it, whatever it is doing, in ms after its arrival. */
  readonly meddledAfter?: number | undefined;
  /** When an operator has it compared with the provider's records, in ms after its arrival. */
  readonly recheckedAfter?: number | undefined;
}

/** All payments of a run, in order of their arrival, and over how long they arrive (ms). */
export interface PaymentPlan {
  readonly payments: readonly PlannedPayment[];
  readonly lengthMs: number;
}

/** Plans `count` payments that arrive at random over two to four days, however many they are. */
export function planPayments(count: number, seed: string | number): PaymentPlan {
  const lengthMs = diceOf(seed, 'days').between('length', 2, 4) * DAY;
  const users = Math.max(3, Math.ceil(count / 20));
  const payments = Array.from({ length: count }, (_, index) => planPayment(index, seed, lengthMs, users));
  return { payments: payments.sort((one, other) => one.arrivesAt - other.arrivesAt), lengthMs };
}

function planPayment(index: number, seed: string | number, lengthMs: number, users: number): PlannedPayment {
  const dice = diceOf(seed, 'payment', index);
  const order = planOrder(dice, users);
  return {
    ...order,
    ...identityOf(order.way, index, String(seed)),
    // Uniform and independent: the gaps between arrivals are then those of a Poisson process.
    arrivesAt: dice.between('arrival', 0, lengthMs),
    habits: habitsOf(dice, order.way),
    visits: order.way === 'link' ? planPayer(dice) : [],
    isSilent: dice.chance('silent', 0.006),
    meddledAfter: dice.chance('meddled', 0.05) ? momentOf(dice, 'meddled when') : undefined,
    recheckedAfter: dice.chance('rechecked', 0.04) ? dice.between('rechecked when', 1, 50) * HOUR : undefined,
  };
}

/** At times within the first seconds, while the payment is being sent. */
function momentOf(dice: Dice, label: string): number {
  return dice.pick(`${label} unit`, [
    [2, dice.between(label, 0, 2_000)],
    [3, dice.between(label, 1, 60) * MINUTE],
    [1, dice.between(label, 1, 30) * HOUR],
  ]);
}

/** Merchants take turns, and use the same keys: their payments must not meet. */
export function identityOf(
  way: PlannedOrder['way'],
  index: number,
  keys: string,
): Pick<PlannedPayment, 'owner' | 'key' | 'id'> {
  const owner = OWNERS[index % OWNERS.length] ?? 'shop';
  const key = `${keys}-${Math.floor(index / OWNERS.length)}`;
  return { owner, key, id: derivePaymentId(way === 'payout' ? 'payout' : 'collection', owner, key) };
}

function habitsOf(dice: Dice, way: PlannedOrder['way']): MerchantHabits {
  const time = (label: string) =>
    dice.pick(`${label} unit`, [
      [3, dice.between(label, 1, 59) * MINUTE],
      [2, dice.between(label, 1, 30) * HOUR],
    ]);
  const maybe = (label: string, likelihood: number) => (dice.chance(label, likelihood) ? [time(label)] : []);
  const late = (label: string, likelihood: number) =>
    dice.chance(label, likelihood) ? [dice.between(`${label} days`, 2, 5) * DAY] : [];
  return {
    twin: dice.chance('twin', 0.12),
    repeatsAfter: [...maybe('repeat', 0.2), ...maybe('repeat again', 0.1), ...late('repeat late', 0.03)],
    otherBodyAfter: maybe('other body', 0.04)[0],
    looksAfter: [...maybe('look', 0.3), ...maybe('look again', 0.1)],
    refreshesAfter: maybe('refresh', 0.12)[0],
    expiresAfter: way === 'payout' ? undefined : maybe('expire', way === 'link' ? 0.1 : 0.05)[0],
  };
}
