import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import {
  BEGINNING,
  listEvents,
  placedUntil,
  placeNotifications,
  placeOf,
  readEventCursor,
  readOnAfter,
  toEventCursor,
} from '../../src/book/feed.js';
import { beat, keepBeat } from '../../src/book/gaps.js';
import {
  addNotifications,
  countUnacknowledged,
  listUnacknowledged,
  notificationsOf,
  resendNotification,
} from '../../src/book/notifications.js';
import { recordTry, takeDue } from '../../src/book/outbox.js';
import { DELIVERY_PATIENCE_MS } from '../../src/payments/words/delivery.js';
import type { PaymentEventType } from '../../src/payments/words/payment.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { newBook, type TestBook } from '../support/books.js';
import { HOUR, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';

const NOW = Date.UTC(2026, 10, 28, 9);
const IDLE = { free: 100, byMerchant: new Map<string, number>() };
const FAILED = { kind: 'failed', reason: 'answered 500' } as const;

let made: TestBook;
let book: Book;
let number = 0;

afterEach(() => made.drop());
beforeEach(async () => {
  made = await newBook();
  ({ book } = made);
});

async function newPayment(merchant = 'shop'): Promise<PaymentId> {
  const order = { ...payoutOrder, id: paymentId(`pay_${++number}`) };
  const ordered = { order, terms, merchant, fingerprint: 'body', requestId: 'request' };
  expect(await claim(book, ordered, NOW)).toEqual({ kind: 'claimed' });
  return order.id;
}

/** A payment whose merchant is to be told these. */
async function notified(types: readonly PaymentEventType[], merchant = 'shop', at = NOW): Promise<PaymentId> {
  const id = await newPayment(merchant);
  await tell(id, types, at);
  return id;
}

const tell = (id: PaymentId, types: readonly PaymentEventType[], at = NOW) =>
  book.transaction((query) =>
    addNotifications(
      query,
      id,
      types.map((type) => ({ type, at })),
    ),
  );

const take = (now: number, busy = IDLE) => takeDue(book, busy, now);
const shown = async (id: PaymentId, now: number) =>
  (await notificationsOf(book, id, now)).map(({ type, delivery: { kind, at } }) => [type, kind, at - NOW]);

async function one<T>(list: Promise<readonly T[]>): Promise<T> {
  const [first, ...more] = await list;
  if (first === undefined || more.length > 0) throw new Error(`there are ${more.length + (first ? 1 : 0)}`);
  return first;
}

describe('a notification', () => {
  it('is taken once, and delivered', async () => {
    const id = await notified(['payment.succeeded']);
    const due = await one(take(NOW));
    expect(due).toMatchObject({ paymentId: id, number: 1, id: `evt_${id}_succeeded_1`, merchant: 'shop', at: NOW });
    expect(await take(NOW)).toEqual([]);
    expect(await recordTry(book, due, { kind: 'delivered' }, NOW + 40)).toBe(false);
    expect(await shown(id, NOW + HOUR)).toEqual([['payment.succeeded', 'delivered', 40]]);
    expect(await take(NOW + 100 * HOUR)).toEqual([]);
  });

  it('is tried again after growing pauses, by whichever worker comes, with what was taken already', async () => {
    const id = await notified(['payment.succeeded']);
    await recordTry(book, await one(take(NOW)), { ...FAILED, takenBy: ['a'] }, NOW, 0);
    expect(await take(NOW + 4_999)).toEqual([]);
    const again = await one(take(NOW + 5_000));
    expect(again).toMatchObject({ tries: 1, firstTriedAt: NOW, takenBy: ['a'] });
    await recordTry(book, again, FAILED, NOW + 5_000, 1);
    expect(await notificationsOf(book, id, NOW + 6_000)).toMatchObject([
      {
        delivery: {
          kind: 'due',
          at: NOW + 5_000 + 6 * MINUTE,
          tries: 2,
          lastTriedAt: NOW + 5_000,
          lastError: 'answered 500',
        },
      },
    ]);
  });

  it('is given up when its three days are over, and can be sent again by hand', async () => {
    const id = await notified(['payment.succeeded']);
    await recordTry(book, await one(take(NOW)), FAILED, NOW);
    const late = NOW + DELIVERY_PATIENCE_MS;
    expect(await recordTry(book, await one(take(late)), FAILED, late)).toBe(true);
    expect(await shown(id, late)).toEqual([['payment.succeeded', 'abandoned', DELIVERY_PATIENCE_MS]]);
    expect(await take(late + HOUR)).toEqual([]);

    expect(await resendNotification(book, id, 1, late + HOUR)).toBe(true);
    expect(await resendNotification(book, id, 2, late + HOUR)).toBe(false);
    expect(await one(take(late + HOUR))).toMatchObject({ tries: 0, firstTriedAt: undefined });
  });

  it('is taken by another when whoever has taken it does not come back, and his end of it is dropped', async () => {
    const id = await notified(['payment.succeeded']);
    const lost = await one(take(NOW));
    expect(await take(NOW + 29_000)).toEqual([]);
    const next = await one(take(NOW + 31_000));
    await recordTry(book, lost, { kind: 'noAddress' }, NOW + 32_000);
    await recordTry(book, next, { kind: 'delivered' }, NOW + 33_000);
    await recordTry(book, lost, FAILED, NOW + 34_000);
    expect(await shown(id, NOW)).toEqual([['payment.succeeded', 'delivered', 33_000]]);
  });

  it('is sent again although it is being tried, whatever becomes of that', async () => {
    const id = await notified(['payment.succeeded']);
    const slow = await one(take(NOW));
    await resendNotification(book, id, 1, NOW + 1_000);
    await recordTry(book, slow, { kind: 'delivered' }, NOW + 2_000);
    expect(await one(take(NOW + 2_000))).toMatchObject({ paymentId: id });
  });
});

describe('a notification of a type that only a later release knows', () => {
  it('is left to that, with those behind it, and stops no other', async () => {
    const [later, known] = [await notified(['payment.held', 'payment.succeeded']), await notified(['payment.failed'])];
    await book.query("UPDATE notifications SET type = 'payment.new' WHERE payment_id = $1 AND number = 1", [later]);
    expect((await take(NOW)).map(({ paymentId }) => paymentId)).toEqual([known]);
    expect(await take(NOW + HOUR)).toHaveLength(1);
  });
});

describe("a payment's notifications", () => {
  it('go out in order: none while an earlier one is tried, or waits to be', async () => {
    const id = await notified(['payment.attempt_failed', 'payment.succeeded']);
    const first = await one(take(NOW));
    expect(await take(NOW + 1_000)).toEqual([]);
    await recordTry(book, first, FAILED, NOW + 1_000, 0);
    await tell(id, ['payment.refunded'], NOW + 2_000);
    expect(await take(NOW + 5_999)).toEqual([]);
    expect(await shown(id, NOW)).toEqual([
      ['payment.attempt_failed', 'due', 6_000],
      ['payment.succeeded', 'due', 6_000],
      ['payment.refunded', 'due', 6_000],
    ]);
    const again = await one(take(NOW + 6_000));
    expect(again.number).toBe(1);
    await recordTry(book, again, { kind: 'delivered' }, NOW + 6_000);
    expect(await one(take(NOW + 6_000))).toMatchObject({ number: 2 });
  });

  it('follow at once when the earlier one was sent by hand', async () => {
    const id = await notified(['payment.attempt_failed']);
    await recordTry(book, await one(take(NOW)), { ...FAILED, retryAfterMs: HOUR }, NOW);
    await tell(id, ['payment.succeeded']);
    await resendNotification(book, id, 1, NOW + MINUTE);
    await recordTry(book, await one(take(NOW + MINUTE)), { kind: 'delivered' }, NOW + MINUTE);
    expect(await one(take(NOW + MINUTE))).toMatchObject({ number: 2 });
  });

  it('follow at once one that was told while this one was being tried', async () => {
    const id = await notified(['payment.attempt_failed']);
    const first = await one(take(NOW));
    await tell(id, ['payment.succeeded']);
    await recordTry(book, first, { kind: 'delivered' }, NOW + 1);
    expect(await one(take(NOW + 1))).toMatchObject({ number: 2 });
  });
});

describe("a merchant's notifications", () => {
  it('take no more than they leave for those of others', async () => {
    for (let i = 0; i < 12; i++) await notified(['payment.succeeded'], 'slow', NOW - HOUR);
    for (let i = 0; i < 3; i++) await notified(['payment.succeeded'], 'other');
    const first = await take(NOW, { free: 8, byMerchant: new Map() });
    expect(first.filter(({ merchant }) => merchant === 'slow')).toHaveLength(3);
    expect(first.filter(({ merchant }) => merchant === 'other')).toHaveLength(3);
    const busy = {
      free: 2,
      byMerchant: new Map([
        ['slow', 3],
        ['other', 3],
      ]),
    };
    expect(await take(NOW, busy)).toEqual([]);
    await notified(['payment.succeeded'], 'third');
    expect(await one(take(NOW, busy))).toMatchObject({ merchant: 'third' });
  });

  it('are taken once each, however many workers take at once', async () => {
    for (let i = 0; i < 20; i++) await notified(['payment.succeeded'], `merchant ${i % 4}`);
    const taken: string[] = [];
    while (taken.length < 20) {
      const rounds = await Promise.all(Array.from({ length: 6 }, () => take(NOW, { free: 4, byMerchant: new Map() })));
      const now = rounds.flat().map(({ paymentId }) => paymentId);
      expect(now.length).toBeGreaterThan(0);
      taken.push(...now);
    }
    expect(new Set(taken).size).toBe(20);
  });

  it('are listed and counted while nobody has acknowledged them', async () => {
    const first = await notified(['payment.succeeded'], 'shop', NOW - HOUR);
    const second = await notified(['payment.review'], 'kiosk');
    await notified(['payment.succeeded'], 'other');
    await recordTry(
      book,
      await one(
        take(NOW, {
          free: 1,
          byMerchant: new Map([
            ['shop', 1],
            ['kiosk', 1],
          ]),
        }),
      ),
      { kind: 'delivered' },
      NOW,
    );
    for (const due of await take(NOW)) await recordTry(book, due, FAILED, NOW);
    expect(await countUnacknowledged(book)).toEqual([
      { merchant: 'kiosk', due: 1, abandoned: 0, oldestAt: NOW },
      { merchant: 'shop', due: 1, abandoned: 0, oldestAt: NOW - HOUR },
    ]);
    const page = await one(listUnacknowledged(book, 'due', 1, undefined, NOW));
    expect(page).toMatchObject({ status: 'CREATED', amount: payoutOrder.amount, notification: { paymentId: first } });
    const rest = await one(listUnacknowledged(book, 'due', 10, page.notification, NOW));
    expect(rest.notification.paymentId).toBe(second);

    const late = NOW + DELIVERY_PATIENCE_MS;
    for (const due of await take(late)) await recordTry(book, due, FAILED, late);
    expect(await listUnacknowledged(book, 'abandoned', 10, undefined, late)).toHaveLength(2);
    expect(await countUnacknowledged(book)).toEqual([
      { merchant: 'kiosk', due: 0, abandoned: 1, oldestAt: undefined },
      { merchant: 'shop', due: 0, abandoned: 1, oldestAt: undefined },
    ]);
  });
});

describe('the feed', () => {
  const feed = async (filter = {}) => (await listEvents(book, { after: 0, ...filter }, 100)).map(({ id }) => id);

  it('has each event once it has its place, and misses none that is committed late', async () => {
    const [late, early] = [await newPayment(), await newPayment()];
    let commit = () => undefined as unknown;
    const held = new Promise((resolve) => {
      commit = () => resolve(undefined);
    });
    let written = () => undefined as unknown;
    const isWritten = new Promise((resolve) => {
      written = () => resolve(undefined);
    });
    const transaction = book.transaction(async (query) => {
      await addNotifications(query, late, [{ type: 'payment.failed', at: NOW }]);
      written();
      await held;
    });
    await isWritten;
    await tell(early, ['payment.succeeded'], NOW + 1_000);
    expect(await placeNotifications(book)).toBe(1);
    const [first] = await listEvents(book, { after: 0 }, 100);
    expect(first).toMatchObject({ id: `evt_${early}_succeeded_1`, paymentId: early, state: { order: { id: early } } });
    commit();
    await transaction;
    expect(await placedUntil(book, NOW + HOUR)).toBe(NOW);
    await placeNotifications(book);
    expect(await feed({ after: first?.position })).toEqual([`evt_${late}_failed_1`]);
    expect(await placedUntil(book, NOW + HOUR)).toBe(NOW + HOUR - 10_000);
  });

  it('is placed by one at a time, and without a gap between two', async () => {
    for (let i = 0; i < 10; i++) await notified(['payment.succeeded'], 'shop', NOW + i);
    const placed = await Promise.all(Array.from({ length: 5 }, () => placeNotifications(book)));
    expect(placed.reduce((sum, count) => sum + count)).toBe(10);
    expect((await listEvents(book, { after: 0 }, 100)).map(({ position }) => position)).toEqual(
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
  });

  it('is read by merchant, type and time', async () => {
    const old = await notified(['payment.succeeded'], 'shop', NOW - 3 * HOUR);
    await placeNotifications(book);
    const other = await notified(['payment.failed'], 'kiosk');
    await placeNotifications(book);
    // Placed before what happened earlier: clocks differ.
    const ahead = await notified(['payment.succeeded'], 'shop', NOW + MINUTE);
    await placeNotifications(book);
    const behind = await notified(['payment.succeeded'], 'shop', NOW + 1_000);
    await placeNotifications(book);
    const ids = (all: readonly PaymentId[]) => all.map((id) => expect.stringContaining(id));
    expect(await feed()).toEqual(ids([old, other, ahead, behind]));
    expect(await feed({ merchant: 'shop' })).toEqual(ids([old, ahead, behind]));
    expect(await feed({ type: 'payment.failed' })).toEqual(ids([other]));
    expect(await feed({ since: NOW + 1_000 })).toEqual(ids([ahead, behind]));
    expect(await feed({ since: NOW + 2_000, merchant: 'shop' })).toEqual(ids([ahead]));
  });

  it('has cursors that tell nothing, and none that somebody has made up', async () => {
    const read = { position: 4_711, event: { paymentId: 'pay_1', number: 1, at: NOW } };
    const cursor = await toEventCursor(book, read);
    expect(Buffer.from(cursor, 'base64url').toString()).not.toContain('4711');
    expect(await readEventCursor(book, cursor)).toEqual(read);
    const plain = Buffer.concat([Buffer.of(0), Buffer.from('{"v":1,"position":4711}')]).toString('base64url');
    for (const other of ['', 'AAAA', plain, cursor.slice(0, -4), `${cursor}AAAA`]) {
      expect(await readEventCursor(book, other)).toBeUndefined();
    }
  });

  it('gives no place again that a merchant has read past, in a book that has gone back', async () => {
    const [kept, ...lost] = [await newPayment(), await newPayment(), await newPayment()];
    for (const id of [kept, ...lost]) await tell(id, ['payment.succeeded']);
    await placeNotifications(book);
    const cursor = (await listEvents(book, { after: 0 }, 100)).at(-1)?.position ?? 0;
    const told = await beat(book, await beat(book, undefined, Date.now()), Date.now());
    await book.query('DELETE FROM notifications WHERE payment_id = ANY ($1)', [lost]);
    await book.query('UPDATE beats SET number = 1, at = $1', [new Date(Date.now() - 2 * MINUTE)]);
    const after = await notified(['payment.failed'], 'shop', NOW + MINUTE);
    expect(await placeNotifications(book)).toBe(0);
    expect(await placedUntil(book, NOW + HOUR)).toBe(NOW + MINUTE);
    await keepBeat(book, await beat(book, told, Date.now()));
    expect(await placeNotifications(book)).toBe(1);
    expect(await feed({ after: cursor })).toEqual([expect.stringContaining(after)]);
  });

  it('has what may have been missed read once more, in a book that has gone back and doesn’t know', async () => {
    const kept = await notified(['payment.succeeded'], 'shop', NOW - 2 * HOUR);
    const lost = await notified(['payment.succeeded']);
    await placeNotifications(book);
    const [, last] = await listEvents(book, { after: 0 }, 100);
    const read = last && placeOf(last);
    if (read === undefined) throw new Error('nothing was read');
    expect(await readOnAfter(book, read)).toBe(last?.position);
    await book.query('DELETE FROM notifications WHERE payment_id = $1', [lost]);
    expect(await feed({ after: await readOnAfter(book, read) })).toEqual([]);
    // It gets the place that was read past.
    const missed = await notified(['payment.failed'], 'shop', NOW + MINUTE);
    await placeNotifications(book);
    expect(await feed({ after: last?.position ?? 0 })).toEqual([]);
    expect(await feed({ after: await readOnAfter(book, read) })).toEqual([expect.stringContaining(missed)]);
    expect(await feed()).toEqual([expect.stringContaining(kept), expect.stringContaining(missed)]);
    expect(await readOnAfter(book, BEGINNING)).toBe(0);
  });

  it('gives none again either when the book goes back behind a gap that was found, and no id', async () => {
    const found = (at: number) => book.query("INSERT INTO gaps (at, found) VALUES ($1, 'a test')", [new Date(at)]);
    await found(NOW);
    const before = await notified(['payment.succeeded']);
    await placeNotifications(book);
    const [read] = await listEvents(book, { after: 0 }, 100);
    await book.query('DELETE FROM notifications');
    await book.query('DELETE FROM gaps');
    await found(NOW + MINUTE);
    await tell(before, ['payment.succeeded']);
    await placeNotifications(book);
    const events = await listEvents(book, { after: read?.position ?? 0 }, 100);
    expect(events).toHaveLength(1);
    expect(events[0]?.id).not.toBe(read?.id);
  });

  it('names an event whose payment can not be read, and keeps no other from its merchant', async () => {
    const [broken, sound] = [await notified(['payment.succeeded']), await notified(['payment.succeeded'])];
    await placeNotifications(book);
    await book.query("UPDATE states SET sealed = 'x' WHERE id = $1", [broken]);
    const events = await listEvents(book, { after: 0 }, 100);
    expect(events.map(({ paymentId: id, state }) => [id, state?.order.id]).toSorted()).toEqual([
      [broken, undefined],
      [sound, sound],
    ]);
  });

  it('moves on when the book has gone back, and so do the ids of what is told from then on', async () => {
    const before = await notified(['payment.succeeded']);
    await placeNotifications(book);
    await book.query("INSERT INTO gaps (at, found) VALUES ($1, 'a test')", [new Date(NOW)]);
    const after = await notified(['payment.succeeded']);
    await placeNotifications(book);
    const events = await listEvents(book, { after: 0 }, 100);
    expect(events.map(({ id, position }) => [id, position])).toEqual([
      [`evt_${before}_succeeded_1`, 1],
      [`evt_${after}_succeeded_1_${NOW / 1_000}`, NOW * 1_000 + 1],
    ]);
  });
});
