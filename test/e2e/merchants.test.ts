import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Of } from '../../src/settings/api-keys.js';
import type { MerchantHook } from '../../stack/demo/merchant.js';
import { atCheckout } from '../../stack/demo/payer.js';
import type { StackPart } from '../../stack/processes/stack.js';
import { eventually } from '../support/eventually.js';
import { bringUp, openDocumentedHook, type RunningStack } from '../support/running-stack.js';

describe("the merchants' file", () => {
  let folder: string;
  let running: RunningStack;
  const hooks: MerchantHook[] = [];

  /** A merchant with a key that is its name and a number. */
  const merchant = (name: string, keyNumbers: readonly number[], hook?: MerchantHook) => ({
    name,
    keys: keyNumbers.map((number) => ({
      sha256: sha256Of(`${name}-${number}`),
      scopes: ['collections', 'payouts', 'read'],
    })),
    webhooks: hook === undefined ? [] : [{ url: hook.url, secrets: [hook.secret] }],
  });

  const path = () => join(folder, 'merchants.json');
  async function write(content: unknown): Promise<void> {
    const draft = join(folder, 'draft');
    await writeFile(draft, JSON.stringify(content));
    await rename(draft, path());
  }

  const hangUp = (part: StackPart) => process.kill(running.stack.part(part).pid, 'SIGHUP');
  /** Until the processes have written something so many times. */
  async function logged(text: string, count: number): Promise<void> {
    await eventually(
      async () => (await running.logs()).split(text).length - 1,
      (times) => times >= count,
    );
  }

  const call = (key: string, method: 'GET' | 'POST', address: string, body?: unknown) =>
    running.call(method, address, body, { authorization: `Bearer ${key}` });
  /** 404 for a key that is known, 401 for any other. */
  const status = async (key: string) =>
    (await call(key, 'GET', '/v1/payments/col_00000000000000000000000000000000')).status;
  const collect = async (key: string): Promise<string> => {
    const response = await call(key, 'POST', '/v1/collections', {
      method: 'direct',
      amount: 900,
      phone: '677000000',
    });
    const { id } = (await response.json()) as { id: string };
    return id;
  };
  async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
    await eventually(
      async () => ({ what, holds: await holds() }),
      (now) => now.holds,
    );
  }

  const [shop, market] = [0, 1];
  const hookOf = (index: number): MerchantHook => {
    const hook = hooks[index];
    if (hook === undefined) throw new Error('no such hook');
    return hook;
  };
  let before: unknown;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-merchants-'));
    hooks.push(await openDocumentedHook(), await openDocumentedHook());
    before = {
      merchants: [merchant('shop', [1], hookOf(shop)), merchant('market', [1], hookOf(market))],
    };
    await write(before);
    running = await bringUp({
      API_KEYS: '',
      MERCHANT_WEBHOOK_URL: '',
      MERCHANT_WEBHOOK_SECRET: '',
      MERCHANTS_FILE: path(),
    });
  });

  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true });
    for (const hook of hooks) await hook.close();
  });

  it('has each merchant told of its own payments alone, at its own address, with its own secret', async () => {
    const [ours, theirs] = [await collect('shop-1'), await collect('market-1')];
    await until(() => hookOf(shop).notices(ours).length > 0, 'the shop is told');
    await until(() => hookOf(market).notices(theirs).length > 0, 'the market is told');
    expect(hookOf(shop).notices(theirs)).toEqual([]);
    expect(hookOf(market).notices(ours)).toEqual([]);
  });

  it('is read again on SIGHUP, and no request is dropped', async () => {
    const over = new AbortController();
    const seen = new Map<number, number>();
    const asking = Array.from({ length: 5 }, async () => {
      while (!over.signal.aborted) {
        const answer = await status('market-1');
        seen.set(answer, (seen.get(answer) ?? 0) + 1);
      }
    });
    for (const keys of [[1, 2], [2], [1, 2]]) {
      await write({ merchants: [merchant('shop', keys, hookOf(shop)), merchant('market', [1])] });
      hangUp('api');
      const [first, second] = [keys.includes(1) ? 404 : 401, 404];
      await until(async () => (await status('shop-1')) === first && (await status('shop-2')) === second, 'read');
    }
    over.abort();
    await Promise.all(asking);
    expect([...seen.keys()]).toEqual([404]);
  });

  it('changes nothing when it is wrong, and the log has a line for each mistake', async () => {
    await write({ merchants: [{ ...merchant('shop', [3]), limits: { maxPayout: 1, maxRefund: 2 } }] });
    for (const part of ['api', 'worker'] as const) hangUp(part);
    await logged('MERCHANTS_FILE merchants[0].limits.maxPayout must be at least 100 XAF', 2);
    await logged('MERCHANTS_FILE merchants[0].limits.maxRefund is not a known field', 2);
    expect([await status('shop-1'), await status('shop-2'), await status('shop-3')]).toEqual([404, 404, 401]);
  });

  it("that a worker has without a payment's merchant leaves the notification due, with the reason, until it has it", async () => {
    const readByWorker = async (content: unknown) => {
      await write(content);
      const reads = (await running.logs()).split('the merchants were read again').length;
      hangUp('worker');
      await logged('the merchants were read again', reads);
    };
    await readByWorker({ merchants: [merchant('market', [1], hookOf(market))] });

    // The worker would send no request of such a merchant: the API makes the link.
    const ordered = await call('shop-2', 'POST', '/v1/collections', { method: 'link', amount: 900 });
    const { id, link } = (await ordered.json()) as { id: string; link: string };
    await atCheckout(link, { action: 'pay', phone: '677000000' });
    const delivery = async () => {
      const response = await call('shop-2', 'GET', `/v1/payments/${id}/notifications`);
      const { data = [] } = (await response.json()) as { data?: { delivery: Record<string, unknown> }[] };
      return data[0]?.delivery;
    };
    await until(async () => Number((await delivery())?.tries) > 0, 'the notification was tried');
    expect(await delivery()).toMatchObject({
      status: 'due',
      lastError: 'not sent: the merchant is not known to the worker',
      lastTriedAt: expect.any(String),
    });
    expect(hooks.flatMap((hook) => hook.notices(id))).toEqual([]);

    await readByWorker(before);
    await call('shop-2', 'POST', `/v1/payments/${id}/notifications/1/resend`);
    await until(() => hookOf(shop).notices(id).length > 0, 'the shop is told');
    expect(hookOf(market).notices(id)).toEqual([]);
  });
});
