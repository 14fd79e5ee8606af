import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { networkOf } from '../../src/http/network.js';
import type { BalanceAnswer } from '../../src/payments/words/outcome.js';
import {
  type ApiUnderTest,
  type ApiUnderTestOptions,
  KEYS,
  startApi,
  WEBHOOK_TOKEN,
} from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';

const ALLOWANCE = { perMinute: 10, concurrent: 4, active: 4, failures: 5 };

let api: ApiUnderTest;
afterEach(() => api.stop());

async function start(options: ApiUnderTestOptions = {}) {
  api = await startApi({ allowance: ALLOWANCE, ...options });
}

/** A request that is answered without Temporal and the provider. */
const ask = (key: string, headers: Readonly<Record<string, string>> = {}) =>
  api.ask('GET', '/v1/balance?service=none', { key, headers });

const times = <T>(count: number, run: () => Promise<T>) => Promise.all(Array.from({ length: count }, run));
const from = (address: string) => ({ 'x-forwarded-for': address });

describe('the requests of an API key', () => {
  it('are limited in a minute, and each answer says what is left', async () => {
    await start();
    const first = await ask(KEYS.rival);
    expect(first.headers.get('ratelimit-policy')).toBe('"key";q=10;w=60');
    expect(first.headers.get('ratelimit')).toMatch(/^"key";r=9;t=[3-6]\d$/);
    await times(9, async () => {
      const { status } = await ask(KEYS.rival);
      expect(status).toBe(403);
    });
    const { status, headers, body } = await ask(KEYS.rival);
    expect([status, body.code]).toEqual([429, 'rate_limited']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(30);
    expect(headers.get('ratelimit')).toMatch(/^"key";r=0;t=\d+$/);
  });

  it('take nothing from those of other keys', async () => {
    await start();
    await times(30, () => ask(KEYS.rival));
    const { status, headers } = await ask(KEYS.shop);
    expect(status).toBe(400);
    expect(headers.get('ratelimit')).toContain('r=9;');
  });

  it('leave the provider its own limits', async () => {
    await start();
    await times(15, () => ask(KEYS.shop));
    const { status, headers } = await api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: {} });
    expect(status).not.toBe(429);
    expect(headers.has('ratelimit')).toBe(false);
  });

  it('are limited in number at the same time, so that one merchant cannot keep the others waiting', async () => {
    let answer: (balance: BalanceAnswer) => void = () => undefined;
    const slow = { balance: () => new Promise<BalanceAnswer>((resolve) => (answer = resolve)) };
    await start({
      allowance: { ...ALLOWANCE, perMinute: 10_000 },
      providers: { collection: slow, payout: slow },
    });
    // One that comes while another request is in progress may be refused, too.
    const balance = () =>
      eventually(
        () => api.ask('GET', '/v1/balance?service=payout', { key: KEYS.shop }),
        ({ status }) => status !== 429,
      );
    const held = [balance(), balance(), balance(), balance()];
    const refused = await eventually(
      () => ask(KEYS.shop),
      ({ status }) => status === 429,
    );
    expect(refused.body.code).toBe('rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await ask(KEYS.rival)).status).toBe(403);

    answer({ kind: 'balance', service: 'x', balance: 1, currency: 'XAF' });
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await ask(KEYS.shop)).status).toBe(400);
  });
});

describe('requests without a valid API key', () => {
  it('are refused after some, from the same address alone', async () => {
    await start({ trustedProxies: 1 });
    for (let number = 0; number < 5; number++) {
      expect((await ask(`guess-${number}`, from('192.0.2.1'))).status).toBe(401);
    }
    const { status, headers, body } = await ask('guess-6', from('192.0.2.1'));
    expect([status, body.code]).toEqual([429, 'too_many_attempts']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask('guess-7', from('192.0.2.2'))).status).toBe(401);
  });

  it('are counted before they are answered, however many are made at once on connections of their own', async () => {
    await start();
    const guesses = Array.from({ length: 200 }, async (_, number) => {
      const socket = connect(api.serving.port, '127.0.0.1');
      socket.write(
        `GET /v1/key HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer guess-${number}\r\nConnection: close\r\n\r\n`,
      );
      const answer = await text(socket);
      return answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 401'.length);
    });
    const right = await ask(KEYS.shop);
    expect(right.status).toBe(400);
    const statuses = await Promise.all(guesses);
    expect(statuses.filter((status) => status === '401')).toHaveLength(ALLOWANCE.failures);
    expect(statuses.filter((status) => status === '429')).toHaveLength(200 - ALLOWANCE.failures);
  });

  it.each([
    ['ports', (number: number) => `192.0.2.1:${1_000 + number}`],
    ['hops that its caller has made up', (number: number) => `198.51.100.${number}, 192.0.2.1`],
    ['many hops', (number: number) => `${Array.from({ length: 500 }, () => `10.0.0.${number}`).join(', ')},192.0.2.1`],
    ['no hop before it', () => ', 192.0.2.1'],
    ['spaces', (number: number) => `${' '.repeat(number)}192.0.2.1${' '.repeat(number)}`],
    ['addresses of one IPv6 network', (number: number) => `2001:db8:1:2::${number}`],
    ['its brackets and ports', (number: number) => `[2001:db8:1:2::${number}]:${1_000 + number}`],
    ['its zones', (number: number) => `2001:db8:1:2::1%eth${number}`],
    ['IPv4 in IPv6', (number: number) => (number % 2 === 0 ? '::ffff:192.0.2.1' : '192.0.2.1')],
    ['nothing', () => ''],
    ['what is no address', (number: number) => `_hidden${number}`],
  ])('count for one caller, whatever its proxy writes: %s', async (_, write) => {
    await start({ trustedProxies: 1 });
    const statuses = [];
    for (let number = 1; number <= 6; number++) statuses.push((await ask('guess', from(write(number)))).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await ask(KEYS.shop, from(write(7)))).status).toBe(400);
  });

  it('shut no merchant out who shares the address, whoever calls first', async () => {
    await start({ trustedProxies: 1 });
    const many = await times(21, () => ask('guess', from('192.0.2.1')));
    expect(many.map(({ status }) => status)).toContain(429);
    expect((await ask(KEYS.shop, from('192.0.2.1'))).status).toBe(400);
    expect((await ask(KEYS.rival, from('192.0.2.1'))).status).toBe(403);
  });

  it('are answered late once there were too many, wherever a right key has called from', async () => {
    await start();
    expect((await ask(KEYS.shop)).status).toBe(400);
    await times(6, () => ask('guess'));
    const begun = performance.now();
    expect((await ask('guess')).status).toBe(429);
    expect(performance.now() - begun).toBeGreaterThan(900);
  });

  it('hold few connections, however many are sent at once', async () => {
    await start();
    await times(6, () => ask('guess'));
    const begun = performance.now();
    const answers = await times(200, () => ask('guess'));
    // Fifty at a time are held for a second each.
    const held = 50 * Math.floor((performance.now() - begun) / 1_000);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    const closed = answers.filter(({ headers }) => headers.get('connection') === 'close');
    expect(closed.length).toBeGreaterThanOrEqual(200 - held);
    expect((await ask(KEYS.shop)).status).toBe(400);
  });

  it('count for the address of the connection when no proxy is trusted', async () => {
    await start();
    const guess = (number: number) => ask(`guess-${number}`, from(`192.0.2.${number}`));
    const answers = [];
    for (let number = 0; number < 7; number++) answers.push((await guess(number)).status);
    expect(answers).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });
});

describe('an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2::1', '32.1.13.184.0.1.0.2'],
    ['2001:db8:1:2:3:4:5:6', '32.1.13.184.0.1.0.2'],
    // As proxies write it.
    ['192.0.2.1:5678', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['[2001:db8:1:2::1]', '32.1.13.184.0.1.0.2'],
    ['[2001:db8:1:2::1]:5678', '32.1.13.184.0.1.0.2'],
    ['2001:db8:1:2::1%eth0', '32.1.13.184.0.1.0.2'],
    ['[::ffff:192.0.2.1]:80', '192.0.2.1'],
    ['nonsense', 'unknown'],
    ['unknown', 'unknown'],
    ['_hidden', 'unknown'],
    ['', 'unknown'],
    ['192.0.2.1, 192.0.2.2', 'unknown'],
    ['1'.repeat(65_536), 'unknown'],
  ])('%s counts as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('a replaced list of merchants', () => {
  it('is in use from the next request on, and disturbs none that is under way', async () => {
    let answer: (balance: BalanceAnswer) => void = () => undefined;
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const balance = () => {
      isAsked();
      return new Promise<BalanceAnswer>((resolve) => (answer = resolve));
    };
    await start({
      allowance: { ...ALLOWANCE, perMinute: 100 },
      providers: { collection: { balance }, payout: { balance } },
    });
    const held = api.ask('GET', '/v1/balance?service=payout', { key: KEYS.shop });
    await asked;
    api.replaceMerchants([]);
    expect((await ask(KEYS.shop)).status).toBe(401);
    answer({ kind: 'balance', service: 'x', balance: 1, currency: 'XAF' });
    expect((await held).status).toBe(200);
  });
});
