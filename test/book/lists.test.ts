import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { type ListOrder, listPayments, type PaymentFilter, sumUp } from '../../src/book/lists.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import { keysOf } from '../../src/temporal/encryption.js';
import { newBook, type TestBook } from '../support/books.js';
import { directOrder, linkOrder, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { freshKey } from '../support/test-encryption.js';

const START = Date.UTC(2026, 10, 28, 9);

let made: TestBook;
let book: Book;

beforeAll(async () => {
  made = await newBook();
  ({ book } = made);
  const orders: readonly (readonly [PaymentOrder, string])[] = [
    [{ ...linkOrder, id: paymentId('col_a'), amount: 500, externalId: 'order-1001' }, 'shop'],
    [{ ...linkOrder, id: paymentId('col_b'), amount: 1_500, externalId: 'order-1002', userId: 'jane' }, 'shop'],
    [{ ...directOrder, id: paymentId('col_c'), amount: 2_500, externalId: 'order_2' }, 'shop'],
    [{ ...payoutOrder, id: paymentId('pay_d'), amount: 3_500, approval: true }, 'shop'],
    [{ ...payoutOrder, id: paymentId('pay_e'), amount: 4_500 }, 'rival'],
  ];
  for (const [index, [order, merchant]] of orders.entries()) {
    const wanted = { order, terms, merchant, fingerprint: 'f', requestId: 'r' };
    // Two at a time have the same time.
    await claim(book, wanted, START + Math.floor(index / 2) * MINUTE);
  }
});
afterAll(() => made.drop());

async function list(filter: PaymentFilter, order: ListOrder = 'newest first', on = book): Promise<readonly string[]> {
  const { payments } = await listPayments(on, filter, { pageSize: 10, order });
  return payments.map(({ id }) => id);
}

describe('a list of payments', () => {
  it('has the newest first, or the oldest, and those of one moment by their ids', async () => {
    expect(await list({})).toEqual(['pay_e', 'col_c', 'pay_d', 'col_a', 'col_b']);
    expect(await list({}, 'oldest first')).toEqual(['col_a', 'col_b', 'col_c', 'pay_d', 'pay_e']);
  });

  it.each(['newest first', 'oldest first'] as const)('comes in pages without gaps, %s', async (order) => {
    const found: string[] = [];
    let after: Parameters<typeof listPayments>[2]['after'];
    do {
      const page = await listPayments(book, {}, { pageSize: 2, order, after });
      found.push(...page.payments.map(({ id }) => id));
      after = page.last;
    } while (after !== undefined);
    expect(found).toEqual(await list({}, order));
  });

  it.each<[PaymentFilter, readonly string[]]>([
    [{ merchant: 'rival' }, ['pay_e']],
    [{ kind: 'payout' }, ['pay_e', 'pay_d']],
    [{ method: 'direct' }, ['col_c']],
    [{ held: 'approval' }, ['pay_d']],
    [{ held: 'date' }, []],
    [{ status: 'CREATED', merchant: 'rival' }, ['pay_e']],
    [{ status: 'SUCCESSFUL' }, []],
    [{ final: true }, []],
    [{ amountFrom: 1_500, amountTo: 2_500 }, ['col_c', 'col_b']],
    [{ createdFrom: START + MINUTE, createdBefore: START + 2 * MINUTE }, ['col_c', 'pay_d']],
    [{ externalId: 'order-1001' }, ['col_a']],
    [{ reference: 'order-' }, ['col_a', 'col_b']],
    [{ reference: 'order_' }, ['col_c']],
    [{ reference: 'jane' }, ['col_b']],
    [{ reference: 'jan' }, []],
    [{ reference: 'pay_d' }, ['pay_d']],
  ])('selects by %j', async (filter, ids) => {
    expect(await list(filter)).toEqual(ids);
  });

  it('says what all of it comes to, whatever a page shows', async () => {
    expect(await sumUp(book, { merchant: 'shop' })).toEqual({ count: 4, amount: 8_000, amountPaid: 0 });
    expect(await sumUp(book, { reference: 'nobody' })).toEqual({ count: 0, amount: 0, amountPaid: 0 });
  });

  it('names what it can not open', async () => {
    const other = new Book(made.url, { keys: keysOf([freshKey('other-key')]), isOn: true });
    const { payments, unreadable } = await listPayments(
      other,
      { merchant: 'rival' },
      { pageSize: 10, order: 'newest first' },
    );
    expect([payments, unreadable]).toEqual([[], [{ id: 'pay_e', merchant: 'rival' }]]);
    await other.close();
  });
});
