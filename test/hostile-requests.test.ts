import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createCodecServer } from '../src/codec/app.js';
import { serve } from '../src/http/server.js';
import { Shutdown } from '../src/process/shutdown.js';
import { directPaySchema, expirePaySchema, initiatePaySchema, payoutSchema } from '../src/provider/schemas.js';
import { EncryptionCodec, keysOf } from '../src/temporal/encryption.js';
import { KEYS, merchantsWith, startApi } from './support/api-under-test.js';
import { startDesk, type Visitor } from './support/desk-under-test.js';
import { runsOf, slowest } from './support/hostile-text.js';
import { credentials, openLink, startSandbox } from './support/running-sandbox.js';
import { ID, OPERATOR, startStubApi } from './support/stub-api.js';
import { freshKey } from './support/test-encryption.js';

/** Pieces that make expressions and parsers backtrack, and text that Unicode has to sort. */
const PIECES = ['6', 'a', ' ', '\t', '.', ',', ';', '"', '=', '/', '-', '%41', 'a,', 'a;q=0.', 'a=b;', '\u0301\u0323'];
const RUNS = runsOf(64 * 1024, PIECES);
/** As much as Node takes of an address and of all headers together. */
const SHORT = runsOf(14 * 1024, PIECES);

/** Runs that a header can carry. */
const HEADER_RUNS = SHORT.map((run) => run.slice(0, -1)).filter((run) => /^[!-~][ -~]*[!-~]$/.test(run));
const HEADER_BEGINNINGS: Readonly<Record<string, string>> = {
  authorization: 'Bearer ',
  'content-type': 'application/json; charset=',
};
const HEADERS = [
  ...['authorization', 'idempotency-key', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded'],
  ...[
    'accept',
    'accept-encoding',
    'accept-language',
    'content-type',
    'content-encoding',
    'cookie',
    'traceparent',
    'tracestate',
  ],
  ...[
    'x-request-id',
    'origin',
    'referer',
    'user-agent',
    'sec-fetch-site',
    'if-none-match',
    'range',
    'expect-ct',
    'x-namespace',
  ],
];

const encoded = (text: string) =>
  encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ''))
    .slice(0, 14 * 1024)
    .replace(/%.?$/, '');

const server = { api: '', desk: '', codec: '', sandbox: '' };
const stops: (() => Promise<unknown>)[] = [];
let operator: Visitor;
let link = '';

const merchants = merchantsWith([{ name: 'operator', secret: KEYS.operator, scopes: ['review'] }]);

beforeAll(async () => {
  const api = await startApi({ trustedProxies: 1, level: 'silent' });
  const stub = await startStubApi({ text: 'x' });
  const desk = await startDesk(stub.url, { trustedProxies: 1, logger: pino({ level: 'silent' }) });
  operator = desk.visitor();
  await operator.signIn(OPERATOR);
  const codec = createCodecServer({
    codec: new EncryptionCodec({ keys: keysOf([freshKey('1')]), isOn: true }),
    merchants,
    uiUrl: 'http://127.0.0.1:8233',
    uiToken: 'a-token-of-the-web-ui-0123456789',
    trustedProxies: 1,
    logger: pino({ level: 'silent' }),
  });
  const serving = await serve(codec.app, { host: '127.0.0.1', port: 0, shutdown: new Shutdown() });
  stops.push(api.stop, desk.stop, stub.stop, serving.stop);
  Object.assign(server, { api: api.url, desk: desk.url, codec: `http://127.0.0.1:${serving.port}` });
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

type Name = keyof typeof server;

/** Sends something to a server, whatever it answers; what can't be sent at all is nobody's. */
async function send(name: Name, path: string, init: RequestInit = {}): Promise<void> {
  try {
    const response = await fetch(server[name] + path, { redirect: 'manual', ...init });
    await response.arrayBuffer();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

const session = () => ({
  origin: server.desk,
  cookie: [...operator.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
});
const bearer = { authorization: `Bearer ${KEYS.operator}` };

describe('a header of 14 kB', () => {
  const places: [Name, 'GET' | 'POST', string][] = [
    ['api', 'GET', '/v1/payments'],
    ['api', 'POST', '/v1/payouts'],
    ['desk', 'GET', '/desk'],
    ['desk', 'POST', '/desk/sign-in'],
    ['codec', 'GET', '/'],
    ['codec', 'POST', '/decode'],
  ];
  it.each(places.flatMap((place) => HEADERS.map((header) => [...place, header] as const)))(
    'is taken or refused in linear time: by the %s, of %s %s, as %s',
    async (name, method, path, header) => {
      const known = {
        api: { authorization: `Bearer ${KEYS.shop}` },
        desk: session(),
        codec: bearer,
        sandbox: {},
      };
      const body = method === 'POST' ? { body: '{}' } : {};
      const ask = (text: string) => {
        const headers = {
          'content-type': 'application/json',
          ...known[name],
          [header]: `${HEADER_BEGINNINGS[header] ?? ''}${text}`,
        };
        return send(name, path, { method, headers, ...body });
      };
      expect(await slowest(ask, HEADER_RUNS)).toBeUndefined();
    },
  );
});

describe('at the desk, 64 kB', () => {
  const source = ['app', 'deciding', 'deliveries', 'payment-page', 'review-queue', 'search', 'sign-in', 'statements']
    .map((file) => readFileSync(`src/desk/${file}.ts`, 'utf8'))
    .join();
  const namesIn = (pattern: RegExp) => [...new Set([...source.matchAll(pattern)].map(([, name = '']) => name))];
  const fields = namesIn(/(?:visit\.field\(|request\.body, )'(\w+)'/g);
  const parameters = namesIn(/(?:visit\.query\(|request\.query, )'(\w+)'/g);
  const PAGES = [
    ...[
      '/desk',
      '/desk/deliveries',
      '/desk/unmatched',
      '/desk/statements',
      '/desk/statements/2026-11-21',
      '/desk/search',
    ],
    ...[`/desk/payments/${ID}`, `/desk/payments/${ID}/decide/match`, `/desk/payments/${ID}/confirm/x`, '/desk/sign-in'],
  ];
  const FORMS = [
    '/desk/sign-in',
    '/desk/statements',
    ...['refresh', 'notifications/1', 'decide/match', 'confirm/x'].map((end) => `/desk/payments/${ID}/${end}`),
  ];

  it('are tried in every field and parameter, by somebody who is signed in', async () => {
    const { status } = await fetch(`${server.desk}/desk/search`, { headers: session(), redirect: 'manual' });
    expect(status).toBe(200);
    expect(fields).toEqual(expect.arrayContaining(['csrf', 'key', 'next', 'why', 'transId', 'review', 'date']));
    expect(parameters).toEqual(expect.arrayContaining(['q', 'version', 'cursor']));
  });

  it.each(PAGES.flatMap((path) => parameters.map((name) => [name, path])))(
    'as the parameter %s of %s are read in linear time',
    async (name, path) => {
      const ask = (text: string) => send('desk', `${path}?${name}=${encoded(text)}`, { headers: session() });
      expect(await slowest(ask, SHORT)).toBeUndefined();
    },
  );

  it.each(
    PAGES.flatMap((path) =>
      path
        .split('/')
        .slice(2)
        .map((part) => [part, path] as const),
    ),
  )('in place of %s in %s are read in linear time', async (part, path) => {
    const ask = (text: string) => send('desk', path.replace(`/${part}`, `/${encoded(text)}`), { headers: session() });
    expect(await slowest(ask, SHORT)).toBeUndefined();
  });

  it.each(FORMS.flatMap((path) => fields.map((name) => [name, path])))(
    'as the field %s of the form to %s are read in linear time',
    async (name, path) => {
      const { hidden } = operator.form('/sign-out');
      const ask = (text: string) =>
        send('desk', path, {
          method: 'POST',
          headers: session(),
          body: new URLSearchParams({ csrf: '', ...hidden, [name]: text }),
        });
      // As much as a form may have, and more.
      expect(await slowest(ask, [...runsOf(4 * 1024, PIECES), ...RUNS])).toBeUndefined();
    },
  );
});

describe('at the codec server, 64 kB', () => {
  const payload = {
    metadata: { encoding: 'YmluYXJ5L2VuY3J5cHRlZA==', 'encryption-key-id': 'MQ==' },
    data: 'AAAA',
  };
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const decode = (body: unknown) =>
    send('codec', '/decode', {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it.each<[string, (text: string) => unknown]>([
    ['data', (text) => ({ ...payload, data: text })],
    ['data that is encoded', (text) => ({ ...payload, data: base64(text) })],
    ['an encoding', (text) => ({ ...payload, metadata: { ...payload.metadata, encoding: base64(text) } })],
    ["a key's id", (text) => ({ ...payload, metadata: { ...payload.metadata, 'encryption-key-id': base64(text) } })],
    ['the name of metadata', (text) => ({ ...payload, metadata: { [text]: 'AAAA' } })],
    ['a field', (text) => ({ ...payload, [text]: 1 })],
  ])('as %s are read in linear time', async (_, payloadOf) => {
    expect(await slowest((text) => decode({ payloads: [payloadOf(text)] }), RUNS)).toBeUndefined();
  });

  it('as a token and as a key are read in linear time', async () => {
    const byToken = (text: string) => send('codec', `/ui/${encoded(text)}/decode`, { method: 'OPTIONS' });
    expect(await slowest(byToken, SHORT)).toBeUndefined();
    const signIn = (text: string) =>
      send('codec', '/sign-in', {
        method: 'POST',
        headers: { origin: server.codec },
        body: new URLSearchParams({ key: text }),
      });
    expect(await slowest(signIn, [...runsOf(1_000, PIECES), ...RUNS].slice(0, 8))).toBeUndefined();
  });
});

describe('at the sandbox, 64 kB', () => {
  const start = async () => {
    const running = await startSandbox();
    server.sandbox = running.url;
    const transId = await openLink(running);
    link = new URL(running.sandbox.ledger.find(transId)?.linkToken ?? '', `${running.url}/pay/`).pathname;
    return running;
  };
  const bodies = {
    'initiate-pay': [initiatePaySchema, 'collection'],
    'direct-pay': [directPaySchema, 'collection'],
    'expire-pay': [expirePaySchema, 'collection'],
    payout: [payoutSchema, 'payout'],
  } as const;

  it.each(
    Object.entries(bodies).flatMap(([path, [schema, who]]) =>
      Object.keys(schema.shape).map((field) => ({ path, who, field })),
    ),
  )('as $field of $path are read in linear time', async ({ path, who, field }) => {
    const running = await start();
    const order = { amount: 1_000, phone: '677000000', transId: 'x' };
    const ask = (text: string) => running.post(`/${path}`, { ...order, [field]: text }, who);
    expect(await slowest(ask, [...RUNS, ...RUNS.map((run) => `https://a${run}`)])).toBeUndefined();
  });

  it.each(['phone', 'medium', 'email', 'action', 'withdraw'])(
    'as %s on the checkout page are read in linear time',
    async (field) => {
      await start();
      const ask = (text: string) =>
        send('sandbox', link, {
          method: 'POST',
          body: new URLSearchParams({ action: 'pay', phone: '677000000', [field]: text }),
        });
      expect(await slowest(ask, [...runsOf(1_000, PIECES), ...RUNS])).toBeUndefined();
    },
  );

  it.each([
    ...[
      '/payment-status/%',
      '/transaction/%',
      '/search?transId=%',
      '/search?from=%',
      '/search?limit=%',
      '/pay/%',
      '/pay/x?form=%',
      '/%',
    ],
    ...['/_sandbox/ledger?limit=%', '/_sandbox/ledger?after=%'],
  ])('in %s are read in linear time', async (path) => {
    await start();
    const ask = (text: string) =>
      send('sandbox', path.replace('%', encoded(text)), { headers: credentials('collection') });
    expect(await slowest(ask, SHORT)).toBeUndefined();
  });

  it('as a fault and as how a transaction ends are read in linear time', async () => {
    const running = await start();
    const fields = ['fault', 'on', 'endpoint', 'kind', 'status', 'reason', 'transId'];
    for (const field of fields) {
      const add = (text: string) => running.operator('POST', '/faults', { [field]: text });
      expect(await slowest(add, RUNS)).toBeUndefined();
      const settle = (text: string) => running.operator('POST', '/transactions/x/settle', { [field]: text });
      expect(await slowest(settle, RUNS)).toBeUndefined();
    }
  });
});
