import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { eraseWhatIsOver } from '../../src/book/erasing.js';
import {
  erasePayer,
  exportPayer,
  OtherErasureError,
  payerRequests,
  previewErasure,
} from '../../src/book/payer-data.js';
import { MissingKeyError } from '../../src/book/payers.js';
import { findPayment } from '../../src/book/payments.js';
import { resealAll } from '../../src/book/resealing.js';
import type { DirectOrder, LinkOrder } from '../../src/payments/words/order.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { type EncryptionKey, keysOf } from '../../src/temporal/encryption.js';
import { newBook, type TestBook } from '../support/books.js';
import { MINUTE, paymentId, terms } from '../support/orders.js';
import { freshKey } from '../support/test-encryption.js';
import { Hand, World } from './hand.js';

const REASON = { by: 'ann', why: 'ticket 4711' };
const WORDS = ['677000205', 'Jane', 'jane', 'Two tickets', 'customer-7', 'for Jane', 'digest-of-the-body'];

const one = freshKey('one');
const encryptedBy = (...keys: EncryptionKey[]) => ({ keys: keysOf(keys), isOn: true });

let made: TestBook;
let url: string;
let book: Book;
const world = new World();

beforeAll(async () => {
  made = await newBook();
  ({ url } = made);
  book = new Book(url, encryptedBy(one));
});
afterAll(async () => {
  await book.close();
  await made.drop();
});

const direct = (name: string, phone = '677000205'): DirectOrder => ({
  ...{ id: paymentId(`col_${name}`), kind: 'direct', amount: 5_000, phone, medium: 'mobile money', name: 'Jane Payer' },
  ...{ email: 'Jane@example.org', message: 'Two tickets', externalId: `order-${name}`, userId: 'customer-7' },
  metadata: { cart: 'for Jane' },
});

async function ordered(order: DirectOrder | LinkOrder, merchant = 'shop', on = book): Promise<PaymentId> {
  const claimed = { order, terms, merchant, fingerprint: 'digest-of-the-body', requestId: 'request-1' };
  expect(await claim(on, claimed, world.now)).toEqual({ kind: 'claimed' });
  world.now += 1;
  return order.id;
}

/** Has a payment paid, and told to its merchant. */
async function over(id: PaymentId): Promise<PaymentId> {
  const hand = new Hand(book, world, id);
  await hand.run();
  world.status = 'SUCCESSFUL';
  world.now += 10 * MINUTE;
  await hand.run();
  await book.query("UPDATE notifications SET due_at = NULL, delivery = 'delivered' WHERE payment_id = $1", [id]);
  return id;
}

const erase = async (payer: string, merchant?: string) => {
  const { confirmation } = await previewErasure(book, { payer, merchant });
  return await erasePayer(book, { payer, merchant }, REASON, confirmation, world.now);
};

/** All that the book has of a payment, as text. */
async function dump(id: PaymentId): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  const tables = ['payments', 'states', 'sends', 'inbox', 'notifications', 'erasures'];
  const rows: unknown[] = [];
  for (const table of tables) {
    const found = await client.query(`SELECT ${table}::text AS row FROM ${table} WHERE ${table}::text LIKE $1`, [
      `%${id}%`,
    ]);
    rows.push(found.rows);
  }
  await client.end();
  const state = await findPayment(book, id);
  return JSON.stringify([rows, state?.kept.state.order]);
}

describe("a payer's data", () => {
  it('is erased from a payment that is over, whose key still holds', async () => {
    const [id, kept] = [await ordered(direct('erased', '677000999')), await ordered(direct('kept'))];
    await over(id);
    expect(await dump(id)).toContain('677000999');
    expect(await erase('677000999')).toEqual({ payments: [id], underWay: [] });
    const text = await dump(id);
    for (const word of [...WORDS, '677000999']) expect(text).not.toContain(word);
    expect(text).toContain('order-erased');
    expect(await dump(kept)).toContain('Two tickets');
    const again = { order: direct('erased', '677000999'), terms, merchant: 'shop', fingerprint: 'x', requestId: 'y' };
    expect(await claim(book, again, world.now)).toEqual({ kind: 'otherRequest', isErased: true });
    expect(await previewErasure(book, { payer: '677000999' })).toMatchObject({ payments: [] });
  });

  it('is erased of one under way once that is over, and its merchant was told', async () => {
    const id = await ordered(direct('open', '677000111'));
    expect(await erase('677000111')).toEqual({ payments: [], underWay: [id] });
    const hand = new Hand(book, world, id);
    await hand.run();
    expect(await eraseWhatIsOver(book, world.now)).toEqual([]);
    expect(world.requests(id)).toBe(1);
    world.status = 'SUCCESSFUL';
    world.now += 10 * MINUTE;
    await hand.run();
    expect(await eraseWhatIsOver(book, world.now)).toEqual([]);
    await book.query('UPDATE notifications SET due_at = NULL WHERE payment_id = $1', [id]);
    const done = await Promise.all([eraseWhatIsOver(book, world.now), eraseWhatIsOver(book, world.now)]);
    expect(done.flat()).toEqual([id]);
    const text = await dump(id);
    for (const word of WORDS) expect(text).not.toContain(word);
  });

  it('is erased although that of another payment can not be', async () => {
    const ids = [await ordered(direct('broken', '677000222')), await ordered(direct('sound', '677000222'))];
    expect(await erase('677000222')).toEqual({ payments: [], underWay: ids });
    for (const id of ids) await over(id);
    const [broken = '', sound] = ids;
    const [was] = await book.query('SELECT sealed FROM states WHERE id = $1', [broken]);
    await book.query("UPDATE states SET sealed = 'x' WHERE id = $1", [broken]);
    const failed: string[] = [];
    expect(await eraseWhatIsOver(book, world.now, undefined, (_, id) => failed.push(id))).toEqual([sound]);
    expect(failed).toEqual([broken]);
    await book.query('UPDATE states SET sealed = $2 WHERE id = $1', [broken, was?.sealed as Buffer]);
    expect(await eraseWhatIsOver(book, world.now)).toEqual([broken]);
  });

  it('is listed before, and erased only as it was listed', async () => {
    const payer = '677000321';
    const own = await over(await ordered(direct('own', payer)));
    const rivals = await over(await ordered(direct('rivals', payer), 'rival'));
    const { payments, confirmation } = await previewErasure(book, { payer });
    expect(payments.map(({ id, merchant, status }) => [id, merchant, status])).toEqual([
      [own, 'shop', 'SUCCESSFUL'],
      [rivals, 'rival', 'SUCCESSFUL'],
    ]);
    expect(confirmation).toMatch(/^2-[0-9a-f]{16}$/);
    const since = await ordered(direct('since', payer));
    await expect(erasePayer(book, { payer }, REASON, confirmation, world.now)).rejects.toThrow(OtherErasureError);
    const ofRival = await previewErasure(book, { payer, merchant: 'rival' });
    await expect(erasePayer(book, { payer }, REASON, ofRival.confirmation, world.now)).rejects.toThrow(/^Nothing was/);
    expect(await payerRequests(book, payer)).toEqual([]);
    expect(await erase(payer, 'rival')).toEqual({ payments: [rivals], underWay: [] });
    expect(await erase(payer)).toEqual({ payments: [own], underWay: [since] });
  });

  it('is shown whole, and that is written down, as an erasure is, with who asked and why', async () => {
    const payer = '677000543';
    const id = await over(await ordered(direct('shown', payer)));
    const shown = await exportPayer(book, { payer }, { by: 'bob', why: 'letter of the payer' }, world.now);
    expect(shown).toMatchObject({
      payer,
      payments: [
        {
          merchant: 'shop',
          payment: { id, amount: 5_000, status: 'SUCCESSFUL' },
          order: { phone: payer, name: 'Jane Payer', email: 'Jane@example.org', message: 'Two tickets' },
          notifications: [{ id: `evt_${id}_succeeded_1`, type: 'payment.succeeded' }],
        },
      ],
      requests: [],
    });
    await erase(payer, 'shop');
    const [first, second] = await payerRequests(book, payer);
    expect(first).toMatchObject({ kind: 'export', payments: 1, by: 'bob', why: 'letter of the payer' });
    expect(second).toMatchObject({ kind: 'erase', payments: 1, merchant: 'shop', ...REASON });
    expect(JSON.stringify([first, second])).not.toContain(payer);
    const keyless = new Book(url, encryptedBy(freshKey('unknown')));
    expect((await payerRequests(keyless)).map(({ why }) => why)).toContain(undefined);
    await keyless.close();
  });
});

describe('after a change of keys', () => {
  const two = freshKey('two');

  it('a payer is found by all of them, and nothing is done while one is missing', async () => {
    const later = new Book(url, encryptedBy(two, one));
    const [old, young] = [
      await ordered(direct('old', '677000888')),
      await ordered(direct('young', '677000888'), 'shop', later),
    ];
    expect((await previewErasure(later, { payer: '677000888' })).payments.map(({ id }) => id)).toEqual([old, young]);
    expect((await previewErasure(later, { payer: 'jane@example.org' })).payments.length).toBeGreaterThan(2);
    await later.close();
    await expect(previewErasure(book, { payer: '677000888' })).rejects.toThrow(MissingKeyError);
    await expect(previewErasure(book, { payer: '677000888' })).rejects.toThrow(
      /^Nothing was done: .*"two".* ENCRYPTION_KEYS/,
    );
  });

  it('all is sealed with the present one, and the earlier one is needed no more', async () => {
    const both = new Book(url, encryptedBy(two, one));
    const sealed: Record<string, number> = {};
    await resealAll(both, (table, rows) => {
      sealed[table] = rows;
    });
    expect(sealed).toMatchObject({ 'states.sealed': expect.any(Number), 'payments.payers': expect.any(Number) });
    expect(sealed['states.sealed']).toBeGreaterThan(4);
    expect(sealed['audit.detail']).toBeGreaterThan(3);
    await resealAll(both, (_, rows) => expect(rows).toBe(0));
    await both.close();

    const later = new Book(url, encryptedBy(two));
    const { payments } = await previewErasure(later, { payer: '677000888' });
    expect(payments).toHaveLength(2);
    for (const { id } of payments) expect((await findPayment(later, id))?.kept.state.order.id).toBe(id);
    expect((await payerRequests(later)).map(({ why }) => why)).not.toContain(undefined);
    await later.close();
  });
});
