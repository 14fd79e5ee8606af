import { CURRENCY } from '../../payments/words/limits.js';
import type { PaymentEventType } from '../../payments/words/payment.js';
import { examplePayment } from '../../schemas/payment.js';

/*
 * The few payments that all examples are about.
 */

export const payout = {
  id: 'pay_c8a67ed112620310a9372de7863adb8f',
  object: 'payment',
  kind: 'payout',
  status: 'CREATED',
  final: false,
  amount: 2_500,
  currency: CURRENCY,
  transId: 'HdNE9AKb6kHu30wo',
  phone: '•••• 000',
  externalId: 'wages-77',
  metadata: {},
  createdAt: '2026-11-21T09:14:05.112Z',
  updatedAt: '2026-11-21T09:14:05.139Z',
};

export const refund = {
  ...payout,
  id: 'pay_5c1e9f0a7b3d4e628f9a0b1c2d3e4f50',
  amount: 2_000,
  externalId: undefined,
  refundOf: examplePayment.id,
  refundReason: 'One of two tickets was returned',
};

/** The outcome of a link of 5,000 XAF. */
export const moved = { status: 'SUCCESSFUL', final: true, amountPaid: 5_000, revenue: 4_900, fee: 100 };
export const medium = 'mobile money';
export const updatedAt = '2026-11-21T08:20:34.191Z';

export const paidExample = { ...examplePayment, ...moved, medium, financialTransId: '3034752116', updatedAt };

export const refundedExample = {
  ...refund,
  status: 'SUCCESSFUL',
  final: true,
  amountPaid: 2_000,
  revenue: 1_960,
  fee: 40,
  medium,
};

const { transId: _transId, ...waiting } = payout;
const { link: _link, expiresAt: _expiresAt, ...listed } = examplePayment;
const { phone: _phone, ...listedPayout } = payout;

/** A payout that waits for another person's approval. */
export const heldExample = {
  ...waiting,
  amount: 150_000,
  held: {
    for: ['approval', 'date'],
    since: waiting.createdAt,
    until: '2026-11-28T09:14:05.112Z',
    sendAt: '2026-11-27T07:00:00.000Z',
    name: 'Ngono Marie',
    approvals: [],
    digest: '6c1a1b7e0e3c5d1f7c4fb7a9a8d9e0c2f4b3a5968778695a4b3c2d1e0f9e8d7c',
  },
  orderedBy: 'ann',
};

export const approved = {
  ...heldExample,
  held: {
    ...heldExample.held,
    for: ['date'],
    until: '2026-11-27T07:00:00.000Z',
    approvals: [{ by: 'bob', at: '2026-11-21T09:20:11.482Z' }],
  },
  updatedAt: '2026-11-21T09:20:11.482Z',
};

export const reviewed = {
  ...waiting,
  status: 'REVIEW',
  reason: "The provider's list has no transaction for the payment",
  review: {
    number: 2,
    since: '2026-11-21T09:24:05.139Z',
    decideFrom: '2026-11-21T10:14:05.112Z',
    secondPerson: true,
    proposed: {
      action: 'fail',
      by: 'ann',
      why: 'The provider has confirmed by phone that nothing was sent',
      at: '2026-11-21T10:31:40.020Z',
    },
  },
  updatedAt: '2026-11-21T10:31:40.020Z',
};

export const decided = {
  ...payout,
  status: 'SUCCESSFUL',
  final: true,
  amountPaid: 2_500,
  revenue: 2_450,
  fee: 50,
  medium,
  resolution: {
    action: 'match',
    transId: payout.transId,
    review: 1,
    by: 'ann',
    why: "Found in the provider's portal",
    at: '2026-11-21T10:31:40.020Z',
  },
  updatedAt: '2026-11-21T10:31:41.307Z',
};

export const expired = { ...examplePayment, status: 'EXPIRED', final: true, failureCode: 'expired', updatedAt };

const { since, decideFrom } = reviewed.review;

/** The payment that each notification carries. */
const NOTIFIED: Readonly<Record<PaymentEventType, object>> = {
  'payment.succeeded': paidExample,
  'payment.refunded': refundedExample,
  'payment.failed': {
    ...payout,
    status: 'FAILED',
    final: true,
    failureCode: 'failed_at_provider',
    reason: 'The recipient has no such account',
  },
  'payment.held': heldExample,
  'payment.expired': expired,
  'payment.attempt_failed': {
    ...examplePayment,
    status: 'FAILED',
    failureCode: 'failed_at_provider',
    medium,
    updatedAt,
  },
  'payment.review': {
    ...waiting,
    status: 'REVIEW',
    reason: reviewed.reason,
    review: { number: 1, since, decideFrom },
  },
};

/** Makes an example of a notification to a merchant. */
export const exampleOfWebhook = (type: PaymentEventType) => {
  const data = NOTIFIED[type];
  return { type, timestamp: 'updatedAt' in data ? data.updatedAt : updatedAt, merchant: 'shop', data };
};

export { listed, listedPayout, waiting };
