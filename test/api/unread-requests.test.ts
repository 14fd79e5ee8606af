import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { routes } from '../../src/api/app.js';
import type { AuthenticatedRoute, Route } from '../../src/api/route.js';
import { SCOPES } from '../../src/settings/merchants.js';
import { merchantsWith, useApi } from '../support/api-under-test.js';
import { expectDocumented } from '../support/documented.js';

/** Calls that need no key, with why they may ignore what else a request has. */
const IGNORING = {
  'get /healthz': 'reads nothing, and a probe may add something to get past a cache',
  'get /readyz': 'the same',
  'get /openapi.json': 'the same for everybody',
  'get /docs': 'a page: links to it may carry anything',
  'get /docs/errors': 'a page',
  'get /docs/rapidoc.js': 'a script of the page',
  'post /webhooks/provider/:token': "the provider's, whose notification is never lost for its form",
};

const KEY = 'key-of-every-scope';
const api = useApi({
  level: 'silent',
  merchants: merchantsWith([{ name: 'shop', secret: KEY, scopes: SCOPES }]),
});

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;

interface Case {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly route: AuthenticatedRoute;
}

const isAuthenticated = (route: Route): route is AuthenticatedRoute => route.scopes !== undefined;

const CASES: readonly Case[] = routes.filter(isAuthenticated).map((route) => {
  const id = route.path.startsWith('/v1/payouts') ? 'pay_1' : 'col_1';
  const path = route.path.replace(':id', id).replace(':date', '2026-11-20').replace(':number', '1');
  return { name: nameOf(route), method: route.method.toUpperCase(), path, route };
});
const WITH_BODY = CASES.filter(({ route }) => route.body !== undefined);
const WITHOUT_BODY = CASES.filter(({ route }) => route.body === undefined);

/** Sends what fetch refuses to: a GET with a body. */
async function send(
  { method, path }: Case,
  query: string,
  body?: { readonly type?: string; readonly content: string | Buffer },
) {
  const headers = {
    authorization: `Bearer ${KEY}`,
    'idempotency-key': 'key-17',
    ...(body && { 'content-length': Buffer.byteLength(body.content) }),
    ...(body?.type && { 'content-type': body.type }),
  };
  const sent = request(`${api.url}${path}${query}`, { method, headers }).end(body?.content);
  const [response] = await once(sent, 'response');
  const answer = await text(response);
  const received = { status: response.statusCode, headers: new Headers(response.headers), text: answer };
  expectDocumented(method, path, received);
  const { code, errors, detail } = JSON.parse(answer);
  return { status: response.statusCode, code, errors, detail };
}

const JSON_TYPE = 'application/json';

/** The names of the fields that a body can have. */
function fieldsOf(schema: unknown): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodUnion ? [...new Set(schema.options.flatMap(fieldsOf))] : [];
}

const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

describe('calls', () => {
  it('without a key are the only ones that ignore anything, each for a reason', () => {
    const open = routes.filter((route) => !isAuthenticated(route));
    expect(open.map(nameOf).sort()).toEqual(Object.keys(IGNORING).sort());
  });

  it.each(['/healthz?cache=17', '/openapi.json?v=2', '/docs?from=mail', '/docs/errors?code=x'])(
    'that only read are answered whatever is added: %s',
    async (path) => {
      expect((await api.ask('GET', path)).status).toBe(200);
    },
  );
});

describe('an unknown parameter', () => {
  it.each(CASES)('is refused by its name: $name', async (call) => {
    const { status, code, errors } = await send(call, '?dryRun=true');
    expect([status, code]).toEqual([400, 'invalid_request']);
    expect(errors).toContainEqual({ field: 'dryRun', message: expect.stringContaining('is not a known parameter') });
  });

  it.each(CASES)('is refused where it is given twice, is empty or has an odd name: $name', async (call) => {
    for (const [query, field] of [
      ['?dryRun=true&dryRun=false', 'dryRun'],
      ['?dryRun', 'dryRun'],
      ['?=17', '""'],
      ['?__proto__=17', '__proto__'],
      ['?constructor=17', 'constructor'],
      ['?dryRun%3Dtrue', 'dryRun=true'],
    ]) {
      const { status, errors } = await send(call, query ?? '');
      expect([status, errors]).toEqual([400, expect.arrayContaining([expect.objectContaining({ field })])]);
    }
  });

  const fields = WITH_BODY.flatMap(({ route, ...call }) =>
    fieldsOf(route.body).map((field) => ({ ...call, route, field })),
  );
  it('is tried with the fields of bodies', () => {
    expect(fields.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['amount', 'sendAt', 'approval', 'phone', 'digest', 'why', 'action', 'date']),
    );
  });
  it.each(fields)('is refused where it is a field of the body: $field of $name', async ({ field, ...call }) => {
    const { status, errors } = await send(call, `?${field}=17`);
    const message = `is not a known parameter: ${field} is a field of the body`;
    expect([status, errors]).toEqual([400, [{ field, message }]]);
  });

  it('that is the Idempotency-Key is told to be a header, by calls that take one', async () => {
    for (const { route, ...call } of CASES) {
      const { errors } = await send({ route, ...call }, '?idempotencyKey=17');
      const isHeader = JSON.stringify(errors).includes('did you mean the header Idempotency-Key?');
      expect([call.name, isHeader]).toEqual([call.name, route.idempotencyKey !== undefined]);
    }
  });

  it('is refused after a thousand empty ones', async () => {
    for (const call of CASES) {
      const { errors } = await send(call, `?${'&'.repeat(1000)}dryRun=true`);
      expect(errors).toContainEqual({ field: 'dryRun', message: expect.stringContaining('is not a known parameter') });
    }
  });

  it('refuses HEAD, too', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const { status } = await fetch(`${api.url}/v1/payments?dryRun=true`, { method: 'HEAD', headers });
    expect(status).toBe(400);
  });
});

describe('a body that a call does not take', () => {
  it.each(WITHOUT_BODY)('is refused by its fields: $name', async (call) => {
    const content = JSON.stringify({ amount: 100, sendAt: '2026-12-01T08:00:00Z' });
    for (const type of [JSON_TYPE, 'text/plain', undefined]) {
      const { status, errors } = await send(call, call.path === '/v1/balance' ? '?service=payout' : '', {
        ...(type && { type }),
        content,
      });
      expect(status).toBe(400);
      expect(errors).toEqual([
        { field: 'amount', message: expect.stringContaining('this call takes none') },
        { field: 'sendAt', message: expect.stringContaining('this call takes none') },
      ]);
    }
  });

  it.each(WITHOUT_BODY)('is refused whatever it is: $name', async (call) => {
    const query = call.path === '/v1/balance' ? '?service=payout' : '';
    for (const content of [
      'amount=100',
      '[]',
      'null',
      '5',
      '{"a": 1, "a": 1}',
      '{',
      Buffer.from([0xff]),
      'x'.repeat(70_000),
    ]) {
      const { status, errors } = await send(call, query, { type: JSON_TYPE, content });
      expect([status, errors]).toEqual([400, [{ field: 'body', message: 'must be left out: this call takes none' }]]);
    }
  });

  it.each(WITHOUT_BODY)('is taken where it says nothing: $name', async (call) => {
    const query = call.path === '/v1/balance' ? '?service=payout' : '';
    for (const content of ['', '{}']) {
      const { code } = await send(call, query, { type: JSON_TYPE, content });
      expect(code).not.toBe('invalid_request');
    }
  });

  it('has parameters of the address, and is told so', async () => {
    const [call] = CASES.filter(({ route }) => route.path === '/v1/payments/:id' && route.method === 'get');
    if (call === undefined) throw new Error('no such call');
    const { errors } = await send(call, '', { type: JSON_TYPE, content: '{"wait": 30}' });
    expect(errors).toEqual([{ field: 'wait', message: 'is not a known field: wait is a parameter of the address' }]);
  });
});

describe('an unknown field', () => {
  it('is tried in an example of every body', () => {
    expect(WITH_BODY.filter(({ route }) => Object.keys(route.examples ?? {}).length === 0)).toEqual([]);
  });

  it.each(WITH_BODY)('is refused by its name: $name', async (call) => {
    for (const { value } of Object.values(call.route.examples ?? {})) {
      const content = JSON.stringify({ ...Object(value), dryRun: true });
      const { status, errors } = await send(call, '', { type: JSON_TYPE, content });
      expect([status, errors]).toEqual([400, [{ field: 'dryRun', message: 'is not a known field' }]]);
    }
  });

  it.each(WITH_BODY)('has no place below another, but in metadata: $name', ({ route }) => {
    const open: string[] = [];
    const look = (part: unknown, place: string): void => {
      if (typeof part !== 'object' || part === null) return;
      const isOpen = 'properties' in part && (!('additionalProperties' in part) || part.additionalProperties !== false);
      // Conditions of JSON Schema repeat properties, and add none.
      if (isOpen && !/\/(?:if|then|else)$/.test(place)) open.push(place);
      for (const [name, deeper] of Object.entries(part)) look(deeper, `${place}/${name}`);
    };
    const schema = JSON.stringify(route.body && schemaOf(route.body));
    expect(schema).toContain('"additionalProperties":false');
    look(JSON.parse(schema), '');
    expect(open).toEqual([]);
  });

  it.each(WITH_BODY)('in another form is refused by the type of the body: $name', async (call) => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'text/json',
      undefined,
    ]) {
      const { status, code } = await send(call, '', { ...(type && { type }), content: '{"amount": 500}' });
      expect([status, code]).toEqual([415, 'unsupported_media_type']);
    }
  });

  it.each(WITH_BODY)('is asked for where there is no body at all: $name', async (call) => {
    for (const body of [undefined, { content: '' }, { content: '', type: 'text/plain' }]) {
      const { status, code, detail } = await send(call, '', body);
      expect([status, code]).toEqual([400, 'malformed_json']);
      expect(detail).toBe('The body is empty: send a JSON object.');
    }
  });
});

describe("a field by another interface's name", () => {
  it.each([
    ['description', 'did you mean message?'],
    ['order_id', 'did you mean externalId?'],
    ['msisdn', 'did you mean phone?'],
    ['currency', 'every amount is in XAF, so leave it out'],
    ['scheduled_at', 'did you mean sendAt?'],
  ])('is told what it is called here: %s', async (field, hint) => {
    const body = { amount: 500, phone: '677000000', [field]: 'x' };
    const { body: answer } = await api.ask('POST', '/v1/payouts', { key: KEY, body });
    expect(answer.errors).toEqual([{ field, message: `is not a known field: ${hint}` }]);
  });
});

describe('an id of the other kind', () => {
  it.each([
    ['/v1/collections/pay_1/refunds', { reason: 'x' }, "This is a payout's id: only a collection is refunded."],
    [
      '/v1/collections/pay_1/expire',
      undefined,
      "This is a payout's id: POST /v1/payouts/{id}/cancel withdraws a payout.",
    ],
    [
      '/v1/payouts/col_1/cancel',
      undefined,
      "This is a collection's id: POST /v1/collections/{id}/expire ends a collection.",
    ],
    ['/v1/payouts/col_1/reject', { why: 'x' }, "This is a collection's id: only a payout is approved or rejected."],
    [
      '/v1/payouts/col_1/approve',
      { digest: 'a'.repeat(64) },
      "This is a collection's id: only a payout is approved or rejected.",
    ],
  ])('is told what does what was wanted, or that nothing does: POST %s', async (path, body, detail) => {
    const answer = await api.ask('POST', path, { key: KEY, body });
    expect([answer.status, answer.body.detail]).toEqual([404, detail]);
  });
});

describe('a time in an address', () => {
  it.each(['created[gte]=2026-11-21T08:00:00+01:00', 'created[lt]=2026-11-21T08:00+01:00'])(
    'whose + was read as a space is refused with the cause: %s',
    async (query) => {
      const { status, body } = await api.ask('GET', `/v1/payments?${query}`, { key: KEY });
      const message = 'has a space before its offset: in an address, write the + of +01:00 as %2B';
      expect([status, body.errors]).toMatchObject([400, [{ message }]]);
    },
  );
});

describe('a header that was meant to be the Idempotency-Key', () => {
  const makers = CASES.filter(({ route }) => route.idempotencyKey !== undefined && !route.path.includes(':'));
  it.each(
    makers.flatMap((call) =>
      ['Idempotency_Key', 'IdempotencyKey', 'X-Idempotency-Key', 'Idempotent-Key'].map((name) => ({
        ...call,
        header: name,
      })),
    ),
  )('is refused, because a repeated request would pay again: $header of $name', async ({ header, path, route }) => {
    const [example] = Object.values(route.examples ?? {});
    const asked = { key: KEY, headers: { [header]: 'order-17' }, body: example?.value };
    const response = await fetch(`${api.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': JSON_TYPE, ...asked.headers },
      body: JSON.stringify(asked.body),
    });
    const { code, detail } = z.looseObject({ code: z.string(), detail: z.string() }).parse(await response.json());
    expect([response.status, code]).toEqual([400, 'invalid_idempotency_key']);
    expect(detail).toBe(`The header's name is Idempotency-Key: ${header.toLowerCase()} would be ignored.`);
  });
});
