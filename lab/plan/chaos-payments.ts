import { SECOND_MS } from '../../src/payments/words/time.js';
import { CHAOS_LIMITS, planHold } from './planned-hold.js';
import {
  type Button,
  identityOf,
  type MerchantHabits,
  type PlannedOrder,
  type PlannedPayment,
  type PlannedPress,
  type PlannedVisit,
} from './planned-payment.js';
import { planRefunds, REFUND_TO_SHARE } from './planned-refunds.js';
import { type SeededRandom, seededRandom } from './seeded-random.js';

/** Plans `count` payments of all kinds that arrive at random over `lengthMs`, each of them settled within a minute. */
export function planChaosPayments(count: number, lengthMs: number, seed: string | number): PlannedPayment[] {
  return Array.from({ length: count }, (_, index) => planPayment(index, lengthMs, seed)).sort(
    (one, other) => one.arrivesAt - other.arrivesAt,
  );
}

function planPayment(index: number, lengthMs: number, seed: string | number): PlannedPayment {
  const random = seededRandom(seed, 'payment', index);
  const order = planOrder(random);
  return {
    ...order,
    ...identityOf(order.way, index, `chaos-${seed}`),
    arrivesAt: random.between('arrival', 0, lengthMs),
    habits: planHabits(random, order.way),
    visits: order.way === 'link' ? planVisits(random) : [],
  };
}

function planOrder(random: SeededRandom): PlannedOrder {
  const way = random.pick<PlannedOrder['way']>('way', [
    [40, 'link'],
    [28, 'direct'],
    [32, 'payout'],
  ]);
  const userId = random.chance('user', 0.2) ? `client-${random.between('which user', 1, 20)}` : undefined;
  const common = {
    amount: random.between('amount', 100, 200_000),
    ...(userId && { userId }),
    ...(random.chance('externalId', 0.3) && { externalId: `order-${random.between('order', 1, 1e6)}` }),
    ...(random.chance('metadata', 0.2) && { metadata: { basket: String(random.between('basket', 1, 1e6)) } }),
  };
  const order = { way, userId, invalid: false };
  const path = '/v1/collections';
  switch (way) {
    case 'link':
      return { ...order, path, body: { method: 'link', ...common, ...refundTo(random) } };
    case 'direct':
      return { ...order, path, body: { method: 'direct', ...common, phone: phoneOf(random, 'phone') } };
    case 'payout': {
      const { body, hold } = planHold(random, common.amount, CHAOS_LIMITS);
      return { ...order, hold, path: '/v1/payouts', body: { ...common, ...recipient(random), ...body } };
    }
  }
}

function refundTo(random: SeededRandom): Record<string, unknown> {
  return random.chance('refundTo', REFUND_TO_SHARE) ? { refundTo: phoneOf(random, 'refund phone') } : {};
}

/** Plans the refunds of a collection, soon after its payment. */
export function planChaosRefunds(collection: PlannedPayment, seed: string | number): readonly PlannedPayment[] {
  return planRefunds(collection, seed, {
    limits: CHAOS_LIMITS,
    withinMs: 10 * SECOND_MS,
    otherPhone: (random) => phoneOf(random, 'another phone'),
    habitsOf: (random) => planHabits(random, 'payout'),
  });
}

function recipient(random: SeededRandom): Record<string, unknown> {
  if (!random.chance('platform', 0.2)) return { phone: phoneOf(random, 'phone') };
  return {
    medium: 'platform',
    email: random.chance('paid', 0.7) ? 'always.paid@example.com' : 'x@example.com',
  };
}

/** A number whose payments end at once or within 25 seconds; see the sandbox's test numbers. */
function phoneOf(random: SeededRandom, label: string): string {
  const middle = String(random.between(`${label} middle`, 0, 9_999)).padStart(4, '0');
  const seconds = String(random.between(`${label} seconds`, 1, 25)).padStart(2, '0');
  const fate = random.pick(`${label} fate`, [
    [45, '000'],
    [15, '100'],
    [28, `2${seconds}`],
    [12, `3${seconds}`],
  ]);
  return `${random.chance(`${label} orange`, 0.4) ? '69' : '67'}${middle}${fate}`;
}

function planVisits(random: SeededRandom): PlannedVisit[] {
  const afterMs = random.between('after', 1, 20) * SECOND_MS;
  const pay = (label: string, time: PlannedVisit['time']): PlannedVisit => ({
    action: 'pay',
    phone: phoneOf(random, label),
    twice: random.chance(`${label} twice`, 0.2),
    time,
  });
  const again = { afterMs: afterMs + random.between('again', 2, 12) * SECOND_MS };
  return random.pick<PlannedVisit[]>('payer', [
    [45, [pay('first', { afterMs })]],
    [12, [{ action: 'decline', time: { afterMs } }, pay('second', again)]],
    [10, [pay('first', { afterMs }), pay('second', again)]],
    [5, [{ action: 'decline', time: { afterMs } }]],
    [8, []],
    [20, [pay('last', { beforeEndMs: random.between('edge', -300, 700) })]],
  ]);
}

function planHabits(random: SeededRandom, way: PlannedOrder['way']): MerchantHabits {
  const maybe = (label: string, likelihood: number) =>
    random.chance(label, likelihood) ? [random.between(`${label} after`, 1, 30) * SECOND_MS] : [];
  return {
    twin: random.chance('twin', 0.15),
    repeatsAfter: maybe('repeat', 0.25),
    looksAfter: [...maybe('look', 0.4), ...maybe('look again', 0.3)],
    refreshesAfter: maybe('refresh', 0.2)[0],
    expiresAfter: way === 'link' ? maybe('expire', 0.12)[0] : undefined,
    otherBodyAfter: maybe('other body', 0.05)[0],
  };
}

/** The buttons of Temporal's Web UI, each with the share of payments that it is pressed on. */
const BUTTONS: readonly (readonly [button: Button, share: number])[] = [
  ['cancel', 0.1],
  ['reset', 0.1],
  ['terminate', 0.015],
];

/** A button is pressed within this time after a payment's arrival, in ms. */
const MAX_PRESS_DELAY_MS = 45 * SECOND_MS;

/** Draws who presses what on a payment in Temporal's Web UI. */
export function planChaosPresses(seed: string | number, id: string): PlannedPress[] {
  const random = seededRandom(seed, 'web UI', id);
  return BUTTONS.filter(([button, share]) => random.chance(button, share)).map(([button]) => ({
    button,
    afterMs: random.between(`${button} when`, 0, MAX_PRESS_DELAY_MS),
  }));
}
