import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ZodError } from 'zod';
import { pathSegment } from '../../src/provider/calls.js';
import { type ProviderClient, searchPath } from '../../src/provider/client.js';
import { toDirectPay, toInitiatePay, toPayout } from '../../src/provider/requests.js';
import { clientOf, closeServers, json, serveHttp } from '../support/local-servers.js';
import { directOrder, linkOrder, payoutOrder } from '../support/orders.js';

afterEach(closeServers);

describe('a request to the provider', () => {
  it.each<[string, string, string, (client: ProviderClient) => Promise<unknown>]>([
    ['POST', '/initiate-pay', '{"amount":500}', (client) => client.initiatePay({ amount: 500, email: undefined })],
    ['POST', '/direct-pay', '{"amount":500,"phone":"67"}', (client) => client.directPay({ amount: 500, phone: '67' })],
    ['POST', '/expire-pay', '{"transId":"T/1"}', (client) => client.expirePay('T/1')],
    ['GET', '/payment-status/T%2F1%3Fa', '', (client) => client.paymentStatus('T/1?a')],
    ['GET', '/transaction/u1', '', (client) => client.transactionsOf('u1', false)],
    ['GET', '/search?medium=orange%20money', '', (client) => client.search({ medium: 'orange money' })],
    ['GET', '/balance', '', (client) => client.balance()],
  ])('is %s %s with its body and both credentials', async (method, path, body, ask) => {
    const server = await serveHttp(json(200, {}));
    await ask(clientOf(server.url));
    expect(server.seen).toEqual([{ method, path, body, headers: expect.anything() }]);
    expect(server.seen[0]?.headers).toMatchObject({
      apiuser: 'user-of-shop',
      apikey: 'key-of-shop',
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

  it.each<[string, (client: ProviderClient) => Promise<unknown>, number]>([
    ['balance', (client) => client.balance(), 1],
    ['status', (client) => client.paymentStatus('T1'), 1],
    ['list', (client) => client.transactionsOf('col_1', false), 2],
    ['search', (client) => client.search({}), 2],
    ['expiry', (client) => client.expirePay('T1'), 2],
    ['link', (client) => client.initiatePay({ amount: 500 }), 2],
    ['direct payment', (client) => client.directPay({ amount: 500, phone: '67' }), 2],
  ])('has a connection of its own, unless the answer names what was asked: %s', async (_, ask, connections) => {
    const server = await serveHttp(json(200, { transId: 'T1' }));
    const client = clientOf(server.url);
    for (let count = 0; count < 2; count++) await ask(client);
    expect([server.seen.length, server.connections()]).toEqual([2, connections]);
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
    await expect(client.directPay({ amount: 500, phone: '67' })).rejects.toThrow(/use the collection service/);
  });
});

describe('an identifier that no address can carry', () => {
  it.each(['', '.', '..', '\ud800', 'T\0'])('(%j) is not asked for', async (identifier) => {
    const server = await serveHttp(json(200, []));
    const client = clientOf(server.url);
    expect(await client.transactionsOf(identifier, false)).toMatchObject({ kind: 'unavailable' });
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

describe('a path segment', () => {
  it.each([
    ['a/b', 'a%2Fb'],
    ['a?b#c', 'a%3Fb%23c'],
    ['%2e%2e', '%252e%252e'],
    ['é', '%C3%A9'],
  ])('carries %s as %s', (identifier, segment) => {
    expect(pathSegment(identifier)).toBe(segment);
  });

  it.each([[''], ['.'], ['..'], ['\ud800'], ['T\0']])('cannot carry %j', (identifier) => {
    expect(pathSegment(identifier)).toBeUndefined();
  });

  it('arrives as the identifier it was, in the place it was put, whatever that is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (identifier) => {
        const segment = pathSegment(identifier);
        if (segment === undefined) return;
        const { pathname, search, hash } = new URL(`http://127.0.0.1/status/${segment}`);
        expect([search, hash]).toEqual(['', '']);
        const [, folder, last, ...rest] = pathname.split('/');
        expect([folder, decodeURIComponent(last ?? ''), rest]).toEqual(['status', identifier, []]);
      }),
    );
  });
});

describe("a search's path", () => {
  it('has no query when nothing is asked for', () => {
    expect(searchPath({})).toBe('search');
    expect(searchPath({ status: undefined })).toBe('search');
  });

  it('carries every filter, encoded', () => {
    expect(
      searchPath({
        status: 'failed',
        medium: 'mobile money',
        start: '2026-02-01',
        end: '2026-02-28',
        amt: 500,
        limit: 100,
        sort: 'asc',
      }),
    ).toBe('search?status=failed&medium=mobile%20money&start=2026-02-01&end=2026-02-28&amt=500&limit=100&sort=asc');
  });

  it.each([
    ['a limit of 0', { limit: 0 }],
    ['a limit of 101', { limit: 101 }],
    ['a broken amount', { amt: 1.5 }],
    ['a date that does not exist', { start: '2026-02-30' }],
  ])('throws on %s, which the provider would ignore', (_, query) => {
    expect(() => searchPath(query)).toThrow(ZodError);
  });
});

const merchants = { userId: 'guest', externalId: 'order-7' };

describe('an order with identifiers of the merchant, as it is sent to the provider', () => {
  it.each<[string, string, string, (url: string) => Promise<unknown>]>([
    [
      'a link',
      linkOrder.id,
      linkOrder.id,
      (url) => clientOf(url).initiatePay(toInitiatePay({ ...linkOrder, ...merchants })),
    ],
    [
      'a direct payment',
      directOrder.id,
      `${directOrder.id}_direct`,
      (url) => clientOf(url).directPay(toDirectPay({ ...directOrder, ...merchants })),
    ],
    [
      'a payout',
      payoutOrder.id,
      payoutOrder.id,
      (url) => clientOf(url, { service: 'payout' }).payout(toPayout({ ...payoutOrder, ...merchants })),
    ],
  ])(
    "(%s) carries the payment's id as externalId and userId, and neither of the merchant's",
    async (_, id, userId, send) => {
      const server = await serveHttp(json(200, { transId: 'T1' }));
      await send(server.url);
      expect(server.seen).toHaveLength(1);
      const body = server.seen[0]?.body ?? '';
      expect(JSON.parse(body)).toMatchObject({ externalId: id, userId });
      expect(body).not.toMatch(/guest|order-7/);
    },
  );
});
