import { afterEach, describe, expect, it } from '@jest/globals';
import { createProviderClient, type ProviderClient } from '../../src/provider/client.js';
import { closedUrl, closeServers, json, type Reply, serveHttp, serveSockets, text } from './local-servers.js';

const clients: ProviderClient[] = [];

function clientOf(url: string): ProviderClient {
  const client = createProviderClient({
    service: 'collection',
    url,
    apiUser: 'user',
    apiKey: 'key',
    timeoutMs: 1_000,
  });
  clients.push(client);
  return client;
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await closeServers();
});

const transaction = {
  transId: 'T1',
  status: 'PENDING',
  amount: 500,
  externalId: 'col_1',
  payerName: 'Ngo Bassa',
};
const kept = { transId: 'T1', status: 'PENDING', amount: 500, externalId: 'col_1' };

/** What each question has for a good answer. */
const questions: [string, (client: ProviderClient) => Promise<unknown>, unknown, unknown][] = [
  ['the status', (client) => client.paymentStatus('T1'), transaction, { kind: 'found', transaction: kept }],
  ['the expiry', (client) => client.expirePay('T1'), transaction, { kind: 'expired', transaction: kept }],
  [
    "a user's transactions",
    (client) => client.transactionsOf('u1'),
    [transaction],
    { kind: 'listed', transactions: [kept] },
  ],
  [
    'a search',
    (client) => client.search({ limit: 1 }),
    [transaction],
    { kind: 'listed', transactions: [kept] },
  ],
  [
    'the balance',
    (client) => client.balance(),
    { service: 'shop', balance: 12_000, currency: 'XAF' },
    { kind: 'balance', service: 'shop', balance: 12_000, currency: 'XAF' },
  ],
];

describe.each(questions)('%s', (name, ask, good, expected) => {
  const refused = name === 'the status' ? 'unknown' : 'refused';

  it('is read from 200', async () => {
    const server = await serveHttp(json(200, good));
    expect(await ask(clientOf(server.url))).toEqual(expected);
  });

  it.each<[string, Reply, object]>([
    ['401', json(401, { message: 'who?' }), { kind: 'unauthorized', message: 'who?', statusCode: 401 }],
    ['403', json(403, { message: 'no' }), { kind: 'unauthorized', message: 'no', statusCode: 403 }],
    ['404', json(404, { message: 'no such' }), { kind: refused, message: 'no such', statusCode: 404 }],
    ['400', json(400, { message: 'bad' }), { kind: refused, message: 'bad', statusCode: 400 }],
    ['429', json(429, { message: 'slow' }), { kind: 'throttled' }],
    ["a gateway's 429", text(429, '<html>'), { kind: 'throttled' }],
    [
      '429 with Retry-After',
      text(429, '', { 'retry-after': '9' }),
      { kind: 'throttled', retryAfterMs: 9_000 },
    ],
    [
      "a gateway's 404",
      text(404, '<html>'),
      { kind: 'unavailable', reason: "the provider answered 404 with a body that can't be read" },
    ],
    ['a 408', json(408, { message: 'late' }), { kind: 'unavailable', reason: 'the provider answered 408' }],
    [
      'a 302',
      text(302, '', { location: '/elsewhere' }),
      { kind: 'unavailable', reason: 'the provider answered 302' },
    ],
    ['a 500', json(500, good), { kind: 'unavailable', reason: 'the provider answered 500' }],
    [
      '200 with a page',
      text(200, '<html>'),
      { kind: 'unavailable', reason: "the provider gave an answer that can't be read" },
    ],
    ['200 with another thing', json(200, { message: 'ok' }), { kind: 'unavailable' }],
    [
      'a reset',
      (response) => response.destroy(),
      { kind: 'unavailable', reason: 'the connection was reset' },
    ],
    ['silence', () => {}, { kind: 'unavailable', reason: 'no answer within 1 s' }],
  ])('has its answer for %s, asked once', async (_, reply, answer) => {
    const server = await serveHttp(reply);
    expect(await ask(clientOf(server.url))).toMatchObject(answer);
    expect(server.seen).toHaveLength(1);
  });

  it('is unavailable when there is no one to ask', async () => {
    const answer = await ask(clientOf(await closedUrl()));
    expect(answer).toEqual({ kind: 'unavailable', reason: 'the connection was refused' });
  });

  it('is unavailable when the answer is endless, and is not read on', async () => {
    const server = await serveSockets((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[');
      const pour = () => {
        while (socket.writable && socket.write(' '.repeat(65_536)));
      };
      socket.on('drain', pour);
      pour();
    });
    const client = createProviderClient({
      service: 'collection',
      url: server.url,
      apiUser: 'u',
      apiKey: 'k',
      timeoutMs: 5_000,
    });
    clients.push(client);
    expect(await ask(client)).toEqual({ kind: 'unavailable', reason: 'the answer was too large to read' });
  });
});

describe('an answer about one transaction', () => {
  it.each<[string, (client: ProviderClient) => Promise<unknown>]>([
    ['status', (client) => client.paymentStatus('T2')],
    ['expiry', (client) => client.expirePay('T2')],
  ])('(%s) counts only for the transaction asked for', async (_, ask) => {
    const server = await serveHttp(json(200, { ...transaction, status: 'SUCCESSFUL' }));
    expect(await ask(clientOf(server.url))).toEqual({
      kind: 'unavailable',
      reason: 'the provider answered about another transaction',
    });
  });

  it('is unavailable when its status is none that we know', async () => {
    const server = await serveHttp(json(200, { ...transaction, status: 'REVERSED' }));
    expect(await clientOf(server.url).paymentStatus('T1')).toMatchObject({ kind: 'unavailable' });
  });
});

describe('the expiry of a link that is expired already', () => {
  it("is told by the provider's message", async () => {
    const server = await serveHttp(json(400, { message: 'Link already expired' }));
    expect(await clientOf(server.url).expirePay('T1')).toEqual({ kind: 'alreadyExpired' });
  });

  it.each([
    [400, 'Link can not be expired'],
    [404, 'Link already expired'],
  ])('is not read into %d %s', async (statusCode, message) => {
    const server = await serveHttp(json(statusCode, { message }));
    expect(await clientOf(server.url).expirePay('T1')).toEqual({ kind: 'refused', message, statusCode });
  });
});

describe('a list', () => {
  it('may be empty', async () => {
    const server = await serveHttp(json(200, []));
    expect(await clientOf(server.url).transactionsOf('u1')).toEqual({ kind: 'listed', transactions: [] });
  });

  it.each<[string, unknown]>([
    ['names no payment', { transId: 'T2', status: 'REVERSED' }],
    ['names the payment asked for', { transId: 'T2', status: 'REVERSED', externalId: 'col_1' }],
    ['has null for the payment', { transId: 'T2', status: 'REVERSED', externalId: null }],
    ['names the payment with an empty string', { transId: 'T2', status: 'REVERSED', externalId: '' }],
    ['names the payment with a number', { transId: 'T2', status: 'PENDING', externalId: 7 }],
    ['is null', null],
    ['is a list', [{ externalId: 'col_2' }]],
  ])('is unavailable as a whole when an element can not be read and %s', async (_, element) => {
    const server = await serveHttp(json(200, [transaction, element]));
    expect(await clientOf(server.url).transactionsOf('col_1')).toEqual({
      kind: 'unavailable',
      reason: "the provider gave an answer that can't be read",
    });
  });

  it.each<[string, object]>([
    ['status', { status: 'REVERSED' }],
    ['amount', { amount: 'five hundred' }],
    ['transType', { transType: 'Refund' }],
    ['transId', { transId: undefined }],
  ])("leaves out another payment's element whose %s can not be read", async (_, wrong) => {
    const others = { ...transaction, transId: 'T2', externalId: 'col_2', ...wrong };
    const server = await serveHttp(json(200, [others, transaction]));
    expect(await clientOf(server.url).transactionsOf('col_1')).toEqual({
      kind: 'listed',
      transactions: [kept],
    });
  });

  it('of a search is unavailable as a whole when any element can not be read', async () => {
    const others = { ...transaction, transId: 'T2', externalId: 'col_2', status: 'REVERSED' };
    const server = await serveHttp(json(200, [others, transaction]));
    expect(await clientOf(server.url).search({})).toMatchObject({ kind: 'unavailable' });
  });

  it('reads an empty externalId or userId as left out', async () => {
    const server = await serveHttp(json(200, [{ ...transaction, externalId: '', userId: '' }]));
    const { externalId: _, ...unnamed } = kept;
    expect(await clientOf(server.url).transactionsOf('col_1')).toEqual({
      kind: 'listed',
      transactions: [unnamed],
    });
  });

  it('may be larger than one transaction may be', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      ...transaction,
      transId: `T${n}`,
      message: 'x'.repeat(100),
    }));
    const server = await serveHttp(json(200, many));
    const client = createProviderClient({
      service: 'collection',
      url: server.url,
      apiUser: 'u',
      apiKey: 'k',
      timeoutMs: 5_000,
    });
    clients.push(client);
    expect(await client.transactionsOf('u1')).toHaveProperty('transactions.length', 10_000);
  });
});
