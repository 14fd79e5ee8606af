import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { post, replyTo } from '../../src/book/inbox.js';
import { keepOutcome } from '../../src/book/sends.js';
import { takeTurn } from '../../src/book/turn.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import { reviewOf } from '../../src/payments/words/payment-state.js';
import type { Transaction } from '../../src/payments/words/transaction.js';
import { newBook, type TestBook } from '../support/books.js';
import { HOUR, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { Hand, World } from './hand.js';

/** A provider that doesn't say whose its transactions are, and shows one of them for every payment. */
class Careless extends World {
  shown: readonly Transaction[] = [];

  override list(): readonly Transaction[] {
    return this.shown.map((one) => ({ ...one, status: this.status }));
  }
}

const X = 'T-shared' as TransId;
let made: TestBook;
let book: Book;
let world: Careless;
let number = 0;
beforeEach(async () => {
  made = await newBook();
  ({ book } = made);
  world = new Careless();
});
afterEach(() => made.drop());

async function newPayout(): Promise<PaymentId> {
  const order = { ...payoutOrder, id: paymentId(`pay_${++number}`) };
  const ordered = { order, terms, merchant: 'shop', fingerprint: 'body', requestId: 'request' };
  expect(await claim(book, ordered, world.now)).toEqual({ kind: 'claimed' });
  return order.id;
}

/** A payout that was sent, and of which nobody knows whether it was taken. */
async function inDoubt(): Promise<Hand> {
  const id = await newPayout();
  const lost = new Hand(book, world, id);
  await lost.takeTurn();
  expect(await lost.fence()).toEqual({ kind: 'fenced' });
  const hand = new Hand(book, world, id);
  await hand.takeTurn();
  return hand;
}

/** A payout that was paid by the transaction. */
async function paid(): Promise<PaymentId> {
  const id = await newPayout();
  const hand = new Hand(book, world, id);
  await hand.takeTurn();
  await hand.fence();
  await keepOutcome(book, hand.attempt, { kind: 'accepted', transId: X });
  world.shown = [{ transId: X, status: 'PENDING', amount: payoutOrder.amount }];
  world.status = 'SUCCESSFUL';
  await hand.run();
  world.now += HOUR;
  await hand.run();
  expect(await statusOf(id)).toEqual({ status: 'SUCCESSFUL', final: true, transId: X });
  return id;
}

const statusOf = async (id: PaymentId) =>
  (await book.query('SELECT status, final, trans_id FROM payments WHERE id = $1', [id]))[0];

const isReviewed = async (hand: Hand, first: PaymentId) => {
  const { after } = (await takeTurn(book, hand.id, {}, world.now)) ?? {};
  expect(reviewOf(after as never)?.why).toContain(`transaction ${X} is that of the payment ${first} already`);
  expect(await statusOf(hand.id)).toEqual({ status: 'REVIEW', final: false, transId: undefined });
  expect(await statusOf(first)).toEqual({ status: 'SUCCESSFUL', final: true, transId: X });
};

async function decide(hand: Hand, decision: object, force: readonly string[] = []) {
  const { after } = (await takeTurn(book, hand.id, {}, world.now)) ?? {};
  const { number: review = 0 } = reviewOf(after as never) ?? {};
  const resolution = { decision, review, by: 'Ada', why: 'I have looked', force } as never;
  const asked = await post(book, hand.id, { kind: 'decide', resolution }, world.now);
  await hand.run();
  return await replyTo(book, hand.id, asked);
}

describe("a transaction that is a payment's", () => {
  it("is no other's by the list, though the provider shows it for that without a name", async () => {
    const second = await inDoubt();
    const first = await paid();
    await second.run();
    await isReviewed(second, first);
  });

  it("is no other's by the answer to its request", async () => {
    const first = await paid();
    world.shown = [];
    const second = new Hand(book, world, await newPayout());
    await second.takeTurn();
    await second.fence();
    await keepOutcome(book, second.attempt, { kind: 'accepted', transId: X });
    await second.takeTurn();
    await isReviewed(second, first);
  });

  it('keeps another from being sent, if the list shows it before', async () => {
    const first = await paid();
    const second = new Hand(book, world, await newPayout());
    await second.run();
    expect(world.requests(second.id)).toBe(0);
    await isReviewed(second, first);
  });

  it("is no other's by an operator's match, whatever is overruled; that one can be failed", async () => {
    const second = await inDoubt();
    const first = await paid();
    await second.run();
    const all = ['too_early', 'no_answer', 'different_transaction', 'unassigned_transaction', 'reported_transaction'];
    expect(await decide(second, { action: 'match', transId: X }, all)).toMatchObject({
      kind: 'refused',
      words: expect.stringContaining(`${X} is that of the payment ${first} already`),
    });
    await isReviewed(second, first);
    world.now += HOUR;
    expect(await decide(second, { action: 'fail' })).toMatchObject({
      kind: 'refused',
      force: ['different_transaction'],
    });
    expect(await decide(second, { action: 'fail' }, ['different_transaction'])).toMatchObject({ kind: 'done' });
    expect(await statusOf(second.id)).toMatchObject({ status: 'FAILED', final: true });
    expect(await statusOf(first)).toMatchObject({ status: 'SUCCESSFUL', final: true });
  });

  it('is matched with another once its first payment goes by another transaction', async () => {
    const second = await inDoubt();
    const first = await paid();
    await second.run();
    await book.query('UPDATE payments SET trans_id = $2 WHERE id = $1', [first, 'T-other']);
    world.now += MINUTE;
    const answer = await decide(second, { action: 'match', transId: X }, ['unassigned_transaction', 'too_early']);
    expect(answer).toMatchObject({ kind: 'done' });
    expect(await statusOf(second.id)).toMatchObject({ status: 'SUCCESSFUL', final: true, transId: X });
  });

  it.each([
    ['nobody', false],
    ['its owner', true],
  ])("is no other's by a notification, which moves nothing if the provider names %s", async (_, isNamed) => {
    const first = await paid();
    const second = await inDoubt();
    const shown = world.shown.map((one) => (isNamed ? { ...one, externalId: first, userId: first } : one));
    world.shown = [];
    await post(book, second.id, { kind: 'hint', transId: X, status: 'SUCCESSFUL' }, world.now);
    for (let asked = 0; asked < 5; asked++, world.now += MINUTE) {
      const { todo } = await second.takeTurn();
      world.shown = todo.kind === 'askStatus' ? shown : [];
      await second.perform();
    }
    expect(await statusOf(second.id)).toMatchObject({ status: 'CREATED', final: false, transId: undefined });
    expect(await statusOf(first)).toMatchObject({ status: 'SUCCESSFUL', final: true });
  });

  it('is for a person to look at if the provider says that it is of two', async () => {
    const second = await inDoubt();
    const first = await paid();
    const shown = world.shown.map((one) => ({ ...one, externalId: second.id, userId: second.id }));
    world.shown = [];
    await post(book, second.id, { kind: 'hint', transId: X, status: 'SUCCESSFUL' }, world.now);
    for (let asked = 0; asked < 3; asked++, world.now += MINUTE) {
      const { todo } = await second.takeTurn();
      world.shown = todo.kind === 'askStatus' ? shown : [];
      await second.perform();
    }
    await isReviewed(second, first);
  });
});
