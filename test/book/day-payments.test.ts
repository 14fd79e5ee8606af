import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { paymentsOfDay, paymentsWith } from '../../src/book/day-payments.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { dayAfter, startOf } from '../../src/payments/words/time.js';
import { newBook, type TestBook } from '../support/books.js';
import { HOUR, paymentId, payoutOrder, terms } from '../support/orders.js';

const DAY = '2026-11-20';
const NOON = startOf(DAY) + 12 * HOUR;

let made: TestBook;
let book: Book;

beforeAll(async () => {
  made = await newBook();
  ({ book } = made);
});
afterAll(() => made.drop());

async function ordered(name: string, at: number, releasedAt?: number): Promise<PaymentId> {
  const id = paymentId(`pay_${name}`);
  const order = { ...payoutOrder, id, externalId: `order-${name}` };
  await claim(book, { order, terms, merchant: 'shop', fingerprint: 'body', requestId: 'request' }, at);
  await book.query('UPDATE payments SET released_at = $2, trans_id = $3 WHERE id = $1', [
    ...[id, releasedAt === undefined ? null : new Date(releasedAt), `T-${name}`],
  ]);
  return id;
}

const idsOf = async (day: string, max = 100) => {
  const { payments, cutOff } = await paymentsOfDay(
    book,
    { from: startOf(day), before: startOf(dayAfter(day)) },
    max,
    () => undefined,
  );
  return { ids: payments.map(({ id }) => id), cutOff };
};

describe("a day's payments", () => {
  it('are those that were created on it in Cameroon, and what was held on the day of its release', async () => {
    const first = await ordered('first', startOf(DAY));
    const last = await ordered('last', startOf(dayAfter(DAY)) - 1);
    await ordered('before', startOf(DAY) - 1);
    const next = await ordered('next', startOf(dayAfter(DAY)));
    const held = await ordered('held', NOON, startOf(dayAfter(DAY)) + HOUR);
    const earlier = await ordered('earlier', startOf(DAY) - 48 * HOUR, NOON);
    expect(await idsOf(DAY)).toEqual({ ids: [earlier, first, last], cutOff: false });
    expect((await idsOf(dayAfter(DAY))).ids).toEqual([held, next]);
  });

  it('have what a statement needs, and are found by their ids', async () => {
    const [found] = await paymentsWith(book, [paymentId('pay_first'), paymentId('pay_unknown')]);
    expect(found).toEqual({
      ...{ id: 'pay_first', merchant: 'shop', kind: 'payout', status: 'CREATED', final: false },
      ...{ amount: payoutOrder.amount, externalId: 'order-first', transId: 'T-first', createdAt: startOf(DAY) },
    });
  });

  it('are cut off as soon as there is one more, the later ones, over all pages', async () => {
    const day = '2026-11-10';
    const count = 4_500;
    await book.query(
      `INSERT INTO payments (id, merchant, kind, method, fingerprint, request_id, created_at, status, final, amount)
       SELECT 'col_' || number, 'shop', 'collection', 'link', '', '', $1::timestamptz + (number / 2) * interval '1 ms',
              'SUCCESSFUL', true, 500 FROM generate_series(1, ${count}) AS number`,
      [new Date(startOf(day))],
    );
    const all = await idsOf(day, count);
    expect(all.cutOff).toBe(false);
    expect(new Set(all.ids).size).toBe(count);
    const some = await idsOf(day, count - 1);
    expect(some).toEqual({ ids: all.ids.slice(0, -1), cutOff: true });
  });
});
