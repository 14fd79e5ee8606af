import { randomInt } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { notificationId } from '../../src/book/notifications.js';
import { webhookId } from '../../src/payments/words/delivery.js';
import { newBook } from '../support/books.js';
import { directOrder } from '../support/orders.js';
import { testEncryption } from '../support/test-encryption.js';
import { Walk } from './walk.js';

const STEPS = 800;

/** The sums that limits are held to are those of their payments. */
async function expectSums(book: Book): Promise<void> {
  const days = await book.query('SELECT day, total FROM days WHERE total <> 0 ORDER BY day');
  const sums = await book.query(
    'SELECT counts_on AS day, sum(day_counts) AS total FROM payments WHERE day_counts > 0 GROUP BY counts_on ORDER BY day',
  );
  expect(sums).toEqual(days);
}

/** No payment moves money twice or is called FAILED while it moves any; no collection is refunded over its amount. */
async function expectMoney({ book, provider, orders }: Walk): Promise<void> {
  const moving = (id: string) =>
    provider
      .payments()
      .filter((one) => one === id)
      .flatMap((one) => provider.all(one).filter(({ status }) => status !== 'FAILED'));
  expect(provider.payments().filter((id) => moving(id).length > 1)).toEqual([]);
  const failed = await book.query("SELECT id FROM payments WHERE final AND status = 'FAILED'");
  expect(failed.filter(({ id }) => moving(String(id)).length > 0)).toEqual([]);
  const refunded = new Map<string, number>();
  for (const order of orders.values()) {
    if (order.kind !== 'payout' || order.refundOf === undefined || moving(order.id).length === 0) continue;
    refunded.set(order.refundOf, (refunded.get(order.refundOf) ?? 0) + order.amount);
  }
  expect([...refunded].filter(([, amount]) => amount > directOrder.amount)).toEqual([]);
}

async function eventsOf(book: Book): Promise<readonly string[]> {
  const rows = await book.query('SELECT payment_id, number, merchant, type, at, era FROM notifications');
  const events = rows.map((row) => notificationId.parse(row));
  return events.map(({ paymentId, type, number, era }) => webhookId(paymentId, type, number, era));
}

const SEEDS = [1, 2, randomInt(2 ** 31)];

it.each(
  SEEDS.flatMap(
    (seed) =>
      [
        ['stays', seed],
        ['goes back', seed],
      ] as const,
  ),
)('a walk at random keeps money and the feed whole in a book that %s (seed %i)', async (what, seed) => {
  let walk: Walk | undefined;
  const made = await newBook(testEncryption, () => walk?.now ?? 0);
  try {
    walk = new Walk(made.book, seed, what === 'goes back');
    for (let steps = 0; steps < STEPS; steps++) {
      await walk.step();
      if (steps % 10 > 0) continue;
      await expectSums(made.book);
      await expectMoney(walk);
    }
    await walk.end();
    await expectSums(made.book);
    await expectMoney(walk);
    expect(await walk.open()).toEqual([]);
    const { read } = walk;
    expect((await eventsOf(made.book)).filter((id) => !read.has(id))).toEqual([]);
  } catch (error) {
    process.stderr.write(`seed ${seed}, in a book that ${what}:\n${walk?.log.slice(-200).join('\n')}\n`);
    throw error;
  } finally {
    await made.drop();
  }
});
