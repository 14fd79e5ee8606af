import type { Book, File, Key, Order, Ordered, Phase } from './book.js';
import type { MoneyRules } from './rules.js';

/*
 * What changes the money in the book. Each function is one transaction, and holds the locks of what it reads: payments
 * first, then the collection, then the day.
 */

/** What other refunds of the collection count for. */
export function othersOf({ orders }: Book, but: number, { countsFor }: Pick<MoneyRules, 'countsFor'>): number {
  return sum(orders.map((one, index) => (one?.isRefund && index !== but ? countsFor(one) : 0)));
}

/** Claims an order under its Idempotency-Key. `others`: what other refunds counted for when that was read. */
export function claim(
  book: Book,
  { index, amount, key, isRefund }: Ordered,
  { file, day, others }: { readonly file: File; readonly day: number; readonly others: number },
  rules: MoneyRules,
): { readonly book: Book; readonly answer: 'taken' | 'there' | 'otherBody' | 'noRoom' } {
  const before = book.orders[index];
  if (before !== undefined && rules.isUnique) {
    return { book, answer: before.amount === amount ? 'there' : 'otherBody' };
  }
  const { collection } = book;
  if (isRefund && !(collection.is === 'paid' && others + amount <= collection.collected))
    return { book, answer: 'noRoom' };
  const order: Order = { amount, isRefund, by: key, under: file, on: day, phase: 'waiting', sentOn: [] };
  const orders = book.orders.map((one, at) => (at === index ? ((before && { ...before, amount }) ?? order) : one));
  return { book: { ...book, orders }, answer: 'taken' };
}

/** Approves an order, if the key is another person's. */
export function approve(book: Book, index: number, key: Key, file: File, rules: MoneyRules): Book | undefined {
  const order = book.orders[index];
  const name = file.names[key];
  if (order === undefined || name === undefined) return undefined;
  const isOther = !rules.isOwnKey(order, key, book.people);
  return isOther && rules.wasKnown(order, name) ? withOrder(book, index, { approvedBy: key }) : undefined;
}

/** Writes the fence of a request, if all allows it now. `left`: what had left today when that was read. */
export function fence(
  book: Book,
  index: number,
  { file, day, left }: { readonly file: File; readonly day: number; readonly left: number },
  rules: MoneyRules,
): Book | undefined {
  const order = book.orders[index];
  if (order?.phase !== 'waiting') return undefined;
  const { amount, isRefund } = order;
  const now = rules.fileAt(file, order);
  const others = othersOf(book, index, rules);
  const own = amount * (order.sentOn.length + 1);
  if (isRefund && !rules.stands(book.collection, others, own)) return undefined;
  if (!rules.looksAtMerchant(now)) return undefined;
  if (amount > now.approveAbove && order.approvedBy === undefined) return undefined;
  if (left + amount > now.limit) return undefined;
  const fenced = withOrder(book, index, { phase: 'fenced', sentOn: [...order.sentOn, day] });
  return withDay(fenced, day, amount);
}

/** Writes what came of the latest request. */
export function settle(
  book: Book,
  index: number,
  outcome: 'accepted' | 'rejected' | 'notSent' | 'lost',
  transaction: number,
  rules: MoneyRules,
): Book {
  const order = book.orders[index];
  if (order === undefined) return book;
  switch (outcome) {
    case 'accepted':
      return goBy(book, index, transaction, rules);
    case 'lost':
      return rules.keepsDoubt ? withOrder(book, index, { phase: 'doubt' }) : giveBack(book, index, 'doubt');
    case 'notSent':
      return giveBack(book, index, 'waiting');
    case 'rejected':
      // An earlier request may have moved money.
      return giveBack(book, index, order.sentOn.length > 1 ? 'review' : 'unsent');
  }
}

/** Has an order go by a transaction that the provider shows for it; a person decides if another does already. */
export function goBy(book: Book, index: number, transaction: number, { isFree }: MoneyRules): Book {
  return isFree(transaction, book.orders)
    ? withOrder(book, index, { phase: 'paid', paidBy: transaction })
    : withOrder(book, index, { phase: 'review' });
}

/** Gives the room of the latest request back: it has moved nothing. */
function giveBack(book: Book, index: number, phase: Phase): Book {
  const order = book.orders[index];
  const day = order?.sentOn.at(-1);
  if (order === undefined || day === undefined) return book;
  return withDay(withOrder(book, index, { phase, sentOn: order.sentOn.slice(0, -1) }), day, -order.amount);
}

/** Ends an order without money: nothing of it can have moved. */
export function endUnsent(book: Book, index: number): Book {
  const order = book.orders[index];
  if (order === undefined) return book;
  const emptied = order.sentOn.reduce((before, day) => withDay(before, day, -order.amount), book);
  return withOrder(emptied, index, { phase: 'unsent', sentOn: [] });
}

export function withOrder(book: Book, index: number, change: Partial<Order>): Book {
  const orders = book.orders.map((one, at) => (at === index && one !== undefined ? { ...one, ...change } : one));
  return { ...book, orders };
}

function withDay(book: Book, day: number, amount: number): Book {
  return { ...book, days: book.days.map((one, at) => (at === day ? one + amount : one)) };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
