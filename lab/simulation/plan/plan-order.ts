import type { Dice } from './dice.js';
import { type NumberFate, phoneNumber } from './phone-numbers.js';

/** The body of a merchant's request, and what the provider is going to make of it. */
export interface PlannedOrder {
  readonly way: 'link' | 'direct' | 'payout';
  readonly path: '/v1/collections' | '/v1/payouts';
  readonly body: Readonly<Record<string, unknown>>;
  /** The merchant's own name of its client, when it gives one. */
  readonly userId?: string | undefined;
  /** The API has to refuse it: it asks for less than the least amount. */
  readonly invalid: boolean;
}

const ADDRESSES = [
  'always.paid@example.com',
  'never.paid@example.com',
  'somebody@example.com',
  'also.paid@example.com',
] as const;

/** What a merchant orders: every kind, way and amount that there is, some of them wrong. */
export function planOrder(dice: Dice, users: number): PlannedOrder {
  const way = dice.pick<PlannedOrder['way']>('way', [
    [45, 'link'],
    [25, 'direct'],
    [30, 'payout'],
  ]);
  const invalid = dice.chance('invalid', 0.01);
  const userId = dice.chance('user', 0.2) ? `client-${dice.between('which user', 1, users)}` : undefined;
  const common = {
    amount: invalid ? dice.between('too little', 0, 99) : amountOf(dice),
    ...(userId && { userId }),
    ...(dice.chance('externalId', 0.3) && { externalId: `order-${dice.between('order', 1, 1e6)}` }),
    ...(dice.chance('message', 0.2) && { message: 'Market day' }),
    ...(dice.chance('metadata', 0.2) && { metadata: { basket: String(dice.between('basket', 1, 1e6)) } }),
  };
  const order = { way, userId, invalid };
  if (way === 'payout') return { ...order, path: '/v1/payouts', body: { ...common, ...recipient(dice) } };
  const path = '/v1/collections';
  if (way === 'direct') return { ...order, path, body: { method: 'direct', ...common, ...payer(dice) } };
  return { ...order, path, body: { method: 'link', ...common, ...lifetime(dice) } };
}

/** From the least to a million XAF, small ones as likely as large ones. */
function amountOf(dice: Dice): number {
  const magnitude = dice.between('magnitude', 200, 600) / 100;
  return dice.chance('least amount', 0.05) ? 100 : Math.round(10 ** magnitude);
}

function recipient(dice: Dice): Record<string, unknown> {
  if (!dice.chance('platform', 0.2)) return payer(dice);
  return { medium: 'platform', email: ADDRESSES[dice.between('address', 0, ADDRESSES.length - 1)] };
}

function payer(dice: Dice): Record<string, unknown> {
  // A number of an operator that the provider doesn't pay through: it refuses the order.
  if (dice.chance('foreign', 0.02)) return { phone: phoneNumber(dice, 'phone', 'pays', '62') };
  const phone = phoneNumber(dice, 'phone', fateOf(dice));
  return { phone, ...(dice.chance('name', 0.3) && { name: 'A. Client' }) };
}

function fateOf(dice: Dice): NumberFate {
  return dice.pick<NumberFate>('fate', [
    [50, 'pays'],
    [16, 'fails'],
    [22, 'paysLater'],
    [10, 'failsLater'],
    [1, 'stays'],
  ]);
}

/** Most links live for less than their usual day: one that nobody pays costs a question an hour. */
function lifetime(dice: Dice): Record<string, unknown> {
  if (!dice.chance('expiresIn', 0.8)) return {};
  const minutes = dice.pick('minutes', [
    [3, 10],
    [3, 45],
    [2, 120],
    [1, 720],
  ]);
  return { expiresIn: `${minutes}m` };
}
