import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { post, type Serving, serve } from '../../bench/load/http.js';
import { runLoad } from '../../bench/load/load-generator.js';
import { MerchantReceiver } from '../../bench/load/merchant-receiver.js';
import type { LoadResult, MakeOrder } from '../../bench/load/messages.js';
import { ProviderStub } from '../../bench/load/provider-stub.js';
import { credentialHeaders } from '../../src/provider/schemas.js';

const credentials = { user: 'bench', key: 'a-key' };
const secret = Buffer.from('a secret of 24 bytes long');
const providerHeaders = {
  [credentialHeaders.user]: credentials.user,
  [credentialHeaders.key]: credentials.key,
};

/** A system of several processes without an engine, which does what it is told to do wrong. */
interface Little {
  /** Requests that each process got: the merchant's, and the provider's. */
  readonly processes: { posts: number; webhooks: number }[];
  /** Statuses with which the first POSTs are refused. */
  refusals: number[];
  /** The `webhook-id`s under which the merchant is notified of a payment, one after the other. */
  notifyUnder: (payment: string) => string[];
  /** `true` when the provider is asked for the status first. */
  confirms: boolean;
}

let provider: ProviderStub;
let merchant: MerchantReceiver;
let urls: { provider: string; merchant: string };
let servers: Serving[];
let little: Little;

beforeEach(async () => {
  provider = new ProviderStub(credentials);
  merchant = new MerchantReceiver(`whsec_${secret.toString('base64')}`);
  const serving = { provider: await provider.listen(), merchant: await merchant.listen() };
  const urlOf = ({ port }: Serving) => `http://127.0.0.1:${port}`;
  urls = { provider: urlOf(serving.provider), merchant: urlOf(serving.merchant) };
  servers = Object.values(serving);
  little = { processes: [], refusals: [], notifyUnder: (id) => [`evt_${id}`], confirms: true };
});

afterEach(() => {
  for (const server of servers) server.close();
});

async function startProcess() {
  const seen = { posts: 0, webhooks: 0 };
  little.processes.push(seen);
  const server = await serve(async ({ path, body }) => {
    const given = JSON.parse(body);
    if (path === '/create') {
      seen.posts++;
      const refusal = little.refusals.shift();
      if (refusal !== undefined) return { status: refusal, json: {} };
      const id = `pay-${given.externalId}`;
      const order = { amount: given.amount, externalId: id, userId: id, message: given.message };
      const made = await post(`${urls.provider}/initiate-pay`, order, providerHeaders);
      return { status: 201, json: { id, link: JSON.parse(made.body).link } };
    }
    seen.webhooks++;
    const { transId, externalId: id, amount } = given;
    if (little.confirms) await fetch(`${urls.provider}/payment-status/${transId}`, { headers: providerHeaders });
    for (const under of little.notifyUnder(id)) await notify(under, id, amount === 5_000 ? 'SUCCESSFUL' : 'REVIEW');
    return { status: 200, json: {} };
  });
  servers.push(server);
  const url = `http://127.0.0.1:${server.port}`;
  return { createUrl: `${url}/create`, webhookUrl: `${url}/webhook` };
}

/** Notifies the merchant as Standard Webhooks says. */
async function notify(under: string, id: string, status: string): Promise<void> {
  const body = { data: { id, status } };
  const seconds = Math.floor(Date.now() / 1_000);
  const signed = `${under}.${seconds}.${JSON.stringify(body)}`;
  const signature = createHmac('sha256', secret).update(signed).digest('base64');
  await post(urls.merchant, body, {
    'webhook-id': under,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  });
}

const run = async (order: Partial<MakeOrder> = {}): Promise<LoadResult> =>
  runLoad(
    { provider, merchant },
    {
      ...{ kind: 'make', name: 'test', target: { apis: [await startProcess()], apiKey: 'sk' }, payments: 6 },
      ...{ pace: { concurrency: 3 }, payer: 'pays', repeatsRefused: false },
      ...order,
    },
  );

describe('the load', () => {
  it('is a number of payments, each of which is paid', async () => {
    const result = await run();
    expect(result).toMatchObject({ kind: 'done', withoutLink: 0, repeated: 0, notifiedAgain: 0 });
    expect(result.kind === 'done' && new Set(result.ids).size).toBe(6);
    expect(little.processes).toEqual([{ posts: 6, webhooks: 6 }]);
  });

  it('can begin at a rate, however long each payment takes', async () => {
    const begun = performance.now();
    const result = await run({ payments: 4, pace: { perSecond: 20 } });
    expect(result).toMatchObject({ kind: 'done' });
    // The fourth begins 150 ms after the first.
    expect(performance.now() - begun).toBeGreaterThan(150);
  });

  it('is spread over all processes of the API, and so are the notifications', async () => {
    const apis = [await startProcess(), await startProcess()];
    expect(await run({ target: { apis, apiKey: 'sk' } })).toMatchObject({ kind: 'done' });
    expect(little.processes.slice(0, 2)).toEqual([
      { posts: 3, webhooks: 3 },
      { posts: 3, webhooks: 3 },
    ]);
  });

  it('repeats a POST that was refused for the moment, and counts it, when it is told to', async () => {
    little.refusals = [503, 429];
    expect(await run({ payments: 2, repeatsRefused: true })).toMatchObject({ kind: 'done', repeated: 2 });
    little.refusals = [503];
    expect(await run({ name: 'strict' })).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('503'),
    });
  });

  it('fails when the merchant hears before the provider has confirmed', async () => {
    little.confirms = false;
    expect(await run()).toMatchObject({ kind: 'failed', why: expect.stringContaining('had confirmed') });
  });
});

describe("the merchant's notifications", () => {
  it('may come again under the same id, and are counted', async () => {
    little.notifyUnder = (id) => [`evt_${id}`, `evt_${id}`];
    expect(await run()).toMatchObject({ kind: 'done', notifiedAgain: 6 });
  });

  it('may not tell of a second event', async () => {
    little.notifyUnder = (id) => [`evt_${id}_1`, `evt_${id}_2`];
    expect(await run()).toMatchObject({ kind: 'failed', why: expect.stringContaining('then SUCCESSFUL') });
  });
});

describe('payments that stay open', () => {
  it('wait for their payer until they are to be paid, the oldest first', async () => {
    const target = { apis: [await startProcess()], apiKey: 'sk' };
    expect(await run({ target, payer: 'waits' })).toEqual({ kind: 'prepared', waiting: 6, inReview: 0 });
    expect(await run({ target, name: 'more', payer: 'waits' })).toEqual({
      kind: 'prepared',
      waiting: 12,
      inReview: 0,
    });
    // What is made and paid meanwhile doesn't touch them.
    expect(await run({ target, name: 'paid' })).toMatchObject({ kind: 'done' });
    expect(provider.waiting).toBe(12);

    const paid = await runLoad({ provider, merchant }, { kind: 'pay', target, payments: 7, concurrency: 2 });
    expect(paid).toMatchObject({ kind: 'paid', payments: 7 });
    expect(provider.waiting).toBe(5);
    expect(provider.recordOf('pay-test-0').confirmedAt).toBeDefined();
    expect(provider.recordOf('pay-more-5').confirmedAt).toBeUndefined();
  });

  it('are counted when others of them fail', async () => {
    little.refusals = [503];
    const result = await run({ payments: 3, payer: 'waits' });
    expect(result).toMatchObject({ kind: 'prepared', waiting: 2, why: expect.stringContaining('503') });
  });

  it('are under review when the payer has paid another amount', async () => {
    expect(await run({ payer: 'disputes' })).toEqual({ kind: 'prepared', waiting: 0, inReview: 6 });
    expect(merchant.complaints).toEqual([]);
  });

  it('cannot be paid when none waits', async () => {
    const target = { apis: [await startProcess()], apiKey: 'sk' };
    const paid = await runLoad({ provider, merchant }, { kind: 'pay', target, payments: 1, concurrency: 1 });
    expect(paid).toMatchObject({ kind: 'failed', why: expect.stringContaining('no payment waits') });
  });
});
