import { afterEach, describe, expect, it } from '@jest/globals';
import { BODY_MAX, exchange } from '../../src/provider/exchange.js';
import { createProviderHttp, type ProviderHttp } from '../../src/provider/provider-http.js';
import { closeServers, json, type Reply, serveHttp, text } from './local-servers.js';

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

const question = { method: 'GET', path: 'balance', bodyMax: BODY_MAX.single } as const;

describe('an exchange', () => {
  it.each<[string, Reply, unknown]>([
    ['JSON', json(500, { a: 1 }), { a: 1 }],
    ['text', text(200, 'hello'), undefined],
    ['nothing', text(200, ''), undefined],
    [
      'compressed bytes that nobody asked for',
      text(200, '\x1f\x8b', { 'content-encoding': 'gzip' }),
      undefined,
    ],
  ])('reads a body of %s', async (_, reply, body) => {
    const server = await serveHttp(reply);
    expect(await exchange(httpOf(server.url), question)).toMatchObject({ kind: 'answered', body });
    expect(server.seen[0]?.headers).not.toHaveProperty('accept-encoding');
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
    const wrong = { method: 'POST', path: 'payout', body: { amount: 5n }, bodyMax: BODY_MAX.single } as const;
    await expect(exchange(httpOf(server.url), wrong)).rejects.toThrow(/BigInt/);
    expect(server.connections()).toBe(0);
  });
});
