import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { listAudited } from '../../src/book/audit.js';
import { Book } from '../../src/book/book.js';
import { type Claim, claim } from '../../src/book/claim.js';
import { countOpen } from '../../src/book/counts.js';
import { paymentsOfDay, paymentsWith } from '../../src/book/day-payments.js';
import { oldestDue, takeOverdue } from '../../src/book/due.js';
import { eraseWhatIsOver } from '../../src/book/erasing.js';
import { listEvents, placedUntil, placeNotifications } from '../../src/book/feed.js';
import { post, replyTo } from '../../src/book/inbox.js';
import { listPayments, type PaymentFilter, sumUp } from '../../src/book/lists.js';
import {
  countUnacknowledged,
  listUnacknowledged,
  notificationsOf,
  resendNotification,
} from '../../src/book/notifications.js';
import { recordTry, takeDue } from '../../src/book/outbox.js';
import { erasePayer, exportPayer, payerRequests, previewErasure } from '../../src/book/payer-data.js';
import { findByTransId, findPayment, readRefunds, sumRefunds, versionsOf } from '../../src/book/payments.js';
import { keysLinkedTo, wasNamed } from '../../src/book/people.js';
import { Statements } from '../../src/book/statements.js';
import { keepUnmatched, listUnmatched } from '../../src/book/unmatched.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import { DAY_MS, isoTime, startOf } from '../../src/payments/words/time.js';
import { newBook, type TestBook } from '../support/books.js';
import { eventually } from '../support/eventually.js';
import { directOrder, linkOrder, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { testEncryption } from '../support/test-encryption.js';
import { Hand, World } from './hand.js';

/** Payments in the book, over 100 days: one in 200 is open. */
const PAYMENTS = 100_000;

/** What a query may read of them, in rows and entries of indexes: a page, what is open, or a payer's, and some more. */
const LIMIT = 6_000;

const DAY = '2026-11-28';
const BEGIN = startOf(DAY) - 99 * DAY_MS;

let made: TestBook;
/** It has no time limit, as a book has. */
let client: pg.Client;
const world = new World();

beforeAll(async () => {
  made = await newBook();
  client = new pg.Client(made.url);
  await client.connect();
  const query = (text: string, values: unknown[] = []) => client.query(text, values);
  await query(
    `INSERT INTO payments (id, merchant, kind, method, fingerprint, request_id, created_at, status, final, amount,
       amount_paid, trans_id, financial_trans_id, external_id, user_id, payers, payers_key, refund_of, refund_counts,
       day_counts, counts_on, held_for, waits_since, released_at)
     SELECT CASE WHEN number % 5 = 0 THEN 'pay_' ELSE 'col_' END || number, 'shop-' || number % 7,
            CASE WHEN number % 5 = 0 THEN 'payout' ELSE 'collection' END,
            CASE number % 5 WHEN 0 THEN 'payout' WHEN 1 THEN 'direct' ELSE 'link' END, 'body', 'request', at,
            CASE WHEN number % 200 = 0 THEN 'REVIEW' ELSE 'SUCCESSFUL' END, number % 200 <> 0, 100 + number % 5000,
            100 + number % 5000, 'T' || number, 'F' || number, 'order-' || number, 'customer-' || number % 9000,
            ARRAY[sha256((number % 9000)::text::bytea)], '',
            CASE WHEN number % 10 = 0 THEN 'col_' || number - 1 END, 100, CASE WHEN number % 5 = 0 THEN 100 ELSE 0 END,
            CASE WHEN number % 5 = 0 THEN to_char(at, 'YYYY-MM-DD') END,
            CASE WHEN number % 1000 = 0 THEN ARRAY['approval'] ELSE '{}' END,
            CASE WHEN number % 200 = 0 THEN at END, CASE WHEN number % 50 = 0 THEN at + interval '1 h' END
       FROM (SELECT number, $1::timestamptz + number * interval '86 s' AS at
               FROM generate_series(1, ${PAYMENTS}) AS number) AS each ORDER BY number % 5 = 0, number`,
    [new Date(BEGIN)],
  );
  await query(
    `INSERT INTO states (id, version, attempt, changed_at, wake_at, sealed)
     SELECT id, 3, 2, created_at, CASE WHEN NOT final THEN $1::timestamptz END, '\\x01' FROM payments`,
    [new Date(world.now + DAY_MS)],
  );
  await query(
    `INSERT INTO sends (payment_id, attempt, hand, at, outcome, taken)
     SELECT id, 1, 1, created_at, 'accepted', true FROM payments`,
  );
  await query(
    `INSERT INTO inbox (payment_id, at, sealed, taken_in, reply)
     SELECT id, created_at, '\\x01', 3, '\\x01' FROM payments`,
  );
  await query(
    `INSERT INTO notifications (payment_id, number, merchant, type, at, era, position, delivery, due_at, ended_at)
     SELECT id, 1, merchant, 'payment.succeeded', created_at, 0, row_number() OVER (ORDER BY created_at),
            CASE row_number() OVER () % 500 WHEN 0 THEN 'due' WHEN 1 THEN 'abandoned' ELSE 'delivered' END,
            CASE row_number() OVER () % 500 WHEN 0 THEN $1::timestamptz END, created_at FROM payments`,
    [new Date(world.now - MINUTE)],
  );
  await query(
    `INSERT INTO audit (at, who, did, target) SELECT created_at, 'ann', 'order', id FROM payments ORDER BY created_at`,
  );
  await query(
    `INSERT INTO people (merchant, name, key_id, since)
     SELECT 'shop-' || number % 7, 'person ' || number, 'key ' || number, $1 FROM generate_series(1, 2000) AS number`,
    [new Date(BEGIN)],
  );
  await query('ANALYZE');
});
afterAll(async () => {
  await client.end();
  await made.drop();
});

/** Rows that were read so far, of all tables: one by one, or by an index, and the entries of indexes. */
async function rowsRead(): Promise<number> {
  await client.query('SELECT pg_stat_force_next_flush()');
  const others = `SELECT 1 FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  await eventually(
    () => client.query(others),
    ({ rows }) => rows.length === 0,
  );
  const { rows } = await client.query<{ read: string }>(
    `SELECT (SELECT sum(seq_tup_read) + sum(coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables)
          + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS read`,
  );
  return Number(rows[0]?.read);
}

/** What an act reads of the book. A process of its own does it: its figures are complete once it has ended. */
async function readBy(act: (book: Book) => Promise<unknown>): Promise<number> {
  const before = await rowsRead();
  const book = new Book(made.url, testEncryption);
  try {
    await act(book);
  } finally {
    await book.close();
  }
  return (await rowsRead()) - before;
}

const claimOf = (order: PaymentOrder): Claim => ({
  ...{ order, terms, merchant: 'shop-1', fingerprint: 'body', requestId: 'request', maxPerDay: 10_000_000 },
  ...{ people: [{ merchant: 'shop-1', person: 'ann', keyId: 'key 1' }], caller: { who: 'ann' } },
});

let orders = 0;

/** Orders a payment, and has it come to its outcome. */
async function run(book: Book, order: PaymentOrder): Promise<PaymentId> {
  const id = paymentId(`${order.kind === 'payout' ? 'pay' : 'col'}_run${++orders}`);
  expect(await claim(book, claimOf({ ...order, id }), world.now)).toEqual({ kind: 'claimed' });
  const hand = new Hand(book, world, id);
  await hand.run();
  await post(book, id, { kind: 'hint' }, world.now);
  world.status = 'SUCCESSFUL';
  await hand.run();
  return id;
}

const page = { pageSize: 50, order: 'newest first' } as const;
const filters: readonly PaymentFilter[] = [
  {},
  { merchant: 'shop-1' },
  { status: 'REVIEW' },
  { status: 'SUCCESSFUL', merchant: 'shop-1' },
  { final: false },
  { held: 'approval' },
  { kind: 'payout' },
  { method: 'direct', merchant: 'shop-2' },
  { externalId: 'order-77' },
  { userId: 'customer-77' },
  { transId: 'T77' },
  { financialTransId: 'F77' },
  { reference: 'order-777' },
  { createdFrom: BEGIN + 50 * DAY_MS, createdBefore: BEGIN + 51 * DAY_MS },
  { merchant: 'shop-1', status: 'SUCCESSFUL', createdFrom: BEGIN + 50 * DAY_MS, amountFrom: 3_000 },
];

describe('of a hundred thousand payments, few are read', () => {
  it.each(filters)('by a list of %j', async (filter) => {
    expect(await readBy((book) => listPayments(book, filter, page))).toBeLessThan(LIMIT);
    const after = { createdAt: BEGIN + 60 * DAY_MS, id: 'col_1' as PaymentId };
    expect(await readBy((book) => listPayments(book, filter, { ...page, after }))).toBeLessThan(LIMIT);
    expect(await readBy((book) => listPayments(book, filter, { ...page, order: 'oldest first' }))).toBeLessThan(LIMIT);
  });

  it.each<PaymentFilter>([
    { status: 'REVIEW' },
    { final: false, merchant: 'shop-1' },
    { externalId: 'order-77' },
    { createdFrom: BEGIN + 50 * DAY_MS, createdBefore: BEGIN + 51 * DAY_MS },
  ])('by the totals of %j', async (filter) => {
    expect(await readBy((book) => sumUp(book, filter))).toBeLessThan(LIMIT);
  });

  it.each([linkOrder, directOrder, payoutOrder])('by the life of a payment: $kind', async (order) => {
    world.status = 'PENDING';
    expect(await readBy((book) => run(book, order))).toBeLessThan(LIMIT);
  });

  it.each<[string, (book: Book) => Promise<unknown>]>([
    ['a payment by its id', (book) => findPayment(book, 'col_run0' as PaymentId)],
    ['a payment by its transaction', (book) => findByTransId(book, 'T77' as TransId)],
    ['a reply', (book) => replyTo(book, 'col_77' as PaymentId, 999_999)],
    ['refunds', (book) => readRefunds(book, 'col_run0' as PaymentId)],
    ['the sums of refunds', (book) => sumRefunds(book, 'col_9' as PaymentId)],
    ['versions', (book) => versionsOf(book, ['col_77', 'col_78'] as PaymentId[])],
    ['a day', (book) => paymentsOfDay(book, { from: BEGIN, before: BEGIN + DAY_MS }, 50_000, () => undefined)],
    ['payments by their ids', (book) => paymentsWith(book, ['col_77', 'col_78'] as PaymentId[])],
    ['what is open', (book) => countOpen(book, world.now, world.now)],
    ['what is overdue', (book) => takeOverdue(book, MINUTE, 250, world.now)],
    ['the longest overdue', (book) => oldestDue(book, world.now)],
    ['notifications', (book) => notificationsOf(book, 'col_77' as PaymentId, world.now)],
    ['a notification that is sent again', (book) => resendNotification(book, 'col_77' as PaymentId, 1, world.now)],
    ['those that are due', (book) => listUnacknowledged(book, 'due', 100, undefined, world.now)],
    ['those that were given up', (book) => listUnacknowledged(book, 'abandoned', 100, undefined, world.now)],
    ['how many', (book) => countUnacknowledged(book)],
    ['a feed', (book) => listEvents(book, { after: 0, merchant: 'shop-1' }, 100)],
    ['a feed from a time on', (book) => listEvents(book, { after: 0, since: BEGIN + 90 * DAY_MS }, 100)],
    ['places in feeds', (book) => placeNotifications(book)],
    ['up to when feeds are complete', (book) => placedUntil(book, world.now)],
    ['keys of one person', (book) => keysLinkedTo(book.query, { name: 'person 77', keys: ['key 78'] })],
    ['whether somebody was named', (book) => wasNamed(book.query, 'person 77', world.now)],
    ['what was done to a payment', (book) => listAudited(book, ['order'], ['col_77'])],
    ['what was done with payers', (book) => payerRequests(book)],
    ['a payer', (book) => previewErasure(book, { payer: '670000000' })],
    ['the statements', (book) => new Statements(book).list(undefined, 20)],
    ['the latest statement', (book) => new Statements(book).state()],
    ['the statement of a day', (book) => new Statements(book).find(DAY, undefined)],
    ['what matches no payment', (book) => listUnmatched(book)],
    [
      'what matches no payment, kept',
      (book) => keepUnmatched(book, { at: isoTime(world.now), transId: 'T0' as TransId }),
    ],
  ])('by reading %s', async (_, act) => {
    expect(await readBy(act)).toBeLessThan(LIMIT);
  });

  it('by tries to notify merchants', async () => {
    const act = async (book: Book) => {
      const [first, second] = await takeDue(book, { free: 20, byMerchant: new Map() }, world.now);
      if (first === undefined || second === undefined) throw new Error('nothing is due');
      await recordTry(book, first, { kind: 'delivered' }, world.now);
      await recordTry(book, second, { kind: 'failed', reason: 'no answer' }, world.now);
    };
    expect(await readBy(act)).toBeLessThan(LIMIT);
  });

  it("by showing a payer's data, and erasing it", async () => {
    const payer = '677000205';
    let id = '';
    await readBy(async (book) => {
      id = await run(book, { ...payoutOrder, phone: payer });
      await book.query('UPDATE notifications SET due_at = NULL WHERE payment_id = $1', [id]);
    });
    const reason = { by: 'ann', why: 'ticket 4711' };
    expect(await readBy((book) => exportPayer(book, { payer }, reason, world.now))).toBeLessThan(LIMIT);
    const erase = async (book: Book) => {
      const { confirmation } = await previewErasure(book, { payer });
      expect(await erasePayer(book, { payer }, reason, confirmation, world.now)).toMatchObject({ payments: [id] });
      await eraseWhatIsOver(book, world.now);
    };
    expect(await readBy(erase)).toBeLessThan(LIMIT);
  });
});
