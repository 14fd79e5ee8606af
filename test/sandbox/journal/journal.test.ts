import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Entry } from '../../../sandbox/entry.js';
import { type Journal, openJournal } from '../../../sandbox/journal/journal.js';

/** A transaction with something in every field that there is. */
const full = (transId: string, sequence: number): Entry => ({
  service: 'collection',
  serviceName: 'Shop collections',
  method: 'link',
  amount: 1000,
  medium: 'mobile money',
  email: 'payer@example.com',
  payerName: 'A. Payer',
  redirectUrl: 'https://shop.example/thanks',
  externalId: 'order-7',
  userId: 'client-1',
  message: 'Two tickets',
  webhook: 'https://shop.example/hooks/token',
  sequence,
  transId,
  createdAt: 1_000,
  linkToken: 'a-token',
  expiresAt: 90_000,
  listedFrom: 1_500,
  status: 'PENDING',
  reason: undefined,
  financialTransId: undefined,
  confirmedAt: undefined,
  settlement: { at: 5_000, status: 'SUCCESSFUL' },
  history: [
    { status: 'CREATED', at: 1_000 },
    { status: 'PENDING', at: 2_000 },
  ],
  attempts: [{ at: 2_000, action: 'pay' }],
  statusCalls: { answered: 2, throttled: 1, recent: [2_100, 2_200] },
  notifications: [
    {
      status: 'FAILED',
      at: 2_000,
      faults: ['webhookDouble'],
      tries: [
        { at: 2_100, answer: 503 },
        { at: 3_100, answer: 'ECONNREFUSED' },
      ],
      acknowledged: false,
    },
  ],
  faults: new Map([['slow', 2]]),
});

describe('a journal', () => {
  let folder: string;
  let file: string;
  const journals: Journal[] = [];
  const open = () => {
    const journal = openJournal(file);
    journals.push(journal);
    return journal;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-journal-'));
    file = join(folder, 'journal.jsonl');
  });

  afterEach(async () => {
    for (const journal of journals.splice(0)) journal.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('begins empty, for its owner alone', async () => {
    const journal = open();
    expect(journal.entries).toEqual([]);
    expect(journal.clockNow(1)).toBeUndefined();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('gives back every transaction as it stood last, oldest first', () => {
    const first = open();
    const [one, other] = [full('one', 0), full('other', 1)];
    first.keep(one, 1_000);
    first.keep(other, 1_100);
    one.status = 'SUCCESSFUL';
    one.settlement = undefined;
    one.confirmedAt = 5_000;
    first.keep(one, 5_000);

    expect(open().entries).toEqual([one, other]);
  });

  it('has written what it was given when it returns', async () => {
    const journal = open();
    journal.keep(full('one', 0), 1_000);
    expect((await readFile(file, 'utf8')).split('\n')).toEqual([expect.stringContaining('"one"'), '']);
  });

  it('drops a last line that breaks off, and goes on after it', async () => {
    const first = open();
    first.keep(full('one', 0), 1_000);
    const line = await readFile(file, 'utf8');
    await appendFile(file, line.slice(0, line.length / 2));

    const second = open();
    expect(second.entries).toEqual([full('one', 0)]);
    second.keep(full('other', 1), 1_100);
    expect(open().entries).toHaveLength(2);
  });

  it('keeps nothing but the last line about each at the opening, so that it does not grow for ever', async () => {
    const first = open();
    for (let time = 0; time < 20; time++) {
      first.keep(full('one', 0), time);
      first.keepPosts({ externalId: 'order-7', received: time, committed: 0 }, time);
    }
    const second = open();
    expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(2);
    expect(second.entries).toEqual([full('one', 0)]);
    expect(second.posts).toEqual([{ externalId: 'order-7', received: 19, committed: 0 }]);
  });

  it('names a line that can not be read, and leaves the file alone', async () => {
    open().keep(full('one', 0), 1_000);
    const text = `${await readFile(file, 'utf8')}{"real": 1}\n`;
    await writeFile(file, text);
    expect(() => openJournal(file)).toThrow('line 2');
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('lets the clock go on as if it had never stopped, however fast it runs', () => {
    open().keep(full('one', 0), 1_000_000);
    const second = open();
    const slow = second.clockNow(1) ?? 0;
    const fast = second.clockNow(1_000_000) ?? 0;
    expect(slow).toBeGreaterThanOrEqual(1_000_000);
    expect(slow).toBeLessThan(1_000_000 + 60_000);
    expect(fast - 1_000_000).toBeGreaterThanOrEqual((slow - 1_000_000) * 1_000_000);
  });
});
