import { describe, expect, it } from '@jest/globals';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import type { StatementLine } from '../../src/reconciliation/reconciliation.js';
import {
  type Difference,
  isSoFar,
  type StatementParts,
  statementOf,
  toStatement,
} from '../../src/reconciliation/statement.js';

let made = 0;
const line = (given: Partial<StatementLine> = {}): StatementLine => ({
  id: `col_${made++}` as PaymentId,
  merchant: 'shop',
  kind: 'collection',
  status: 'SUCCESSFUL',
  final: true,
  amount: 1_000,
  revenue: 980,
  fee: 20,
  createdAt: '2026-11-21T10:00:00.000Z',
  compared: true,
  ...given,
});

const at = (balance: number) => ({ balance, asOf: '2026-11-20T23:00:01.000Z' });
const statement = (given: Partial<StatementParts> = {}) =>
  toStatement({
    date: '2026-11-21',
    version: 1,
    madeAt: Date.parse('2026-11-22T02:00:00Z'),
    payments: [],
    differences: [],
    gaps: { collection: [], payout: [] },
    balances: { collection: {}, payout: {} },
    cutOff: false,
    ...given,
  });

describe('the statement of a day', () => {
  it("is that of Cameroon's day", () => {
    expect(statement()).toMatchObject({
      date: '2026-11-21',
      timeZone: 'Africa/Douala',
      from: '2026-11-20T23:00:00.000Z',
      to: '2026-11-21T23:00:00.000Z',
      complete: true,
    });
  });

  it('adds up what has moved, not what was ordered', () => {
    const { services } = statement({
      payments: [
        line({ kind: 'payout', amount: 75_000, amountPaid: 57_000 }),
        line({ kind: 'payout', amount: 500, status: 'FAILED' }),
      ],
      balances: { collection: {}, payout: { opening: at(100_000), closing: at(43_000) } },
    });
    expect(services.payout.totals.byStatus).toMatchObject({
      SUCCESSFUL: { amount: 57_000 },
      FAILED: { amount: 500 },
    });
    expect(services.payout.change).toEqual({ balance: -57_000, payments: -57_000, rest: 0 });
  });

  it('adds up each service by itself, and fees as far as they are known', () => {
    const { services } = statement({
      payments: [
        line(),
        line({ amount: 500, revenue: undefined, fee: undefined }),
        line({ status: 'REVIEW', amount: 300, revenue: undefined, fee: undefined }),
        line({ kind: 'payout', amount: 700, revenue: 686, fee: 14 }),
      ],
    });
    expect(services.collection.totals).toMatchObject({
      payments: 3,
      byStatus: {
        SUCCESSFUL: { count: 2, amount: 1_500 },
        REVIEW: { count: 1, amount: 300 },
        FAILED: { count: 0 },
      },
      revenue: 980,
      fees: 20,
      withoutFee: 1,
    });
    expect(services.payout.totals).toMatchObject({ payments: 1, fees: 14, withoutFee: 0 });
  });

  it("shows both balances as the provider said them, and what the day's payments leave open of their difference", () => {
    const { services } = statement({
      payments: [line(), line({ kind: 'payout', amount: 700 })],
      balances: {
        collection: { opening: at(5_000), closing: at(6_100) },
        payout: { opening: at(9_000), closing: at(8_300) },
      },
    });
    expect(services.collection.change).toEqual({ balance: 1_100, payments: 980, rest: 120 });
    expect(services.payout.change).toEqual({ balance: -700, payments: -700, rest: 0 });
  });

  it('computes no balance that nobody has asked for, nor a change from one', () => {
    const { services } = statement({
      payments: [line({ revenue: undefined, fee: undefined })],
      balances: { collection: { opening: at(1), closing: at(2) }, payout: { opening: undefined, closing: at(3) } },
    });
    expect(services.payout).toMatchObject({ opening: undefined, change: undefined });
    expect(services.collection.change).toBeUndefined();
  });

  it('is not complete with a gap, a payment that the provider said nothing about, or payments beyond its limit', () => {
    const gap = statement({ gaps: { collection: [], payout: [{ status: 'PENDING', why: 'full' }] } });
    expect(gap.complete).toBe(false);
    expect(gap.services.collection.coverage.complete).toBe(true);
    expect(gap.services.payout.coverage.gaps).toEqual([expect.stringContaining('with the status PENDING')]);
    const unread = statement({ payments: [line({ compared: false })] });
    expect(unread.services.collection.coverage).toMatchObject({ complete: false, notCompared: 1 });
    expect(statement({ cutOff: true }).complete).toBe(false);
  });

  it('of a day that is not over ends where it was made, and is complete for nobody', () => {
    const until = Date.parse('2026-11-21T13:05:00Z');
    const soFar = statement({ madeAt: until + 5_000, until, payments: [line(), line({ merchant: 'rival' })] });
    expect(isSoFar(soFar)).toBe(true);
    for (const shown of [soFar, statementOf(soFar, 'shop'), statementOf(soFar, 'nobody')]) {
      expect(shown).toMatchObject({
        from: '2026-11-20T23:00:00.000Z',
        to: '2026-11-21T13:05:00.000Z',
        complete: false,
      });
      for (const { coverage } of [shown.services.collection, shown.services.payout]) {
        const rest = "the day from 2026-11-21T14:05:00.000+01:00 on: it wasn't over when this statement was made";
        expect(coverage).toMatchObject({ complete: false, gaps: [rest] });
      }
    }
    expect(isSoFar(statement())).toBe(false);
  });

  it('shows a merchant what is his, and neither balances nor what nobody knows of', () => {
    const difference = (given: Partial<Difference>): Difference => ({
      kind: 'amount_differs',
      service: 'collection',
      text: '…',
      handling: 'checked',
      ...given,
    });
    const own = statementOf(
      statement({
        payments: [line(), line({ merchant: 'rival' })],
        differences: [
          difference({ merchant: 'shop' }),
          difference({ merchant: 'rival' }),
          difference({ kind: 'only_at_provider' }),
        ],
        gaps: { collection: [{ why: 'full' }], payout: [] },
        balances: { collection: { opening: at(1), closing: at(2) }, payout: {} },
      }),
      'shop',
    );
    expect(own.payments.map(({ merchant }) => merchant)).toEqual(['shop']);
    expect(own.differences).toEqual([expect.objectContaining({ merchant: 'shop' })]);
    expect(own.complete).toBe(true);
    expect(own.services.collection).toMatchObject({ totals: { payments: 1 }, coverage: { gaps: [] } });
    expect(own.services.collection).not.toHaveProperty('opening');
  });
});
