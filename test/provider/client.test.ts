import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createProviderClient,
  type ProviderClient,
  type ProviderClientOptions,
} from '../../src/provider/client.js';
import { closeServers, json, serveHttp } from './local-servers.js';

const clients: ProviderClient[] = [];

function clientOf(url: string, options: Partial<ProviderClientOptions> = {}): ProviderClient {
  const settings = {
    service: 'collection',
    url,
    apiUser: 'user',
    apiKey: 'secret',
    timeoutMs: 1_000,
  } as const;
  const client = createProviderClient({ ...settings, ...options });
  clients.push(client);
  return client;
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await closeServers();
});

describe('a request to the provider', () => {
  it.each<[string, string, string, (client: ProviderClient) => Promise<unknown>]>([
    [
      'POST',
      '/initiate-pay',
      '{"amount":500}',
      (client) => client.initiatePay({ amount: 500, email: undefined }),
    ],
    [
      'POST',
      '/direct-pay',
      '{"amount":500,"phone":"67"}',
      (client) => client.directPay({ amount: 500, phone: '67' }),
    ],
    ['POST', '/expire-pay', '{"transId":"T/1"}', (client) => client.expirePay('T/1')],
    ['GET', '/payment-status/T%2F1%3Fa', '', (client) => client.paymentStatus('T/1?a')],
    ['GET', '/transaction/u1', '', (client) => client.transactionsOf('u1')],
    ['GET', '/search?medium=orange%20money', '', (client) => client.search({ medium: 'orange money' })],
    ['GET', '/balance', '', (client) => client.balance()],
  ])('is %s %s with its body and both credentials', async (method, path, body, ask) => {
    const server = await serveHttp(json(200, {}));
    await ask(clientOf(server.url));
    expect(server.seen).toEqual([{ method, path, body, headers: expect.anything() }]);
    expect(server.seen[0]?.headers).toMatchObject({
      apiuser: 'user',
      apikey: 'secret',
      accept: 'application/json',
      'user-agent': 'sanaga',
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    });
  });

  it('of a payout goes through the payout service', async () => {
    const server = await serveHttp(json(200, { transId: 'T1' }));
    const client = clientOf(server.url, { service: 'payout', userAgent: 'sanaga/1' });
    expect(client.service).toBe('payout');
    await client.payout({ amount: 500, medium: 'platform', email: 'shop@example.com' });
    expect(server.seen).toMatchObject([{ path: '/payout', headers: { 'user-agent': 'sanaga/1' } }]);
  });

  it.each(['/base', '/base/'])("keeps the path of the service's address: %s", async (path) => {
    const server = await serveHttp(json(200, {}));
    await clientOf(server.url + path).balance();
    expect(server.seen).toMatchObject([{ path: '/base/balance' }]);
  });

  it('goes over a kept connection', async () => {
    const server = await serveHttp(json(200, { transId: 'T1' }));
    const client = clientOf(server.url);
    await client.directPay({ amount: 500, phone: '67' });
    await client.directPay({ amount: 500, phone: '67' });
    expect([server.seen.length, server.connections()]).toEqual([2, 1]);
  });
});

describe('a wrong call', () => {
  it.each<[string, (client: ProviderClient) => Promise<unknown>, RegExp]>([
    [
      'a payout by the collection service',
      (client) => client.payout({ amount: 500, phone: '67' }),
      /use the payout service/,
    ],
    ['a search the provider would ignore', (client) => client.search({ limit: 0 }), /limit/],
  ])('(%s) rejects, and nothing is sent', async (_, call, message) => {
    const server = await serveHttp(json(200, {}));
    await expect(call(clientOf(server.url))).rejects.toThrow(message);
    expect(server.connections()).toBe(0);
  });

  it('(a collection by the payout service) rejects', async () => {
    const client = clientOf('http://127.0.0.1:1', { service: 'payout' });
    await expect(client.initiatePay({ amount: 500 })).rejects.toThrow(/use the collection service/);
    await expect(client.directPay({ amount: 500, phone: '67' })).rejects.toThrow(
      /use the collection service/,
    );
  });
});

describe('an identifier that no address can carry', () => {
  it.each(['', '.', '..', '\ud800'])('(%j) is not asked for', async (identifier) => {
    const server = await serveHttp(json(200, []));
    const client = clientOf(server.url);
    expect(await client.transactionsOf(identifier)).toMatchObject({ kind: 'unavailable' });
    expect(await client.paymentStatus(identifier)).toMatchObject({ kind: 'unavailable' });
    expect(server.connections()).toBe(0);
  });
});

describe('a cancelled call', () => {
  it('is ambiguous when it moves money, and unavailable when it asks', async () => {
    const server = await serveHttp(() => {});
    const client = clientOf(server.url, { timeoutMs: 5_000 });
    const controller = new AbortController();
    const { signal } = controller;
    const calls = [client.directPay({ amount: 500, phone: '67' }, { signal }), client.balance({ signal })];
    while (server.seen.length < 2) await new Promise(setImmediate);
    controller.abort();
    const reason = 'cancelled while waiting for the answer';
    expect(await Promise.all(calls)).toEqual([
      { kind: 'ambiguous', reason },
      { kind: 'unavailable', reason },
    ]);
  });

  it('is not sent when it was cancelled before', async () => {
    const server = await serveHttp(json(200, { transId: 'T1' }));
    const signal = AbortSignal.abort();
    const outcome = await clientOf(server.url).directPay({ amount: 500, phone: '67' }, { signal });
    expect(outcome).toEqual({ kind: 'notSent', reason: 'cancelled before it was sent' });
    expect(server.connections()).toBe(0);
  });
});

describe('a closed client', () => {
  it('leaves no connection behind, and its unfinished POST is ambiguous', async () => {
    const server = await serveHttp(() => {});
    const client = clientOf(server.url, { timeoutMs: 5_000 });
    const pending = client.directPay({ amount: 500, phone: '67' });
    while (server.seen.length < 1) await new Promise(setImmediate);
    client.close();
    expect(await pending).toEqual({ kind: 'ambiguous', reason: 'the connection was reset' });
  });
});
