import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/payments/words/time.js';
import { planHold, SIMULATED_LIMITS } from './planned-hold.js';
import {
  identityOf,
  type MerchantHabits,
  type PlannedOrder,
  type PlannedPayment,
  type PlannedPress,
  type PlannedVisit,
  type VisitTime,
} from './planned-payment.js';
import { planRefunds, REFUND_TO_SHARE } from './planned-refunds.js';
import { type SeededRandom, seededRandom } from './seeded-random.js';

/** All payments of a run, in order of their arrival, and over how long they arrive (ms). */
export interface PaymentPlan {
  readonly payments: readonly PlannedPayment[];
  readonly lengthMs: number;
}

/** Plans `count` payments that arrive at random over two to four days, however many they are. */
export function planPayments(count: number, seed: string | number): PaymentPlan {
  const lengthMs = seededRandom(seed, 'days').between('length', 2, 4) * DAY_MS;
  const users = Math.max(3, Math.ceil(count / 20));
  const payments = Array.from({ length: count }, (_, index) => planPayment(index, seed, lengthMs, users));
  return { payments: payments.sort((one, other) => one.arrivesAt - other.arrivesAt), lengthMs };
}

function planPayment(index: number, seed: string | number, lengthMs: number, users: number): PlannedPayment {
  const random = seededRandom(seed, 'payment', index);
  const order = planOrder(random, users);
  return {
    ...order,
    ...identityOf(order.way, index, String(seed)),
    // Uniform and independent: the gaps between arrivals are then those of a Poisson process.
    arrivesAt: random.between('arrival', 0, lengthMs),
    habits: habitsOf(random, order.way),
    visits: order.way === 'link' ? planPayer(random) : [],
    isSilent: random.chance('silent', 0.006),
    meddledAfter: random.chance('meddled', 0.05) ? momentOf(random, 'meddled when') : undefined,
    recheckedAfter: random.chance('rechecked', 0.04) ? random.between('rechecked when', 1, 50) * HOUR_MS : undefined,
  };
}

/** At times within the first seconds, while the payment is being sent. */
function momentOf(random: SeededRandom, label: string): number {
  return random.pick(`${label} unit`, [
    [2, random.between(label, 0, 2_000)],
    [3, random.between(label, 1, 60) * MINUTE_MS],
    [1, random.between(label, 1, 30) * HOUR_MS],
  ]);
}

function habitsOf(random: SeededRandom, way: PlannedOrder['way']): MerchantHabits {
  const time = (label: string) =>
    random.pick(`${label} unit`, [
      [3, random.between(label, 1, 59) * MINUTE_MS],
      [2, random.between(label, 1, 30) * HOUR_MS],
    ]);
  const maybe = (label: string, likelihood: number) => (random.chance(label, likelihood) ? [time(label)] : []);
  const late = (label: string, likelihood: number) =>
    random.chance(label, likelihood) ? [random.between(`${label} days`, 2, 5) * DAY_MS] : [];
  return {
    twin: random.chance('twin', 0.12),
    repeatsAfter: [...maybe('repeat', 0.2), ...maybe('repeat again', 0.1), ...late('repeat late', 0.03)],
    otherBodyAfter: maybe('other body', 0.04)[0],
    looksAfter: [...maybe('look', 0.3), ...maybe('look again', 0.1)],
    refreshesAfter: maybe('refresh', 0.12)[0],
    expiresAfter: way === 'payout' ? undefined : maybe('expire', way === 'link' ? 0.1 : 0.05)[0],
  };
}

const ADDRESSES = [
  'always.paid@example.com',
  'never.paid@example.com',
  'somebody@example.com',
  'also.paid@example.com',
] as const;

/** Draws an order: of every kind, way and amount, some of them invalid. */
function planOrder(random: SeededRandom, users: number): PlannedOrder {
  const way = random.pick<PlannedOrder['way']>('way', [
    [45, 'link'],
    [25, 'direct'],
    [30, 'payout'],
  ]);
  const invalid = random.chance('invalid', 0.01);
  const userId = random.chance('user', 0.2) ? `client-${random.between('which user', 1, users)}` : undefined;
  const common = {
    amount: invalid ? random.between('too little', 0, 99) : amountOf(random),
    ...(userId && { userId }),
    ...(random.chance('externalId', 0.3) && { externalId: `order-${random.between('order', 1, 1e6)}` }),
    ...(random.chance('message', 0.2) && { message: 'Market day' }),
    ...(random.chance('metadata', 0.2) && { metadata: { basket: String(random.between('basket', 1, 1e6)) } }),
  };
  const order = { way, userId, invalid };
  if (way === 'payout') {
    const { body, hold } = planHold(random, common.amount, SIMULATED_LIMITS);
    return { ...order, hold, path: '/v1/payouts', body: { ...common, ...recipient(random), ...body } };
  }
  const path = '/v1/collections';
  if (way === 'direct') return { ...order, path, body: { method: 'direct', ...common, ...payer(random) } };
  return { ...order, path, body: { method: 'link', ...common, ...lifetime(random), ...refundTo(random) } };
}

/** From the least to a million XAF, small ones as likely as large ones. */
function amountOf(random: SeededRandom): number {
  const magnitude = random.between('magnitude', 200, 600) / 100;
  return random.chance('least amount', 0.05) ? 100 : Math.round(10 ** magnitude);
}

function recipient(random: SeededRandom): Record<string, unknown> {
  if (!random.chance('platform', 0.2)) return payer(random);
  return { medium: 'platform', email: ADDRESSES[random.between('address', 0, ADDRESSES.length - 1)] };
}

function payer(random: SeededRandom): Record<string, unknown> {
  // A number of an operator that the provider doesn't pay through: it refuses the order.
  if (random.chance('foreign', 0.02)) return { phone: phoneNumber(random, 'phone', 'pays', '62') };
  const phone = phoneNumber(random, 'phone', fateOf(random));
  return { phone, ...(random.chance('name', 0.3) && { name: 'A. Client' }) };
}

function fateOf(random: SeededRandom): NumberFate {
  return random.pick<NumberFate>('fate', [
    [50, 'pays'],
    [16, 'fails'],
    [22, 'paysLater'],
    [10, 'failsLater'],
    [1, 'stays'],
  ]);
}

function refundTo(random: SeededRandom): Record<string, unknown> {
  if (!random.chance('refundTo', REFUND_TO_SHARE)) return {};
  return { refundTo: phoneNumber(random, 'refund phone', fateOf(random)) };
}

/** Most links have a shorter lifetime than a day: an unpaid one costs a question an hour. */
function lifetime(random: SeededRandom): Record<string, unknown> {
  if (!random.chance('expiresIn', 0.8)) return {};
  const minutes = random.pick('minutes', [
    [3, 10],
    [3, 45],
    [2, 120],
    [1, 720],
  ]);
  return { expiresIn: `${minutes}m` };
}

/** The end to which the provider brings a payment by its number; see the sandbox's test numbers. */
export type NumberFate = 'pays' | 'fails' | 'paysLater' | 'failsLater' | 'stays';

/** A mobile number, most often of a known medium, that the provider brings to the given end. */
function phoneNumber(random: SeededRandom, label: string, fate: NumberFate, prefix = prefixOf(random, label)): string {
  const middle = String(random.between(`${label} middle`, 0, 9_999)).padStart(4, '0');
  return `${prefix}${middle}${lastDigits(random, label, fate)}`;
}

function prefixOf(random: SeededRandom, label: string): string {
  return random.pick(`${label} operator`, [
    [6, '67'],
    [4, '69'],
  ]);
}

function lastDigits(random: SeededRandom, label: string, fate: NumberFate): string {
  const two = (most: number) => String(random.between(`${label} count`, 1, most)).padStart(2, '0');
  switch (fate) {
    case 'pays':
      return `0${two(99)}`;
    case 'fails':
      return `1${two(99)}`;
    case 'paysLater':
      return random.pick(`${label} unit`, [
        [4, `2${two(59)}`],
        [5, `4${two(59)}`],
        [1, `6${two(30)}`],
      ]);
    case 'failsLater':
      return random.pick(`${label} unit`, [
        [4, `3${two(59)}`],
        [5, `5${two(59)}`],
        [1, `7${two(30)}`],
      ]);
    case 'stays':
      return `8${two(99)}`;
  }
}

/** Draws the visits of a link's payer, in order. */
function planPayer(random: SeededRandom): PlannedVisit[] {
  const afterMs = random.pick('patience', [
    [6, random.between('soon', 1, 9) * MINUTE_MS],
    [2, random.between('later', 10, 180) * MINUTE_MS],
    [1, random.between('late', 3, 23) * HOUR_MS],
  ]);
  const pay = (label: string, fate: NumberFate, time: VisitTime): PlannedVisit => ({
    action: 'pay',
    phone: phoneNumber(random, label, fate),
    twice: random.chance(`${label} twice`, 0.15),
    time,
  });
  const again = { afterMs: afterMs + random.between('again', 1, 60) * MINUTE_MS };
  const look: PlannedVisit = { action: 'look', time: { afterMs } };
  const decline: PlannedVisit = { action: 'decline', time: { afterMs } };
  return random.pick<PlannedVisit[]>('payer', [
    [38, [pay('first', 'pays', { afterMs })]],
    [10, [look, pay('first', 'paysLater', { afterMs })]],
    [8, [decline]],
    [10, [decline, pay('second', 'pays', again)]],
    [6, [pay('first', 'fails', { afterMs }), pay('second', 'pays', again)]],
    [4, [pay('first', 'failsLater', { afterMs }), pay('second', 'pays', again)]],
    [12, [look]],
    [6, [pay('last', 'pays', { beforeEndMs: random.between('last second', 1, 999) })]],
    [6, [pay('too late', 'pays', { beforeEndMs: -random.between('too late', 0, 2_000) })]],
  ]);
}

/** Plans the refunds of a collection, within some hours of its payment. */
export function planSimulatedRefunds(collection: PlannedPayment, seed: string | number): readonly PlannedPayment[] {
  return planRefunds(collection, seed, {
    limits: SIMULATED_LIMITS,
    withinMs: 6 * HOUR_MS,
    otherPhone: (random) => phoneNumber(random, 'another phone', fateOf(random)),
    habitsOf: (random) => habitsOf(random, 'payout'),
  });
}

/**
 * Draws who presses what in Temporal's Web UI: of a thousand payments, Cancel on 60, Terminate on 5.
 *
 * Nobody presses Cancel on a payout that is held: it may try for a day, and take a second run for its history, which
 * the test server refuses to begin after a Cancel. A real server begins it (test/workflows/real-server).
 */
export function planPresses(seed: string | number, { id, hold }: Pick<PlannedPayment, 'id' | 'hold'>): PlannedPress[] {
  const random = seededRandom(seed, 'web UI', id);
  const moment = (label: string) =>
    random.pick(`${label} unit`, [
      [2, random.between(label, 0, 30) * 100],
      [3, random.between(label, 1, 90) * MINUTE_MS],
      [2, random.between(label, 2, 50) * HOUR_MS],
    ]);
  return [
    ...(hold === undefined && random.chance('cancels', 0.06)
      ? [{ button: 'cancel', afterMs: moment('cancel') } as const]
      : []),
    ...(random.chance('terminates', 0.005) ? [{ button: 'terminate', afterMs: moment('terminate') } as const] : []),
  ];
}
