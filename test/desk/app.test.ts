import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type DeskUnderTest, startDesk, type Visitor } from '../support/desk-under-test.js';
import { ID, OPERATOR, problem, READER, startStubApi } from '../support/stub-api.js';

/** Texts that would run, load, submit elsewhere, break out of an attribute, or turn the direction of a page. */
const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(2)></textarea></style>\u202E{{7*7}}`;

/** Every page that an operator can be shown. */
const PAGES = [
  '/desk',
  '/desk?cursor=abc&merchant=shop&kind=payout',
  '/desk/deliveries',
  '/desk/deliveries/given-up',
  '/desk/unmatched',
  '/desk/statements',
  '/desk/statements/2026-11-21',
  '/desk/statements/2026-11-21?version=1',
  '/desk/search',
  `/desk/search?q=${encodeURIComponent('order-1')}`,
  `/desk/payments/${ID}`,
  `/desk/payments/${ID}/decide/match?review=3&transId=abc`,
  `/desk/payments/${ID}/decide/fail?review=3`,
  `/desk/payments/${ID}/decide/resend?review=3`,
];

let api: Awaited<ReturnType<typeof startStubApi>>;
let desk: DeskUnderTest;
let operator: Visitor;

beforeAll(async () => {
  api = await startStubApi({ text: HOSTILE });
  desk = await startDesk(api.url);
  operator = desk.visitor();
  await operator.signIn(OPERATOR);
});
afterEach(() => {
  api.instead.clear();
  api.asked.length = 0;
});
afterAll(async () => {
  await desk.stop();
  await api.stop();
});

const posted = () => api.asked.filter(({ method }) => method === 'POST');
const page = `/desk/payments/${ID}`;

describe('the first page', () => {
  let warned: DeskUnderTest;
  let visitor: Visitor;
  beforeAll(async () => {
    warned = await startDesk(api.url, { floatWarnBelow: 120_001 });
    visitor = warned.visitor();
    await visitor.signIn(OPERATOR);
  });
  afterAll(() => warned.stop());

  it('warns of a payout account that holds less than it should', async () => {
    api.asked.length = 0;
    const { text } = await visitor.get('/desk');
    expect(text).toContain('The payout account holds 120,000\u00a0XAF');
    expect(text).toContain('less than 120,001\u00a0XAF');
    expect(api.asked.filter(({ path }) => path === '/v1/balance').map(({ query }) => query)).toEqual([
      '?service=payout',
    ]);
  });

  it('says nothing of one that holds enough', async () => {
    api.instead.set('/v1/balance', { status: 200, body: { ...api.known.balance, balance: 120_001 } });
    expect((await visitor.get('/desk')).text).not.toContain('payout account');
  });

  it.each([
    [
      'is not told',
      problem(503, 'provider_unavailable', 'The provider did not answer.'),
      'The provider did not answer.',
    ],
    ['is told in another currency', { currency: 'EUR' }, 'The provider tells it in EUR.'],
  ])("says that it isn't known what it holds when that %s, and shows the rest", async (_, body, why) => {
    api.instead.set('/v1/balance', { status: 200, body: { ...api.known.balance, ...body } });
    const { status, text } = await visitor.get('/desk');
    expect(status).toBe(200);
    expect(text).toContain(`<strong>It isn&#39;t known what the payout account holds</strong><p>${why}</p>`);
    expect(text).toContain('Payments in REVIEW');
  });

  it('asks for no balance without a level', async () => {
    expect((await operator.get('/desk')).text).not.toContain('payout account');
    expect(api.asked.filter(({ path }) => path === '/v1/balance')).toEqual([]);
  });
});

describe('the refunds', () => {
  const COLLECTION = 'col_2775d55233b9d4be2a8db3491967ed92';
  const address = `/desk/payments/${COLLECTION}`;
  /** Has the API show a collection, and answer so for its refunds. */
  function showing(status: 'REVIEW' | 'SUCCESSFUL' | 'CREATED', refunds: object, sums: object = {}): void {
    const { review, ...rest } = api.known.payment;
    const collection = { ...rest, ...sums, id: COLLECTION, kind: 'collection', method: 'link', status };
    const body = status === 'REVIEW' ? { ...collection, review } : { ...collection, final: status === 'SUCCESSFUL' };
    api.instead.set(`/v1/payments/${COLLECTION}`, { status: 200, body });
    api.instead.set(`/v1/collections/${COLLECTION}/refunds`, { status: 200, body: refunds });
  }
  const figures = () => ({
    object: 'refunds',
    collection: COLLECTION,
    collected: 50_000,
    refunded: 7_000,
    refunding: 3_000,
    refundable: 40_000,
    data: [{ ...api.known.payment, refundOf: COLLECTION, refundReason: HOSTILE }],
  });

  it("are on their collection's page, with the figures and links", async () => {
    showing('SUCCESSFUL', figures());
    const { text } = await operator.get(address);
    for (const words of ['Collected', '50,000', 'Being refunded', '3,000', 'Refundable', '40,000']) {
      expect(text).toContain(words);
    }
    expect(text).toContain(`<a href="${page}">`);
    expect(text).not.toContain('<script');
    expect(text).not.toContain('Refunds of this collection');
  });

  it('are told to whoever decides on a collection', async () => {
    showing('REVIEW', figures());
    const { text } = await operator.get(address);
    expect(text).toContain('Refunds of this collection');
    expect(text).toContain('7,000\u00a0XAF refunded</strong> and 3,000\u00a0XAF being refunded');
  });

  it('are told again before the decision is carried out', async () => {
    showing('REVIEW', figures(), { refunded: 7_000, refunding: 3_000 });
    await operator.get(`${address}/decide/fail?review=3`);
    const { text } = await operator.submit('/decide/fail', { why: 'a call' });
    expect(text).toContain('<dt>Refunded</dt><dd><strong>7,000\u00a0XAF</strong>, and 3,000\u00a0XAF being refunded');
  });

  it("are said to be unknown to whoever decides, when the API can't tell", async () => {
    showing('REVIEW', problem(503, 'temporarily_unavailable', 'The book is away.'));
    const { status, text } = await operator.get(address);
    expect(status).toBe(200);
    expect(text).toContain('known whether this collection was refunded. The book is away.');
  });

  it('are not spoken of where there is none, and nothing was collected', async () => {
    showing('CREATED', { ...figures(), collected: 0, refunded: 0, refunding: 0, refundable: 0, data: [] });
    expect((await operator.get(address)).text).not.toContain('efund');
  });

  it('lead back to their collection', async () => {
    const body = { ...api.known.payment, refundOf: COLLECTION, refundReason: 'out of stock' };
    api.instead.set(`/v1/payments/${ID}`, { status: 200, body });
    const { text } = await operator.get(page);
    expect(text).toContain('<h1>Refund of 123,456,789');
    expect(text).toContain(`<a href="${address}">${COLLECTION}</a>`);
    expect(text).toContain('out of stock');
    expect(api.asked.filter(({ path }) => path.endsWith('/refunds'))).toEqual([]);
  });
});

describe('the deliveries', () => {
  it.each([
    ['due', '/desk/deliveries'],
    ['abandoned', '/desk/deliveries/given-up'],
  ])('that are %s are asked for where the last page ended', async (which, path) => {
    const { text } = await operator.get(path);
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(text) ?? [];
    const { text: following } = await operator.get(next.replaceAll('&#39;', "'"));
    const asked = api.asked.filter((one) => one.path === `/v1/notifications/${which}`);
    expect(asked.map(({ query }) => new URLSearchParams(query).get('cursor'))).toEqual([null, HOSTILE]);
    expect(text).toContain('1,234 notifications, 1 of them on this page');
    expect(text).not.toContain('Oldest payments');
    expect(following).toContain(`<a class="button plain" href="${path}">Oldest payments</a>`);
  });

  it.each(['/desk/deliveries', '/desk/deliveries/given-up'])(
    'lead back to their list when one is sent again: %s',
    async (path) => {
      await operator.get(path);
      const sent = await operator.submit('/notifications/1');
      expect(sent.path).toBe(path);
      expect(sent.text).toContain('is being sent again');
    },
  );
});

describe('every page', () => {
  it.each([...PAGES, '/desk/sign-in', '/desk/nowhere'])('may load nothing but its style sheet: %s', async (path) => {
    const { headers, text } = await operator.get(path);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none';style-src 'self';form-action 'self';frame-ancestors 'none';base-uri 'none'",
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('etag')).toBe(false);
    // The texts in the attributes are hostile as well, and harmless there.
    const tags = (text.match(/<[^>]*>/g) ?? []).join('').replace(/"[^"]*"/g, '');
    expect(tags).toContain('<main');
    expect(tags).not.toMatch(/<script|<style|\sstyle=|\son\w+=/i);
  });

  it('has a style sheet that browsers may keep', async () => {
    const [, address = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec((await operator.get('/desk')).text) ?? [];
    const { status, headers } = await operator.get(address);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(headers.get('cache-control')).toContain('immutable');
  });

  it.each(PAGES)('shows hostile texts as texts: %s', async (path) => {
    const { status, text } = await operator.get(path);
    expect(status).toBe(200);
    // The key's name is hostile, too, so that each page has at least one of them.
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).not.toContain('<script');
    expect(text).not.toContain('<img');
    expect(text).not.toContain('\u202E');
    expect(text).not.toContain('href="javascript:');
  });

  it('shows what was typed as a text', async () => {
    const { text } = await operator.get(`/desk/search?q=${encodeURIComponent(HOSTILE)}`);
    expect(text).not.toContain('<img');
    await operator.get(`${page}/decide/match?review=3`);
    const again = await operator.submit('/decide/match', { why: '', transId: HOSTILE });
    expect(again.text).toContain('Say why');
    expect(again.text).not.toContain('<img');
    expect(again.text).toContain('&lt;img src=x');
  });
});

describe('somebody who is not signed in', () => {
  it.each(PAGES)('is shown the sign-in page, and nothing is asked: %s', async (path) => {
    const stranger = desk.visitor();
    const { status, text, path: at } = await stranger.get(path);
    expect([status, at]).toEqual([200, `/desk/sign-in?next=${encodeURIComponent(path)}`]);
    expect(text).toContain('Sign in to the desk');
    expect(api.asked).toEqual([]);
  });

  it('cannot send a form', async () => {
    await operator.get(page);
    const { csrf = '' } = operator.form('/refresh').hidden;
    api.asked.length = 0;
    const { path } = await desk.visitor().post(`${page}/refresh`, { csrf });
    expect(path).toBe(`/desk/sign-in?next=${encodeURIComponent(page)}`);
    expect(api.asked).toEqual([]);
  });
});

describe('signing in', () => {
  it('takes a key with the scope review, and leads to the page that was wanted', async () => {
    const visitor = desk.visitor();
    const { path } = await visitor.signIn(api.operatorKey(), '/desk/unmatched');
    expect(path).toBe('/desk/unmatched');
  });

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/deskevil', ''])(
    'leads nowhere else: %p',
    async (next) => {
      expect((await desk.visitor().signIn(api.operatorKey(), next)).path).toBe('/desk');
    },
  );

  it('gives a cookie that no script can read, no other site sends, and that ends', async () => {
    const visitor = desk.visitor();
    await visitor.get('/desk/sign-in');
    const { action, hidden } = visitor.form('/sign-in');
    const response = await fetch(action, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: desk.url, cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      body: new URLSearchParams({ ...hidden, key: api.operatorKey() }),
    });
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith('sanaga_desk=')) ?? '';
    expect(cookie).toMatch(/^sanaga_desk=[\w-]{43}; Max-Age=3600; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain('sk_');
  });

  it('over https, makes the cookie one that is sent over https alone', async () => {
    const proxied = await startDesk(api.url, { trustedProxies: 1 });
    try {
      const response = await fetch(`${proxied.url}/desk/sign-in`, {
        headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'desk.example' },
      });
      expect(response.headers.getSetCookie().join()).toMatch(/^__Host-sanaga_desk_form=.*; Secure/);
    } finally {
      await proxied.stop();
    }
  });

  it('is refused where the key would be sent over a network in plain text', async () => {
    const proxied = await startDesk(api.url, { trustedProxies: 1 });
    try {
      const response = await fetch(`${proxied.url}/desk/sign-in`, {
        headers: { 'x-forwarded-host': 'desk.example' },
      });
      expect(response.status).toBe(403);
      expect(await response.text()).toContain('needs https');
    } finally {
      await proxied.stop();
    }
  });

  it('refuses a key without the scope review, and one that is not known', async () => {
    const visitor = desk.visitor();
    const reader = await visitor.signIn(READER);
    expect(reader.status).toBe(403);
    expect(reader.text).toContain('scope review');
    const unknown = await visitor.signIn('sk_unknown_0123456789');
    expect(unknown.status).toBe(401);
    expect(unknown.text).toContain('not known');
    expect(unknown.text).not.toContain('sk_unknown');
    expect((await visitor.get('/desk')).path).toContain('/desk/sign-in');
  });

  it('refuses a form that is not ours', async () => {
    const visitor = desk.visitor();
    expect((await visitor.post('/desk/sign-in', { key: api.operatorKey(), csrf: 'x'.repeat(43) })).status).toBe(403);
    await visitor.get('/desk/sign-in');
    expect((await visitor.submit('/sign-in', { key: api.operatorKey(), csrf: '' })).status).toBe(403);
    expect((await visitor.get('/desk')).path).toContain('/desk/sign-in');
  });

  it('is refused after some failures with a wrong key, and says for how long', async () => {
    const guarded = await startDesk(api.url);
    try {
      const thief = guarded.visitor();
      const statuses: number[] = [];
      for (let tries = 0; tries < 5; tries++) statuses.push((await thief.signIn('sk_guess_0123456789')).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401]);
      const { status, headers } = await thief.signIn('sk_guess_0123456789');
      expect(status).toBe(429);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await guarded.stop();
    }
  });

  it('shuts no operator out, however many have guessed', async () => {
    const guarded = await startDesk(api.url);
    try {
      const thief = guarded.visitor();
      for (let tries = 0; tries < 6; tries++) await thief.signIn('sk_guess_0123456789');
      await Promise.all(Array.from({ length: 12 }, () => guarded.visitor().signIn('sk_guess_0123456789')));
      expect((await guarded.visitor().signIn(api.operatorKey())).path).toBe('/desk');
    } finally {
      await guarded.stop();
    }
  });

  it('counts a key that was let in before, and is known no more, as any other', async () => {
    const guarded = await startDesk(api.url);
    const key = 'sk_removed_0123456789';
    api.keys.set(key, { object: 'key', name: 'joe', person: 'joe', scopes: ['review'] });
    try {
      await guarded.visitor().signIn(key);
      api.keys.delete(key);
      const statuses: number[] = [];
      for (let tries = 0; tries < 7; tries++) statuses.push((await guarded.visitor().signIn(key)).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    } finally {
      api.keys.delete(key);
      await guarded.stop();
    }
  });

  it('says so when the API is away', async () => {
    const lost = await startDesk('http://127.0.0.1:1');
    try {
      const visitor = lost.visitor();
      // As often as nobody may with a wrong key: an API that is away proves no key wrong.
      for (let tries = 0; tries < 6; tries++) await visitor.signIn(api.operatorKey());
      const { status, text } = await visitor.signIn(api.operatorKey());
      expect(status).toBe(503);
      expect(text).toContain('API');
      expect(lost.lines.join()).not.toContain('sk_operator');
    } finally {
      await lost.stop();
    }
  });
});

describe('a session', () => {
  it('ends when its operator signs out', async () => {
    const visitor = desk.visitor();
    await visitor.signIn(api.operatorKey());
    const kept = new Map(visitor.cookies);
    expect((await visitor.submit('/sign-out')).path).toBe('/desk/sign-in');
    for (const [name, value] of kept) visitor.cookies.set(name, value);
    expect((await visitor.get('/desk')).path).toContain('/desk/sign-in');
  });

  it('ends when the API no longer knows the key', async () => {
    const [one, other] = [desk.visitor(), desk.visitor()];
    api.keys.set('sk_leaked_0123456789', { object: 'key', name: 'joe', person: 'joe', scopes: ['review'] });
    await one.signIn('sk_leaked_0123456789');
    await other.signIn('sk_leaked_0123456789');
    api.keys.delete('sk_leaked_0123456789');
    expect((await one.get(page)).path).toBe(`/desk/sign-in?next=${encodeURIComponent(page)}`);
    api.asked.length = 0;
    expect((await other.get('/desk')).path).toContain('/desk/sign-in');
    expect(api.asked).toEqual([]);
  });
});

describe('a session that has ended', () => {
  it.each(['when it is typed', 'when it is confirmed'])('loses no reason of a decision: %s', async (when) => {
    const key = 'sk_short_0123456789';
    api.keys.set(key, { object: 'key', name: 'joe', person: 'joe', scopes: ['review'] });
    const visitor = desk.visitor();
    await visitor.signIn(key);
    await visitor.get(`${page}/decide/fail?review=3`);
    const why = 'ticket 4711 & "the support": 5 * 100 XAF, été';
    if (when === 'when it is confirmed') await visitor.submit('/decide/fail', { why });
    visitor.cookies.clear();
    const { path } =
      when === 'when it is typed'
        ? await visitor.submit('/decide/fail', { why })
        : await visitor.submit(/confirm\/[\w-]+/.exec(visitor.page)?.[0] ?? '');
    expect(path).toContain('/desk/sign-in?next=');
    const next = new URL(path, desk.url).searchParams.get('next') ?? '';
    api.asked.length = 0;
    const { text } = await visitor.signIn(key, next);
    expect(text).toContain('<h1>Fail the payment</h1>');
    expect(text).toContain('ticket 4711 &amp; &quot;the support&quot;: 5 * 100 XAF, été</textarea>');
    expect(posted()).toEqual([]);
  });
});

describe('a form', () => {
  const forms = ['/refresh', '/notifications/1', '/decide/fail', '/sign-out'];

  it.each(forms)('without the token of its session does nothing: %s', async (end) => {
    const other = desk.visitor();
    await other.signIn(api.operatorKey());
    await other.get(page);
    const { hidden } = other.form('/refresh');
    api.asked.length = 0;
    const path = end === '/sign-out' ? '/desk/sign-out' : page + end;
    for (const csrf of ['', 'x'.repeat(43), hidden.csrf ?? '']) {
      const { status, text } = await operator.post(path, { csrf, why: 'because', review: '3' });
      expect(status).toBe(403);
      expect(text).toContain('Nothing was done');
    }
    expect(posted()).toEqual([]);
  });

  it('that another site has sent does nothing, even with the token', async () => {
    await operator.get(page);
    const { action, hidden } = operator.form('/refresh');
    operator.headers = { 'sec-fetch-site': 'cross-site' };
    expect((await operator.post(action, hidden)).status).toBe(403);
    operator.headers = {};
    expect(posted()).toEqual([]);
  });

  it('that is too large or has a field twice does nothing', async () => {
    await operator.get(page);
    const { csrf = '' } = operator.form('/refresh').hidden;
    const large = await operator.post(`${page}/refresh`, { csrf, why: 'x'.repeat(20_000) });
    expect([large.status, large.text.includes('Nothing was done')]).toEqual([413, true]);
    const response = await fetch(`${desk.url}${page}/refresh`, {
      method: 'POST',
      headers: {
        cookie: [...operator.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: `csrf=${csrf}&csrf=${csrf}`,
    });
    expect(response.status).toBe(403);
    expect(posted()).toEqual([]);
  });
});

describe('a decision', () => {
  const toConfirmation = async (why = 'because') => {
    await operator.get(`${page}/decide/fail?review=3`);
    return await operator.submit('/decide/fail', { why });
  };

  it('is only carried out when it was confirmed', async () => {
    const { path, text } = await toConfirmation();
    expect(path).toMatch(/\/confirm\/[\w-]{43}$/);
    expect(text).toContain('Nothing has been decided yet');
    expect(text).toContain('123,456,789');
    expect(posted()).toEqual([]);
    const { text: after } = await operator.submit(path.slice(page.length));
    expect(after).toContain('Done');
    expect(posted()).toEqual([
      {
        method: 'POST',
        path: `/v1/payments/${ID}/resolve`,
        query: '',
        authorization: `Bearer ${OPERATOR}`,
        body: { action: 'fail', review: 3, why: 'because' },
      },
    ]);
  });

  it('is carried out once, however often its confirmation is sent', async () => {
    const { path } = await toConfirmation();
    const confirmation = operator.form(path.slice(page.length));
    const send = () => operator.post(confirmation.action, confirmation.hidden);
    await Promise.all([send(), send(), send()]);
    await send();
    expect(posted()).toHaveLength(1);
  });

  it('belongs to the session and the payment that it was made for', async () => {
    const { path } = await toConfirmation();
    const other = desk.visitor();
    await other.signIn(api.operatorKey());
    expect((await other.get(path)).path).toBe(page);
    expect(other.page).toContain('no longer there');
    const elsewhere = path.replace(ID, `pay_${'0'.repeat(32)}`);
    expect((await operator.get(elsewhere)).status).toBe(404);
    expect(posted()).toEqual([]);
  });

  it('needs a reason, and for a match the transaction, and keeps what was typed', async () => {
    await operator.get(`${page}/decide/match?review=3`);
    const { text } = await operator.submit('/decide/match', { why: '  ', transId: 'not one' });
    expect(text).toContain('Say why');
    expect(text).toContain('has no spaces');
    expect(text).toContain('value="not one"');
    expect(text).toMatch(/<title>Error: /);
    const long = await operator.submit('/decide/match', { why: 'x'.repeat(501), transId: 'abc' });
    expect(long.text).toContain('at most 500');
    for (const unseen of ['\u2028', '\u2029', '\u0085', '\n']) {
      const broken = await operator.submit('/decide/match', { why: `one${unseen}two`, transId: 'abc' });
      expect(broken.text).toContain('Write it in one line');
      expect(broken.text).toMatch(/>one\s*.*two<\/textarea>/s);
    }
    const faces = await operator.submit('/decide/match', { why: '😀'.repeat(500), transId: 'abc' });
    expect(faces.path).toContain('/confirm/');
    expect(posted()).toEqual([]);
  });

  it('on an old review is refused, and the payment is shown as it is now', async () => {
    const { path, text } = await operator.get(`${page}/decide/fail?review=2`);
    expect(path).toBe(page);
    expect(text).toContain('You looked at review 2');
    expect(text).toContain('this is review 3');
    expect((await operator.get(page)).text).not.toContain('You looked at review 2');
  });

  it('on an old review keeps what was typed, for the review that there is now', async () => {
    const typed = `review=2&transId=T815&why=${encodeURIComponent('seen in the portal')}`;
    const { path, text } = await operator.get(`${page}/decide/match?${typed}`);
    expect(path).toBe(page);
    expect(text).toContain('You had typed: <code>T815</code>. seen in the portal');
    const [, again = ''] = /href="([^"]+)">Go on with what you typed/.exec(text) ?? [];
    const { text: form } = await operator.get(again);
    expect(form).toContain('name="review" value="3"');
    expect(form).toContain('value="T815"');
    expect(form).toContain('>seen in the portal</textarea>');
    expect(posted()).toEqual([]);
  });

  it.each([
    ['before it is confirmed', false],
    ['while it is confirmed', true],
  ])('says what is new when the review has changed %s, and keeps what was typed', async (_, isLate) => {
    const { path } = await toConfirmation('Ticket 4711');
    const news = {
      at: new Date(Date.now() + 60_000).toISOString(),
      type: 'asked',
      source: 'provider',
    } as const;
    const [first] = api.known.timeline.data;
    const data = [first, { ...news, summary: 'The provider said that T815 is SUCCESSFUL.' }];
    api.instead.set('/events', { status: 200, body: { data } });
    const review = { ...api.known.payment.review, number: 4 };
    const changed = { status: 200, body: { ...api.known.payment, review } };
    if (isLate) {
      const detail = 'the review has changed: it is now number 4';
      api.instead.set('/resolve', {
        status: 409,
        // It changes once the desk has looked.
        get body() {
          api.instead.set(`/v1/payments/${ID}`, changed);
          return problem(409, 'resolution_refused', detail);
        },
      });
    } else api.instead.set(`/v1/payments/${ID}`, changed);
    const { path: at, text } = await operator.submit(path.slice(page.length));
    expect(at).toBe(page);
    expect(text).toContain('Refused: nothing was changed');
    expect(text).toContain('The provider said that T815 is SUCCESSFUL.');
    expect(text).toContain('You had typed: Ticket 4711');
    const [, again = ''] = /href="([^"]+)">Go on with what you typed/.exec(text) ?? [];
    const { text: form } = await operator.get(again);
    expect(form).toContain('name="review" value="4"');
    expect(form).toContain('>Ticket 4711</textarea>');
  });

  it('keeps what was typed on a payment that is no longer under review, and when nobody knows', async () => {
    const { path } = await toConfirmation('Ticket 4711');
    api.instead.set('/resolve', { status: 503, body: problem(503, 'temporarily_unavailable', 'Try again.') });
    const unknown = await operator.submit(path.slice(page.length));
    expect(unknown.text).toContain('You had typed: Ticket 4711');
    api.instead.clear();
    const { path: next } = await toConfirmation('Ticket 4712');
    const body = { ...api.known.payment, status: 'FAILED', final: true, review: undefined };
    api.instead.set(`/v1/payments/${ID}`, { status: 200, body });
    const over = await operator.submit(next.slice(page.length));
    expect(over.text).toContain('there is nothing to decide');
    expect(over.text).toContain('You had typed: Ticket 4712');
    expect(over.text).not.toContain('Go on with what you typed');
  });

  it('that the API refuses leads to the payment, with the reason', async () => {
    const { path } = await toConfirmation();
    const detail = 'the review has changed: it is now number 4';
    api.instead.set('/resolve', { status: 409, body: problem(409, 'resolution_refused', detail) });
    const { path: at, text } = await operator.submit(path.slice(page.length));
    expect(at).toBe(page);
    expect(text).toContain('Refused: nothing was changed');
    expect(text).toContain('The review has changed: it is now number 4');
  });

  it('is never said to be refused when nobody knows', async () => {
    for (const body of [problem(503, 'temporarily_unavailable', 'Try again shortly.'), 'cut off {']) {
      const { path } = await toConfirmation();
      api.instead.set('/resolve', { status: 503, body });
      const { text } = await operator.submit(path.slice(page.length));
      expect(text).toContain('It isn&#39;t known whether the decision was carried out');
    }
  });

  it('is forced only after a refusal that says so, and with the word', async () => {
    const { path } = await toConfirmation();
    const end = path.slice(page.length);
    const detail = 'the provider may list a transaction late, or override this with "force": ["too_early"]';
    const body = { ...problem(409, 'resolution_refused', detail), force: ['too_early'] };
    api.instead.set('/resolve', { status: 409, body });
    const refused = await operator.submit(end, { force: 'force' });
    expect(posted().map(({ body }) => body)).toEqual([{ action: 'fail', review: 3, why: 'because' }]);
    expect(refused.path).toBe(path);
    expect(refused.text).toContain('The provider may list a transaction late.');
    expect(refused.text).not.toContain('&quot;force&quot;');
    api.instead.clear();
    for (const force of ['', 'Force', 'yes']) {
      expect((await operator.submit(end, { force })).path).toBe(path);
    }
    expect(posted()).toHaveLength(1);
    expect((await operator.submit(end, { force: 'force' })).path).toBe(page);
    const forced = { action: 'fail', review: 3, why: 'because', force: ['too_early'] };
    expect(posted().at(-1)?.body).toEqual(forced);
  });

  it('is not overruled in whatever comes up, which nobody has read', async () => {
    const { path } = await toConfirmation();
    const detail = 'the decision of ann, which waits, overrules more: reject it, or override this with "force": true';
    const body = { ...problem(409, 'resolution_refused', detail), force: true };
    api.instead.set('/resolve', { status: 409, body });
    const refused = await operator.submit(path.slice(page.length));
    expect(refused.path).toBe(page);
    expect(refused.text).toContain('The decision of ann, which waits, overrules more');
  });

  it('overrules only the objections that were shown, each with the word', async () => {
    const { path } = await toConfirmation();
    const end = path.slice(page.length);
    const refuse = (words: string, force: readonly string[]) => {
      const detail = `${words}, or override this with "force": ${JSON.stringify(force)}`;
      const body = { ...problem(409, 'resolution_refused', detail), force };
      api.instead.set('/resolve', { status: 409, body });
    };
    refuse('the provider may list a transaction late', ['too_early']);
    await operator.submit(end);
    const form = operator.form(end);
    const force = () => operator.post(form.action, { ...form.hidden, force: 'force' });

    refuse('a notification names T7', ['too_early', 'reported_transaction']);
    const { text } = await force();
    expect(text).toContain('A notification names T7.');
    expect(posted()).toHaveLength(2);
    // The same form once more, which hasn't shown the second objection.
    api.instead.clear();
    expect((await force()).path).toBe(path);
    expect(posted()).toHaveLength(2);
    expect((await operator.submit(end, { force: 'force' })).path).toBe(page);
    expect(posted().at(-1)?.body).toMatchObject({ force: ['too_early', 'reported_transaction'] });
  });
});

describe('the queue', () => {
  it('is asked for 20 at a time, the oldest first, and says how many there are', async () => {
    const [one] = api.known.reviews.data;
    const data = Array.from({ length: 20 }, (_, index) => ({ ...one, externalId: `order-${index}` }));
    const body = { data, unreadable: [], total: 1_234, totalAmount: 6_170_000, nextCursor: 'more' };
    api.instead.set('/v1/reviews', { status: 200, body });
    const { text } = await operator.get('/desk?merchant=shop');
    expect(text).toContain('1,234 payments need');
    expect(text).toContain('20 of them are on this page. Their orders come to 6,170,000\u00a0XAF');
    expect(text.match(/<li class="item">/g)).toHaveLength(20);
    expect(text.indexOf('order-0<')).toBeLessThan(text.indexOf('order-1<'));
    expect(text).not.toContain('Oldest payments');
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(text) ?? [];
    const { text: following } = await operator.get(next.replaceAll('&amp;', '&'));
    expect(following).toContain('href="/desk?merchant=shop">Oldest payments</a>');
    expect(api.asked.filter(({ path }) => path === '/v1/reviews').map(({ query }) => query)).toEqual([
      '?merchant=shop&limit=20',
      '?merchant=shop&limit=20&cursor=more',
    ]);
  });

  it('that is empty says so', async () => {
    api.instead.set('/v1/reviews', { status: 200, body: { data: [], unreadable: [], total: 0, totalAmount: 0 } });
    expect((await operator.get('/desk')).text).toContain('Nothing is in REVIEW');
  });
});

describe('a notification that a search has found', () => {
  it('leads to no search for itself', async () => {
    const transId = 'T0815';
    api.instead.set('/v1/notifications/unmatched', {
      status: 200,
      body: { data: [{ transId, status: 'FAILED', at: '2026-11-21T08:20:32Z' }] },
    });
    const link = `/desk/search?q=${transId}">Look for this transaction`;
    expect((await operator.get('/desk/unmatched')).text).toContain(link);
    const { text } = await operator.get(`/desk/search?q=${transId}`);
    expect(text).toContain('Notifications that match no payment');
    expect(text).not.toContain(link);
  });
});

describe('a search', () => {
  it('asks once for whatever identifier it may be, and says which there are', async () => {
    const { text } = await operator.get('/desk/search?q=order-1');
    const asked = api.asked.filter(({ path }) => path === '/v1/payments').map(({ query }) => query);
    expect(asked).toEqual(['?reference=order-1&limit=20']);
    expect(text).toContain("or the mobile operator's reference");
  });

  it("names the operator's reference among what it has not found", async () => {
    api.instead.set('/v1/payments', { status: 200, body: { data: [], unreadable: [] } });
    const { text } = await operator.get('/desk/search?q=MP241122.1501');
    expect(text).toContain("userId, transaction or operator's reference");
    expect(text).not.toContain('Not complete');
  });

  it('does not ask for what is no identifier', async () => {
    await operator.get(`/desk/search?q=${encodeURIComponent('two words')}`);
    expect(api.asked.filter(({ path }) => path === '/v1/payments')).toEqual([]);
  });
});

describe('a payment', () => {
  it('that does not exist is a page that says so', async () => {
    const { status, text } = await operator.get(`/desk/payments/pay_${'0'.repeat(32)}`);
    expect([status, text.includes('no payment with this id')]).toEqual([404, true]);
  });

  it('is shown without what could not be read, which is called not known', async () => {
    api.instead.set('/provider', { status: 503, body: problem(503, 'temporarily_unavailable', 'Later.') });
    api.instead.set('/events', { status: 503, body: problem(503, 'temporarily_unavailable', 'Later.') });
    const { status, text } = await operator.get(page);
    expect(status).toBe(200);
    expect(text.match(/Not known\. Later\./g)).toHaveLength(3);
  });

  it('has its notifications sent again', async () => {
    await operator.get('/desk/deliveries');
    const { path, text } = await operator.submit('/notifications/1');
    expect(path).toBe('/desk/deliveries');
    expect(text).toContain('is being sent again');
    expect(posted().map((one) => one.path)).toEqual([`/v1/payments/${ID}/notifications/1/resend`]);
    await operator.get('/desk/deliveries?cursor=W10');
    await operator.submit('/notifications/1');
    expect(api.asked.at(-1)).toMatchObject({ path: '/v1/notifications/due', query: '?cursor=W10' });
  });
});

describe('the log', () => {
  it('has who asked for which kind of page, and neither keys, cookies nor texts', () => {
    const log = desk.lines.join('');
    expect(log).toContain('"route":"/desk/payments/:id/confirm/:draft"');
    expect(log).toContain(`"paymentId":"${ID}"`);
    expect(log).not.toMatch(/sk_[a-z]+_\w/);
    for (const secret of [...operator.cookies.values(), 'because', 'order-1']) expect(log).not.toContain(secret);
  });
});
