import { describe, expect, it } from '@jest/globals';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import type { Transaction } from '../../src/payments/words/transaction.js';
import { compare, type DayPayment, findingOf, ofPayment } from '../../src/reconciliation/reconciliation.js';

const ID = 'col_1' as PaymentId;
const OWN = 'own' as TransId;

const payment = (given: Partial<DayPayment> = {}): DayPayment => ({
  id: ID,
  merchant: 'shop',
  kind: 'collection',
  status: 'SUCCESSFUL',
  final: true,
  amount: 1_000,
  transId: OWN,
  externalId: 'order-1',
  createdAt: Date.parse('2026-11-21T10:00:00Z'),
  ...given,
});

const transaction = (given: Partial<Transaction> = {}): Transaction => ({
  transId: OWN,
  status: 'SUCCESSFUL',
  transType: 'Collection',
  amount: 1_000,
  revenue: 980,
  externalId: ID,
  userId: ID,
  ...given,
});

const kinds = (one: DayPayment, shown: readonly Transaction[] | undefined) =>
  compare(one, shown).findings.map(({ kind }) => kind);

describe('a payment in a statement', () => {
  it('has the fee that follows from what the provider left of it', () => {
    const { line, findings } = compare(payment(), [transaction({ medium: 'mobile money', financialTransId: '4711' })]);
    expect(findings).toEqual([]);
    expect(line).toEqual({
      id: ID,
      merchant: 'shop',
      kind: 'collection',
      status: 'SUCCESSFUL',
      final: true,
      amount: 1_000,
      amountPaid: 1_000,
      revenue: 980,
      fee: 20,
      transId: OWN,
      financialTransId: '4711',
      medium: 'mobile money',
      externalId: 'order-1',
      createdAt: '2026-11-21T10:00:00.000Z',
      providerStatus: 'SUCCESSFUL',
      providerAmount: 1_000,
      compared: true,
    });
  });

  it('says which collection a refund is of', () => {
    const refundOf = 'col_9' as PaymentId;
    expect(compare(payment({ kind: 'payout', refundOf }), [transaction()]).line).toMatchObject({ refundOf });
  });

  it.each([
    ['says no revenue', { revenue: undefined }],
    ['says more than was paid', { revenue: 1_001 }],
    ["hasn't been paid", { status: 'PENDING', revenue: 980 }],
  ] as const)('has no fee when the transaction %s', (_, given) => {
    expect(compare(payment(), [transaction(given)]).line.fee).toBeUndefined();
  });

  it('agrees with the provider about what has moved, when an operator has matched it with another amount', () => {
    const matched = payment({ amountPaid: 900 });
    const { line, findings } = compare(matched, [transaction({ amount: 900, revenue: 880 })]);
    expect(line).toMatchObject({ amount: 1_000, amountPaid: 900, revenue: 880, fee: 20 });
    expect(findings).toEqual([]);
    expect(kinds(matched, [transaction()])).toEqual(['amount_differs']);
  });

  it('is not compared while the provider has said nothing about it', () => {
    expect(compare(payment(), undefined)).toMatchObject({ line: { compared: false }, findings: [] });
  });

  it('differs when the provider shows another amount, kind or final status', () => {
    expect(kinds(payment(), [transaction({ amount: 900 })])).toEqual(['amount_differs']);
    expect(kinds(payment(), [transaction({ transType: 'Payout' })])).toEqual(['kind_differs']);
    expect(kinds(payment(), [transaction({ status: 'FAILED' })])).toEqual(['status_differs']);
    expect(kinds(payment({ status: 'FAILED' }), [transaction()])).toEqual(['status_differs']);
    expect(kinds(payment({ status: 'PENDING', final: false }), [transaction()])).toEqual(['status_differs']);
    expect(kinds(payment(), [transaction({ status: 'PENDING' })])).toEqual(['status_differs']);
  });

  it("doesn't differ by what the provider leaves out", () => {
    const bare = transaction({ amount: undefined, transType: undefined, externalId: undefined });
    expect(kinds(payment(), [bare])).toEqual([]);
  });

  it("doesn't differ while neither has an end, nor by how it ended without money", () => {
    expect(kinds(payment({ status: 'CREATED', final: false }), [transaction({ status: 'PENDING' })])).toEqual([]);
    expect(kinds(payment({ status: 'FAILED', final: false }), [transaction({ status: 'FAILED' })])).toEqual([]);
    expect(kinds(payment({ status: 'FAILED' }), [transaction({ status: 'EXPIRED' })])).toEqual([]);
  });

  it("is missed when the provider doesn't show its transaction, and says what it shows in its place", () => {
    expect(kinds(payment(), [])).toEqual(['missing_at_provider']);
    const other = transaction({ transId: 'other' as TransId, status: 'FAILED' });
    expect(compare(payment(), [other]).findings).toMatchObject([
      {
        kind: 'missing_at_provider',
        transId: OWN,
        text: expect.stringContaining('other (FAILED) in its place'),
      },
    ]);
  });

  it('is not missed when it never had a transaction', () => {
    expect(kinds(payment({ status: 'FAILED', transId: undefined }), [])).toEqual([]);
  });

  it('is found to have moved money although it has no transaction here', () => {
    const failed = payment({ status: 'FAILED', transId: undefined });
    expect(compare(failed, [transaction()]).findings).toMatchObject([
      { kind: 'status_differs', transId: OWN, status: 'FAILED', providerStatus: 'SUCCESSFUL' },
    ]);
  });

  it('differs when more than one of its transactions has moved money, or may', () => {
    const other = transaction({ transId: 'other' as TransId, status: 'PENDING' });
    expect(kinds(payment(), [transaction(), other])).toEqual(['several_transactions']);
    expect(kinds(payment(), [transaction(), { ...other, status: 'EXPIRED' }])).toEqual([]);
  });

  it('in REVIEW is there for a person, whatever the provider shows', () => {
    const review = payment({ status: 'REVIEW', final: false, transId: undefined });
    expect(kinds(review, [transaction()])).toEqual(['in_review']);
    expect(kinds(review, undefined)).toEqual(['in_review']);
  });
});

describe("a payment's transactions", () => {
  it('are those with its id, and the one that it goes by, each once', () => {
    const byUser = transaction({ transId: 'by-user' as TransId, externalId: undefined });
    const foreign = transaction({ transId: 'foreign' as TransId, externalId: 'col_2' });
    const bare = transaction({ externalId: undefined, userId: undefined });
    const found = ofPayment(payment(), [bare, byUser, foreign, transaction()]);
    expect(found.map(({ transId }) => transId)).toEqual([OWN, 'by-user']);
  });

  it('are none that name another payment as well', () => {
    const disputed = transaction({ transId: 'disputed' as TransId, userId: 'col_2' });
    expect(ofPayment(payment({ transId: undefined }), [disputed])).toEqual([]);
  });
});

describe('a transaction that no payment knows', () => {
  it('is named with its amount, its status, its date and what it was made for', () => {
    const stranger = { ...transaction({ externalId: 'invoice-9' }), dateInitiated: '2026-11-21' };
    expect(findingOf({ service: 'collection', transaction: stranger })).toMatchObject({
      kind: 'only_at_provider',
      transId: OWN,
      providerAmount: 1_000,
      text: 'own of 1,000 XAF is SUCCESSFUL, and was initiated on 2026-11-21 for invoice-9: no payment here knows it',
    });
  });
});
