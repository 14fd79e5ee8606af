import type { Book, Collection, File, Key, KeyName, Order } from './book.js';

/** The rules about money that the book's transactions keep. A mutant is all of them, with one broken. */
export interface MoneyRules {
  /** An order under a key that was used before is that of before. */
  readonly isUnique: boolean;
  /** A claim holds its collection's lock while it looks for room. */
  readonly locksCollection: boolean;
  /** A refund counts until it has ended without money, once for each request that may have moved some. */
  readonly countsFor: (order: Order) => number;
  /** A refund is sent only while its collection stands, and has room for it beside all others. */
  readonly stands: (collection: Collection, others: number, own: number) => boolean;
  /** A fence holds its day's lock while it looks for room. */
  readonly locksDay: boolean;
  /** A fence goes by the file as it is now. */
  readonly fileAt: (now: File, order: Order) => File;
  /** What counts against the limit is what left on the day of the fence. */
  readonly dayOf: (today: number, order: Order) => number;
  /** A merchant that was removed sends nothing. */
  readonly looksAtMerchant: (file: File) => boolean;
  /** Who has ordered doesn't approve: not with a key of a person that ever had the same name, or the same key. */
  readonly isOwnKey: (order: Order, key: Key, people: readonly KeyName[]) => boolean;
  /** A person that the file didn't know when it was ordered doesn't approve it. */
  readonly wasKnown: (order: Order, name: string) => boolean;
  /** An order is withdrawn only while none of its requests may move money. */
  readonly mayWithdraw: (order: Order) => boolean;
  /** What is in doubt keeps its room. */
  readonly keepsDoubt: boolean;
  /** A transaction pays one order, though the provider doesn't say whose it is. */
  readonly isFree: (transaction: number, orders: Book['orders']) => boolean;
}

/** Names are compared folded. */
export function isSame(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && fold(one) === fold(other);
}

const fold = (name: string) => name.normalize('NFKC').toLowerCase();

/** All keys that have ever had a name of this one, or a name of one that had. */
export function keysLinkedTo(
  key: Key,
  people: readonly KeyName[],
  isSameName: (one: string, other: string) => boolean,
): ReadonlySet<Key> {
  const linked = new Set([key]);
  for (let size = 0; size < linked.size; ) {
    size = linked.size;
    const names = people.filter((one) => linked.has(one.key)).map(({ name }) => name);
    for (const one of people) if (names.some((name) => isSameName(name, one.name))) linked.add(one.key);
  }
  return linked;
}

/** The rules as they have to be. */
export const MONEY_RULES: MoneyRules = {
  isUnique: true,
  locksCollection: true,
  countsFor: ({ phase, amount, sentOn }) => (phase === 'unsent' ? 0 : amount * Math.max(1, sentOn.length)),
  stands: ({ is, collected }, others, own) => is === 'paid' && others + own <= collected,
  locksDay: true,
  fileAt: (now) => now,
  dayOf: (today) => today,
  looksAtMerchant: ({ isThere }) => isThere,
  isOwnKey: ({ by }, key, people) => keysLinkedTo(by, people, isSame).has(key),
  wasKnown: ({ under }, name) => under.names.some((one) => isSame(one, name)),
  mayWithdraw: ({ phase, sentOn }) => phase === 'waiting' && sentOn.length === 0,
  keepsDoubt: true,
  isFree: (transaction, orders) => orders.every((order) => order?.paidBy !== transaction),
};
