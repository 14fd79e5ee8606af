import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Serving, serve } from '../../bench/load/http.js';
import { ProviderStub } from '../../bench/load/provider-stub.js';
import type { LinkOrder } from '../../src/payments/words/order.js';
import { createProviderClient, type ProviderClient } from '../../src/provider/client.js';
import { toInitiatePay } from '../../src/provider/requests.js';
import { transactionSchema } from '../../src/provider/schemas.js';

const credentials = { user: 'bench', key: 'a-key' };
const id = 'col_0123456789abcdef0123456789abcdef';
const order = toInitiatePay({ id, amount: 5_000, message: 'Two tickets' } as LinkOrder);

let stub: ProviderStub;
let provider: Serving;
let receiver: Serving;
let notified: Promise<string>;
let clients: ProviderClient[];

beforeEach(async () => {
  stub = new ProviderStub(credentials);
  provider = await stub.listen();
  let resolve: (body: string) => void;
  notified = new Promise((resolveIt) => {
    resolve = resolveIt;
  });
  receiver = await serve(({ body }) => {
    resolve(body);
    return { status: 200, json: {} };
  });
  stub.webhookUrls = [`http://127.0.0.1:${receiver.port}/`];
  clients = [];
});

afterEach(() => {
  for (const one of [...clients, provider, receiver]) one.close();
});

function client(apiKey = credentials.key): ProviderClient {
  const url = `http://127.0.0.1:${provider.port}`;
  const made = createProviderClient({
    service: 'collection',
    url,
    apiUser: credentials.user,
    apiKey,
    timeoutMs: 5_000,
  });
  clients.push(made);
  return made;
}

describe("the benchmark's provider, as Sanaga's own client sees it", () => {
  it('makes a link, has it paid, notifies of it, and answers the status', async () => {
    stub.payer = 'waits';
    const created = await client().initiatePay(order, {});
    if (created.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(created)}`);
    expect(created.link).toMatch(/^https:/);
    stub.give(id, created.link);
    expect(await client().paymentStatus(created.transId, {})).toMatchObject({
      transaction: { status: 'CREATED' },
    });
    expect(stub.payOldest()).toBe(id);

    const notification = transactionSchema.parse(JSON.parse(await notified));
    expect(notification).toMatchObject({ transId: created.transId, externalId: id, status: 'SUCCESSFUL' });
    expect(await client().paymentStatus(created.transId, {})).toMatchObject({
      transaction: { status: 'SUCCESSFUL', amount: 5_000, externalId: id, transType: 'Collection' },
    });
    const { links, paid, notifiedAt = 0, confirmedAt = 0 } = stub.recordOf(id);
    expect(links).toBe(1);
    expect(paid).toBe(1);
    expect(confirmedAt).toBeGreaterThan(notifiedAt);
  });

  it.each([['made before'], ['made after']])('has a link paid whose payer was given it, %s', async (when) => {
    const isMadeBefore = when === 'made before';
    if (!isMadeBefore) stub.give(id);
    expect(await client().initiatePay(order, {})).toMatchObject({ kind: 'accepted' });
    if (isMadeBefore) {
      await pause(120);
      expect(stub.recordOf(id).notifiedAt).toBeUndefined();
      stub.give(id);
    }
    expect(transactionSchema.parse(JSON.parse(await notified))).toMatchObject({ externalId: id });
  });

  it('refuses wrong credentials, and complains of them', async () => {
    expect(await client('another-key').initiatePay(order, {})).not.toMatchObject({ kind: 'accepted' });
    expect(stub.complaints).toHaveLength(1);
  });

  it('answers a status six times a minute', async () => {
    const created = await client().initiatePay(order, {});
    if (created.kind !== 'accepted') throw new Error('not accepted');
    const kinds: string[] = [];
    for (let times = 0; times < 7; times++) {
      kinds.push((await client().paymentStatus(created.transId, {})).kind);
    }
    expect(kinds.slice(0, 6)).not.toContain('throttled');
    expect(kinds.at(-1)).toBe('throttled');
  });

  it('has one link paid of several, the one that the payer was given, and counts all', async () => {
    const stray = await client().initiatePay(order, {});
    const created = await client().initiatePay(order, {});
    if (stray.kind !== 'accepted' || created.kind !== 'accepted') throw new Error('not accepted');
    stub.give(id, created.link);
    expect(transactionSchema.parse(JSON.parse(await notified))).toMatchObject({ transId: created.transId });
    expect(stub.recordOf(id)).toMatchObject({ links: 2, paid: 1 });

    expect(await client().expirePay(stray.transId)).toMatchObject({
      kind: 'expired',
      transaction: { status: 'EXPIRED' },
    });
    expect(stub.complaints).toEqual([]);
    stub.give(id, 'https://pay.example/another');
    expect(stub.complaints).toHaveLength(1);
  });
});
