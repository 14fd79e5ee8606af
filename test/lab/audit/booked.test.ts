import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { countUndone, readBook } from '../../../lab/audit/booked.js';
import { claim } from '../../../src/book/claim.js';
import { placeNotifications } from '../../../src/book/feed.js';
import { Hand, World } from '../../book/hand.js';
import { newBook, type TestBook } from '../../support/books.js';
import { MINUTE, paymentId, payoutOrder, terms } from '../../support/orders.js';

let made: TestBook;
const world = new World();
const order = { ...payoutOrder, id: paymentId('pay_booked') };
const { id } = order;

/** A payout that is sent, and then successful. */
beforeAll(async () => {
  made = await newBook();
  await claim(
    made.book,
    { order, terms, merchant: 'shop', fingerprint: 'body', requestId: 'request', maxPerDay: 1_000_000 },
    world.now,
  );
  const hand = new Hand(made.book, world, id);
  await hand.run();
  world.status = 'SUCCESSFUL';
  world.now += 10 * MINUTE;
  await hand.run();
});
afterAll(() => made.drop());

const query = (sql: string) => made.book.query(sql);

describe('the book at the end of a run', () => {
  it('has what is to be done until it is done', async () => {
    expect(await countUndone(made.book.query)).toBeGreaterThan(0);
    await placeNotifications(made.book);
    await query("UPDATE notifications SET delivery = 'delivered', due_at = NULL");
    const later = new Date(world.now + MINUTE);
    await made.book.query('UPDATE states SET wake_at = $1', [later]);
    expect(await countUndone(made.book.query)).toBe(1);
    expect(await countUndone(made.book.query, later)).toBe(1);
    expect(await countUndone(made.book.query, new Date(world.now))).toBe(0);
    await query('UPDATE states SET wake_at = NULL');
    expect(await countUndone(made.book.query)).toBe(0);
  });

  it('is read payment by payment: the row, the fences, and what the merchant was told', async () => {
    const { of, ids, wrongSums } = await readBook(made.book.query);
    expect(ids).toEqual([id]);
    expect(wrongSums).toEqual([]);
    expect(of(id)).toEqual({
      row: expect.objectContaining({ id, status: 'SUCCESSFUL', final: true, amount: payoutOrder.amount }),
      fences: 1,
      untaken: 0,
      notifications: [{ id: `evt_${id}_succeeded_1`, number: 1, position: 1, delivery: 'delivered' }],
    });
    expect(of('pay_of_nobody')).toEqual({ row: undefined, fences: 0, untaken: 0, notifications: [] });
  });

  it("shows a day whose total isn't the sum over its payments", async () => {
    await query('UPDATE days SET total = total + 1');
    const { wrongSums } = await readBook(made.book.query);
    expect(wrongSums).toEqual([expect.objectContaining({ invariant: 'misbooked', about: 'shop' })]);
    await query('UPDATE days SET total = total - 1');
    expect((await readBook(made.book.query)).wrongSums).toEqual([]);
  });
});
