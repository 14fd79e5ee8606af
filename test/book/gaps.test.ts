import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { type Beat, beat, hasBeaten, keepBeat, lastBeat } from '../../src/book/gaps.js';
import { post } from '../../src/book/inbox.js';
import { recordPeople } from '../../src/book/people.js';
import { keepOutcome } from '../../src/book/sends.js';
import { takeTurn } from '../../src/book/turn.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import { digestOf } from '../../src/payments/words/order-digest.js';
import type { InitiationOutcome } from '../../src/payments/words/outcome.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import { newBook, type TestBook } from '../support/books.js';
import { directOrder, HOUR, linkOrder, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { testEncryption } from '../support/test-encryption.js';
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

async function newPayment(order: PaymentOrder = payoutOrder): Promise<PaymentId> {
  const id = paymentId(`${order.kind === 'payout' ? 'pay' : 'col'}_${++number}`);
  const ordered = { order: { ...order, id }, terms, merchant: 'shop', fingerprint: 'body', requestId: 'request' };
  expect(await claim(book, ordered, world.now)).toEqual({ kind: 'claimed' });
  return id;
}

const gaps = () => book.query('SELECT at, found FROM gaps ORDER BY id');
const statusOf = async (id: PaymentId) =>
  (await book.query('SELECT status FROM payments WHERE id = $1', [id]))[0]?.status;

/** The book as it was, after it was restored: what came after this is lost. */
async function backup() {
  const tables = ['payments', 'states', 'sends', 'inbox', 'notifications', 'beats'];
  for (const table of tables) await book.query(`CREATE TABLE was_${table} AS SELECT * FROM ${table}`);
  return async () => {
    for (const table of tables.toReversed()) await book.query(`DELETE FROM ${table}`);
    for (const table of tables) {
      await book.query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM was_${table}`);
    }
  };
}

async function restoredAfter(told: Beat): Promise<void> {
  await book.query('UPDATE beats SET number = 1');
  world.now += MINUTE;
  expect(await beat(book, told, world.now)).toMatchObject({ hasGoneBack: true });
  // From then on, no clock calls it earlier.
  world.now += MINUTE + 1;
  // It is compared again and again from then on.
  await book.query("UPDATE beats SET at = 'infinity'");
}

describe('a gap', () => {
  it('is found by the first beat after the book went back, once, whoever beats', async () => {
    const restore = await backup();
    const first = await beat(book, undefined, world.now);
    const told = await beat(book, first, world.now);
    expect(told).toEqual({ number: 2, at: world.now, hasGoneBack: false });
    await restore();
    world.now += MINUTE;
    const beats = await Promise.all([beat(book, told, world.now), beat(book, told, world.now)]);
    expect(beats.filter(({ hasGoneBack }) => hasGoneBack)).toHaveLength(1);
    expect(beats.map((one) => one.number).toSorted()).toEqual([3, 4]);
    expect(await gaps()).toEqual([{ at: new Date(world.now), found: 'the book has 0 beats, and Temporal knows of 2' }]);
  });

  it('is none when no process ran for days, nor when Temporal went back or is new', async () => {
    const first = await beat(book, undefined, world.now);
    world.now += 7 * 24 * 60 * MINUTE;
    const second = await beat(book, first, world.now);
    await beat(book, second, world.now);
    await beat(book, first, world.now);
    await beat(book, undefined, world.now);
    expect(await gaps()).toEqual([]);
  });

  it.each([10 * 24 * 60, 50])('is looked for again at once when a clock was ahead by %i minutes', async (minutes) => {
    const clocked = new Book(made.url, testEncryption, () => world.now);
    const beatAt = async (at: number) => await keepBeat(clocked, await beat(clocked, undefined, at));
    try {
      await beatAt(world.now + minutes * MINUTE);
      expect(await hasBeaten(clocked, world.now - MINUTE)).toBe(false);
      await beatAt(world.now);
      expect([await hasBeaten(clocked, world.now - MINUTE), await lastBeat(clocked)]).toEqual([true, world.now]);
      await beatAt(world.now - 1_000);
      expect(await lastBeat(clocked)).toBe(world.now);
    } finally {
      await clocked.close();
    }
  });

  it('is found by whoever has read the beats that are lost, though Temporal has lost them, too', async () => {
    const restore = await backup();
    await beat(book, undefined, world.now);
    await restore();
    world.now += MINUTE;
    expect(await beat(book, undefined, world.now)).toEqual({ number: 2, at: world.now, hasGoneBack: true });
    expect(await gaps()).toEqual([
      { at: new Date(world.now), found: 'the book has 0 beats, and a process has read 1' },
    ]);
    expect((await beat(book, undefined, world.now)).hasGoneBack).toBe(false);
  });

  it('is found by a run that was told a higher version, or whose payment is gone', async () => {
    const restore = await backup();
    const id = await newPayment();
    const hand = new Hand(book, world, id);
    await hand.run();
    await restore();
    world.now += MINUTE;
    expect(await takeTurn(book, id, { told: hand.turn }, world.now)).toBeUndefined();
    expect(await gaps()).toMatchObject([{ at: new Date(world.now) }]);
  });

  it('is recorded once, however many runs find it, and however late', async () => {
    const id = await newPayment();
    const other = await newPayment();
    const restore = await backup();
    const hands = [new Hand(book, world, id), new Hand(book, world, other)];
    for (const hand of hands) await hand.run();
    await restore();
    world.now += MINUTE;
    const foundAt = new Date(world.now);
    await hands[0]?.takeTurn();
    world.now += 24 * 60 * MINUTE;
    await hands[1]?.takeTurn();
    expect(await gaps()).toMatchObject([{ at: foundAt, found: expect.stringContaining(id) }]);
  });
});

describe('after the book went back', () => {
  const TOLD: Beat = { number: 9, at: 0 };

  it('what was ordered before is not sent, but looked for, and put before a person', async () => {
    const [payout, direct, link] = [await newPayment(), await newPayment(directOrder), await newPayment(linkOrder)];
    await restoredAfter(TOLD);
    for (const id of [payout, direct]) {
      const hand = new Hand(book, world, id);
      await hand.run();
      for (let minutes = 0; minutes < 60; minutes += 5, world.now += 5 * MINUTE) await hand.run();
      expect([await statusOf(id), world.requests(id)]).toEqual(['REVIEW', 0]);
    }
    const maker = new Hand(book, world, link);
    await maker.run();
    world.now += MINUTE;
    await maker.run();
    expect([await statusOf(link), world.requests(link)]).toEqual(['CREATED', 1]);
  });

  /** A link of before, of which the book knows nothing any more, and the number of its payment. */
  async function lostLink(): Promise<PaymentId> {
    const restore = await backup();
    const id = await newPayment(linkOrder);
    const before = new Hand(book, world, id);
    await before.takeTurn();
    expect(await before.fence()).toEqual({ kind: 'fenced' });
    await before.post();
    await before.takeTurn();
    await restore();
    number--;
    return id;
  }

  it('a link that is ordered again is not made before the list was read', async () => {
    const id = await lostLink();
    world.status = 'SUCCESSFUL';
    await restoredAfter(TOLD);
    world.now += HOUR;
    expect(await newPayment(linkOrder)).toBe(id);
    const hand = new Hand(book, world, id);
    expect((await hand.takeTurn()).todo.kind).not.toBe('send');
    expect(await hand.fence()).toEqual({ kind: 'stale' });
    world.now += MINUTE;
    await hand.run();
    expect([await statusOf(id), world.requests(id)]).toEqual(['SUCCESSFUL', 1]);
  });

  it.each([
    ['before', 'expired'],
    ['after', 'expired'],
    ['after', 'rejected'],
  ] as const)(
    'a link whose request was answered %s the gap was found, and is %s, ends by the list',
    async (when, how) => {
      const id = await lostLink();
      world.statuses.set(`T1-${id}` as TransId, 'SUCCESSFUL');
      await newPayment(linkOrder);
      const hand = new Hand(book, world, id);
      await hand.takeTurn();
      expect(await hand.fence()).toEqual({ kind: 'fenced' });
      if (when === 'after') await restoredAfter(TOLD);
      if (how === 'expired') await hand.post();
      else await keepOutcome(book, hand.attempt, { kind: 'rejected', message: 'no', statusCode: 400 });
      await hand.takeTurn();
      if (when === 'before') await restoredAfter(TOLD);
      world.status = 'EXPIRED';
      for (let hours = 0; hours < 3; hours++, world.now += HOUR) await hand.run();
      expect(await statusOf(id)).toBe(how === 'expired' ? 'REVIEW' : 'SUCCESSFUL');
    },
  );

  it('an attempt whose fence it lacks may have left: the payment does not end as never sent', async () => {
    const id = await newPayment();
    const hand = new Hand(book, world, id);
    await hand.takeTurn();
    await hand.fence();
    await keepOutcome(book, hand.attempt, { kind: 'notSent', reason: 'connection refused' });
    await hand.takeTurn();
    // It is tried for the last time.
    world.now += 10 * MINUTE;
    expect((await hand.takeTurn()).todo.kind).toBe('send');
    const restore = await backup();
    await hand.perform();
    expect(world.requests(id)).toBe(1);
    await restore();
    await restoredAfter(TOLD);
    await hand.takeTurn();
    expect(await statusOf(id)).not.toBe('FAILED');
    world.now += MINUTE;
    await hand.run();
    expect(await book.query('SELECT trans_id, final FROM payments WHERE id = $1', [id])).toEqual([
      { transId: `T1-${id}`, final: false },
    ]);
    expect(world.requests(id)).toBe(1);
  });

  it.each<InitiationOutcome>([
    { kind: 'withheld', failureCode: 'not_sent', reason: 'its time was over' },
    { kind: 'withheld', failureCode: 'not_refundable', reason: 'its collection was taken back' },
    { kind: 'notSent', isUnread: true, reason: 'the list could not be read' },
    { kind: 'notSent', reason: 'the book is away' },
    { kind: 'unauthorized', message: 'no', statusCode: 401 },
  ])('what is not sent for any reason may have been before: %j', async (outcome) => {
    const id = await newPayment();
    const hand = new Hand(book, world, id);
    const tryInVain = async (because: InitiationOutcome) => {
      expect((await hand.takeTurn()).todo.kind).toBe('send');
      await hand.keepUnsent(because);
      hand.done = { token: hand.attempt.token, kind: 'sent' };
      await hand.takeTurn();
    };
    await tryInVain({ kind: 'notSent', reason: 'connection refused' });
    await restoredAfter(TOLD);
    world.now += terms.sendByMs;
    await tryInVain(outcome);
    expect(await statusOf(id)).toBe('CREATED');
    // One list leaves it out.
    for (let minutes = 0; minutes < 120; minutes += 5, world.now += 5 * MINUTE) await hand.run();
    expect([await statusOf(id), world.requests(id)]).toEqual(['REVIEW', 0]);
  });

  it('is sent when an operator then decides so, and not by a decision from before', async () => {
    const id = await newPayment();
    await restoredAfter(TOLD);
    const hand = new Hand(book, world, id);
    for (let minutes = 0; minutes < 120; minutes += 5, world.now += 5 * MINUTE) await hand.run();
    expect(await statusOf(id)).toBe('REVIEW');
    const resolution = {
      review: 1,
      decision: { action: 'resend' },
      by: 'Ada',
      why: 'nothing is there',
      force: false,
    } as const;
    await post(book, id, { kind: 'decide', resolution }, world.now);
    await hand.takeTurn();
    await hand.perform();
    const decided = await hand.takeTurn();
    expect(decided.todo.kind).toBe('send');
    await book.query("INSERT INTO gaps (at, found) VALUES ($1, 'another')", [new Date(world.now + 1)]);
    expect(await hand.fence()).toMatchObject({ kind: 'perhapsSent' });
    await book.query("DELETE FROM gaps WHERE found = 'another'");
    expect(await hand.fence()).toEqual({ kind: 'fenced' });
  });

  it('what is ordered from then on is sent', async () => {
    await restoredAfter(TOLD);
    const id = await newPayment();
    await new Hand(book, world, id).run();
    expect(world.requests(id)).toBe(1);
  });

  it('what was ordered, or decided, within a minute of it by other clocks counts as before', async () => {
    await restoredAfter(TOLD);
    const id = await newPayment();
    const hand = new Hand(book, world, id);
    await hand.takeTurn();
    const ahead = new Date(world.now - MINUTE / 2);
    await book.query('UPDATE gaps SET at = $1', [ahead]);
    expect(await hand.fence()).toMatchObject({ kind: 'perhapsSent', why: expect.stringContaining('was found at 2') });
    await hand.perform();
    for (let minutes = 0; minutes < 120; minutes += 5, world.now += 5 * MINUTE) await hand.run();
    expect(await statusOf(id)).toBe('REVIEW');
    const resolution = { review: 1, decision: { action: 'resend' }, by: 'Ada', why: 'gone', force: false } as const;
    await post(book, id, { kind: 'decide', resolution }, world.now);
    await hand.takeTurn();
    await hand.perform();
    expect((await hand.takeTurn()).todo.kind).toBe('send');
    await book.query('UPDATE gaps SET at = $1', [new Date(world.now - MINUTE / 2)]);
    expect(await hand.fence()).toMatchObject({ kind: 'perhapsSent' });
    await book.query('UPDATE gaps SET at = $1', [ahead]);
    expect(await hand.fence()).toEqual({ kind: 'fenced' });
  });

  it('a refund of a collection from before takes an approval', async () => {
    const collection = await newPayment(directOrder);
    const payer = new Hand(book, world, collection);
    await payer.run();
    world.status = 'SUCCESSFUL';
    world.now += 10 * MINUTE;
    await payer.run();
    expect(await statusOf(collection)).toBe('SUCCESSFUL');
    await restoredAfter(TOLD);

    const refund = { ...payoutOrder, refundOf: collection, amount: 1_000 };
    const plain = new Hand(book, world, await newPayment(refund));
    await plain.takeTurn();
    expect(await plain.fence()).toMatchObject({ kind: 'perhapsSent', why: expect.stringContaining(collection) });

    const id = await newPayment({ ...refund, approval: true, orderedBy: 'Ada' });
    const hand = new Hand(book, world, id);
    const held = await hand.takeTurn();
    const { order } = held.after;
    if (order.kind !== 'payout') throw new Error('a refund is a payout');
    await recordPeople(book.query, [{ merchant: 'shop', person: 'Ben', keyId: 'two' }], 0);
    await post(book, id, { kind: 'approve', by: 'Ben', digest: digestOf(order) }, world.now);
    await hand.takeTurn();
    expect(await hand.fence()).toEqual({ kind: 'fenced' });
  });

  it('nothing is sent before the book was compared with what Temporal knows', async () => {
    const id = await newPayment();
    await book.query('UPDATE beats SET at = $1', [new Date(world.now - 2 * MINUTE)]);
    const hand = new Hand(book, world, id);
    await hand.takeTurn();
    expect(await hand.fence()).toMatchObject({ kind: 'uncertain' });
    const counted = await beat(book, undefined, world.now);
    expect(await hand.fence()).toMatchObject({ kind: 'uncertain' });
    await keepBeat(book, { ...counted, number: counted.number + 1 });
    expect(await hand.fence()).toMatchObject({ kind: 'uncertain' });
    await keepBeat(book, counted);
    expect(await hand.fence()).toEqual({ kind: 'fenced' });
  });

  it('nothing is sent by a standby that lacks a minute, and that says that it was compared just now', async () => {
    const id = await newPayment();
    let told = await beat(book, undefined, world.now);
    await keepBeat(book, told);
    const restore = await backup();
    await new Hand(book, world, id).run();
    expect(world.requests(id)).toBe(1);
    world.now += MINUTE / 2;
    told = await beat(book, told, world.now);
    await keepBeat(book, told);
    await restore();
    world.now += 1_000;
    // Its run is over, and the provider doesn't list it yet.
    world.taken.clear();
    const again = new Hand(book, world, id);
    await again.takeTurn();
    expect(await again.fence()).toMatchObject({ kind: 'perhapsSent' });
    expect((await beat(book, told, world.now)).hasGoneBack).toBe(true);
    expect(await gaps()).toHaveLength(1);
  });

  it('what waits for that is sent once it is certain, however long it has waited', async () => {
    const id = await newPayment();
    await book.query("UPDATE beats SET at = '-infinity'");
    const hand = new Hand(book, world, id);
    for (let minutes = 0; minutes < 60; minutes++, world.now += MINUTE) await hand.run();
    expect([await statusOf(id), world.requests(id)]).toEqual(['CREATED', 0]);
    await keepBeat(book, await beat(book, undefined, world.now));
    await hand.run();
    expect(world.requests(id)).toBe(1);
  });

  it('an attempt that nobody has made ends no payment before it is certain that the book has its fence', async () => {
    const id = await newPayment();
    const hand = new Hand(book, world, id);
    await hand.takeTurn();
    await hand.keepUnsent({ kind: 'notSent', reason: 'connection refused' });
    hand.done = { token: hand.attempt.token, kind: 'sent' };
    await hand.takeTurn();
    // It is tried for the last time, and its worker is lost.
    world.now += 10 * MINUTE;
    expect((await hand.takeTurn()).todo.kind).toBe('send');
    await book.query("UPDATE beats SET at = '-infinity'");
    hand.done = { token: hand.attempt.token, kind: 'sent' };
    await hand.takeTurn();
    expect(await statusOf(id)).toBe('CREATED');
  });
});
