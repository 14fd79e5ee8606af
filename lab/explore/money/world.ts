import type { Book, File, Ordered } from './book.js';

/** How often something may happen in one story. */
export interface Allowance {
  readonly claims: number;
  readonly days: number;
  /** Changes of the merchant's file. */
  readonly changes: number;
  /** Times that the collection goes to another state. */
  readonly falls: number;
  /** Requests whose answer is lost, that are rejected, or not sent. */
  readonly troubles: number;
  readonly decisions: number;
}

export type Change = 'limit' | 'approveAbove' | 'removed' | 'renamed' | 'added';

export interface MoneySetting {
  readonly name: string;
  /** The orders that are made, by their Idempotency-Keys: one may be made twice, with another amount. */
  readonly orders: readonly Ordered[];
  readonly allowance: Partial<Allowance>;
  readonly changes?: readonly Change[];
  readonly approveAbove?: number;
  readonly limit?: number;
  /** The provider's list shows transactions of other orders, too. */
  readonly isCareless?: true;
}

/** A request that was made, in truth; `moved`: money has moved, or may yet. */
export interface Request {
  readonly index: number;
  readonly amount: number;
  readonly day: number;
  readonly moved: 'open' | 'yes' | 'no';
}

/** A transaction that has read without a lock, and has yet to write. */
export type Reading =
  | { readonly kind: 'claim'; readonly ordered: Ordered; readonly others: number }
  | { readonly kind: 'fence'; readonly index: number; readonly left: number };

export interface World {
  readonly day: number;
  readonly file: File;
  readonly book: Book;
  readonly requests: readonly Request[];
  readonly readings: readonly Reading[];
  /** The amounts that were ordered first. */
  readonly first: readonly (number | undefined)[];
  readonly left: Allowance;
}

export const MONEY_FAULTS = {
  body: 'what is sent under a key is what was ordered first under it',
  room: 'refunds are taken only while all that count fit into what was collected',
  within: 'a refund is sent only while its collection stands, and has room beside all that has moved, or may',
  day: 'what leaves on a day is never more than the limit that is in force as it leaves',
  person: 'what takes an approval as it leaves was approved by another person than the one who has ordered it',
  approver: 'whom the file has known as another person all the time may approve',
  there: 'a merchant that was removed sends nothing',
  unsent: 'nothing has moved, or may move, of what was told to be unsent',
  transaction: 'no two orders are paid by one transaction',
  counts: 'an order counts for no less than what has moved of it, or may',
  audit: 'the sum of a day is what has left on it, or may have',
} as const;
export type Fault = keyof typeof MONEY_FAULTS;

/** What was collected. */
export const COLLECTED = 100;

/** Whose the keys are, in truth: the first, the third and the fourth are one person's. */
export const OWNERS = ['Ann', 'Ben', 'Ann', 'Ann'] as const;

const NOTHING: Allowance = { claims: 0, days: 0, changes: 0, falls: 0, troubles: 0, decisions: 0 };

export function beginIn({ orders, allowance, approveAbove = 1000, limit = 1000 }: MoneySetting): World {
  const indexes = Array.from({ length: Math.max(...orders.map(({ index }) => index)) + 1 }, () => undefined);
  const names = ['ann', 'ben', 'ANN', undefined];
  const people = names.flatMap((name, key) => (name === undefined ? [] : [{ key, name }]));
  return {
    day: 0,
    file: { isThere: true, limit, approveAbove, names },
    book: { orders: indexes, collection: { is: 'paid', collected: COLLECTED }, days: [0, 0], people },
    requests: [],
    readings: [],
    first: indexes,
    left: { ...NOTHING, ...allowance },
  };
}

export function spend(world: World, what: keyof Allowance): World {
  return { ...world, left: { ...world.left, [what]: world.left[what] - 1 } };
}
