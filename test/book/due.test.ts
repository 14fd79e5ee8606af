import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { countOpen } from '../../src/book/counts.js';
import { giveBack, oldestDue, takeOverdue } from '../../src/book/due.js';
import { post } from '../../src/book/inbox.js';
import { findPayment } from '../../src/book/payments.js';
import { takeTurn } from '../../src/book/turn.js';
import { toPayment } from '../../src/payments/views/to-payment.js';
import type { PayoutOrder } from '../../src/payments/words/order.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import type { PaymentState } from '../../src/payments/words/payment-state.js';
import { newBook, rowsRead, type TestBook } from '../support/books.js';
import { DAY, HOUR, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { Hand, World } from './hand.js';

let made: TestBook;
let book: Book;
let world: World;
let number = 0;

afterEach(() => made.drop());
beforeEach(async () => {
  made = await newBook();
  ({ book } = made);
  world = new World();
});

async function newPayout(more: Partial<PayoutOrder> = {}): Promise<PaymentId> {
  const order = { ...payoutOrder, orderedBy: 'ann', ...more, id: paymentId(`pay_${++number}`) };
  const people = [{ merchant: 'shop', person: 'bob', keyId: 'key-of-bob' }];
  const ordered = { order, terms, merchant: 'shop', fingerprint: 'body', requestId: 'request', people };
  expect(await claim(book, ordered, world.now)).toEqual({ kind: 'claimed' });
  return order.id;
}

const late = (limit = 100) => takeOverdue(book, MINUTE, limit, world.now);

describe('a payment is overdue', () => {
  it('when it was claimed, and nobody has begun with it', async () => {
    const id = await newPayout();
    expect(await late()).toEqual([]);
    world.now += 61_000;
    expect(await oldestDue(book, world.now)).toBe(world.now - 61_000);
    expect(await late()).toEqual([id]);
    await new Hand(book, world, id).run();
    world.now += MINUTE;
    expect(await late()).toEqual([]);
    expect(await oldestDue(book, world.now)).toBeUndefined();
  });

  it('when what it waited for has come, and no timer has rung', async () => {
    const id = await newPayout();
    await new Hand(book, world, id).run();
    world.now += 10 * MINUTE;
    expect(await late()).toEqual([id]);
  });

  it('when it was told something, or a request has an outcome, and no turn has taken it', async () => {
    const [told, sent] = [await newPayout(), await newPayout()];
    await new Hand(book, world, told).run();
    const lost = new Hand(book, world, sent);
    await lost.takeTurn();
    await lost.fence();
    await lost.post();
    await post(book, told, { kind: 'hint', transId: 'T1' as TransId }, world.now);
    world.now += 61_000;
    expect([...(await late())].toSorted()).toEqual([told, sent].toSorted());
    await new Hand(book, world, told).run();
    await new Hand(book, world, sent).run();
    expect(await late()).toEqual([]);
  });
});

describe('a payout that waits for an approval', () => {
  it('is overdue once it was approved, or nobody has in time, and its workflow stands still', async () => {
    const [approved, forgotten] = [await newPayout({ approval: true }), await newPayout({ approval: true })];
    for (const id of [approved, forgotten]) await new Hand(book, world, id).run();
    world.now += 2 * HOUR;
    expect(await oldestDue(book, world.now)).toBeUndefined();
    expect((await countOpen(book, 0, 0)).unapprovedSince).toBe(world.now - 2 * HOUR);
    const { digest = '' } = toPayment((await findPayment(book, approved))?.kept.state as PaymentState).held ?? {};
    await post(book, approved, { kind: 'approve', by: 'bob', digest, at: world.now }, world.now);
    await takeTurn(book, approved, { asksNothing: true }, world.now);
    world.now += 2 * MINUTE;
    expect(await oldestDue(book, world.now)).toBe(world.now - 2 * MINUTE);
    expect(await late()).toEqual([approved]);
    await new Hand(book, world, approved).run();
    world.now += 7 * DAY;
    expect(await late()).toContain(forgotten);
  });
});

describe('a payment that waits for a person, and has nothing due', () => {
  it('is overdue once a request that was doubted has an outcome, though no turn has been rung', async () => {
    const id = await newPayout();
    const lost = new Hand(book, world, id);
    await lost.takeTurn();
    await lost.fence();
    const hand = new Hand(book, world, id);
    for (let minutes = 0; minutes < 30; minutes++, world.now += MINUTE) await hand.run();
    const [row] = await book.query('SELECT status, wake_at FROM payments JOIN states USING (id) WHERE id = $1', [id]);
    expect(row).toMatchObject({ status: 'REVIEW' });
    expect(Number(row?.wakeAt)).toBeGreaterThan(world.now);
    expect(await late()).toEqual([]);
    await lost.post();
    expect(await late()).toEqual([id]);
    await new Hand(book, world, id).run();
    world.now += MINUTE;
    expect(await late()).not.toContain(id);
  });
});

describe('an overdue payment', () => {
  it('is rung again once it is twice as late, and each hour', async () => {
    const id = await newPayout();
    const rungAt: number[] = [];
    const begun = world.now;
    for (; world.now < begun + 6 * HOUR; world.now += 30_000) {
      rungAt.push(...(await late()).map(() => (world.now - begun) / MINUTE));
    }
    expect(rungAt.slice(0, 7)).toEqual([1.5, 3.5, 7.5, 15.5, 31.5, 63.5, 124]);
    expect(rungAt).toHaveLength(10);
    expect(rungAt.every((at, index) => at - (rungAt[index - 1] ?? 0) <= 61)).toBe(true);
    await new Hand(book, world, id).run();
    world.now += 61 * MINUTE;
    // Late for something else: that counts anew.
    expect(await late()).toEqual([id]);
  });

  it('is found without a look at the others, of which there are many after an outage', async () => {
    await newPayout();
    await book.query(
      `INSERT INTO payments (id, merchant, kind, method, fingerprint, request_id, created_at, status, final, amount)
       SELECT 'pay_many_' || one, 'shop', 'payout', 'payout', '', '', $1, 'CREATED', false, 1 FROM generate_series(1, 20000) AS one`,
      [new Date(world.now)],
    );
    await book.query(
      `INSERT INTO states (id, version, attempt, changed_at, wake_at, sealed)
       SELECT id, 1, 1, created_at, created_at + interval '1 second', convert_to(repeat('.', 1000), 'UTF8')
         FROM payments WHERE id LIKE 'pay_many_%'`,
    );
    await book.query('ANALYZE states');
    world.now += HOUR;
    const before = await rowsRead(book, 'states');
    expect(await late(50)).toHaveLength(50);
    expect((await rowsRead(book, 'states')) - before).toBeLessThan(1_000);
  });

  it('is rung again where one whose clock was wrong has rung it at a time to come', async () => {
    const id = await newPayout();
    expect(await takeOverdue(book, MINUTE, 1, world.now + 100 * HOUR)).toEqual([id]);
    world.now += 61_000;
    expect(await late()).toEqual([id]);
  });

  it('is taken by one keeper, the longest overdue first, and given back when it could not be rung', async () => {
    const ids: PaymentId[] = [];
    for (let i = 0; i < 6; i++, world.now += 1_000) ids.push(await newPayout());
    world.now += MINUTE;
    expect(await late(2)).toHaveLength(2);
    const taken = (await Promise.all([late(3), late(3)])).flat();
    expect(new Set(taken)).toEqual(new Set(ids.slice(2)));
    expect(await late()).toEqual([]);
    await giveBack(book, ids.slice(0, 2));
    expect(new Set(await late())).toEqual(new Set(ids.slice(0, 2)));
  });
});
