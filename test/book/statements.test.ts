import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { Statements } from '../../src/book/statements.js';
import { DAY_MS, dayAfter, dayOf, HOUR_MS, startOf } from '../../src/payments/words/time.js';
import { type Statement, toStatement } from '../../src/reconciliation/statement.js';
import { newBook, type TestBook } from '../support/books.js';
import { paymentId, payoutOrder, terms } from '../support/orders.js';

const MADE_AT = Date.parse('2026-11-22T02:00:00Z');

let made: TestBook;
let book: Book;
let statements: Statements;

beforeAll(async () => {
  made = await newBook();
  ({ book } = made);
  statements = new Statements(book);
});
afterAll(() => made.drop());

const statementOf = (date: string, version: number, madeAt = MADE_AT): Statement =>
  toStatement({
    ...{ date, version, madeAt, payments: [], differences: [], cutOff: false },
    gaps: { collection: [], payout: [] },
    balances: { collection: {}, payout: {} },
  });

const publish = (runId: string, day: string) => statements.publish(runId, day, (version) => statementOf(day, version));

describe('statements', () => {
  it('are due since the first payment', async () => {
    expect(await statements.state()).toEqual({ latest: undefined, dueSince: undefined });
    const order = { ...payoutOrder, id: paymentId('pay_1') };
    await claim(book, { order, terms, merchant: 'shop', fingerprint: 'body', requestId: 'request' }, MADE_AT - DAY_MS);
    expect((await statements.state()).dueSince).toBe(MADE_AT - DAY_MS);
  });

  it('are versions of a day, one for each run, however many publish at once', async () => {
    const runs = Array.from({ length: 5 }, (_, index) => `run ${index}`);
    const published = await Promise.all(runs.map((run) => publish(run, '2026-11-20')));
    expect(published.map(({ version }) => version).toSorted()).toEqual([1, 2, 3, 4, 5]);
    expect(await publish('run 3', '2026-11-20')).toEqual(published[3]);
    expect((await publish('another', '2026-11-21')).version).toBe(1);
    expect((await statements.list(undefined, 10)).map(({ date, version }) => [date, version])).toEqual([
      ['2026-11-21', 1],
      ['2026-11-20', 5],
    ]);
    expect(await statements.list('2026-11-21', 10)).toMatchObject([{ date: '2026-11-20' }]);
    expect((await statements.state()).latest).toMatchObject({ date: '2026-11-21' });
    expect(await statements.find('2026-11-20', undefined)).toEqual(statementOf('2026-11-20', 5));
    expect((await statements.find('2026-11-20', 2))?.version).toBe(2);
    expect(await statements.find('2026-11-19', undefined)).toBeUndefined();
  });

  it('of a day so far are taken for nothing more once that day is over', async () => {
    const other = await newBook(undefined, () => now);
    let now = MADE_AT;
    const statements = new Statements(other.book);
    const today = dayOf(now);
    const [missed, night] = [dayAfter(today, -1), dayAfter(today, -2)];
    const publish = (day: string, made: string, madeAt: number) =>
      statements.publish(`${made} of ${day}`, day, (version) => statementOf(day, version, madeAt));
    await publish(today, 'noon', now);
    await publish(missed, 'evening', startOf(today) - 1);
    await publish(night, 'noon', startOf(night) + 12 * HOUR_MS);
    await publish(night, 'night', startOf(missed) + 3 * HOUR_MS);

    const list = async () => (await statements.list(undefined, 9)).map(({ date, version }) => [date, version]);
    expect(await list()).toEqual([
      [today, 1],
      [night, 2],
    ]);
    expect((await statements.state()).latest).toMatchObject({ date: night, version: 2 });
    expect(await statements.find(today, undefined)).toMatchObject({ version: 1 });
    expect(await statements.find(missed, undefined)).toBeUndefined();
    expect(await statements.find(missed, 1)).toMatchObject({ version: 1 });
    const versions = [today, missed, night, '2020-01-01'].map((day) => statements.lastVersion(day));
    expect(await Promise.all(versions)).toEqual([1, 1, 2, 0]);
    await publish(missed, 'midnight', startOf(today));
    expect(await statements.find(missed, undefined)).toMatchObject({ version: 2 });
    now += DAY_MS;
    expect(await list()).toEqual([
      [missed, 2],
      [night, 2],
    ]);
    await other.drop();
  });

  it('are refused where a piece is missing, or another one has its place', async () => {
    await publish('damaged', '2026-11-18');
    await publish('other', '2026-11-17');
    await book.query(
      `UPDATE statement_pieces SET content = (SELECT content FROM statement_pieces WHERE run_id = 'other' AND number = 0)
        WHERE run_id = 'damaged' AND number = 0`,
    );
    await expect(statements.find('2026-11-18', undefined)).rejects.toThrow('belongs to another row');
    await book.query("DELETE FROM statement_pieces WHERE run_id = 'damaged'");
    await expect(statements.find('2026-11-18', undefined)).rejects.toThrow('some of its pieces are missing');
  });
});

describe('the parts of a statement that is being made', () => {
  const PART = { name: 'part', schema: z.array(z.number()), empty: [] };

  it('are kept for the next worker until it is made, or abandoned for a month', async () => {
    expect(await statements.part('making', PART)).toEqual([]);
    await statements.savePart('making', PART, [1]);
    await statements.savePart('making', PART, [1, 2]);
    expect(await statements.part('making', PART)).toEqual([1, 2]);
    await statements.savePart('abandoned', PART, [3], MADE_AT - 31 * DAY_MS);
    await statements.savePart('under way', PART, [4], MADE_AT - 29 * DAY_MS);
    await publish('making', '2026-11-16');
    expect(await statements.part('making', PART)).toEqual([]);
    expect(await statements.part('abandoned', PART)).toEqual([]);
    expect(await statements.part('under way', PART)).toEqual([4]);
  });

  it('have the first balance that was asked for', async () => {
    await statements.saveBalance('2026-11-20', 'payout', 1_000, MADE_AT);
    await statements.saveBalance('2026-11-20', 'payout', 2_000, MADE_AT + 1);
    expect(await statements.balance('2026-11-20', 'payout')).toEqual({
      balance: 1_000,
      asOf: new Date(MADE_AT).toISOString(),
    });
    expect(await statements.balance('2026-11-20', 'collection')).toBeUndefined();
  });
});
