import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ManualClock, manualClock } from '../../sandbox/clock.js';
import type { Entry } from '../../sandbox/entry.js';
import { type Journal, openJournal } from '../../sandbox/journal.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import { credentials, DAY, phones, SECOND, START, services } from '../support/running-sandbox.js';
import { type MerchantHook, startMerchantHook } from './merchant-hook.js';

interface Life {
  readonly sandbox: Sandbox;
  readonly clock: ManualClock;
  readonly journal: Journal;
  readonly url: string;
}

describe('a sandbox with a journal', () => {
  let folder: string;
  let hook: MerchantHook;
  const lives: Life[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-journal-'));
    hook = await startMerchantHook();
  });

  afterEach(async () => {
    for (const { sandbox, journal } of lives.splice(0)) {
      await sandbox.close();
      journal.close();
    }
    await rm(folder, { recursive: true, force: true });
  });

  /** The next life of the sandbox, at a time. The one before is left as a kill leaves it: with nothing more to say. */
  async function live(time: number): Promise<Life> {
    const clock = manualClock(time);
    const journal = openJournal(join(folder, 'journal.jsonl'));
    const sandbox = createSandbox({
      clock,
      journal,
      merchantName: 'Shop',
      services: {
        collection: { ...services.collection, webhookUrl: hook.url },
        payout: { ...services.payout, webhookUrl: hook.url },
      },
      webhookDelayMs: 200,
      publicUrl: 'http://127.0.0.1:1',
    });
    const { url } = await sandbox.listen(0);
    const life = { sandbox, clock, journal, url };
    lives.push(life);
    return life;
  }

  const advance = async ({ clock, sandbox }: Life, ms: number) => {
    const end = clock.now() + ms;
    for (let due = clock.nextDue(); due !== undefined && due <= end; due = clock.nextDue()) {
      clock.advanceTo(due);
      await sandbox.quiet();
    }
    clock.advanceTo(end);
  };
  const send = async ({ url }: Life, path: string, body?: unknown, who: keyof typeof services = 'collection') => {
    const json = { 'content-type': 'application/json' };
    const response = await fetch(url + path, {
      headers: { ...credentials(who), ...json },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, body: Object(await response.json()) };
  };

  it('knows what was answered for in an earlier life, as it stood', async () => {
    const first = await live(START);
    const { body } = await send(first, '/direct-pay', {
      amount: 1000,
      phone: phones.stays,
      externalId: 'order-7',
      userId: 'client-1',
      email: 'payer@example.com',
    });
    const before = await send(first, `/payment-status/${body.transId}`);

    const second = await live(START + SECOND);
    expect(await send(second, `/payment-status/${body.transId}`)).toEqual(before);
    expect((await send(second, '/transaction/client-1')).body).toEqual([before.body]);
  });

  it('keeps the address of a link, which can then be paid', async () => {
    const first = await live(START);
    const { body } = await send(first, '/initiate-pay', { amount: 1000 });
    const token = new URL(body.link).pathname.split('/').at(-1) ?? '';

    const second = await live(START + SECOND);
    expect(second.sandbox.ledger.findByLinkToken(token)?.transId).toBe(body.transId);
    expect(second.sandbox.ledger.attempt(body.transId, { action: 'pay', phone: phones.succeeds }).kind).toBe('paid');
  });

  it('brings to its outcome what was pending, and tells of it, also when that fell due meanwhile', async () => {
    const first = await live(START);
    const direct = { amount: 1000, phone: phones.succeedsIn5s };
    const { body } = await send(first, '/direct-pay', direct);

    const second = await live(START + 20 * SECOND);
    await advance(second, SECOND);
    const entry = second.sandbox.ledger.find(body.transId);
    expect(entry?.history.at(-1)).toEqual({ status: 'SUCCESSFUL', at: START + 5 * SECOND });
    expect(hook.statuses()).toEqual(['SUCCESSFUL']);
  });

  it('expires a link whose 24 hours went by meanwhile', async () => {
    const first = await live(START);
    const { body } = await send(first, '/initiate-pay', { amount: 1000 });
    const second = await live(START + DAY + SECOND);
    expect((await send(second, `/payment-status/${body.transId}`)).body.status).toBe('EXPIRED');
  });

  it('sends a notification that it still owed, and none that was acknowledged', async () => {
    const first = await live(START);
    const one = await send(first, '/direct-pay', { amount: 1000, phone: phones.succeeds });
    await advance(first, 2 * SECOND);
    expect(hook.received).toHaveLength(1);
    const other = await send(first, '/direct-pay', { amount: 1000, phone: phones.fails });
    // Decided, and not told yet.
    await advance(first, SECOND);
    expect(hook.received).toHaveLength(1);

    const second = await live(START + 4 * SECOND);
    await advance(second, DAY);
    const notified = hook.received.map(({ text }) => JSON.parse(text));
    expect(notified.map(({ transId, status }) => [transId, status])).toEqual([
      [one.body.transId, 'SUCCESSFUL'],
      [other.body.transId, 'FAILED'],
    ]);
  });

  it('goes on with the tries of a notification where they ended', async () => {
    hook.answers.splice(0, 1, 503);
    const first = await live(START);
    await send(first, '/direct-pay', { amount: 1000, phone: phones.succeeds });
    await advance(first, 1200);
    expect(hook.received).toHaveLength(1);

    const second = await live(START + 2 * SECOND);
    await advance(second, DAY);
    expect(hook.received).toHaveLength(3);
  });

  it('does not make up for a notification that a fault has dropped', async () => {
    const first = await live(START);
    first.sandbox.faults.add({ fault: 'webhookDrop' });
    await send(first, '/direct-pay', { amount: 1000, phone: phones.succeeds });
    await advance(first, 2 * SECOND);

    await advance(await live(START + 4 * SECOND), DAY);
    expect(hook.received).toEqual([]);
  });

  it('goes on counting the six questions a minute', async () => {
    const first = await live(START);
    const { body } = await send(first, '/direct-pay', { amount: 1000, phone: phones.stays });
    for (let call = 0; call < 6; call++) await send(first, `/payment-status/${body.transId}`);

    const second = await live(START + 30 * SECOND);
    expect((await send(second, `/payment-status/${body.transId}`)).status).toBe(429);
    const third = await live(START + 61 * SECOND);
    expect((await send(third, `/payment-status/${body.transId}`)).status).toBe(200);
    expect(third.sandbox.ledger.find(body.transId)?.statusCalls).toMatchObject({ throttled: 1 });
  });

  it('keeps what was committed though nobody was answered', async () => {
    const first = await live(START);
    first.sandbox.faults.add({ fault: 'resetAfterCommit', endpoint: 'payout' });
    const order = { amount: 1000, phone: phones.succeeds, userId: 'client-1' };
    await expect(send(first, '/payout', order, 'payout')).rejects.toThrow();

    const second = await live(START + SECOND);
    const [kept] = (await send(second, '/transaction/client-1', undefined, 'payout')).body;
    expect(kept).toMatchObject({ amount: 1000, transType: 'Payout' });
  });

  it('hides a new transaction from lists for as long as the fault wanted', async () => {
    const first = await live(START);
    first.sandbox.faults.add({ fault: 'listLag', delayMs: 10 * SECOND });
    await send(first, '/direct-pay', { amount: 1000, phone: phones.stays, userId: 'client-1' });

    const second = await live(START + 5 * SECOND);
    expect((await send(second, '/transaction/client-1')).body).toEqual([]);
    await advance(second, 5 * SECOND);
    expect((await send(second, '/transaction/client-1')).body).toHaveLength(1);
  });

  it('goes on counting the POSTs of each externalId', async () => {
    const order = { amount: 1000, phone: phones.stays, externalId: 'order-7' };
    const first = await live(START);
    await send(first, '/direct-pay', order);
    first.sandbox.faults.add({ fault: 'errorBeforeCommit' });
    await expect(send(first, '/direct-pay', order)).rejects.toThrow();

    const second = await live(START + SECOND);
    await send(second, '/direct-pay', order);
    const third = await live(START + 2 * SECOND);
    expect(third.sandbox.posts.all()).toEqual([{ externalId: 'order-7', received: 3, committed: 2 }]);
  });

  it('gives no id twice', async () => {
    const first = await live(START);
    const one = await send(first, '/direct-pay', { amount: 1000, phone: phones.stays });
    const second = await live(START + SECOND);
    const other = await send(second, '/direct-pay', { amount: 1000, phone: phones.stays });
    expect(other.body.transId).not.toBe(one.body.transId);
    expect(second.sandbox.ledger.all().map(({ sequence }) => sequence)).toEqual([0, 1]);
  });
});

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
  attempts: [
    { at: 1_800, action: 'pay', phoneEnding: '205', withdrawn: true },
    { at: 2_000, action: 'pay', phoneEnding: '206' },
  ],
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
    first.saveEntry(one, 1_000);
    first.saveEntry(other, 1_100);
    one.status = 'SUCCESSFUL';
    one.settlement = undefined;
    one.confirmedAt = 5_000;
    first.saveEntry(one, 5_000);

    expect(open().entries).toEqual([one, other]);
  });

  it('has written what it was given when it returns', async () => {
    const journal = open();
    journal.saveEntry(full('one', 0), 1_000);
    expect((await readFile(file, 'utf8')).split('\n')).toEqual([expect.stringContaining('"one"'), '']);
  });

  it('drops a last line that breaks off, and goes on after it', async () => {
    const first = open();
    first.saveEntry(full('one', 0), 1_000);
    const line = await readFile(file, 'utf8');
    await appendFile(file, line.slice(0, line.length / 2));

    const second = open();
    expect(second.entries).toEqual([full('one', 0)]);
    second.saveEntry(full('other', 1), 1_100);
    expect(open().entries).toHaveLength(2);
  });

  it('keeps nothing but the last line about each at the opening, so that it does not grow for ever', async () => {
    const first = open();
    for (let time = 0; time < 20; time++) {
      first.saveEntry(full('one', 0), time);
      first.savePosts({ externalId: 'order-7', received: time, committed: 0 }, time);
    }
    const second = open();
    expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(2);
    expect(second.entries).toEqual([full('one', 0)]);
    expect(second.posts).toEqual([{ externalId: 'order-7', received: 19, committed: 0 }]);
  });

  it('names a line that can not be read, and leaves the file alone', async () => {
    open().saveEntry(full('one', 0), 1_000);
    const text = `${await readFile(file, 'utf8')}{"real": 1}\n`;
    await writeFile(file, text);
    expect(() => openJournal(file)).toThrow('line 2');
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('lets the clock go on as if it had never stopped, however fast it runs', () => {
    open().saveEntry(full('one', 0), 1_000_000);
    const second = open();
    const slow = second.clockNow(1) ?? 0;
    const fast = second.clockNow(1_000_000) ?? 0;
    expect(slow).toBeGreaterThanOrEqual(1_000_000);
    expect(slow).toBeLessThan(1_000_000 + 60_000);
    expect(fast - 1_000_000).toBeGreaterThanOrEqual((slow - 1_000_000) * 1_000_000);
  });
});
