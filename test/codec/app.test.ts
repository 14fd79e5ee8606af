import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { pino } from 'pino';
import { type CodecServer, type CodecServerOptions, createCodecServer, MAX_BODY_BYTES } from '../../src/codec/app.js';
import { MAX_PAYLOADS, MalformedError, readPayloads } from '../../src/codec/payloads.js';
import { MAX_FAILURES_PER_MINUTE } from '../../src/codec/readers.js';
import { serve } from '../../src/http/server.js';
import { Shutdown } from '../../src/process/shutdown.js';
import { EncryptionCodec, keysOf } from '../../src/temporal/encryption.js';
import { merchantsWith } from '../support/api-under-test.js';
import { freshKey } from '../support/test-encryption.js';

const UI = 'http://127.0.0.1:8233';
const TOKEN = 'a-token-of-the-web-ui-0123456789';
const KEYS = { operator: 'operator-secret', shop: 'shop-secret' };

const merchants = merchantsWith([
  { name: 'operator', secret: KEYS.operator, scopes: ['review'] },
  { name: 'shop', secret: KEYS.shop, scopes: ['collections', 'payouts', 'read', 'balance'] },
]);

const key = freshKey('2026-11');
const codec = new EncryptionCodec({ keys: keysOf([key]), isOn: true });

/** A payload as JSON has it over the wire. */
function json({ metadata, data }: Payload) {
  const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)]);
  return { metadata: Object.fromEntries(entries), data: text(data) };
}

async function encrypted(value: unknown, by = codec) {
  return (await by.encode([defaultPayloadConverter.toPayload(value)])).map(json);
}

const order = { phone: '677123456', name: 'Awa Mballa' };
const readable = json(defaultPayloadConverter.toPayload(order));

/** A codec server, with what its log has. */
function useCodecServer(options: Partial<CodecServerOptions> = {}) {
  const log: string[] = [];
  const logger = pino({}, { write: (line) => log.push(line) });
  const server = {} as { url: string; codecServer: CodecServer; stop: () => Promise<void> };
  beforeAll(async () => {
    const codecServer = createCodecServer({
      codec,
      merchants,
      uiUrl: UI,
      uiToken: TOKEN,
      trustedProxies: 0,
      logger,
      ...options,
    });
    const serving = await serve(codecServer.app, { host: '127.0.0.1', port: 0, shutdown: new Shutdown() });
    Object.assign(server, {
      url: `http://127.0.0.1:${serving.port}`,
      codecServer,
      stop: () => serving.stop(),
    });
  });
  afterAll(() => server.stop());

  async function ask(path: string, init: RequestInit & { readonly headers?: Record<string, string> } = {}) {
    const response = await fetch(server.url + path, { redirect: 'manual', ...init });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  }
  const decode = (payloads: unknown, headers: Record<string, string> = {}, path = '/decode') =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-namespace': 'default', ...headers },
      body: typeof payloads === 'string' ? payloads : JSON.stringify({ payloads }),
    });
  const signIn = (secret: string, headers: Record<string, string> = {}) =>
    ask('/sign-in', {
      method: 'POST',
      headers: { origin: server.url, ...headers },
      body: new URLSearchParams({ key: secret }),
    });
  /** Returns the cookie that a browser sends after a response that sets it. */
  const cookieOf = (headers: Headers) => (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return { server, log, ask, decode, signIn, cookieOf };
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

describe('the codec server', () => {
  const { ask, decode, log } = useCodecServer();

  it('decrypts payloads, in order, and leaves those in plain text as they are', async () => {
    const payloads = [...(await encrypted(order)), readable, ...(await encrypted('last'))];
    const { status, body } = await decode(payloads, bearer(KEYS.operator));
    expect(status).toBe(200);
    expect(body.payloads).toEqual([readable, readable, json(defaultPayloadConverter.toPayload('last'))]);
  });

  it('says who has read, and nothing of what', async () => {
    await decode(await encrypted(order), bearer(KEYS.operator));
    expect(log.at(-1)).toMatch(/"reader":"operator","payloads":1,"msg":"payloads were read"/);
    expect(log.join('')).not.toMatch(/677123456|Awa|operator-secret|a-token-of/);
  });

  it('has no way to encrypt', async () => {
    const { status } = await ask('/encode', { method: 'POST', headers: bearer(KEYS.operator), body: '{}' });
    expect(status).toBe(404);
  });

  it('names the key that is missing, and what to do', async () => {
    const other = new EncryptionCodec({ keys: keysOf([freshKey('2027-01')]), isOn: true });
    const { status, body } = await decode(await encrypted(order, other), bearer(KEYS.operator));
    expect(status).toBe(422);
    expect(body.message).toMatch(/encrypted with the key "2027-01".* Add that key to ENCRYPTION_KEYS/);
  });

  it('answers a health check without credentials', async () => {
    expect(await ask('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  it.each([
    ['no JSON', '{'],
    ['no payloads', '{}'],
    ['payloads that are none', '{"payloads": [1]}'],
    ['metadata that is none', '{"payloads": [{"metadata": "x"}]}'],
  ])('refuses a body with %s', async (_, body) => {
    const { status, body: said } = await decode(body, bearer(KEYS.operator));
    expect(status).toBe(400);
    expect(said.message).toMatch(/body/);
  });

  it('refuses a body that is too large, and too many payloads', async () => {
    const large = await decode(`"${'x'.repeat(MAX_BODY_BYTES)}"`, bearer(KEYS.operator));
    expect(large).toMatchObject({
      status: 413,
      body: { message: `A body may have at most ${MAX_BODY_BYTES} bytes.` },
    });
    const many = await decode(
      Array.from({ length: MAX_PAYLOADS + 1 }, () => ({})),
      bearer(KEYS.operator),
    );
    expect(many.status).toBe(400);
  });

  it.each<[string, number]>([
    ['one payload', 1],
    ['ten thousand', MAX_PAYLOADS],
  ])('refuses 300,000 names in the metadata of %s before it reads them', async (_, payloads) => {
    const names = Array.from({ length: 300_000 / payloads }, (_, n) => `n${n}`);
    const metadata = Object.fromEntries(names.map((name) => [name, 'AA']));
    const { status } = await decode(Array(payloads).fill({ metadata }), bearer(KEYS.operator));
    expect(status).toBe(400);

    let read = 0;
    const counted = new Proxy(metadata, {
      get(target, name) {
        read += 1;
        return Reflect.get(target, name);
      },
    });
    expect(() => readPayloads({ payloads: Array(payloads).fill({ metadata: counted }) })).toThrow(MalformedError);
    expect(read).toBe(0);
  });

  it('is kept by no cache, and shown in no frame', async () => {
    const { headers } = await ask('/');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  });
});

describe('anybody who reads payments', () => {
  const { ask, decode, signIn, cookieOf, server } = useCodecServer();

  it('needs an API key with the scope review', async () => {
    const payloads = await encrypted(order);
    expect((await decode(payloads)).status).toBe(401);
    expect((await decode(payloads, bearer('no-such-key'))).status).toBe(401);
    const shop = await decode(payloads, bearer(KEYS.shop));
    expect(shop).toMatchObject({ status: 403, body: { message: 'Use an API key with the scope review.' } });
    expect((await decode(payloads, bearer(KEYS.operator))).status).toBe(200);
  });

  it('can be the Web UI, by the secret part of its address', async () => {
    const payloads = await encrypted(order);
    const origin = { origin: UI };
    expect((await decode(payloads, origin, `/ui/${TOKEN}/decode`)).body.payloads).toEqual([readable]);
    expect((await decode(payloads, origin, '/ui/another-token-0123456789/decode')).status).toBe(401);
    expect((await decode(payloads, origin, '/ui//decode')).status).toBe(404);
  });

  it('can sign in with a browser, whose cookie no script and no other site sees', async () => {
    const answer = await signIn(KEYS.operator, { origin: server.url, 'sec-fetch-site': 'same-origin' });
    expect(answer).toMatchObject({ status: 303 });
    expect(answer.headers.get('location')).toBe('/');
    const set = answer.headers.get('set-cookie') ?? '';
    expect(set).toMatch(/; HttpOnly/);
    expect(set).toMatch(/; SameSite=Strict/);
    expect(set).not.toContain(KEYS.operator);

    const cookie = cookieOf(answer.headers);
    expect((await ask('/', { headers: { cookie } })).text).toMatch(/signed in with a key of <strong>operator/);
    const read = await decode(await encrypted(order), { cookie, origin: UI });
    expect(read.body.payloads).toEqual([readable]);

    await ask('/sign-out', { method: 'POST', headers: { cookie } });
    expect((await decode(await encrypted(order), { cookie, origin: UI })).status).toBe(401);
  });

  it('is told on the page when the key is wrong, or may not read', async () => {
    const wrong = await signIn('no-such-key');
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('The API key is unknown.');
    expect(wrong.headers.get('set-cookie')).toBeNull();
    const shop = await signIn(KEYS.shop);
    expect(shop.status).toBe(403);
    expect(shop.text).toContain('Use an API key with the scope review.');
    expect((await ask('/')).text).toContain('Sign in');
  });

  it('is signed in by no page but ours', async () => {
    const headers: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: 'nonsense' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: UI, 'sec-fetch-site': 'same-site' },
    ];
    for (const each of headers) expect((await signIn(KEYS.operator, each)).status).toBe(403);
  });
});

describe('a session', () => {
  let time = Date.parse('2026-11-22T08:00:00Z');
  const HOST = 'codec.ui.example';
  beforeAll(() => void jest.spyOn(Date, 'now').mockImplementation(() => time));
  afterAll(() => void jest.restoreAllMocks());
  const { ask, decode, signIn, cookieOf, server } = useCodecServer({
    uiUrl: 'https://ui.example',
    trustedProxies: 1,
  });
  const origin = 'https://ui.example';

  it('ends after 12 hours', async () => {
    const answer = await signIn(KEYS.operator);
    const cookie = cookieOf(answer.headers);
    time += 12 * 3_600_000 - 1;
    expect((await decode(await encrypted(order), { cookie, origin })).status).toBe(200);
    time += 1;
    expect((await decode(await encrypted(order), { cookie, origin })).status).toBe(401);
  });

  it('begins over https, and then goes over https to this host alone', async () => {
    const answer = await signIn(KEYS.operator, {
      ...{ 'x-forwarded-proto': 'https', 'x-forwarded-host': HOST },
      'sec-fetch-site': 'same-origin',
    });
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-sanaga_codec=.*; Path=\/; .*Secure/);
    const cookie = cookieOf(answer.headers);
    const read = await decode(await encrypted(order), { cookie, origin, 'x-forwarded-proto': 'https' });
    expect(read.status).toBe(200);
  });

  it('begins nowhere where the key would be sent over a network in plain text', async () => {
    const headers = { 'x-forwarded-host': HOST };
    for (const answer of [await ask('/', { headers }), await signIn(KEYS.operator, headers)]) {
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('Open this page by https.');
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
  });

  it('ends when its key is no longer there', async () => {
    const cookie = cookieOf((await signIn(KEYS.operator)).headers);
    server.codecServer.replaceMerchants(merchants.filter(({ name }) => name !== 'operator'));
    expect((await decode(await encrypted(order), { cookie, origin })).status).toBe(401);
    server.codecServer.replaceMerchants(merchants);
    expect((await decode(await encrypted(order), { cookie, origin })).status).toBe(200);
  });
});

describe('browsers', () => {
  const { ask, decode } = useCodecServer();
  const preflight = (origin: string, path = '/decode') =>
    ask(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-namespace',
      },
    });

  it.each([UI, 'http://localhost:8233'])('may ask from %s, where the Web UI is, with credentials', async (origin) => {
    for (const path of ['/decode', `/ui/${TOKEN}/decode`]) {
      const { status, headers } = await preflight(origin, path);
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('access-control-allow-credentials')).toBe('true');
      expect(headers.get('access-control-allow-methods')).toBe('POST');
      expect(headers.get('access-control-allow-headers')?.toLowerCase()).toMatch(/content-type, x-namespace/);
      expect(headers.get('vary')).toMatch(/Origin/);
    }
    const { headers } = await decode(await encrypted(order), { ...bearer(KEYS.operator), origin });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
  });

  it.each(['http://evil.example', 'http://127.0.0.1:8234', 'https://127.0.0.1:8233', 'null'])(
    'may not ask from %s, whatever they send',
    async (origin) => {
      const refused = [
        await preflight(origin),
        await decode(await encrypted(order), { ...bearer(KEYS.operator), origin }),
        await decode(await encrypted(order), { origin }, `/ui/${TOKEN}/decode`),
      ];
      for (const { status, headers, text } of refused) {
        expect(status).toBe(403);
        expect(headers.get('access-control-allow-origin')).toBeNull();
        expect(text).not.toContain('payloads');
      }
    },
  );
});

describe('without a Web UI', () => {
  const { decode } = useCodecServer({ uiUrl: undefined, uiToken: undefined });

  it('no browser may ask, and the command line may', async () => {
    const payloads = await encrypted(order);
    expect((await decode(payloads, { ...bearer(KEYS.operator), origin: UI })).status).toBe(403);
    expect((await decode(payloads, {}, '/ui/undefined/decode')).status).toBe(401);
    expect((await decode(payloads, bearer(KEYS.operator))).status).toBe(200);
  });
});

describe('somebody who guesses', () => {
  const { decode, signIn, log } = useCodecServer();

  it('is in the log, by his address and without what he tried', async () => {
    await decode([], bearer('a-guess-of-a-key'));
    await decode([], {}, '/ui/a-guess-of-a-token/decode');
    const refusals = log.filter((line) => line.includes('a reader was refused'));
    expect(refusals.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, caller: expect.stringContaining('127.0.0.1'), code: 'unauthenticated' },
      { level: 40, code: 'unauthenticated' },
    ]);
    expect(log.join('')).not.toContain('a-guess');
  });

  it('is refused after some attempts, while a right key is let in', async () => {
    const payloads = await encrypted(order);
    const tries = Array.from({ length: MAX_FAILURES_PER_MINUTE + 1 }, (_, index) => index);
    for (const index of tries) await decode(payloads, bearer(`guess-${index}`));
    expect((await decode(payloads, bearer('another-guess'))).status).toBe(429);
    expect((await decode(payloads, {}, '/ui/another-guess-0123456789/decode')).status).toBe(429);
    expect((await signIn('another-guess')).status).toBe(429);
    expect((await decode(payloads, bearer(KEYS.operator))).status).toBe(200);
  });

  it("isn't anybody who says so of himself: without a proxy, the connection counts", async () => {
    const { status } = await decode([], { ...bearer('once-more'), 'x-forwarded-for': '203.0.113.9' });
    expect(status).toBe(429);
  });

  it("isn't a Web UI whose operator has not signed in yet", async () => {
    const answers = await Promise.all(
      Array.from({ length: 3 * MAX_FAILURES_PER_MINUTE }, async () => decode(await encrypted(order))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  });
});

describe('somebody who guesses through a proxy', () => {
  const { decode } = useCodecServer({ trustedProxies: 1 });
  const from = (address: string) => ({ ...bearer('a-guess'), 'x-forwarded-for': address });

  it('is refused alone', async () => {
    for (let times = 0; times <= MAX_FAILURES_PER_MINUTE; times++) await decode([], from('203.0.113.9'));
    expect((await decode([], from('203.0.113.9'))).status).toBe(429);
    expect((await decode([], from('203.0.113.10'))).status).toBe(401);
  });
});
