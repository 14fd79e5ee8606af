import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { dayAfter, dayOf } from '../../src/payments/words/time.js';
import { type DeskUnderTest, startDesk, type Visitor } from '../support/desk-under-test.js';
import { OPERATOR, problem, startStubApi } from '../support/stub-api.js';

/** A day that is over. Every text of the API's is this one, so that its statement is of this day. */
const DAY = '2025-11-21';
const LIST = '/desk/statements';
const PAGE = `${LIST}/${DAY}`;
const NONE = problem(404, 'not_found', 'There is no such statement.');

let api: Awaited<ReturnType<typeof startStubApi>>;
let desk: DeskUnderTest;
let operator: Visitor;

beforeAll(async () => {
  api = await startStubApi({ text: DAY });
  desk = await startDesk(api.url);
  operator = desk.visitor();
  await operator.signIn(OPERATOR);
});
beforeEach(() => {
  api.asked.length = 0;
});
afterEach(() => {
  jest.restoreAllMocks();
  operator.headers = {};
  api.instead.clear();
});
afterAll(async () => {
  await desk.stop();
  await api.stop();
});

/** Has the API answer so about a statement, or about making one. */
const answerWith = (body: { readonly status: number } | string) => {
  for (const path of ['/v1/statements', `/v1/statements/${DAY}`]) {
    api.instead.set(path, { status: 200, body });
  }
};
const posted = () => api.asked.filter(({ method }) => method === 'POST');
const made = {
  method: 'POST',
  path: '/v1/statements',
  query: '',
  authorization: `Bearer ${OPERATOR}`,
  body: { date: DAY },
};

describe('the page of a statement', () => {
  it('shows the latest version, or the one that is asked for', async () => {
    await operator.get(PAGE);
    await operator.get(`${PAGE}?version=1`);
    expect(api.asked.map(({ path, query }) => path + query)).toEqual([
      `/v1/statements/${DAY}`,
      `/v1/statements/${DAY}?version=1`,
    ]);
  });

  it('leads to files of the version that it shows, and to the version before', async () => {
    const { text } = await operator.get(PAGE);
    expect(text).toContain(`href="${PAGE}/csv?version=2"`);
    expect(text).toContain(`href="${PAGE}/csv?version=2&amp;separator=semicolon"`);
    expect(text).toContain(`href="${PAGE}/json?version=2"`);
    expect(text).toContain(`href="${PAGE}?version=1"`);
  });

  it('that the API finds fault with says what is wrong', async () => {
    answerWith(problem(400, 'invalid_request', 'version must be a whole number from 1 to 999999'));
    const { status, text } = await operator.get(`${PAGE}?version=last`);
    expect(status).toBe(400);
    expect(text).toContain('<p>Version must be a whole number from 1 to 999999. Request ');
  });
});

describe('a file of a statement', () => {
  it('is the CSV of the API as it is, to be saved and not opened', async () => {
    const { status, headers, text } = await operator.get(`${PAGE}/csv?version=2`);
    expect(status).toBe(200);
    expect(text).toBe(api.known.csv);
    expect(text).toContain('Café');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe(`attachment; filename=statement-${DAY}-2.csv`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(api.asked).toEqual([
      {
        method: 'GET',
        path: `/v1/statements/${DAY}`,
        query: '?version=2',
        authorization: `Bearer ${OPERATOR}`,
        body: undefined,
      },
    ]);
  });

  it('is its JSON, too', async () => {
    const { headers, text } = await operator.get(`${PAGE}/json?version=2`);
    expect(text).toBe(JSON.stringify(api.known.statement));
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('content-disposition')).toBe(`attachment; filename=statement-${DAY}-2.json`);
  });

  it('is that of the latest version, if none is asked for', async () => {
    const { headers } = await operator.get(`${PAGE}/csv`);
    expect(headers.get('content-disposition')).toBe(`attachment; filename=statement-${DAY}.csv`);
    expect(api.asked.map(({ query }) => query)).toEqual(['']);
  });

  it('of a day without one is a page that says so', async () => {
    answerWith(NONE);
    const { status, headers, text } = await operator.get(`${PAGE}/csv`);
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(headers.has('content-disposition')).toBe(false);
    expect(text).toContain('There is no such statement.');
  });

  it('is a page that says so when the API answers something else', async () => {
    answerWith('{"object":"statement"}');
    const { status, headers, text } = await operator.get(`${PAGE}/csv`);
    expect([status, headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(headers.has('content-disposition')).toBe(false);
    expect(text).toContain('The API doesn&#39;t answer');
  });

  it('is never half a file', async () => {
    const cutting = createServer(({ url }, response) => {
      if (url === '/v1/key') return void response.end(JSON.stringify(api.known.key));
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': 1_000 });
      response.write('record,date\r\n', () => response.destroy());
    });
    await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve));
    const other = await startDesk(`http://127.0.0.1:${(cutting.address() as AddressInfo).port}`);
    try {
      const visitor = other.visitor();
      await visitor.signIn(OPERATOR);
      const { status, headers, text } = await visitor.get(`${PAGE}/csv`);
      expect([status, headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
      expect(text).not.toContain('record,date');
    } finally {
      await other.stop();
      cutting.closeAllConnections();
      await new Promise((resolve) => cutting.close(resolve));
    }
  });

  it.each(['2025-02-30', '2025-2-3', 'today', '..%2Fkey', '2025-11-21%0D%0AX-Injected:%201'])(
    'is not asked for of what is no day: %s',
    async (date) => {
      for (const end of ['', '/csv', '/json']) {
        const { status, headers, text } = await operator.get(`${LIST}/${date}${end}`);
        expect([status, headers.has('content-disposition')]).toEqual([404, false]);
        expect(text).toContain('There is no such day');
      }
      expect(api.asked).toEqual([]);
    },
  );

  it.each(['csv', 'json'])('is for those who are signed in: %s', async (format) => {
    const { path } = await desk.visitor().get(`${PAGE}/${format}?version=2`);
    // To the page and not the file, which would leave the form in place.
    expect(path).toBe(`/desk/sign-in?next=${encodeURIComponent(`${PAGE}?version=2`)}`);
    expect(api.asked).toEqual([]);
  });
});

describe('a statement', () => {
  it('is made again from its page, which then shows the new version', async () => {
    await operator.get(PAGE);
    const { path } = await operator.submit(LIST);
    expect(posted()).toEqual([made]);
    expect(path).toBe(`${PAGE}?version=3`);
    expect(api.asked.at(-1)?.query).toBe('?version=3');
  });

  it('is made of a day that is chosen on the list', async () => {
    const { text } = await operator.get(LIST);
    expect(text).toMatch(/<input id="date" name="date" type="date" max="\d{4}-\d\d-\d\d" required/);
    const { path } = await operator.submit(LIST, { date: DAY });
    expect(posted()).toEqual([made]);
    expect(path).toBe(`${PAGE}?version=3`);
  });

  it('is made from the page of a day without one', async () => {
    answerWith(NONE);
    const { status, text } = await operator.get(PAGE);
    expect(status).toBe(404);
    expect(text).toContain('There is none.');
    api.instead.clear();
    await operator.submit(LIST);
    expect(posted()).toEqual([made]);
  });

  it('that somebody else has made at this moment is not offered to be made', async () => {
    const body = { ...NONE, beingMade: true };
    api.instead.set(`/v1/statements/${DAY}`, { status: 404, body });
    const { text } = await operator.get(PAGE);
    expect(text).toContain('It is being made.');
    expect(text).not.toContain('Make it now');
  });

  it('that is being made has a page that says so until it is there', async () => {
    await operator.get(PAGE);
    api.instead.set(`/v1/statements/${DAY}`, { status: 404, body: NONE });
    const { status, path, text } = await operator.submit(LIST);
    expect([status, path]).toEqual([404, `${PAGE}?version=3`]);
    expect(text).toContain("Version 3 isn't there yet");
    expect(text).toContain(`<a class="button" href="${path}">Look again</a>`);
    expect(text).toContain(`href="${PAGE}">The latest version</a>`);
    api.instead.clear();
    expect((await operator.get(path)).text).toContain('Make it again');
  });

  it('is made of a day from the moment that it has begun in Douala', async () => {
    const clock = jest.spyOn(Date, 'now');
    const begin = Date.parse('2025-11-20T23:00:00Z');
    clock.mockReturnValue(begin - 1);
    const visitor = desk.visitor();
    await visitor.signIn(OPERATOR);
    expect((await visitor.get(LIST)).text).toContain('max="2025-11-20"');
    const { path, text } = await visitor.submit(LIST, { date: DAY });
    expect([path, posted()]).toEqual([LIST, []]);
    expect(text).toContain('Refused: nothing was changed');
    expect(text).toContain(`${DAY} has not begun in Douala`);
    clock.mockReturnValue(begin);
    const after = await visitor.get(LIST);
    expect(after.text).toContain(`max="${DAY}"`);
    expect(after.text).not.toContain('Refused');
    await visitor.submit(LIST, { date: DAY });
    expect(posted()).toEqual([made]);
  });

  it('of today is made from its page, so far', async () => {
    const today = dayOf(Date.now());
    api.instead.set(`/v1/statements/${today}`, { status: 404, body: NONE });
    const { status, text } = await operator.get(`${LIST}/${today}`);
    expect(status).toBe(404);
    expect(text).toContain("the day isn't over in Douala");
    expect(text).toContain('Make it of the day so far');
    await operator.submit(LIST);
    expect(posted()).toEqual([{ ...made, body: { date: today } }]);
  });

  it('cannot be made from the page of a day that has not begun', async () => {
    const tomorrow = dayAfter(dayOf(Date.now()), 1);
    api.instead.set(`/v1/statements/${tomorrow}`, { status: 404, body: NONE });
    const { status, text } = await operator.get(`${LIST}/${tomorrow}`);
    expect(status).toBe(404);
    expect(text).toContain('the day has not begun in Douala');
    expect(() => operator.form(LIST)).toThrow('no form');
  });

  it.each(['', '2025-02-30', '21/11/2025', '<b>'])('is not made of what is no day: %p', async (date) => {
    await operator.get(LIST);
    const { path, text } = await operator.submit(LIST, { date });
    expect([path, posted()]).toEqual([LIST, []]);
    expect(text).toContain('Refused: nothing was changed');
    expect(text).toContain('Choose a day of the calendar');
    expect(text).toMatch(/<input id="date"[^>]* aria-invalid="true" autofocus>/);
    expect((await operator.get(LIST)).text).not.toContain('Refused');
  });

  it.each([
    [400, 'invalid_request', 'date must be a day that is over in Douala'],
    [503, 'temporarily_unavailable', 'Statements can not be read at the moment. Try again shortly.'],
  ])('that the API refuses to make has a page that says why: %d', async (status, code, detail) => {
    await operator.get(PAGE);
    answerWith(problem(status, code, detail));
    const answer = await operator.submit(LIST);
    expect([answer.status, answer.path]).toEqual([status, LIST]);
    expect(answer.text).toContain(detail.slice(1));
  });

  it('whose request has no answer is not said to be refused', async () => {
    await operator.get(PAGE);
    answerWith('cut off {');
    const { status, text } = await operator.submit(LIST);
    expect(status).toBe(503);
    expect(text).toContain('It isn&#39;t known whether it was done');
  });

  it.each([LIST, PAGE])('is not made without the token of the session: %s', async (page) => {
    await operator.get(page);
    const { hidden } = operator.form(LIST);
    for (const csrf of ['', 'x'.repeat(43)]) {
      const { status, text } = await operator.post(LIST, { ...hidden, date: DAY, csrf });
      expect(status).toBe(403);
      expect(text).toContain('Nothing was done');
    }
    operator.headers = { 'sec-fetch-site': 'cross-site' };
    expect((await operator.post(LIST, { ...hidden, date: DAY })).status).toBe(403);
    expect(posted()).toEqual([]);
  });

  it('is not made by somebody who is not signed in', async () => {
    await operator.get(PAGE);
    const { hidden } = operator.form(LIST);
    api.asked.length = 0;
    const { path } = await desk.visitor().post(LIST, hidden);
    expect(path).toBe(`/desk/sign-in?next=${encodeURIComponent(LIST)}`);
    expect(api.asked).toEqual([]);
  });
});
