import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { BookUnavailable } from '../../src/book/database.js';
import { Seals } from '../../src/book/seals.js';
import { piecesOf } from '../../src/book/statement-content.js';
import { piecePlace, Statements } from '../../src/book/statements.js';
import { type Statement, toStatement } from '../../src/reconciliation/statement.js';
import { testEncryption } from '../support/test-encryption.js';

const seals = new Seals(testEncryption);

const statementOf = (date: string, version: number): Statement =>
  toStatement({
    ...{ date, version, madeAt: Date.parse('2026-11-22T02:00:00Z'), payments: [], differences: [] },
    gaps: { collection: [], payout: [] },
    balances: { collection: {}, payout: {} },
    cutOff: false,
  });

/** A database that takes its time, and notes which statements it has given, and how many queries it had at once. */
class Stored {
  readonly given: string[] = [];
  /** Queries at once. */
  most = 0;
  /** Waits before a query's answer. */
  answers: () => Promise<void> = () => pause(2);
  readonly statements: Statements;
  readonly #rows: {
    day: string;
    version: number;
    runId: string;
    content: Buffer;
    payments: number;
    differences: number;
  }[] = [];
  #underway = 0;

  constructor() {
    const query: Book['query'] = (text, values) => this.#query(text, values);
    this.statements = new Statements({ query, seals, now: Date.now } as Book);
  }

  async keep(day: string, version = 1): Promise<void> {
    const [piece = {}] = piecesOf(statementOf(day, version));
    const counts = { payments: 0, differences: 0 };
    const runId = `${day}, version ${version}`;
    this.#rows.push({ day, version, runId, ...counts, content: await seals.seal(piecePlace(runId, 0), piece) });
  }

  async #query(text: string, [first, version]: readonly unknown[] = []) {
    this.#underway += 1;
    this.most = Math.max(this.most, this.#underway);
    try {
      await this.answers();
    } finally {
      this.#underway -= 1;
    }
    if (text.startsWith('SELECT run_id')) {
      return this.#rows.filter((row) => row.day === first && row.version === (version ?? row.version)).slice(-1);
    }
    this.given.push(String(first));
    return this.#rows.filter((row) => row.runId === first);
  }
}

const DAYS = ['2026-11-18', '2026-11-19', '2026-11-20'] as const;
const [FIRST, SECOND, THIRD] = DAYS;

async function stored(): Promise<Stored> {
  const one = new Stored();
  for (const day of DAYS) await one.keep(day);
  return one;
}

const nameOf = (found: Statement | undefined) => found && `${found.date}, version ${found.version}`;

afterEach(() => {
  jest.useRealTimers();
});

describe('statements', () => {
  it('are opened once for all who read a day at once, by one query at a time', async () => {
    const database = await stored();
    const readers = Array.from({ length: 40 }, () => database.statements.find(FIRST, undefined));
    const found = await Promise.all(readers);
    expect(found.map(nameOf)).toEqual(found.map(() => `${FIRST}, version 1`));
    expect(found[0]).toEqual(JSON.parse(JSON.stringify(statementOf(FIRST, 1))));
    expect(database).toMatchObject({ given: [`${FIRST}, version 1`], most: 1 });
  });

  it('are opened one at a time, however many days are read at once', async () => {
    const database = await stored();
    const days = Array.from({ length: 10 }, () => DAYS).flat();
    const found = await Promise.all(days.map((day) => database.statements.find(day, 1)));
    expect(found.map((one) => one?.date)).toEqual(days);
    expect(database.most).toBe(1);
  });

  it('are held for the next readers, the last two', async () => {
    const { statements, given } = await stored();
    for (const day of [FIRST, SECOND, FIRST, SECOND, THIRD, SECOND]) await statements.find(day, undefined);
    expect(given).toEqual([FIRST, SECOND, THIRD].map((day) => `${day}, version 1`));
    await statements.find(FIRST, undefined);
    expect(given).toHaveLength(4);
  });

  it('are forgotten half a minute after the last was opened', async () => {
    const database = await stored();
    const { statements, given } = database;
    database.answers = async () => undefined;
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    await statements.find(FIRST, 1);
    await jest.advanceTimersByTimeAsync(31_000);
    await statements.find(FIRST, 1);
    expect(given).toHaveLength(2);
  });

  it('are given in their latest version as soon as there is one', async () => {
    const database = await stored();
    expect(nameOf(await database.statements.find(FIRST, undefined))).toBe(`${FIRST}, version 1`);
    await database.keep(FIRST, 2);
    expect(nameOf(await database.statements.find(FIRST, undefined))).toBe(`${FIRST}, version 2`);
    expect(nameOf(await database.statements.find(FIRST, 1))).toBe(`${FIRST}, version 1`);
    await expect(database.statements.find(FIRST, 3)).resolves.toBeUndefined();
    await expect(database.statements.find('2026-11-21', undefined)).resolves.toBeUndefined();
  });

  it('are read again after a failure', async () => {
    const database = await stored();
    const { answers } = database;
    database.answers = () => Promise.reject(new BookUnavailable('away', false));
    await expect(database.statements.find(FIRST, 1)).rejects.toThrow('away');
    database.answers = answers;
    expect(nameOf(await database.statements.find(FIRST, 1))).toBe(`${FIRST}, version 1`);
  });

  it('are given up when the turn of a reader does not come', async () => {
    const database = await stored();
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    let goOn: () => void = () => undefined;
    const hangs = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    database.answers = () => hangs;
    const first = database.statements.find(FIRST, 1);
    const second = database.statements.find(SECOND, 1);
    const isAway = expect(second).rejects.toThrow(BookUnavailable);
    await jest.advanceTimersByTimeAsync(10_001);
    await isAway;
    goOn();
    expect(nameOf(await first)).toBe(`${FIRST}, version 1`);
    expect(nameOf(await database.statements.find(THIRD, 1))).toBe(`${THIRD}, version 1`);
    expect(database.given).not.toContain(`${SECOND}, version 1`);
  });
});
