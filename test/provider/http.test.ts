import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createKeepAliveAgents,
  createProviderHttp,
  exchange,
  MAX_BODY,
  MAX_RETRY_AFTER_MS,
  type ProviderHttp,
  readRetryAfter,
} from '../../src/provider/http.js';
import { closeServers, json, type Reply, serveHttp, text } from '../support/local-servers.js';

const settings = { url: 'http://127.0.0.1:1', apiUser: 'user', apiKey: 'secret', timeoutMs: 200 };

describe("the HTTP client of a provider's service", () => {
  it.each([
    ['no address', { url: '' }],
    ['an address of another kind', { url: 'ftp://127.0.0.1/' }],
    ['an address with a password', { url: 'http://me:hidden@127.0.0.1/' }],
    ['an address with a query', { url: 'http://127.0.0.1/?a=1' }],
    ['no credential', { apiKey: '' }],
    ['a credential that no header can carry', { apiKey: 'hidden\r\nx: y' }],
    ['a time limit of 0', { timeoutMs: 0 }],
    ['a time limit that is no number', { timeoutMs: Number.NaN }],
  ])('is not made with %s, and the error shows no secret', (_, wrong) => {
    const make = () => createProviderHttp({ ...settings, ...wrong });
    expect(make).toThrow(/provider|header/i);
    expect(make).not.toThrow(/hidden/);
  });
});

const opened: ProviderHttp[] = [];

function httpOf(url: string): ProviderHttp {
  const http = createProviderHttp({ url, apiUser: 'user', apiKey: 'secret', timeoutMs: 5_000 });
  opened.push(http);
  return http;
}

afterEach(async () => {
  for (const http of opened.splice(0)) http.close();
  await closeServers();
});

const question = { method: 'GET', path: 'balance', bodyMax: MAX_BODY.single } as const;

describe('an exchange', () => {
  it.each<[string, Reply, unknown]>([
    ['JSON', json(500, { a: 1 }), { a: 1 }],
    ['text', text(200, 'hello'), undefined],
    ['nothing', text(200, ''), undefined],
    ['compressed bytes that nobody asked for', text(200, '\x1f\x8b', { 'content-encoding': 'gzip' }), undefined],
  ])('reads a body of %s', async (_, reply, body) => {
    const server = await serveHttp(reply);
    expect(await exchange(httpOf(server.url), question)).toMatchObject({ kind: 'answered', body });
    expect(server.seen[0]?.headers).toMatchObject({ 'accept-encoding': 'identity' });
  });

  it('takes a body of just the greatest length, and none longer', async () => {
    const server = await serveHttp((response, _, count) => response.end(`"${'x'.repeat(8 + count)}"`));
    const http = httpOf(server.url);
    expect(await exchange(http, { ...question, bodyMax: 11 })).toMatchObject({
      kind: 'answered',
      body: 'xxxxxxxxx',
    });
    expect(await exchange(http, { ...question, bodyMax: 11 })).toMatchObject({
      kind: 'failed',
      sent: 'perhaps',
    });
  });

  it('is given up some time after its limit, should the HTTP client ever fail to', async () => {
    const server = await serveHttp(() => {});
    const late = { ...httpOf(server.url), timeoutMs: -950 };
    expect(await exchange(late, question)).toEqual({
      kind: 'failed',
      sent: 'perhaps',
      timedOut: true,
      reason: 'no answer within the time limit',
    });
  });

  it('rejects a body that JSON can not hold, before anything is sent', async () => {
    const server = await serveHttp(json(200, {}));
    const wrong = { method: 'POST', path: 'payout', body: { amount: 5n }, bodyMax: MAX_BODY.single } as const;
    await expect(exchange(httpOf(server.url), wrong)).rejects.toThrow(/BigInt/);
    expect(server.connections()).toBe(0);
  });
});

afterEach(closeServers);

const IDLE_MS = 60;

function ask(url: string, agent: ReturnType<typeof createKeepAliveAgents>['http']): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });
}

describe('a kept connection', () => {
  it('serves the next request', async () => {
    const server = await serveHttp(json(200, {}));
    const { http } = createKeepAliveAgents({ connectMs: 10_000 });
    await ask(server.url, http);
    await ask(server.url, http);
    expect(server.connections()).toBe(1);
    http.destroy();
  });

  it('is given up when nothing used it for a while', async () => {
    const server = await serveHttp(json(200, {}));
    const { http } = createKeepAliveAgents({ connectMs: 10_000, idleMs: IDLE_MS });
    await ask(server.url, http);
    await pause(3 * IDLE_MS);
    await ask(server.url, http);
    expect(server.connections()).toBe(2);
    http.destroy();
  });

  it('is not given up while an answer is awaited', async () => {
    const server = await serveHttp((response) => setTimeout(() => response.end('{}'), 3 * IDLE_MS));
    const { http } = createKeepAliveAgents({ connectMs: 10_000, idleMs: IDLE_MS });
    await expect(ask(server.url, http)).resolves.toBe(200);
    expect(server.connections()).toBe(1);
    http.destroy();
  });
});

const now = Date.parse('2026-03-01T12:00:00Z');

describe('Retry-After', () => {
  it.each([
    ['seconds', '7', 7_000],
    ['seconds with blanks around', ' 7 ', 7_000],
    ['a date', 'Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['more than an hour, cut to an hour', '86400', MAX_RETRY_AFTER_MS],
    ['a far date, cut to an hour', 'Mon, 01 Mar 2027 12:00:00 GMT', MAX_RETRY_AFTER_MS],
    ['a number beyond all numbers', '9'.repeat(400), MAX_RETRY_AFTER_MS],
  ])('is read from %s', (_, header, expected) => {
    expect(readRetryAfter(header, undefined, now)).toBe(expected);
  });

  it.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['zero, which names no time to come', '0'],
    ['a negative number', '-1'],
    ['a fraction', '1.5'],
    ['words', 'soon'],
    ['infinity', 'Infinity'],
    ['a date gone by', 'Sun, 01 Mar 2026 11:59:59 GMT'],
    ['a date of another form', '2026-03-01T12:00:30Z'],
    ['a date that does not exist', 'Sun, 99 Mar 2026 12:00:30 GMT'],
  ])('is ignored when it is %s', (_, header) => {
    expect(readRetryAfter(header, undefined, now)).toBeUndefined();
  });

  it("measures a date by the answer's own clock, a day off from ours or not", () => {
    expect(readRetryAfter('Mon, 02 Mar 2026 12:00:30 GMT', 'Mon, 02 Mar 2026 12:00:00 GMT', now)).toBe(30_000);
    expect(readRetryAfter('Sat, 28 Feb 2026 12:00:30 GMT', 'Sat, 28 Feb 2026 12:00:00 GMT', now)).toBe(30_000);
  });

  it("falls back on our clock when the answer's own can't be read", () => {
    expect(readRetryAfter('Sun, 01 Mar 2026 12:00:30 GMT', 'today', now)).toBe(30_000);
  });
});
