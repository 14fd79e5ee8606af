import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type DeskUnderTest, startDesk, type Visitor } from './desk-under-test.js';
import { OPERATOR, problem, startStubApi } from './stub-api.js';

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
  api.instead.clear();
});
afterAll(async () => {
  await desk.stop();
  await api.stop();
});

/** Has the API answer so about a statement. */
const answerWith = (body: { readonly status: number } | string) =>
  void api.instead.set(`/v1/statements/${DAY}`, { status: 200, body });

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
    expect(text).toContain(`href="${PAGE}/json?version=2"`);
    expect(text).toContain(`href="${PAGE}?version=1"`);
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
