import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProviderClient } from '../../src/provider/client.js';
import { toTransaction } from '../../src/provider/interpret.js';
import { transactionSchema } from '../../src/provider/schemas.js';
import {
  CLOSED_URL,
  clientOf,
  closeServers,
  json,
  type OnSocket,
  type Reply,
  serveHttp,
  serveSockets,
  text,
} from '../support/local-servers.js';

afterEach(closeServers);

const accepted = { message: 'Payment initiated', transId: 'T1', dateInitiated: '2026-03-01' };
const order = {
  amount: 500,
  phone: '670000001',
  email: 'payer@example.com',
  name: 'Ngo Bassa',
  externalId: 'pay_1',
};

const outcomes: [string, Reply, object][] = [
  ['200 with a transaction', json(200, accepted), { kind: 'accepted', transId: 'T1' }],
  ['another success with a transaction', json(201, accepted), { kind: 'accepted', transId: 'T1' }],
  ['200 with nothing but an id', json(200, { transId: 'T1' }), { kind: 'accepted', transId: 'T1' }],
  [
    'a transaction whose message and date are of other types',
    json(200, { ...accepted, message: { en: 'ok' }, dateInitiated: 1_772_323_200 }),
    { kind: 'accepted', transId: 'T1' },
  ],
  ['a transaction as text', text(200, JSON.stringify(accepted)), { kind: 'accepted', transId: 'T1' }],
  [
    'a transaction behind a byte order mark',
    text(200, `\ufeff${JSON.stringify(accepted)}`),
    { kind: 'accepted', transId: 'T1' },
  ],

  ['200 without a transaction', json(200, { message: 'ok' }), { kind: 'ambiguous' }],
  ['200 with an empty id', json(200, { transId: '' }), { kind: 'ambiguous' }],
  ['200 with a list of one', json(200, [accepted]), { kind: 'accepted', transId: 'T1' }],
  ['200 with a transaction in data', json(200, { data: accepted }), { kind: 'accepted', transId: 'T1' }],
  ['200 with a number for an id', json(200, { transId: 17 }), { kind: 'accepted', transId: '17' }],
  ['202 with a transaction', json(202, accepted), { kind: 'accepted', transId: 'T1' }],
  ['200 with a list of two', json(200, [accepted, { transId: 'T2' }]), { kind: 'ambiguous' }],
  ['200 with an empty list', json(200, []), { kind: 'ambiguous' }],
  ['206, a part of an answer', json(206, accepted), { kind: 'ambiguous' }],
  ['200 with half of JSON', text(200, '{"transId":"T1"'), { kind: 'ambiguous' }],
  ['200 with a page', text(200, '<html>T1</html>'), { kind: 'ambiguous' }],
  ['200 with nothing', text(200, ''), { kind: 'ambiguous' }],
  ['204', text(204, ''), { kind: 'ambiguous' }],

  [
    '400',
    json(400, { message: 'amount is too low' }),
    { kind: 'rejected', statusCode: 400, message: 'amount is too low' },
  ],
  ['404', json(404, { message: 'no' }), { kind: 'rejected', statusCode: 404, message: 'no' }],
  ['422', json(422, { message: 'no', field: 1 }), { kind: 'rejected', statusCode: 422, message: 'no' }],
  [
    '400 with an empty message',
    json(400, { message: '' }),
    { kind: 'rejected', statusCode: 400, message: 'the provider gave no reason' },
  ],
  [
    '400 with a list of messages',
    json(400, { statusCode: 400, message: ['amount is too low', 'phone is missing'] }),
    { kind: 'rejected', statusCode: 400, message: 'amount is too low; phone is missing' },
  ],
  ...[402, 405, 406, 410, 411, 412, 413, 414, 415, 417, 426, 428, 431, 451].map(
    (statusCode): [string, Reply, object] => [
      `${statusCode}, which says that nothing was done`,
      json(statusCode, { message: 'no' }),
      { kind: 'rejected', statusCode },
    ],
  ),
  ...[407, 409, 418, 421, 423, 424, 440, 444, 460].map((statusCode): [string, Reply, object] => [
    `${statusCode}, which doesn't say what was done`,
    json(statusCode, { message: 'no' }),
    { kind: 'ambiguous', reason: `the provider answered ${statusCode}` },
  ]),
  ['400 with an empty list of messages', json(400, { message: [] }), { kind: 'ambiguous' }],
  ['401', json(401, { message: 'who?' }), { kind: 'unauthorized', statusCode: 401, message: 'who?' }],
  ['403', json(403, { message: 'no payouts' }), { kind: 'unauthorized', statusCode: 403, message: 'no payouts' }],

  [
    '400 with a page',
    text(400, '<html>'),
    { kind: 'ambiguous', reason: "the provider answered 400 with a body that can't be read" },
  ],
  ['400 with another body', json(400, { error: 'no' }), { kind: 'ambiguous' }],
  ['401 with a page', text(401, '<html>'), { kind: 'ambiguous' }],
  ['403 with a page', text(403, '<html>'), { kind: 'ambiguous' }],
  ['404 with nothing', text(404, ''), { kind: 'ambiguous' }],
  ['408, a time-out somewhere', json(408, { message: 'late' }), { kind: 'ambiguous' }],
  ['425', json(425, { message: 'early' }), { kind: 'ambiguous' }],
  ['499', json(499, { message: 'gone' }), { kind: 'ambiguous' }],

  [
    "429 in the provider's own form",
    json(429, { message: 'slow down' }),
    { kind: 'throttled', reason: 'the provider asked to slow down' },
  ],
  [
    "429 in the provider's own form with Retry-After",
    json(429, { message: 'slow down' }, { 'retry-after': '7' }),
    { kind: 'throttled', retryAfterMs: 7_000 },
  ],
  [
    '429 with a page',
    text(429, '<html>', { 'retry-after': '7' }),
    { kind: 'ambiguous', reason: "the provider answered 429 with a body that can't be read" },
  ],
  ['429 with another body', json(429, { error: 'slow down' }), { kind: 'ambiguous' }],
  ['429 with a message that is no text', json(429, { message: 7 }), { kind: 'ambiguous' }],
  ['429 with nothing', text(429, ''), { kind: 'ambiguous' }],

  ['500', json(500, { message: 'oops' }), { kind: 'ambiguous', reason: 'the provider answered 500' }],
  ['502', text(502, '<html>'), { kind: 'ambiguous', reason: 'the provider answered 502' }],
  ['503 with Retry-After', json(503, accepted, { 'retry-after': '7' }), { kind: 'ambiguous' }],
  ...[501, 505, 507, 508, 511].map((statusCode): [string, Reply, object] => [
    `${statusCode}`,
    json(statusCode, { message: 'no' }),
    { kind: 'ambiguous' },
  ]),
  ['504', json(504, { message: 'late' }), { kind: 'ambiguous' }],
  ['304', text(304, ''), { kind: 'ambiguous' }],
  ['600', json(600, accepted), { kind: 'ambiguous' }],
];

/** Reason given for a provider without an answer. */
const SILENT = 'no answer within 2 s';
const limitFor = (reason?: string) => (reason === SILENT ? { timeoutMs: 2_000 } : {});

describe.each<[string, (url: string, limit?: { timeoutMs?: number }) => Promise<unknown>]>([
  ['a direct payment', (url, limit) => clientOf(url, limit).directPay(order)],
  ['a payout', (url, limit) => clientOf(url, { service: 'payout', ...limit }).payout(order)],
])('%s', (_, send) => {
  it.each(outcomes)('answered by %s has its one outcome, and is sent once', async (_answer, reply, expected) => {
    const server = await serveHttp(reply);
    const outcome = await send(server.url);
    expect(outcome).toMatchObject(expected);
    if (!('retryAfterMs' in expected)) expect(outcome).not.toHaveProperty('retryAfterMs', expect.anything());
    expect(server.seen).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])('is not carried elsewhere by a %d', async (statusCode) => {
    const elsewhere = await serveHttp(json(200, accepted));
    const server = await serveHttp(text(statusCode, '', { location: `${elsewhere.url}/direct-pay` }));
    expect(await send(server.url)).toEqual({
      kind: 'ambiguous',
      reason: `the provider answered ${statusCode}, a redirect, which isn't followed`,
    });
    expect(server.seen).toHaveLength(1);
    expect(elsewhere.connections()).toBe(0);
  });

  it.each<[string, OnSocket, string]>([
    ['silence', () => {}, SILENT],
    ['a reset', (socket) => socket.on('data', () => socket.resetAndDestroy()), 'the connection was reset'],
    [
      'a change of protocol',
      respond('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      'the provider answered 101',
    ],
    ['an early hint and then silence', respond('HTTP/1.1 103 Early Hints\r\n\r\n'), SILENT],
    ['a refusal cut off', respond('HTTP/1.1 400 Bad Request\r\nContent-Length: 99\r\n\r\n{"message":"no"}'), SILENT],
  ])('met by %s is ambiguous, and is sent once', async (_answer, onSocket, reason) => {
    const server = await serveSockets(onSocket);
    expect(await send(server.url, limitFor(reason))).toEqual({ kind: 'ambiguous', reason });
    expect([server.connections(), server.requests()]).toEqual([1, 1]);
  });

  it('that finds no one to connect to is not sent', async () => {
    expect(await send(CLOSED_URL)).toEqual({ kind: 'notSent', reason: 'the connection was refused' });
  });
});

describe('a link', () => {
  it('comes with its address', async () => {
    const link = 'https://pay.example.com/T1';
    const server = await serveHttp(json(200, { ...accepted, link }));
    const outcome = await clientOf(server.url).initiatePay({ amount: 500 });
    expect(outcome).toEqual({ kind: 'accepted', transId: 'T1', link });
  });

  it('comes with its address whatever the types of its message and date', async () => {
    const link = 'https://pay.example.com/T1';
    const server = await serveHttp(json(200, { ...accepted, link, message: 7, dateInitiated: 1_772_323_200 }));
    const outcome = await clientOf(server.url).initiatePay({ amount: 500 });
    expect(outcome).toEqual({ kind: 'accepted', transId: 'T1', link });
  });

  it.each([
    ['no address', accepted],
    ['an address that is none', { ...accepted, link: 'T1' }],
  ])('with %s is ambiguous', async (_, body) => {
    const server = await serveHttp(json(200, body));
    expect(await clientOf(server.url).initiatePay({ amount: 500 })).toMatchObject({
      kind: 'ambiguous',
    });
    expect(server.seen).toHaveLength(1);
  });
});

describe('an outcome', () => {
  it.each<[string, Reply]>([
    [
      'refusal',
      (response, { body, headers }) => json(400, { message: `${JSON.stringify(headers)} ${body}` })(response, seen, 1),
    ],
    [
      'refusal of the credentials',
      (response, { headers }) => json(401, { message: JSON.stringify(headers) })(response, seen, 1),
    ],
    ['success', (response, { body }) => json(200, { ...accepted, echo: body })(response, seen, 1)],
    ['server error', (response, { body }) => json(500, { message: body })(response, seen, 1)],
    ['reset', (response) => response.destroy()],
  ])('shows no credential and nothing of a person, even if the %s repeats them', async (_, reply) => {
    const server = await serveHttp(reply);
    const outcome = JSON.stringify(await clientOf(server.url, { service: 'payout' }).payout(order));
    expect(outcome).not.toMatch(/user-of-shop|key-of-shop|670000001|payer@example\.com|Ngo Bassa/);
    expect(server.seen[0]?.headers).toMatchObject({ apiuser: 'user-of-shop', apikey: 'key-of-shop' });
  });
});

describe('a refusal that writes the person of the request in another form', () => {
  it.each([
    ['+237 677 00 00 01', 'Ngo Bassa', 'NGO (677000001) is barred', '*** (***) is barred'],
    ['670-001', 'Éloïse', 'ELOISE at 670 001', '*** at ***'],
  ])('is told without %s and %s', async (phone, name, message, expected) => {
    const server = await serveHttp(json(400, { message }));
    const client = clientOf(server.url, { service: 'payout' });
    expect(await client.payout({ amount: 500, phone, name })).toMatchObject({ message: expected });
  });
});

describe('a number in an answer', () => {
  const statusWith = async (amount: string) => {
    const body = `{"transId": "T1", "status": "PENDING", "amount": ${amount}}`;
    const server = await serveHttp(text(200, body));
    return await clientOf(server.url).paymentStatus('T1');
  };

  it.each(['5000', '5000.0', '5e3', '"5000"', '" 5000 "', '"5000.00"'])('is read as 5,000: %s', async (amount) => {
    expect(await statusWith(amount)).toMatchObject({ kind: 'found', transaction: { amount: 5_000 } });
  });

  it.each([
    ...['4999.99999999999999999999', '5000.00000000000001', '5000.5', '1e400', '99999999999999999999'],
    ...['"5e3"', '"0x1388"', '"5_000"', '"5,000"', '"5 000"', '"٥٠٠٠"', '"５０００"', '"+5000"', '"5000 XAF"'],
    ...['"5000.5"', '"5000."', '"9999999999999999"', '[5000]', 'true'],
  ])('that is not plainly whole makes the answer unreadable: %s', async (amount) => {
    expect(await statusWith(amount)).toMatchObject({ kind: 'unavailable' });
  });
});

const seen = { method: '', path: '', headers: {}, body: '' };

/** Answers every request on a socket with the same bytes, and leaves the connection open. */
function respond(bytes: string): OnSocket {
  return (socket) => socket.on('data', () => socket.write(bytes));
}

const transaction = {
  transId: 'T1',
  status: 'PENDING',
  amount: 500,
  externalId: 'col_1',
  payerName: 'Ngo Bassa',
};
const kept = { transId: 'T1', status: 'PENDING', amount: 500, externalId: 'col_1' };

/** Each question, with a good answer. */
const questions: [string, (client: ProviderClient) => Promise<unknown>, unknown, unknown][] = [
  ['the status', (client) => client.paymentStatus('T1'), transaction, { kind: 'found', transaction: kept }],
  ['the expiry', (client) => client.expirePay('T1'), transaction, { kind: 'expired', transaction: kept }],
  [
    "a user's transactions",
    (client) => client.transactionsOf('u1', false),
    [transaction],
    { kind: 'listed', transactions: [kept] },
  ],
  ['a search', (client) => client.search({ limit: 1 }), [transaction], { kind: 'listed', transactions: [kept] }],
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
    ['429 with Retry-After', text(429, '', { 'retry-after': '9' }), { kind: 'throttled', retryAfterMs: 9_000 }],
    [
      "a gateway's 404",
      text(404, '<html>'),
      { kind: 'unavailable', reason: "the provider answered 404 with a body that can't be read" },
    ],
    ['a 408', json(408, { message: 'late' }), { kind: 'unavailable', reason: 'the provider answered 408' }],
    [
      'a 302',
      text(302, '', { location: '/elsewhere' }),
      { kind: 'unavailable', reason: "the provider answered 302, a redirect, which isn't followed" },
    ],
    ['a 500', json(500, good), { kind: 'unavailable', reason: 'the provider answered 500' }],
    [
      '200 with a page',
      text(200, '<html>'),
      { kind: 'unavailable', reason: "the provider gave an answer that can't be read" },
    ],
    ['200 with another thing', json(200, { message: 'ok' }), { kind: 'unavailable' }],
    ['a reset', (response) => response.destroy(), { kind: 'unavailable', reason: 'the connection was reset' }],
    ['silence', () => {}, { kind: 'unavailable', reason: SILENT }],
  ])('has its answer for %s, asked once', async (_, reply, answer) => {
    const server = await serveHttp(reply);
    expect(
      await ask(clientOf(server.url, limitFor('reason' in answer ? String(answer.reason) : undefined))),
    ).toMatchObject(answer);
    expect(server.seen).toHaveLength(1);
  });

  it('is unavailable when there is no one to ask', async () => {
    const answer = await ask(clientOf(CLOSED_URL));
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
    const client = clientOf(server.url, { timeoutMs: 5_000 });
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
    expect(await clientOf(server.url).transactionsOf('u1', false)).toEqual({
      kind: 'listed',
      transactions: [],
    });
  });

  it.each<[string, unknown]>([
    ['names no payment', { transId: 'T2', status: 'REVERSED' }],
    ['names the payment asked for', { transId: 'T2', status: 'REVERSED', externalId: 'col_1' }],
    ['has null for the payment', { transId: 'T2', status: 'REVERSED', externalId: null }],
    ['names the payment with an empty string', { transId: 'T2', status: 'REVERSED', externalId: '' }],
    ['is null', null],
    ['is a list', [{ externalId: 'col_2' }]],
  ])('is unavailable as a whole when an element can not be read and %s', async (_, element) => {
    const server = await serveHttp(json(200, [transaction, element]));
    expect(await clientOf(server.url).transactionsOf('col_1', false)).toEqual({
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
    expect(await clientOf(server.url).transactionsOf('col_1', false)).toEqual({
      kind: 'listed',
      transactions: [kept],
    });
  });

  it.each<[string, object, 'listed' | 'unavailable']>([
    ['another payment alone', { externalId: 'col_2' }, 'listed'],
    ['another payment as its user beside this one', { externalId: 'col_1', userId: 'col_2' }, 'unavailable'],
    ['another payment to a phone', { userId: 'col_2_direct' }, 'listed'],
    ['this payment as its user alone', { userId: 'col_1' }, 'unavailable'],
    ['this payment as one to a phone', { userId: 'col_1_direct' }, 'unavailable'],
    ['this payment with spaces around', { externalId: ' col_1 ' }, 'unavailable'],
  ])('judges an element that can not be read, and names %s, by both names', async (_, names, kind) => {
    const server = await serveHttp(json(200, [{ transId: 'T2', status: 'REVERSED', ...names }]));
    expect(await clientOf(server.url).transactionsOf('col_1', false)).toMatchObject({ kind });
  });

  it('is unavailable when it shows transactions of other users: what it leaves out proves nothing', async () => {
    const others = { ...transaction, transId: 'T2', externalId: 'col_2', userId: 'col_2' };
    const server = await serveHttp(json(200, [others]));
    expect(await clientOf(server.url).transactionsOf('col_1', false)).toMatchObject({ kind: 'unavailable' });
  });

  it('of a search is unavailable as a whole when any element can not be read', async () => {
    const others = { ...transaction, transId: 'T2', externalId: 'col_2', status: 'REVERSED' };
    const server = await serveHttp(json(200, [others, transaction]));
    expect(await clientOf(server.url).search({})).toMatchObject({ kind: 'unavailable' });
  });

  it('reads an empty externalId or userId as left out', async () => {
    const server = await serveHttp(json(200, [{ ...transaction, externalId: '', userId: '' }]));
    const { externalId: _, ...unnamed } = kept;
    expect(await clientOf(server.url).transactionsOf('col_1', false)).toEqual({
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
    const client = clientOf(server.url, { timeoutMs: 5_000 });
    expect(await client.transactionsOf('u1', false)).toHaveProperty('transactions.length', 10_000);
  });
});

const wire = {
  transId: 'T1',
  status: 'SUCCESSFUL',
  medium: 'mobile money',
  serviceName: 'shop',
  transType: 'Collection',
  amount: 500,
  revenue: 490,
  payerName: 'Ngo Bassa',
  email: 'payer@example.com',
  redirectUrl: 'https://example.com/thanks?order=7',
  externalId: 'col_1',
  userId: 'u1',
  webhook: 'https://example.com/hook/secret',
  reason: 'Insufficient\nfunds',
  financialTransId: 'F1',
  dateInitiated: '2026-03-01',
  dateConfirmed: '2026-03-01',
};

describe('a transaction', () => {
  it('keeps what decides a payment and drops what names a person or an address', () => {
    expect(toTransaction(transactionSchema.parse(wire))).toEqual({
      transId: 'T1',
      status: 'SUCCESSFUL',
      transType: 'Collection',
      amount: 500,
      medium: 'mobile money',
      revenue: 490,
      reason: 'Insufficient funds',
      financialTransId: 'F1',
      externalId: 'col_1',
      userId: 'u1',
    });
  });

  it("has a reason without the person's number and address", () => {
    const reason = 'Account payer@example.com (+237 677 00 00 01) is closed';
    expect(toTransaction(transactionSchema.parse({ ...wire, reason })).reason).toBe('Account *** (***) is closed');
  });

  it('has no character in its columns that the book can not keep', () => {
    const read = toTransaction(transactionSchema.parse({ ...wire, transId: 'T\0', financialTransId: 'F\0\ud800' }));
    expect(read).toMatchObject({ transId: 'T\ufffd', financialTransId: 'F\ufffd\ufffd' });
  });

  it('needs only its id and its status', () => {
    const bare = toTransaction(transactionSchema.parse({ transId: 'T1', status: 'CREATED' }));
    expect(JSON.parse(JSON.stringify(bare))).toEqual({ transId: 'T1', status: 'CREATED' });
  });
});
