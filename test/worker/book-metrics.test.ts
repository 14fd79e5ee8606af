import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { addNotifications } from '../../src/book/notifications.js';
import { measureBook } from '../../src/worker/metrics.js';
import { newBook, type TestBook } from '../support/books.js';
import { HOUR, paymentId, payoutOrder, terms } from '../support/orders.js';

let made: TestBook;
let book: Book;
const registry = new Registry();

beforeAll(async () => {
  made = await newBook();
  ({ book } = made);
  measureBook(registry, book);
});
afterAll(() => made.drop());

async function notified(name: string, merchant: string): Promise<void> {
  const order = { ...payoutOrder, id: paymentId(`pay_${name}`) };
  const at = Date.now() - HOUR;
  await claim(book, { order, terms, merchant, fingerprint: 'body', requestId: 'request' }, at);
  await book.transaction((query) => addNotifications(query, order.id, [{ type: 'payment.succeeded', at }]));
}

const lines = async () => (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe("a worker's metrics of the book", () => {
  it('show what merchants were not told yet, what is overdue, and whether the book went back', async () => {
    await book.query('UPDATE beats SET at = $1', [new Date(Date.now() - HOUR)]);
    const atFirst = await lines();
    expect(atFirst).toEqual([
      'sanaga_overdue_oldest_age_seconds 0',
      'sanaga_book_gaps 0',
      expect.stringMatching(/^sanaga_book_compared_age_seconds 36\d\d\.?\d*$/),
    ]);
    await notified('1', 'shop');
    await notified('2', 'shop');
    await notified('3', 'kiosk');
    await book.query("UPDATE notifications SET delivery = 'abandoned', due_at = NULL WHERE payment_id = 'pay_2'");
    await book.query("INSERT INTO gaps (at, found) VALUES (now(), 'a test')");
    const shown = await lines();
    expect(shown).toEqual(
      expect.arrayContaining([
        'sanaga_merchant_notifications_waiting{merchant="kiosk"} 1',
        'sanaga_merchant_notifications_waiting{merchant="shop"} 1',
        'sanaga_merchant_notifications_abandoned{merchant="shop"} 1',
        'sanaga_book_gaps 1',
      ]),
    );
    const [, age] = shown.find((line) => line.startsWith('sanaga_overdue'))?.split(' ') ?? [];
    expect(Number(age)).toBeGreaterThanOrEqual(3_600);
    expect(Number(age)).toBeLessThan(4_000);

    await book.query("UPDATE notifications SET due_at = NULL, delivery = 'delivered'");
    expect((await lines()).some((line) => line.startsWith('sanaga_merchant_notifications_waiting{'))).toBe(false);
  });
});
