import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { keepUnmatched, listUnmatched } from '../../src/book/unmatched.js';
import { newBook, type TestBook } from '../support/books.js';
import { directOrder, paymentId, terms, transId } from '../support/orders.js';
import { Hand, World } from './hand.js';

const at = '2026-11-28T09:00:00.000Z';

let made: TestBook;
let book: Book;
beforeEach(async () => {
  made = await newBook();
  ({ book } = made);
});
afterEach(() => made.drop());

/** All rows as whoever reads the database sees them. */
async function plainText(): Promise<string> {
  const rows = await book.query("SELECT unmatched::text || encode(sealed, 'escape') AS text FROM unmatched");
  return rows.map(({ text }) => String(text)).join('\n');
}

describe('notifications that match no payment', () => {
  it('are listed newest first, and one that says the same once', async () => {
    await keepUnmatched(book, { at, transId: transId('T1'), status: 'PENDING' });
    await keepUnmatched(book, { at, transId: transId('T2') });
    await keepUnmatched(book, { at: '2026-11-28T10:00:00.000Z', transId: transId('T1'), status: 'PENDING' });
    const listed = (await listUnmatched(book)).map((one) => [one.transId, one.at]);
    expect(listed).toEqual([
      ['T1', '2026-11-28T10:00:00.000Z'],
      ['T2', at],
    ]);
  });

  it("are kept sealed where they can't be read, at most 50 of them", async () => {
    for (let number = 0; number < 53; number++) await keepUnmatched(book, { at, unread: `677000${number}` });
    await keepUnmatched(book, { at, unread: '67700052' });
    const listed = await listUnmatched(book);
    expect([listed.length, listed[0]?.unread, listed[49]?.unread]).toEqual([50, '67700052', '6770003']);
    expect(await plainText()).not.toContain('677000');
  });

  it('are kept once by the externalId of another system, which is sealed: it may be a phone number', async () => {
    for (const externalId of ['677000001', '677000002', '677000001']) await keepUnmatched(book, { at, externalId });
    const listed = (await listUnmatched(book)).map(({ externalId }) => externalId);
    expect(listed).toEqual(['677000001', '677000002']);
    expect(await plainText()).not.toContain('677000');
  });

  it('are given to the payment that comes to have the transaction', async () => {
    const world = new World();
    const order = { ...directOrder, id: paymentId('col_1') };
    await claim(book, { order, terms, merchant: 'shop', fingerprint: 'f', requestId: 'r' }, world.now);
    await keepUnmatched(book, { at, transId: transId('T1-col_1'), status: 'SUCCESSFUL' });
    const hand = new Hand(book, world, order.id);
    world.status = 'SUCCESSFUL';
    await hand.run();
    expect(await listUnmatched(book)).toEqual([]);
    // The next turn takes it as the hint that it is, long before the first poll.
    await hand.run();
    const [payment] = await book.query('SELECT status FROM payments WHERE id = $1', [order.id]);
    expect(payment?.status).toBe('SUCCESSFUL');
  });
});
