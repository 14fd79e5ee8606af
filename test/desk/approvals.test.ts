import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type DeskUnderTest, startDesk, type Visitor } from '../support/desk-under-test.js';
import { APPROVER, DIGEST, ID, OPERATOR, problem, startStubApi } from '../support/stub-api.js';

const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(2)>\u202E`;
const PATH = '/desk/approvals';
const DATED = `${PATH}?held=date`;
const AMOUNT = '123,456,789';

let api: Awaited<ReturnType<typeof startStubApi>>;
let desk: DeskUnderTest;
let bob: Visitor;

beforeAll(async () => {
  api = await startStubApi({ text: HOSTILE });
  desk = await startDesk(api.url);
  bob = desk.visitor();
  await bob.signIn(APPROVER);
});
beforeEach(() => shows({ orderedBy: 'ann' }));
afterEach(() => {
  api.instead.clear();
  api.asked.length = 0;
});
afterAll(async () => {
  await desk.stop();
  await api.stop();
});

/** Has the API show the one payment as held, with some fields otherwise. */
function shows(fields: object): void {
  api.instead.set(`/v1/payments/${ID}`, { status: 200, body: { ...api.known.held, ...fields } });
}
const posted = () => api.asked.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body]);
const forms = ({ text }: { text: string }) => text.match(/<form[^>]*action="[^"]*(?:approve|reject)"/g) ?? [];

describe('a key that approves and no more', () => {
  it('is led to the page of approvals, which leads to no other', async () => {
    const visitor = desk.visitor();
    const { path, text } = await visitor.signIn(APPROVER);
    expect(path).toBe(PATH);
    expect((await visitor.get('/desk')).path).toBe(PATH);
    const sections = [...text.matchAll(/<li><a href="([^"]*)"/g)].map(([, address]) => address);
    expect(sections).toEqual([PATH, PATH, DATED]);
    expect(text).not.toContain('/desk/payments/');
  });

  it.each([
    '/desk/deliveries',
    '/desk/unmatched',
    '/desk/statements',
    '/desk/statements/2026-11-21/csv',
    '/desk/search?q=order-1',
    `/desk/payments/${ID}`,
    `/desk/payments/${ID}/decide/fail?review=3`,
  ])('is shown no other page: %s', async (path) => {
    api.asked.length = 0;
    const { status, text } = await bob.get(path);
    expect(status).toBe(403);
    expect(text).toContain('needs a key with the scope review');
    expect(api.asked).toEqual([]);
  });

  it('does nothing by the forms of others', async () => {
    await bob.get(PATH);
    const { csrf = '' } = bob.form('/approve').hidden;
    for (const path of ['/refresh', '/decide/fail', '/notifications/1']) {
      expect((await bob.post(`/desk/payments/${ID}${path}`, { csrf })).status).toBe(403);
    }
    expect(posted()).toEqual([]);
  });
});

describe('the page of approvals', () => {
  it("asks for the merchant's own payouts that wait for one, of an operator, too", async () => {
    await bob.get(PATH);
    const operator = desk.visitor();
    await operator.signIn(OPERATOR, PATH);
    const asked = api.asked
      .filter(({ path }) => path === '/v1/payments')
      .map(({ query }) => new URLSearchParams(query));
    expect(asked.map((query) => [query.get('held'), query.get('merchant')])).toEqual([
      ['approval', null],
      ['approval', HOSTILE],
    ]);
    expect(operator.page).toContain('href="/desk/statements"');
  });

  it('says what each is, who has ordered it, until when it waits, and what the account holds', async () => {
    const { text } = await bob.get(PATH);
    expect(text).toContain('Payout of 123,456,789\u00a0XAF');
    expect(text).toContain('<dt>Ordered by</dt><dd>ann, <time');
    expect(text).toContain('2036-11-28T08:20:32.843Z');
    expect(text).toContain('on its date, <time datetime="2036-12-01T08:00:00.000Z">');
    expect(text).toContain('It is sent on its date');
    expect(text).toContain('It holds <strong>120,000\u00a0XAF</strong>');
    expect(text).toContain('holds 120,000\u00a0XAF, which is less than it');
    expect(text).not.toMatch(/<script|<img|\u202E/);
  });

  it('says that an approval sends it at once, if its date is past', async () => {
    shows({
      orderedBy: 'ann',
      held: { ...api.known.held.held, for: ['approval'], sendAt: '2026-11-01T08:00:00.000Z' },
    });
    const { text } = await bob.get(PATH);
    expect(text).toContain('<dt>To be sent</dt><dd>as soon as it is approved</dd>');
    expect(text).toContain('It is sent at once');
  });

  it('says what a refund is for', async () => {
    shows({ orderedBy: 'ann', refundOf: 'col_1', refundReason: 'two sizes too small <b>' });
    const { text } = await bob.get(PATH);
    expect(text).toContain('<dt>Refunds</dt><dd><code>col_1</code>. Why: two sizes too small &lt;b&gt;</dd>');
  });

  it('shows the rest when the balance is not known, and says so', async () => {
    api.instead.set('/v1/balance', { status: 503, body: problem(503, 'provider_unavailable', 'It is away.') });
    const page = await bob.get(PATH);
    expect(page.text).toContain('Not known. It is away.');
    expect(forms(page)).toHaveLength(2);
  });

  it('has no form to approve an own order, nor one of nobody who is known, and one to reject each', async () => {
    shows({ orderedBy: 'bob' });
    const own = await bob.get(PATH);
    expect(own.text).toContain('You have ordered it: another person has to approve it.');
    expect(forms(own)).toEqual([expect.stringContaining('/reject')]);
    for (const spelling of ['Bob', ' bób ', 'ｂｏｂ', 'b\u200bob']) {
      shows({ orderedBy: spelling });
      expect(forms(await bob.get(PATH))).toEqual([expect.stringContaining('/reject')]);
    }
    shows({ orderedBy: undefined });
    const unknown = await bob.get(PATH);
    expect(unknown.text).toContain('so nobody can approve it');
    expect(forms(unknown)).toEqual([expect.stringContaining('/reject')]);
  });

  it('leaves out what is held no longer, and names what can not be read', async () => {
    shows({ held: undefined });
    expect((await bob.get(PATH)).text).toContain('No other payouts wait for an approval, as far as is known.');
    api.instead.set('/v1/payments', { status: 200, body: { ...api.known.list, unreadable: [] } });
    expect((await bob.get(PATH)).text).toContain('No payouts wait for an approval.');
    api.instead.set(`/v1/payments/${ID}`, { status: 503, body: problem(503, 'temporarily_unavailable', 'Later.') });
    expect((await bob.get(PATH)).text).toContain(`These could not be read, and may wait, too: ${ID}.`);
  });
});

describe('the page of payouts with a date', () => {
  it('is not found by another word', async () => {
    for (const word of [HOSTILE, 'funds', 'approval', '']) {
      const { text } = await bob.get(`${PATH}?held=${encodeURIComponent(word)}`);
      expect(text).toContain('<h1>Payouts to approve</h1>');
      expect(text).not.toContain('<script');
    }
  });

  const released = (approvals: object[]) => ({ held: { ...api.known.held.held, for: ['date'], approvals } });

  it('asks for those, with who approved each, and a form to reject it that leads back', async () => {
    shows(released([{ by: 'carl', at: '2026-11-21T08:20:32.843Z' }]));
    const page = await bob.get(DATED);
    expect(new URLSearchParams(api.asked.find(({ path }) => path === '/v1/payments')?.query).get('held')).toBe('date');
    expect(page.text).toContain('<h1>Payouts with a date</h1>');
    expect(page.text).toContain('on its date, <time datetime="2036-12-01T08:00:00.000Z">');
    expect(page.text).toContain('<dt>Approved</dt><dd>by carl, <time');
    expect(forms(page)).toEqual([expect.stringContaining('/reject')]);
    api.instead.set('/reject', { status: 200, body: { ...api.known.held, held: undefined, status: 'FAILED' } });
    const { path, text } = await bob.submit('/reject', { why: 'left the company' });
    expect(posted()).toEqual([[`/v1/payouts/${ID}/reject`, { why: 'left the company' }]]);
    expect(path).toBe(DATED);
    expect(text).toContain('rejected. Nothing was sent.');
  });

  it('says of one below the limit that it needs no approval', async () => {
    shows(released([]));
    expect((await bob.get(DATED)).text).toContain('<dt>Approved</dt><dd>it needs no approval</dd>');
    expect((await bob.get(PATH)).text).toContain('No other payouts wait for an approval, as far as is known.');
  });

  it('can be approved there while it waits for both', async () => {
    const page = await bob.get(DATED);
    expect(forms(page)).toHaveLength(2);
    expect((await bob.submit('/approve', { amount: AMOUNT })).path).toBe(DATED);
  });
});

describe('the pages of a list', () => {
  it.each([
    [PATH, `${PATH}?cursor=later`],
    [DATED, `${DATED}&amp;cursor=later`],
  ])('are of the same list: %s', async (address, next) => {
    api.instead.set('/v1/payments', { status: 200, body: { ...api.known.list, nextCursor: 'later' } });
    expect((await bob.get(address)).text).toContain(`href="${next}" rel="next"`);
  });
});

describe('an approval at the desk', () => {
  it.each([AMOUNT, '123456789', '123 456 789 XAF', '123\u202f456\u202f789'])(
    'repeats the amount, and sends the digest that was shown: %s',
    async (amount) => {
      await bob.get(PATH);
      const { path, text } = await bob.submit('/approve', { amount });
      expect(posted()).toEqual([[`/v1/payouts/${ID}/approve`, { digest: DIGEST }]]);
      expect(path).toBe(PATH);
      expect(text).toContain('<strong>Done</strong>');
    },
  );

  it.each(['', '123,456,788', '123.456.789', '12,3456,789', '-123456789', '1e8', HOSTILE])(
    'sends nothing for another amount: %s',
    async (amount) => {
      await bob.get(PATH);
      const { text } = await bob.submit('/approve', { amount });
      expect(posted()).toEqual([]);
      expect(text).toContain('Refused: nothing was changed');
      expect(text).toContain('and the payout is of 123,456,789\u00a0XAF');
      expect(text).not.toContain('<script');
    },
  );

  it('is sent once, however often its form is, and again from a page that was loaded anew', async () => {
    await bob.get(PATH);
    const { action, hidden } = bob.form('/approve');
    const send = () => bob.post(action, { ...hidden, amount: AMOUNT });
    await Promise.all([send(), send()]);
    expect((await send()).text).toContain('<strong>Done</strong>');
    expect(posted()).toHaveLength(1);
    await bob.get(PATH);
    await bob.submit('/approve', { amount: AMOUNT });
    expect(posted()).toHaveLength(2);
  });

  it.each([
    [409, 'not_held', 'the payout was released already', 'Somebody has approved, rejected or cancelled it meanwhile'],
    [409, 'digest_mismatch', 'the digest is that of another payout', 'Read what the payout is by now'],
    [403, 'same_person', 'bob has ordered the payout', 'Bob has ordered the payout.'],
  ])('is explained when the API refuses it: %s %s', async (status, code, detail, words) => {
    await bob.get(PATH);
    api.instead.set('/approve', { status, body: problem(status, code, detail) });
    const { text } = await bob.submit('/approve', { amount: AMOUNT });
    expect(text).toContain('Refused: nothing was changed');
    expect(text).toContain(words);
  });

  it("is not called done while that isn't known, and can be tried again", async () => {
    await bob.get(PATH);
    const { action, hidden } = bob.form('/approve');
    const send = () => bob.post(action, { ...hidden, amount: AMOUNT });
    for (const [status, body] of [
      [503, problem(503, 'temporarily_unavailable', 'Try again.')],
      [202, api.known.held],
      [200, { unreadable: true }],
    ] as const) {
      api.instead.set('/approve', { status, body });
      expect((await send()).text).toContain('<strong>Not known</strong>');
    }
    api.instead.delete('/approve');
    expect((await send()).text).toContain('<strong>Done</strong>');
    expect(posted()).toHaveLength(4);
  });

  it('is not taken from another site', async () => {
    await bob.get(PATH);
    const { action, hidden } = bob.form('/approve');
    expect((await bob.post(action, { ...hidden, csrf: 'x'.repeat(43), amount: AMOUNT })).status).toBe(403);
    expect(posted()).toEqual([]);
  });

  it('leads to the sign-in page once the key is gone, and from there to the approvals', async () => {
    const visitor = desk.visitor();
    const key = 'sk_removed_0123456789';
    api.keys.set(key, { ...api.known.key, scopes: ['approve'] });
    await visitor.signIn(key);
    api.keys.delete(key);
    const { path } = await visitor.submit('/approve', { amount: AMOUNT });
    expect(path).toBe(`/desk/sign-in?next=${encodeURIComponent(PATH)}`);
  });
});

describe('a rejection at the desk', () => {
  it('ends the payout, with a reason', async () => {
    await bob.get(PATH);
    api.instead.set('/reject', { status: 200, body: { ...api.known.held, held: undefined, status: 'FAILED' } });
    const { text } = await bob.submit('/reject', { why: 'paid in October' });
    expect(posted()).toEqual([[`/v1/payouts/${ID}/reject`, { why: 'paid in October' }]]);
    expect(text).toContain('rejected. Nothing was sent.');
  });

  it('repeats what was typed when it was refused, and says when an operator has to look', async () => {
    await bob.get(PATH);
    const { action, hidden } = bob.form('/reject');
    const send = () => bob.post(action, { ...hidden, why: 'paid in October' });
    api.instead.set('/reject', { status: 409, body: problem(409, 'not_held', 'it was released') });
    expect((await send()).text).toContain('You typed: paid in October');
    api.instead.set('/reject', { status: 200, body: { ...api.known.held, held: undefined, status: 'REVIEW' } });
    expect((await send()).text).toContain('an operator has to look whether it was sent');
  });
});

describe("a payment's page", () => {
  it('says that a payout is held, for whom and until when, and leads its own approver on', async () => {
    const operator = desk.visitor();
    await operator.signIn(OPERATOR);
    const { text } = await operator.get(`/desk/payments/${ID}`);
    expect(text).toContain('Waits before it is sent');
    expect(text).toContain('Another person has to approve it by');
    expect(text).toContain('Ordered by ann.');
    expect(text).toContain(`href="${PATH}"`);
    shows({ merchant: 'another' });
    const other = await operator.get(`/desk/payments/${ID}`);
    expect(other.text).not.toContain('Approve or reject it');
    shows({ held: { ...api.known.held.held, for: ['date'] } });
    const dated = await operator.get(`/desk/payments/${ID}`);
    expect(dated.text).not.toContain('Approve or reject it');
    expect(dated.text).toContain(`href="${DATED}"`);
    shows({ merchant: 'another', held: { ...api.known.held.held, for: ['date'] } });
    expect((await operator.get(`/desk/payments/${ID}`)).text).not.toContain(`href="${DATED}"`);
  });
});
