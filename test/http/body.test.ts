import { request } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toJson } from '../../src/http/body.js';
import { parseExactly, repeatedFields } from '../../src/text/exact-json.js';
import { KEYS, useApi } from '../support/api-under-test.js';

describe('fields that are given twice', () => {
  it.each([
    ['{"amount": 500, "amount": 600}', ['amount']],
    ['{"amount":500,"\\u0061mount":600}', ['amount']],
    ['{"a":1,"b":2,"a":3,"b":4,"a":5}', ['a', 'b']],
    ['{"metadata":{"colour":"red","colour":"blue"}}', ['metadata.colour']],
    ['{"a":["x",{"b":1,"b":2}]}', ['a.b']],
    ['{"":1,"":2}', ['']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    [`{"${'x'.repeat(99)}":1,"${'x'.repeat(99)}":2}`, ['x'.repeat(60)]],
  ])('are found in %s', (json, fields) => {
    expect(repeatedFields(json)).toEqual(fields);
  });

  it.each([
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\"a\\":1,\\"a\\":2","b":"{\\\\"}',
    '{"a":"a","b":"a"}',
    '"a"',
    '5',
  ])('are not found in %s', (json) => {
    expect(repeatedFields(json)).toEqual([]);
  });

  it('are named up to the first twenty', () => {
    const names = Array.from({ length: 30 }, (_, number) => `"k${number}":1`);
    expect(repeatedFields(`{${[...names, ...names].join(',')}}`)).toHaveLength(20);
  });

  it('are none in what JSON.stringify writes', () => {
    fc.assert(fc.property(fc.json({ maxDepth: 10 }), (json) => repeatedFields(json).length === 0));
  });
});

describe('a body', () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}[]${'}'.repeat(levels - 1)}`;

  it('may have 16 levels, and no more', () => {
    expect(toJson(Buffer.from(nested(16)))).toEqual(JSON.parse(nested(16)));
    expect(() => toJson(Buffer.from(nested(17)))).toThrow('body must have at most 16 levels');
  });

  it('is refused without being read when it is nested more deeply than a stack is long', () => {
    for (const open of ['[', '{"a":', '["]",']) {
      expect(() => toJson(Buffer.from(open.repeat(60_000 / open.length)))).toThrow('at most 16 levels');
    }
  });

  it('has as many levels as its brackets have outside of its texts', () => {
    const deepest = fc.letrec<{ json: unknown }>((tie) => ({
      json: fc.oneof({ maxDepth: 15 }, fc.string(), fc.array(tie('json')), fc.object({ maxDepth: 0 })),
    })).json;
    fc.assert(fc.property(deepest, (value) => void parseExactly(JSON.stringify(value))));
    expect(() => parseExactly(JSON.stringify(['['.repeat(99), '\\"[[[[[[[[[[[[[[[[[[']))).not.toThrow();
  });
});

describe('a request', () => {
  const api = useApi();

  it('whose body has the amount twice is refused, whichever of them would count', async () => {
    const body = '{"amount": 500, "phone": "677000000", "amount": 600}';
    const answer = await api.ask('POST', '/v1/payouts', { key: KEYS.shop, body });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.errors).toEqual([{ field: 'amount', message: 'must not be given more than once' }]);
  });

  it.each(['4999.99999999999999999999', '5000.00000000000001', '50000000000000000001e-16', '1e-400'])(
    'whose amount would only be whole once it is rounded is refused: %s',
    async (amount) => {
      const body = `{"amount": ${amount}, "phone": "677000000"}`;
      const answer = await api.ask('POST', '/v1/payouts', { key: KEYS.shop, body });
      expect([answer.status, answer.body.errors]).toMatchObject([400, [{ field: 'amount' }]]);
    },
  );

  it.each(['5000.0', '5e3', '50000E-1', '0.5e+4'])('may write a whole amount as %s', async (amount) => {
    const body = `{"amount": ${amount}, "phone": "1"}`;
    const { body: answer } = await api.ask('POST', '/v1/payouts', { key: KEYS.shop, body });
    expect(answer.errors).toMatchObject([{ field: 'phone' }]);
  });

  it.each([
    ['message', String.raw`{"amount": 500, "phone": "677000000", "message": "Flowers \ud83d"}`],
    ['metadata.cart', String.raw`{"amount": 500, "phone": "677000000", "metadata": {"cart": "\udc90 17"}}`],
    ['metadata.�', String.raw`{"amount": 500, "phone": "677000000", "metadata": {"\ud83d": "x", "ok": "💐"}}`],
    [`metadata.${'a'.repeat(59)}�`, `{"metadata": {"${'a'.repeat(59)}💐": 1}, "amount": 500, "phone": "677000000"}`],
  ])('with half of a character is refused, and so is told in whole ones: %s', async (field, body) => {
    const { status, body: answer, text } = await api.ask('POST', '/v1/payouts', { key: KEYS.shop, body });
    expect([status, answer.errors]).toMatchObject([400, [{ field }]]);
    expect(text).not.toMatch(/\\ud[89a-f]/i);
  });

  it('with two Idempotency-Key headers is refused', async () => {
    const headers = new Headers({ authorization: `Bearer ${KEYS.shop}`, 'content-type': 'application/json' });
    const body = JSON.stringify({ amount: 500, phone: '677000000' });
    const one = new Headers(headers);
    one.append('idempotency-key', 'a, b');
    const answer = await fetch(`${api.url}/v1/payouts`, { method: 'POST', headers: one, body });
    expect(answer.status).toBe(503);

    const { status, problem } = await new Promise<{ status: number | undefined; problem: string }>(
      (resolve, reject) => {
        const sent = request(
          `${api.url}/v1/payouts`,
          {
            method: 'POST',
            headers: { ...Object.fromEntries(headers), 'idempotency-key': ['a', 'b'] },
          },
          (response) => {
            let text = '';
            response.on('data', (piece) => {
              text += String(piece);
            });
            response.once('end', () => resolve({ status: response.statusCode, problem: text }));
          },
        );
        sent.once('error', reject);
        sent.end(body);
      },
    );
    expect([status, JSON.parse(problem).code]).toEqual([400, 'invalid_idempotency_key']);
  });

  it.each([
    ['limit', '/v1/payments?limit=1&limit=2'],
    ['status', '/v1/payments?status=FAILED&status=EXPIRED'],
    ['created[gte]', '/v1/payments?created[gte]=2026-11-21&created[gte]=2026-11-22'],
    ['wait', '/v1/payments/col_1?wait=1&wait=2'],
    ['service', '/v1/balance?service=payout&service=payout'],
  ])('with the parameter %s twice is refused', async (field, path) => {
    const { status, body } = await api.ask('GET', path, { key: KEYS.shop });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.errors).toEqual([{ field, message: 'must not be given more than once' }]);
  });
});
