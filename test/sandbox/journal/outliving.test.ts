import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ManualClock, manualClock } from '../../../sandbox/clock.js';
import { type Journal, openJournal } from '../../../sandbox/journal/journal.js';
import { createSandbox, type Sandbox } from '../../../sandbox/sandbox.js';
import { type MerchantHook, startMerchantHook } from '../merchant-hook.js';
import { credentials, DAY, phones, SECOND, START, services } from '../running-sandbox.js';

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
  const send = async (
    { url }: Life,
    path: string,
    body?: unknown,
    who: keyof typeof services = 'collection',
  ) => {
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
    expect(second.sandbox.ledger.attempt(body.transId, { action: 'pay', phone: phones.succeeds }).kind).toBe(
      'paid',
    );
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
    const told = hook.received.map(({ text }) => JSON.parse(text));
    expect(told.map(({ transId, status }) => [transId, status])).toEqual([
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
