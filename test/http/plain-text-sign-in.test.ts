import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createCodecServer } from '../../src/codec/app.js';
import { serve } from '../../src/http/server.js';
import { Shutdown } from '../../src/process/shutdown.js';
import { EncryptionCodec, keysOf } from '../../src/temporal/encryption.js';
import { merchantsWith } from '../support/api-under-test.js';
import { startDesk } from '../support/desk-under-test.js';
import { startHttpProxy } from '../support/http-proxy.js';
import { OPERATOR, startStubApi } from '../support/stub-api.js';
import { freshKey } from '../support/test-encryption.js';

/** What the person's browser has in its address bar. */
const SEEN = 'http://desk.example';
const LOCAL = '127.0.0.1:3001';

interface Page {
  readonly form: string;
  readonly signIn: string;
  /** Its address, by the number of trusted proxies. */
  readonly urls: Map<number, string>;
}

const desk: Page = { form: '/desk/sign-in', signIn: '/desk/sign-in', urls: new Map() };
const codecServer: Page = { form: '/', signIn: '/sign-in', urls: new Map() };

const stops: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  const api = await startStubApi({ text: 'x' });
  stops.push(api.stop);
  const codec = new EncryptionCodec({ keys: keysOf([freshKey('2026-11')]), isOn: true });
  const merchants = merchantsWith([{ name: 'operator', secret: OPERATOR, scopes: ['review'] }]);
  for (const trustedProxies of [0, 1]) {
    const started = await startDesk(api.url, { trustedProxies });
    desk.urls.set(trustedProxies, started.url);
    const { app } = createCodecServer({ codec, merchants, trustedProxies, logger: pino({ level: 'silent' }) });
    const serving = await serve(app, { host: '127.0.0.1', port: 0, shutdown: new Shutdown() });
    codecServer.urls.set(trustedProxies, `http://127.0.0.1:${serving.port}`);
    stops.push(started.stop, () => serving.stop());
  }
});
afterAll(() => Promise.all(stops.map((stop) => stop())));

const cookiesOf = ({ headers }: Response) =>
  headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');

/** Asks for the page with the form, and sends a key as the browser would, from this origin. */
async function signIn(page: Page, url: string, origin: string | undefined) {
  const form = await fetch(url + page.form);
  const html = await form.text();
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(html) ?? [];
  const answer = await fetch(url + page.signIn, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookiesOf(form), ...(origin !== undefined && { origin }) },
    body: new URLSearchParams({ csrf, next: '/desk', key: OPERATOR }),
  });
  await answer.text();
  const [, action] = /<form[^>]* action="([^"]*)"/.exec(html) ?? [];
  return { form: { status: form.status, action }, answer: { status: answer.status, cookies: cookiesOf(answer) } };
}

async function signInThrough(page: Page, trusted: number, headers: Readonly<Record<string, string>>, origin = SEEN) {
  const proxy = await startHttpProxy(page.urls.get(trusted) ?? '', headers);
  try {
    return await signIn(page, `http://127.0.0.1:${proxy.port}`, origin);
  } finally {
    await proxy.stop();
  }
}

describe.each([
  ['the desk', desk],
  ['the codec server', codecServer],
])('a key for %s', (_, page) => {
  it.each([
    ['none counted', 0],
    ['one counted', 1],
  ])('is accepted within one machine, without a proxy, with %s', async (_, trusted) => {
    const url = page.urls.get(trusted) ?? '';
    const { form, answer } = await signIn(page, url, url);
    expect(form).toEqual({ status: 200, action: url + page.signIn });
    expect(answer).toMatchObject({ status: 303, cookies: expect.stringMatching(/^(sanaga_desk_form=; )?sanaga_/) });
  });

  it.each([
    ['the name of the site', 'desk.example'],
    ['the name of this machine', LOCAL],
  ])('is accepted over https, by a proxy that sends %s', async (_, host) => {
    const headers = { host, 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
    const { form, answer } = await signInThrough(page, 1, headers, 'https://desk.example');
    expect(form.action).toBe(page.signIn);
    // An old browser that sends no Sec-Fetch-Site is believed by the codec server only where the host is the same.
    const isTold = page === desk || host === 'desk.example';
    expect(answer.status).toBe(isTold ? 303 : 403);
    if (isTold) expect(answer.cookies).toMatch(/__Host-sanaga_(desk|codec)=[\w-]+/);
  });

  it.each<[string, number, Record<string, string>]>([
    ['passes on the name of the site', 0, { host: 'desk.example' }],
    ['passes on the name of the site, and is counted', 1, { host: 'desk.example' }],
    ['says http', 0, { host: LOCAL, 'x-forwarded-proto': 'http' }],
    ['says http, and is counted', 1, { host: LOCAL, 'x-forwarded-proto': 'http' }],
    ['says http to one that says https', 1, { host: LOCAL, 'x-forwarded-proto': 'https, http' }],
    ['says HTTP to one that says https', 1, { host: LOCAL, 'x-forwarded-proto': 'https, HTTP' }],
    ['says https to one that says http', 1, { host: LOCAL, 'x-forwarded-proto': 'http, https' }],
    ['says https, and is not counted', 0, { host: LOCAL, 'x-forwarded-proto': 'https' }],
    ['names another host', 1, { host: 'desk.example', 'x-forwarded-host': 'localhost' }],
    ['names the caller', 0, { host: LOCAL, 'x-forwarded-for': '127.0.0.1' }],
    ['names the caller, and is counted', 1, { host: LOCAL, 'x-forwarded-for': '127.0.0.1' }],
    ['names the caller as nginx does', 0, { host: LOCAL, 'x-real-ip': '127.0.0.1' }],
    ['names the caller by RFC 7239', 1, { host: LOCAL, forwarded: 'for=127.0.0.1;proto=https' }],
    ['names itself', 0, { host: 'localhost', via: '1.1 proxy' }],
  ])('is refused, and not asked for, over http by a proxy that %s', async (_, trusted, headers) => {
    const { form, answer } = await signInThrough(page, trusted, headers);
    expect(form).toEqual({ status: 403, action: undefined });
    expect(answer).toEqual({ status: 403, cookies: '' });
  });

  it.each([0, 1])('is refused by a proxy that hides itself, with %d counted', async (trusted) => {
    for (const host of [LOCAL, 'localhost', '[::1]:3001']) {
      const { form, answer } = await signInThrough(page, trusted, { host });
      // The page's policy keeps the browser from sending the form there.
      expect(form).toEqual({ status: 200, action: `http://${host}${page.signIn}` });
      expect(answer.status).toBe(403);
      expect(answer.cookies).not.toMatch(/sanaga_(desk|codec)=/);
    }
  });

  it.each([undefined, 'null', 'https://127.0.0.1:3001', 'http://localhost'])(
    'is refused within one machine from the origin %s',
    async (origin) => {
      const { answer } = await signIn(page, page.urls.get(0) ?? '', origin);
      expect(answer.status).toBe(403);
    },
  );
});
