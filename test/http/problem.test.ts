import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { MAX_BODY_BYTES } from '../../src/http/body.js';
import { PROBLEMS } from '../../src/schemas/problems.js';
import { KEYS, startApi, useApi } from '../support/api-under-test.js';

const key = KEYS.shop;

describe('a problem', () => {
  const broken = { balance: () => Promise.reject(new Error('secret inner workings')) };
  const api = useApi({ providers: { collection: broken, payout: broken } });

  it('is a document of RFC 9457 with a code and the request id', async () => {
    const { status, headers, body } = await api.ask('GET', '/nowhere', {
      headers: { 'x-request-id': 'abc-1' },
    });
    expect(status).toBe(404);
    expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(body).toEqual({
      type: '/docs/errors#not_found',
      title: 'Not found',
      status: 404,
      detail: expect.any(String),
      code: 'not_found',
      requestId: 'abc-1',
    });
  });

  it.each(['/', '/v1', '/v1/collections/col_1', '/webhooks/provider'])(
    'answers the unknown address %s with 404',
    async (path) => {
      expect((await api.ask('GET', path, { key })).body.code).toBe('not_found');
    },
  );

  it.each([
    ['GET', '/v1/collections', 'POST'],
    ['DELETE', '/v1/payments/col_1', 'GET, HEAD'],
    ['PUT', '/v1/payouts', 'POST'],
    ['OPTIONS', '/v1/payouts', 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
  ])('answers %s %s with 405 and what is allowed', async (method, path, allow) => {
    const { status, headers, body } = await api.ask(method, path, { key });
    expect([status, headers.get('allow'), body.code]).toEqual([405, allow, 'method_not_allowed']);
  });

  it.each(['{"amount": 500', '', 'amount=500', '\u0000'])('answers malformed JSON %p with 400', async (body) => {
    const answer = await api.ask('POST', '/v1/payouts', {
      key,
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.body.code]).toEqual([400, 'malformed_json']);
  });

  it.each([
    ['', 'The body is empty: send a JSON object.'],
    ['{"amount": 500', 'The body is not valid JSON: see line 1, column 15.'],
    ['{"amount":\n 500,,}', 'The body is not valid JSON: see line 2, column 6.'],
    ['{"amount":', 'The body is not valid JSON: it ends too early.'],
  ])('says what is wrong with the JSON %p', async (body, detail) => {
    expect((await api.ask('POST', '/v1/payouts', { key, body })).body.detail).toBe(detail);
  });

  it('calls a field of the address a parameter', async () => {
    const { body } = await api.ask('GET', '/v1/payments?expand=all', { key });
    expect(body.errors).toEqual([{ field: 'expand', message: 'is not a known parameter' }]);
  });

  it('answers JSON that is no UTF-8 with 400', async () => {
    const response = await fetch(`${api.url}/v1/payouts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(response.status).toBe(400);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    'answers a body of the type %s with 415',
    async (type) => {
      const answer = await api.ask('POST', '/v1/payouts', {
        key,
        body: '{}',
        headers: { 'content-type': type },
      });
      expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  it('answers an unknown content encoding with 415, and a broken one with 400', async () => {
    const encoded = (encoding: string) =>
      api.ask('POST', '/v1/payouts', { key, body: '{}', headers: { 'content-encoding': encoding } });
    expect((await encoded('zip')).status).toBe(415);
    expect((await encoded('gzip')).status).toBe(400);
  });

  it('answers a body above 64 KiB with 413', async () => {
    const fits = JSON.stringify({ message: 'x'.repeat(MAX_BODY_BYTES - 14) });
    expect(fits).toHaveLength(MAX_BODY_BYTES);
    expect((await api.ask('POST', '/v1/payouts', { key, body: fits })).status).toBe(400);
    const answer = await api.ask('POST', '/v1/payouts', { key, body: `${fits} ` });
    expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
  });

  it('answers a body that unpacks to more than 64 KiB with 413', async () => {
    const response = await fetch(`${api.url}/v1/payouts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: gzipSync('x'.repeat(10_000_000)),
    });
    expect(response.status).toBe(413);
  });

  it('answers an address that cannot be decoded with 400', async () => {
    const { status, body } = await api.ask('GET', '/v1/payments/%E0%A4%A', { key });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
  });

  it('shows nothing of what went wrong inside, and logs it', async () => {
    const { status, text } = await api.ask('GET', '/v1/balance?service=payout', {
      key,
      headers: { 'x-request-id': 'inner-1' },
    });
    expect(status).toBe(500);
    expect(text).not.toMatch(/secret inner workings|stack|\.ts/);
    expect(await api.lineOf('inner-1')).toMatchObject({
      level: 50,
      status: 500,
      err: { message: 'secret inner workings' },
    });
  });
});

describe('a request id', () => {
  const api = useApi();

  it('is given back', async () => {
    const { headers } = await api.ask('GET', '/healthz', { headers: { 'x-request-id': 'order:4711_a.b-c' } });
    expect(headers.get('x-request-id')).toBe('order:4711_a.b-c');
  });

  it.each(['', 'with space', 'x'.repeat(65), '<script>', '{"a":1}'])('is made anew in place of %p', async (id) => {
    const { headers } = await api.ask('GET', '/healthz', { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('every answer', () => {
  it('may not be cached, and says nothing of what serves it', async () => {
    const api = await startApi();
    const { headers } = await api.ask('GET', '/healthz');
    await api.stop();
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.has('x-powered-by')).toBe(false);
    expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
    expect(headers.has('etag')).toBe(false);
  });
});

describe("a problem's type", () => {
  const api = useApi();

  it('leads to what is wrong and what to do, for each code', async () => {
    const { body } = await api.ask('GET', '/v1/nothing', { key });
    const { pathname, hash } = new URL(body.type, `${api.url}/v1/nothing`);
    expect([pathname, hash]).toEqual(['/docs/errors', '#not_found']);
    const { status, headers, text } = await api.ask('GET', pathname);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    const shown = text.replaceAll('&#39;', "'");
    for (const [code, { title }] of Object.entries(PROBLEMS)) {
      expect(shown).toContain(`<h2 id="${code}">`);
      expect(shown).toContain(title);
    }
  });
});
