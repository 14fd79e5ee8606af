import { type Dice, diceOf } from '../../simulation/plan/dice.js';
import { SECOND } from '../../simulation/plan/durations.js';
import type { PlannedOrder } from '../../simulation/plan/plan-order.js';
import type { PlannedVisit } from '../../simulation/plan/plan-payer.js';
import { identityOf, type MerchantHabits, type PlannedPayment } from '../../simulation/plan/plan-payments.js';

/** Plans `count` payments of all kinds that arrive at random over `lengthMs`, each of them settled within a minute. */
export function planPayments(count: number, lengthMs: number, seed: string | number): PlannedPayment[] {
  return Array.from({ length: count }, (_, index) => planPayment(index, lengthMs, seed)).sort(
    (one, other) => one.arrivesAt - other.arrivesAt,
  );
}

function planPayment(index: number, lengthMs: number, seed: string | number): PlannedPayment {
  const dice = diceOf(seed, 'payment', index);
  const order = planOrder(dice);
  return {
    ...order,
    ...identityOf(order.way, index, `chaos-${seed}`),
    arrivesAt: dice.between('arrival', 0, lengthMs),
    habits: planHabits(dice, order.way),
    visits: order.way === 'link' ? planVisits(dice) : [],
  };
}

function planOrder(dice: Dice): PlannedOrder {
  const way = dice.pick<PlannedOrder['way']>('way', [
    [40, 'link'],
    [28, 'direct'],
    [32, 'payout'],
  ]);
  const userId = dice.chance('user', 0.2) ? `client-${dice.between('which user', 1, 20)}` : undefined;
  const common = {
    amount: dice.between('amount', 100, 200_000),
    ...(userId && { userId }),
    ...(dice.chance('externalId', 0.3) && { externalId: `order-${dice.between('order', 1, 1e6)}` }),
    ...(dice.chance('metadata', 0.2) && { metadata: { basket: String(dice.between('basket', 1, 1e6)) } }),
  };
  const order = { way, userId, invalid: false };
  const path = '/v1/collections';
  switch (way) {
    case 'link':
      return { ...order, path, body: { method: 'link', ...common } };
    case 'direct':
      return { ...order, path, body: { method: 'direct', ...common, phone: phoneOf(dice, 'phone') } };
    case 'payout':
      return { ...order, path: '/v1/payouts', body: { ...common, ...recipient(dice) } };
  }
}

function recipient(dice: Dice): Record<string, unknown> {
  if (!dice.chance('platform', 0.2)) return { phone: phoneOf(dice, 'phone') };
  return {
    medium: 'platform',
    email: dice.chance('paid', 0.7) ? 'always.paid@example.com' : 'x@example.com',
  };
}

/** A number whose payments end at once or within 25 seconds; see the sandbox's test numbers. */
function phoneOf(dice: Dice, label: string): string {
  const middle = String(dice.between(`${label} middle`, 0, 9_999)).padStart(4, '0');
  const seconds = String(dice.between(`${label} seconds`, 1, 25)).padStart(2, '0');
  const fate = dice.pick(`${label} fate`, [
    [45, '000'],
    [15, '100'],
    [28, `2${seconds}`],
    [12, `3${seconds}`],
  ]);
  return `${dice.chance(`${label} orange`, 0.4) ? '69' : '67'}${middle}${fate}`;
}

function planVisits(dice: Dice): PlannedVisit[] {
  const afterMs = dice.between('after', 1, 20) * SECOND;
  const pay = (label: string, time: PlannedVisit['time']): PlannedVisit => ({
    action: 'pay',
    phone: phoneOf(dice, label),
    twice: dice.chance(`${label} twice`, 0.2),
    time,
  });
  const again = { afterMs: afterMs + dice.between('again', 2, 12) * SECOND };
  return dice.pick<PlannedVisit[]>('payer', [
    [45, [pay('first', { afterMs })]],
    [12, [{ action: 'decline', time: { afterMs } }, pay('second', again)]],
    [10, [pay('first', { afterMs }), pay('second', again)]],
    [5, [{ action: 'decline', time: { afterMs } }]],
    [8, []],
    [20, [pay('last', { beforeEndMs: dice.between('edge', -300, 700) })]],
  ]);
}

function planHabits(dice: Dice, way: PlannedOrder['way']): MerchantHabits {
  const maybe = (label: string, likelihood: number) =>
    dice.chance(label, likelihood) ? [dice.between(`${label} after`, 1, 30) * SECOND] : [];
  return {
    twin: dice.chance('twin', 0.15),
    repeatsAfter: maybe('repeat', 0.25),
    looksAfter: [...maybe('look', 0.4), ...maybe('look again', 0.3)],
    refreshesAfter: maybe('refresh', 0.2)[0],
    expiresAfter: way === 'link' ? maybe('expire', 0.12)[0] : undefined,
    otherBodyAfter: maybe('other body', 0.05)[0],
  };
}
