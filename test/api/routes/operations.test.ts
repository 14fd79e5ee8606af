import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { BalanceAnswer } from '../../../src/payments/words/outcome.js';
import { KEYS, merchantsWith, startApi, useApi } from '../../support/api-under-test.js';

async function askBalance(path: string, answer: BalanceAnswer) {
  const unasked = { balance: () => Promise.reject(new Error('asked the wrong service')) };
  const api = await startApi({ providers: { collection: unasked, payout: { balance: async () => answer } } });
  try {
    return await api.ask('GET', path, { key: KEYS.shop });
  } finally {
    await api.stop();
  }
}

describe('the balance', () => {
  it('is that of the service asked for', async () => {
    const { status, body } = await askBalance('/v1/balance?service=payout', {
      kind: 'balance',
      service: 'Shop payouts',
      balance: 12_345,
      currency: 'XAF',
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'balance',
      service: 'payout',
      serviceName: 'Shop payouts',
      balance: 12_345,
      currency: 'XAF',
      asOf: expect.stringMatching(/^20\d\d-.*Z$/),
    });
    expect(Math.abs(Date.parse(body.asOf) - Date.now())).toBeLessThan(60_000);
  });

  it.each(['/v1/balance', '/v1/balance?service=both', '/v1/balance?service=payout&service=payout'])(
    'needs one of the services to be named: %s',
    async (path) => {
      const { status, body } = await askBalance(path, { kind: 'unavailable', reason: '' });
      expect(status).toBe(400);
      expect(body.errors).toEqual([{ field: 'service', message: expect.any(String) }]);
    },
  );

  it("is a 502 with the provider's words when the provider refuses", async () => {
    const { status, body } = await askBalance('/v1/balance?service=payout', {
      kind: 'unauthorized',
      message: 'Invalid credentials',
      statusCode: 401,
    });
    expect([status, body.code]).toEqual([502, 'provider_refused']);
    expect(body.detail).toContain('Invalid credentials');
  });

  it('is a 503 when the provider does not answer, with its own Retry-After if it gave one', async () => {
    const gone = await askBalance('/v1/balance?service=payout', { kind: 'unavailable', reason: 'timeout' });
    expect([gone.status, gone.body.code]).toEqual([503, 'provider_unavailable']);
    expect(gone.text).not.toContain('timeout');
    const busy = await askBalance('/v1/balance?service=payout', { kind: 'throttled', retryAfterMs: 41_500 });
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '42']);
  });
});

describe('balances that are asked for at once', () => {
  it('cost the provider one call for each service, and one more after three seconds', async () => {
    const calls = { collection: 0, payout: 0 };
    const slow = (service: keyof typeof calls) => ({
      async balance(): Promise<BalanceAnswer> {
        const balance = ++calls[service];
        await pause(100);
        return { kind: 'balance', service, balance, currency: 'XAF' };
      },
    });
    const api = await startApi({ providers: { collection: slow('collection'), payout: slow('payout') } });
    const ask = (service: string) => api.ask('GET', `/v1/balance?service=${service}`, { key: KEYS.shop });
    try {
      const begun = performance.now();
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask('payout')));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      await ask('payout');
      expect((await ask('collection')).body.balance).toBe(1);
      expect(calls.collection).toBe(1);
      const { payout: before } = calls;
      expect(before).toBeLessThanOrEqual(Math.ceil((performance.now() - begun) / 3_000));
      await pause(3_100);
      expect((await ask('payout')).body.balance).toBe(before + 1);
    } finally {
      await api.stop();
    }
  });
});

describe('the key of a request', () => {
  const api = useApi({
    merchants: merchantsWith([{ name: 'reader', secret: KEYS.reader, scopes: ['read'], person: 'ann' }]),
  });

  it('is told by its name, person and scopes, without its secret', async () => {
    const { status, body, text } = await api.ask('GET', '/v1/key', { key: KEYS.reader });
    expect([status, body]).toEqual([200, { object: 'key', name: 'reader', person: 'ann', scopes: ['read'] }]);
    expect(text).not.toContain(KEYS.reader);
    expect((await api.ask('GET', '/v1/key', { key: 'unknown-key' })).status).toBe(401);
  });
});

describe('while Temporal is down', () => {
  const api = useApi();

  it('the process is up', async () => {
    expect((await api.ask('GET', '/healthz')).body).toEqual({ status: 'ok' });
  });

  it('it is not ready, and says so', async () => {
    const { status, headers, body } = await api.ask('GET', '/readyz');
    expect([status, body.code]).toEqual([503, 'temporarily_unavailable']);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  });
});

describe('a Temporal that swallows what it is sent', () => {
  it('makes it not ready within seconds', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const api = await startApi({ address: `127.0.0.1:${port}` });
    const { status, ms } = await api.ask('GET', '/readyz');
    await api.stop();
    for (const socket of sockets) socket.destroy();
    silent.close();
    expect(status).toBe(503);
    expect(ms).toBeLessThan(30_000);
  });
});

describe('a process that is about to stop', () => {
  it('is not ready', async () => {
    const api = await startApi();
    api.shutdown.begin();
    const { status, body } = await api.ask('GET', '/readyz');
    await api.stop();
    expect(status).toBe(503);
    expect(body.detail).toMatch(/stop/);
  });
});
