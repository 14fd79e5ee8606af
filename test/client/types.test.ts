import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { toApiError } from '../../client/errors.js';
import * as client from '../../client/index.js';
import { VERSION } from '../../client/transport.js';
import { routes } from '../../src/api/app.js';
import { toCursor } from '../../src/api/cursor.js';
import { PROBLEMS } from '../../src/schemas/problems.js';
import { paymentId } from '../support/orders.js';

type ClientTypes = (document: unknown) => Promise<string>;

const script = new URL('../../scripts/client-types.js', import.meta.url).href;
const { clientTypes }: { readonly clientTypes: ClientTypes } = await import(script);

const read = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8');

const routeOf = (method: string, path: string) => {
  const route = routes.find((one) => one.method === method && one.path === path);
  if (route?.scopes === undefined) throw new Error(`there is no ${method} ${path}`);
  return route;
};

describe("the client's types", () => {
  it('are what docs/openapi.json says: `npm run openapi` writes them', async () => {
    const document: unknown = JSON.parse(await read('docs/openapi.json'));
    expect(await read('client/schemas.ts')).toBe(await clientTypes(document));
  });

  it('have every parameter of the list of payments, and no other', async () => {
    const { query } = routeOf('get', '/v1/payments');
    if (!(query instanceof z.ZodObject)) throw new Error('the query has no fields');
    const all: Required<client.ListParams> = {
      reference: 'order-1',
      status: 'REVIEW',
      final: false,
      held: 'approval',
      kind: 'payout',
      externalId: 'order-1',
      userId: 'ann',
      transId: 'ntLE9hHMsiKRMFBw',
      financialTransId: '3034752116',
      merchant: 'shop',
      method: 'direct',
      amount: { gte: 100, lte: 500 },
      created: { gte: '2026-11-21', lt: new Date('2026-11-22') },
      day: '2026-11-21',
      totals: true,
      limit: 5,
      cursor: toCursor({ createdAt: 1, id: paymentId('col_1') }),
    };
    const sent: string[] = [];
    const api = new client.Sanaga({
      apiKey: 'sk_test',
      baseUrl: 'http://127.0.0.1',
      fetch: async (url) => {
        sent.push(String(url));
        return Response.json({ data: [], unreadable: [] });
      },
    });
    await api.payments.list(all);

    const given = Object.fromEntries(new URL(sent[0] ?? '').searchParams);
    // The client's list is never CSV.
    const { separator: _, ...taken } = query.shape;
    expect(Object.keys(given).sort()).toEqual(Object.keys(taken).sort());
    expect(query.safeParse(given).error).toBeUndefined();
  });

  it('have every parameter of the list of events, and no other', async () => {
    const { query } = routeOf('get', '/v1/events');
    if (!(query instanceof z.ZodObject)) throw new Error('the query has no fields');
    const all: Required<client.EventListParams> = {
      type: 'payment.review',
      since: new Date('2026-11-14'),
      merchant: 'shop',
      limit: 5,
      cursor: Buffer.from('17').toString('base64url'),
    };
    const sent: string[] = [];
    const api = new client.Sanaga({
      apiKey: 'sk_test',
      baseUrl: 'http://127.0.0.1',
      fetch: async (url) => {
        sent.push(String(url));
        return Response.json({ data: [], hasMore: false, nextCursor: 'MTc' });
      },
    });
    await api.events.list(all);

    const given = Object.fromEntries(new URL(sent[0] ?? '').searchParams);
    // The client's list is never CSV.
    const { separator: _, ...taken } = query.shape;
    expect(Object.keys(given).sort()).toEqual(Object.keys(taken).sort());
    expect(query.safeParse(given).error).toBeUndefined();
  });

  it.each<client.ResolveParams>([
    { action: 'resend', review: 1, why: 'absent' },
    { action: 'fail', review: 1, why: 'absent', force: true },
    { action: 'match', review: 1, why: 'found', transId: 'abc' },
  ])('have decisions that the API accepts: $action', (decision) => {
    const { body } = routeOf('post', '/v1/payments/:id/resolve');
    expect(body?.safeParse(decision).success).toBe(true);
  });

  it('have a rejection that the API accepts', async () => {
    const sent: string[] = [];
    const api = new client.Sanaga({
      apiKey: 'sk_test',
      baseUrl: 'http://127.0.0.1',
      fetch: async (_, init) => {
        sent.push(String(init?.body));
        return Response.json({ id: 'pay_1', status: 'REVIEW', final: false, amount: 5_000 });
      },
    });
    await api.payments.rejectDecision('pay_1', { review: 1, why: 'it is there' });
    const { body } = routeOf('post', '/v1/payments/:id/resolve');
    expect(body?.safeParse(JSON.parse(sent[0] ?? '')).success).toBe(true);
  });

  it.each(Object.entries(PROBLEMS))('have a class of errors for %s', (code, { status }) => {
    const error = toApiError(status, { code, detail: 'Words.' }, undefined);
    expect(error.constructor).not.toBe(client.ApiError);
    expect(error).toMatchObject({ code, status, message: 'Words.', name: error.constructor.name });
  });
});

describe("the client's version", () => {
  it("is the project's", async () => {
    const packageJson: unknown = JSON.parse(await read('package.json'));
    expect(packageJson).toMatchObject({ version: VERSION });
  });
});
