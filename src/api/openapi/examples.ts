import { CURRENCY } from '../../payments/words/limits.js';
import { doualaTime } from '../../payments/words/time.js';
import { examplePayment } from '../../schemas/payment.js';
import {
  approved,
  decided,
  expired,
  heldExample,
  listed,
  listedPayout,
  medium,
  moved,
  paidExample,
  payout,
  refund,
  refundedExample,
  reviewed,
  updatedAt,
  waiting,
} from './example-payments.js';

/**
 * Example answers of each call, for the reference. All are about the same few payments: without them, the reference
 * makes up numbers and times that no payment has. Tests compare each with its schema.
 */

const notification = {
  number: 1,
  id: 'evt_col_2775d55233b9d4be2a8db3491967ed92_succeeded_1',
  type: 'payment.succeeded',
  at: updatedAt,
};

const none = { count: 0, amount: 0 };
const noSums = { CREATED: none, PENDING: none, SUCCESSFUL: none, FAILED: none, EXPIRED: none, REVIEW: none };
const covered = { complete: true, gaps: [], notCompared: 0, cutOff: false };

const statement = {
  object: 'statement',
  date: '2026-11-21',
  version: 1,
  madeAt: '2026-11-22T02:00:07.312Z',
  complete: true,
  timeZone: 'Africa/Douala',
  from: '2026-11-20T23:00:00.000Z',
  to: '2026-11-21T23:00:00.000Z',
  services: {
    collection: {
      totals: {
        payments: 1,
        byStatus: { ...noSums, SUCCESSFUL: { count: 1, amount: 5_000 } },
        revenue: 4_900,
        fees: 100,
        withoutFee: 0,
      },
      opening: { balance: 1_204_300, asOf: '2026-11-20T23:00:02.481Z' },
      closing: { balance: 1_209_200, asOf: '2026-11-21T23:00:01.977Z' },
      change: { balance: 4_900, payments: 4_900, rest: 0 },
      coverage: covered,
    },
    payout: {
      totals: { payments: 0, byStatus: noSums, revenue: 0, fees: 0, withoutFee: 0 },
      coverage: covered,
    },
  },
  payments: [
    {
      id: examplePayment.id,
      merchant: 'shop',
      kind: 'collection',
      ...moved,
      amount: examplePayment.amount,
      transId: examplePayment.transId,
      financialTransId: '3034752116',
      medium,
      externalId: examplePayment.externalId,
      createdAt: examplePayment.createdAt,
      providerStatus: 'SUCCESSFUL',
      providerAmount: 5_000,
      compared: true,
    },
  ],
  differences: [],
};

const timeline = [
  {
    at: examplePayment.createdAt,
    type: 'created',
    source: 'merchant',
    summary: 'The payment was created.',
    status: 'CREATED',
  },
  {
    at: updatedAt,
    type: 'status_changed',
    source: 'provider',
    summary: 'The payment is SUCCESSFUL, which is final.',
    status: 'SUCCESSFUL',
    final: true,
  },
];

/** The cursor of the page's last payment. */
const nextCursor = Buffer.from(JSON.stringify([Date.parse(listed.createdAt), listed.id])).toString('base64url');

const created = { 200: paidExample, 201: examplePayment, 202: examplePayment };

/** A page with one notification that its merchant has not acknowledged. `total`: those of all pages. */
const unacknowledged = (total: number, delivery: object) => ({
  data: [
    {
      payment: {
        id: examplePayment.id,
        merchant: 'shop',
        kind: 'collection',
        status: 'SUCCESSFUL',
        amount: 5_000,
        amountPaid: 5_000,
        currency: CURRENCY,
      },
      notification: { ...notification, delivery: { ...delivery, lastError: 'answered 503' } },
    },
  ],
  total,
});

/** Answers by operation and status. */
const EXAMPLES: Readonly<Record<string, Readonly<Record<number, unknown>>>> = {
  createCollection: created,
  createPayout: { 200: decided, 201: payout, 202: waiting },
  createRefund: { 200: refundedExample, 201: refund, 202: refund },
  listRefunds: {
    200: {
      object: 'refunds',
      collection: examplePayment.id,
      collected: 5_000,
      refunded: 2_000,
      refunding: 0,
      refundable: 3_000,
      data: [refundedExample],
    },
  },
  listPayments: {
    200: {
      data: [listedPayout, { ...listed, ...moved, medium, updatedAt }],
      unreadable: [],
      nextCursor,
    },
  },
  listReviews: {
    200: {
      data: [{ ...listedPayout, status: 'REVIEW', final: false }],
      unreadable: [],
      total: 21,
      totalAmount: 52_500,
      nextCursor,
    },
  },
  getPayment: { 200: { ...paidExample, refunded: 0, refunding: 0, refundable: 5_000 } },
  expireCollection: { 200: expired, 202: examplePayment },
  cancelPayout: {
    200: {
      ...waiting,
      status: 'FAILED',
      final: true,
      failureCode: 'withdrawn',
      reason: 'withdrawn before it was sent',
    },
    202: waiting,
  },
  approvePayout: { 200: approved, 202: heldExample },
  rejectPayout: {
    200: {
      ...waiting,
      amount: 150_000,
      status: 'FAILED',
      final: true,
      failureCode: 'not_approved',
      reason: 'not approved: This invoice was paid in October',
      orderedBy: 'ann',
    },
    202: heldExample,
  },
  refreshPayment: { 200: paidExample, 202: examplePayment },
  resolvePayment: { 200: decided, 202: reviewed },
  getTimeline: { 200: { data: timeline } },
  listEvents: {
    200: {
      data: [
        {
          id: notification.id,
          type: notification.type,
          timestamp: updatedAt,
          paymentId: examplePayment.id,
          data: paidExample,
        },
      ],
      hasMore: false,
      nextCursor: 'MTcx',
      completeUntil: '2026-11-21T08:21:30.000Z',
    },
  },
  getProviderRecords: {
    200: {
      object: 'provider_records',
      list: {
        answer: 'listed',
        transactions: [
          {
            transId: examplePayment.transId,
            status: 'SUCCESSFUL',
            transType: 'Collection',
            amount: 5_000,
            medium,
            revenue: 4_900,
            financialTransId: '3034752116',
            externalId: examplePayment.id,
          },
        ],
        asOf: '2026-11-21T08:41:12.630Z',
      },
    },
  },
  listNotifications: {
    200: { data: [{ ...notification, delivery: { status: 'delivered', at: '2026-11-21T08:20:34.402Z' } }] },
  },
  resendNotification: { 202: paidExample },
  getBalance: {
    200: {
      object: 'balance',
      service: 'payout',
      serviceName: 'Shop payouts',
      balance: 8_850_786,
      currency: CURRENCY,
      asOf: examplePayment.createdAt,
    },
  },
  listStatements: {
    200: {
      data: [
        {
          date: statement.date,
          version: 1,
          madeAt: statement.madeAt,
          complete: true,
          payments: 1,
          differences: 0,
        },
      ],
      hasMore: false,
    },
  },
  makeStatement: { 202: { object: 'statement_request', date: statement.date, version: 2 } },
  getStatement: { 200: statement },
  getKey: { 200: { object: 'key', name: 'shop', person: 'ann', scopes: ['collections', 'payouts', 'read'] } },
  receiveProviderNotification: { 200: { received: true } },
  listUnmatchedNotifications: {
    200: { data: [{ transId: 'PbyCuFjOcKUumnR0', status: 'SUCCESSFUL', at: '2026-11-21T11:47:53.008Z' }] },
  },
  listDueNotifications: {
    200: unacknowledged(42, {
      status: 'due',
      at: '2026-11-21T08:50:41.950Z',
      tries: 3,
      lastTriedAt: '2026-11-21T08:25:40.713Z',
    }),
  },
  listAbandonedNotifications: {
    200: unacknowledged(1, {
      status: 'abandoned',
      at: '2026-11-24T08:20:40.713Z',
      lastTriedAt: '2026-11-24T08:20:40.713Z',
    }),
  },
  getHealth: { 200: { status: 'ok' } },
  getReadiness: { 200: { status: 'ready' } },
};

const inDouala = (time: string) => doualaTime(Date.parse(time));

/** The first lines of answers in CSV. */
const CSV: Readonly<Record<string, string>> = {
  listPayments: [
    'id,kind,method,status,final,amount,amountPaid,currency,revenue,fee,medium,transId,failureCode,reason,externalId,userId,refundOf,createdAt,updatedAt,metadata',
    `${examplePayment.id},collection,link,SUCCESSFUL,true,5000,5000,XAF,4900,100,${medium},${examplePayment.transId},,,${examplePayment.externalId},,,${inDouala(examplePayment.createdAt)},${inDouala(updatedAt)},{}`,
  ].join('\r\n'),
  getStatement: [
    'record,date,service,id,status,amount,amountPaid,revenue,fee,currency,transId,financialTransId,medium,externalId,refundOf,providerStatus,providerAmount,at,note',
    `payment,2026-11-21,collection,${examplePayment.id},SUCCESSFUL,5000,5000,4900,100,XAF,${examplePayment.transId},3034752116,${medium},${examplePayment.externalId},,SUCCESSFUL,5000,${inDouala(examplePayment.createdAt)},`,
  ].join('\r\n'),
};

/** @returns an example of an operation's response; `undefined` when there is none. */
export function exampleOfResponse(operationId: string, status: string, isText: boolean): unknown {
  return isText ? CSV[operationId] : EXAMPLES[operationId]?.[Number(status)];
}

/** Names an example: RapiDoc ignores one in `example`, and makes up its own. */
export const shown = (value: unknown) => (value === undefined ? undefined : { example: { value } });
