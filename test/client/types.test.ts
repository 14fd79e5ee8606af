import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { toApiError } from '../../client/errors.js';
import * as client from '../../client/index.js';
import { VERSION } from '../../client/transport.js';
import { routes } from '../../src/api/app.js';
import type { collectionBody } from '../../src/api/routes/collections.js';
import { toCursor } from '../../src/api/routes/payments.js';
import type { payoutBody } from '../../src/api/routes/payouts.js';
import type { FieldError, ProblemCode } from '../../src/http/problem.js';
import { PROBLEMS } from '../../src/http/problem.js';
import type { Payment, PaymentEventType, PaymentSummary } from '../../src/payments/words/payment.js';
import type { UnmatchedNotification } from '../../src/workflows/messages.js';
import { paymentId } from '../support/orders.js';

/*
 * The client has types of its own, so that it needs nothing of the server's. Here the compiler compares them with the
 * server's: `npm run typecheck` fails when they differ.
 */

/** A type as JSON carries it: without brands, and without `undefined` where a field can be missing. */
type Json<T> = T extends string
  ? Literal<T>
  : T extends object
    ? { readonly [Key in keyof T]: Json<Words<Exclude<T[Key], undefined>>> }
    : T;

/** The words that a field has today; a string where it can be anything. */
type Words<T> = [Known<T>] extends [never] ? T : Known<T>;
type Known<T> = T extends string ? (string extends T ? never : T) : T;

/** A branded string is any string. */
type Literal<T extends string> = T extends { readonly __brand: string } ? string : T;

/** Whether two types are the same, optional fields included. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : { readonly differ: [A, B] };

type Expect<Holds extends true> = Holds;

/** Fields that a body refuses: they belong to the other variant. */
type Accepted<Body> = Body extends unknown
  ? { [Key in keyof Body as [Exclude<Body[Key], undefined>] extends [never] ? never : Key]: Body[Key] }
  : never;

type CollectionBody<Method> = Extract<z.input<typeof collectionBody>, { readonly method: Method }>;

/** Each entry compiles only while the two are the same. */
type Compared = [
  Expect<Same<Json<Payment>, Json<Omit<client.Payment, 'merchant' | 'temporalUrl'>>>>,
  Expect<Same<Json<PaymentSummary>, Json<Omit<client.PaymentSummary, 'merchant' | 'temporalUrl'>>>>,
  Expect<Same<PaymentEventType, client.NotificationType>>,
  Expect<Same<ProblemCode, client.ErrorCode>>,
  Expect<Same<Json<FieldError>, Json<client.FieldError>>>,
  Expect<Same<Json<Accepted<CollectionBody<'link'>>>, Json<client.LinkParams>>>,
  Expect<Same<Json<Accepted<CollectionBody<'direct'>>>, Json<client.DirectParams>>>,
  Expect<Same<Json<Accepted<z.input<typeof payoutBody>>>, Json<client.PayoutParams>>>,
  Expect<Same<keyof UnmatchedNotification, keyof client.UnmatchedNotification>>,
];

const routeOf = (method: string, path: string) => {
  const route = routes.find((one) => one.method === method && one.path === path);
  if (route?.scopes === undefined) throw new Error(`there is no ${method} ${path}`);
  return route;
};

describe("the client's types", () => {
  it('are compared with those of the API', () => {
    // What is compared is in the types above. Here: that none was lost.
    const comparisons: Compared = [true, true, true, true, true, true, true, true, true];
    expect(comparisons).toHaveLength(9);
  });

  it('have every parameter of the list of payments, and no other', async () => {
    const { query } = routeOf('get', '/v1/payments');
    if (!(query instanceof z.ZodObject)) throw new Error('the query has no fields');
    const all: Required<client.ListParams> = {
      status: 'REVIEW',
      final: false,
      kind: 'payout',
      externalId: 'order-1',
      userId: 'ann',
      transId: 'ntLE9hHMsiKRMFBw',
      financialTransId: '3034752116',
      merchant: 'shop',
      created: { gte: '2026-11-21', lt: new Date('2026-11-22') },
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
    expect(Object.keys(given).sort()).toEqual(Object.keys(query.shape).sort());
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
    expect(Object.keys(given).sort()).toEqual(Object.keys(query.shape).sort());
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
    const packageJson: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(packageJson).toMatchObject({ version: VERSION });
  });
});
