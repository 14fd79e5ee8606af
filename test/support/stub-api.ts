import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { keySchema } from '../../src/schemas/key.js';
import {
  notificationListSchema,
  unacknowledgedListSchema,
  unmatchedListSchema,
} from '../../src/schemas/notification.js';
import { paymentPageSchema, paymentSchema, reviewPageSchema } from '../../src/schemas/payment.js';
import { balanceSchema, providerRecordsSchema } from '../../src/schemas/provider.js';
import { statementListSchema, statementRequestSchema, statementSchema } from '../../src/schemas/statement.js';
import { timelineSchema } from '../../src/schemas/timeline.js';

/** The key that the stub knows. */
export const OPERATOR = 'sk_operator_0123456789';
export const READER = 'sk_reader_0123456789';
/** Bob's of shop, who approves payouts, and does nothing else. */
export const APPROVER = 'sk_approver_0123456789';

export const ID = 'pay_2775d55233b9d4be2a8db3491967ed92';
export const DIGEST = '6c1a1b7e0e3c5d1f7c4fb7a9a8d9e0c2f4b3a5968778695a4b3c2d1e0f9e8d7c';
const AT = '2026-11-21T08:20:32.843Z';

/** Texts of every field, and what they could do to a page. */
interface Texts {
  /** In place of each text that anybody can choose. */
  readonly text: string;
}

/**
 * All that the API answers, with one text in place of everything that a merchant, a payer or the provider can write.
 */
function answers({ text }: Texts) {
  const payment: z.output<typeof paymentSchema> = {
    id: ID,
    object: 'payment',
    kind: 'payout',
    status: 'REVIEW',
    final: false,
    amount: 123_456_789,
    currency: 'XAF',
    transId: text,
    medium: 'mobile money',
    phone: text,
    reason: text,
    financialTransId: text,
    review: {
      number: 3,
      since: AT,
      decideFrom: '2036-11-21T08:20:32.843Z',
      secondPerson: true,
      proposed: { action: 'match', transId: text, by: text, why: text, forced: true, at: AT },
    },
    resolution: {
      action: 'match',
      transId: text,
      review: 2,
      by: text,
      why: text,
      forced: true,
      at: AT,
      approval: { by: text, why: text },
    },
    externalId: text,
    userId: text,
    message: text,
    metadata: { [text]: text },
    createdAt: AT,
    updatedAt: AT,
    merchant: text,
    temporalUrl: `javascript:${text}`,
  };
  const { review: _review, resolution: _resolution, transId: _transId, ...ordered } = payment;
  const held: z.output<typeof paymentSchema> = {
    ...ordered,
    status: 'CREATED',
    orderedBy: text,
    held: {
      for: ['approval', 'date'],
      since: AT,
      until: '2036-11-28T08:20:32.843Z',
      sendAt: '2036-12-01T08:00:00.000Z',
      name: text,
      email: text,
      approvals: [{ by: text, at: AT }],
      digest: DIGEST,
    },
  };
  const transaction = {
    transId: text,
    status: 'SUCCESSFUL',
    transType: 'Collection',
    amount: 5,
    medium: 'orange money',
    reason: text,
    financialTransId: text,
    externalId: text,
    userId: text,
  } as const;
  const notification = {
    number: 1,
    id: text,
    type: 'payment.review',
    at: AT,
    delivery: { status: 'due', at: AT, tries: 3, lastTriedAt: AT, lastError: text },
  } as const;
  const { review: _, resolution: __, phone: ___, ...summary } = payment;
  return {
    key: keySchema.parse({ object: 'key', name: text, person: text, scopes: ['review', 'approve'] }),
    payment: paymentSchema.parse(payment),
    held: paymentSchema.parse(held),
    list: paymentPageSchema.parse({
      data: [summary],
      unreadable: [{ id: ID, merchant: text }],
      totals: { count: 1, amount: summary.amount, amountPaid: 0 },
    }),
    reviews: reviewPageSchema.parse({
      data: [summary],
      unreadable: [{ id: ID, merchant: text }],
      total: 1,
      totalAmount: summary.amount,
    }),
    timeline: timelineSchema.parse({
      data: [
        { at: AT, type: 'created', source: 'merchant', summary: text },
        { at: AT, type: 'sending', source: 'system', summary: text },
      ],
    }),
    notifications: notificationListSchema.parse({
      data: [
        notification,
        {
          ...notification,
          number: 2,
          delivery: { status: 'abandoned', at: AT, lastTriedAt: AT, lastError: text },
        },
      ],
    }),
    records: providerRecordsSchema.parse({
      object: 'provider_records',
      list: { answer: 'listed', transactions: [transaction, transaction], asOf: AT },
      status: { answer: 'unknown', transId: text, message: text, asOf: AT },
    }),
    unmatched: unmatchedListSchema.parse({
      data: [{ transId: text, status: 'FAILED', externalId: text, at: AT, statement: text }],
    }),
    balance: balanceSchema.parse({
      object: 'balance',
      service: 'payout',
      serviceName: text,
      balance: 120_000,
      currency: 'XAF',
      asOf: AT,
    }),
    statements: statementListSchema.parse({
      data: [{ date: text, version: 2, madeAt: AT, complete: false, payments: 3, differences: 2 }],
      hasMore: true,
    }),
    statement: statementSchema.parse({
      object: 'statement',
      date: text,
      version: 2,
      madeAt: AT,
      complete: false,
      timeZone: 'Africa/Douala',
      from: AT,
      to: AT,
      services: { collection: serviceStatement(text), payout: serviceStatement(text) },
      payments: [],
      differences: [
        {
          kind: 'amount_differs',
          service: 'payout',
          paymentId: text,
          merchant: text,
          transId: text,
          status: 'SUCCESSFUL',
          amount: 5_000,
          providerStatus: 'SUCCESSFUL',
          providerAmount: 4_000,
          text,
          handling: 'not_checked',
          problem: text,
        },
        {
          kind: 'only_at_provider',
          service: 'collection',
          transId: text,
          providerStatus: 'SUCCESSFUL',
          externalId: text,
          text,
          handling: 'unmatched',
        },
      ],
    }),
    csv: `record,date,note\r\npayment,2026-11-21,"Café, ${text}"\r\n`,
    made: statementRequestSchema.parse({ object: 'statement_request', date: '2026-11-21', version: 3 }),
    due: unacknowledged(text, notification),
    abandoned: unacknowledged(text, {
      ...notification,
      delivery: { status: 'abandoned', at: AT, lastTriedAt: AT, lastError: text },
    }),
  };
}

/** A page of notifications that are not acknowledged. */
function unacknowledged(
  text: string,
  notification: z.input<typeof unacknowledgedListSchema>['data'][number]['notification'],
) {
  return unacknowledgedListSchema.parse({
    data: [
      {
        payment: {
          id: ID,
          merchant: text,
          kind: 'payout',
          status: 'REVIEW',
          amount: 5_000,
          currency: 'XAF',
        },
        notification,
      },
    ],
    total: 1_234,
    checked: 3,
    unread: 1,
    nextCursor: text,
  });
}

/** One service in a statement, with something in each field. */
function serviceStatement(text: string) {
  const sum = { count: 1, amount: 5_000 };
  const byStatus = { CREATED: sum, PENDING: sum, SUCCESSFUL: sum, FAILED: sum, EXPIRED: sum, REVIEW: sum };
  return {
    totals: { payments: 6, byStatus, revenue: 4_900, fees: 100, withoutFee: 1 },
    opening: { balance: 1_000, asOf: AT },
    closing: { balance: 9_000, asOf: AT },
    change: { balance: 8_000, payments: 4_900, rest: 3_100 },
    coverage: { complete: false, gaps: [text], notCompared: 2, cutOff: true },
  };
}

/** A problem, as the API words it. */
export function problem(status: number, code: string, detail: string) {
  return { type: `/docs/errors#${code}`, title: detail, status, detail, code, requestId: 'r' };
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

/** Something in place of the API, which says whatever a test wants. */
export async function startStubApi(texts: Texts) {
  const known = answers(texts);
  const asked: Asked[] = [];
  const keys = new Map([
    [OPERATOR, known.key],
    [READER, { ...known.key, scopes: ['read'] }],
    [APPROVER, { ...known.key, name: 'shop', person: 'bob', scopes: ['approve'] }],
  ]);
  /** Answers to paths with these ends, in place of the usual. */
  const instead = new Map<string, { readonly status: number; readonly body: unknown }>();

  const specialOf = (path: string) => [...instead].find(([end]) => path.endsWith(end))?.[1];
  const answer = (method: string, path: string, { authorization = '', accept = '' }: IncomingHttpHeaders) => {
    const key = keys.get(authorization.replace('Bearer ', ''));
    if (key === undefined) return problem(401, 'unauthenticated', 'The API key is unknown.');
    const special = specialOf(path);
    if (special !== undefined) return special.body;
    if (path === '/v1/key') return key;
    if (path === '/v1/payments') return known.list;
    if (path === '/v1/notifications/unmatched') return known.unmatched;
    if (path === '/v1/notifications/due') return known.due;
    if (path === '/v1/notifications/abandoned') return known.abandoned;
    if (path === '/v1/balance') return known.balance;
    if (path === '/v1/reviews') return known.reviews;
    if (path === '/v1/statements') return method === 'POST' ? known.made : known.statements;
    if (path.startsWith('/v1/statements/')) return accept === 'text/csv' ? known.csv : known.statement;
    if (path.endsWith('/events')) return known.timeline;
    if (path.endsWith('/notifications')) return known.notifications;
    if (path.endsWith('/provider')) return known.records;
    if (method === 'POST' || path === `/v1/payments/${ID}`) return known.payment;
    return problem(404, 'not_found', 'This API key has no payment with this id.');
  };
  const server = createServer(async (request: IncomingMessage, response) => {
    const { method = '', url = '', headers } = request;
    const { pathname: path, search: query } = new URL(url, 'http://stub');
    const body: unknown = headers['content-type'] === undefined ? undefined : await json(request);
    asked.push({ method, path, query, authorization: headers.authorization, body });
    const reply = answer(method, path, headers);
    const failed = z.object({ status: z.int(), code: z.string() }).safeParse(reply);
    const type = reply === known.csv ? 'text/csv; charset=utf-8' : 'application/json';
    response.writeHead(failed.success ? failed.data.status : (specialOf(path)?.status ?? 200), {
      'content-type': type,
    });
    response.end(typeof reply === 'string' ? reply : JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    known,
    keys,
    instead,
    /** A key of an operator's own. */
    operatorKey() {
      const key = `sk_operator_${keys.size}`;
      keys.set(key, known.key);
      return key;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
