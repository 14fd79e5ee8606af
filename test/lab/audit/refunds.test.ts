import { describe, expect, it } from '@jest/globals';
import type { AuditCase } from '../../../lab/audit/case.js';
import { auditRefunds } from '../../../lab/audit/refunds.js';
import { type ObservedPayment, observedOf } from '../../../lab/people/observed-payment.js';
import type { PlannedPayment } from '../../../lab/plan/planned-payment.js';
import { planPayments } from '../../../lab/plan/simulation-payments.js';
import type { FinalTransaction } from '../../../lab/world/provider-books.js';

const { payments } = planPayments(50, 1);
const [collection, payout] = [
  payments.find(({ way }) => way === 'direct'),
  payments.find(({ way }) => way === 'payout'),
];
if (collection === undefined || payout === undefined) throw new Error('the plan lacks a collection or a payout');
const refundOf = collection.id;

const booked = (amount: number, more: Partial<FinalTransaction> = {}): FinalTransaction => ({
  ...{ status: 'SUCCESSFUL', transId: 'T1', amount, createdAt: 1_000, statusCalls: { throttled: 0 } },
  ...more,
});

function caseOf(
  planned: PlannedPayment,
  transactions: FinalTransaction[],
  record: Partial<ObservedPayment> = {},
): AuditCase {
  return {
    ...{ record: { ...observedOf(planned), ...record }, shown: undefined, transactions, posts: 1 },
    booked: { row: undefined, fences: 1, notifications: [], untaken: 0 },
  };
}

const paid = (record: Partial<ObservedPayment> = {}) => caseOf(collection, [booked(1_000)], record);
const refund = (body: object, transactions: FinalTransaction[], record: Partial<ObservedPayment> = {}) =>
  caseOf({ ...payout, refundOf, body: { ...body } }, transactions, record);
const found = (...cases: AuditCase[]) => auditRefunds(cases, new Map()).map(({ invariant }) => invariant);

describe('the audit of refunds', () => {
  it('finds more paid out than was collected, or than may still be', () => {
    const [part, rest] = [refund({ amount: 600 }, [booked(600)]), refund({ amount: 400 }, [booked(400)])];
    expect(found(paid(), part, rest)).toEqual([]);
    expect(found(paid(), part, part)).toEqual(['overRefunded']);
    expect(found(paid(), part, refund({}, [booked(600, { status: 'PENDING' })]))).toEqual(['overRefunded']);
    expect(found(paid(), part, refund({}, [booked(600, { status: 'FAILED' })]))).toEqual([]);
    expect(found(caseOf(collection, []), rest)).toEqual(['overRefunded']);
  });

  it('counts a refund once, and nothing that the provider has made by itself', () => {
    expect(found(paid(), refund({}, [booked(700), booked(700)]))).toEqual([]);
    expect(found(paid(), refund({}, [booked(700)]), refund({}, [booked(700, { isStray: true })]))).toEqual([]);
  });

  it('finds a refund that was refused though there was room', () => {
    const refused = { refused: true, refusal: 'more_than_refundable' };
    const other = refund({ amount: 600 }, [booked(600)]);
    expect(found(paid(), other, refund({ amount: 500 }, [], refused))).toEqual([]);
    expect(found(paid(), other, refund({ amount: 400 }, [], refused))).toEqual(['wrongOutcome']);
    expect(found(paid(), other, refund({}, [], refused))).toEqual(['wrongOutcome']);
    expect(found(paid(), refund({ amount: 950 }, [booked(950)]), refund({}, [], refused))).toEqual([]);
  });

  it('allows for what the provider has made by itself, which is known late or counts as well', () => {
    const refused = refund({ amount: 500 }, [], { refused: true, refusal: 'more_than_refundable' });
    const twice = caseOf(collection, [booked(1_000), booked(1_000, { isStray: true })]);
    const other = refund({ amount: 300 }, [booked(300)]);
    expect(found(twice, refund({ amount: 600 }, [booked(600)]), refused)).toEqual([]);
    expect(found(twice, other, refused)).toEqual(['wrongOutcome']);
    const doubled = refund({ amount: 300 }, [booked(300), booked(300, { isStray: true, status: 'FAILED' })]);
    expect(found(paid(), doubled, refused)).toEqual([]);
  });

  it('finds sums that are not those of the refunds, and a refund that is not listed', () => {
    const one = refund({ amount: 600 }, [booked(600)], { taken: true });
    const { id } = one.record.planned;
    const shown = { id, status: 'SUCCESSFUL', final: true, amount: 600 } as const;
    const right = { collected: 1_000, refunded: 600, refunding: 0, refundable: 400, data: [shown] };
    const of = (sums: Partial<typeof right>) =>
      auditRefunds([paid(), { ...one, shown }], new Map([[refundOf, { ...right, ...sums }]])).length;
    expect(of({})).toBe(0);
    expect(of({ refunding: 400, refundable: 0 })).toBe(0);
    expect(of({ refundable: 500 })).toBe(1);
    expect(of({ refunded: 500 })).toBe(1);
    expect(of({ collected: 1_001 })).toBe(1);
    expect(of({ data: [] })).toBe(1);
  });

  it('lets a refund that was sent again count for each request', () => {
    const sums = new Map([
      [refundOf, { collected: 1_000, refunded: 600, refunding: 800, refundable: 0, data: [] as { id: string }[] }],
    ]);
    const decision = { at: 0, action: 'resend', review: 1, forced: false, outcome: 'done', isWrong: false } as const;
    const audit = (record: Partial<ObservedPayment>) =>
      auditRefunds([paid(), refund({ amount: 400 }, [], record)], sums as never).map(({ what }) => what);
    expect(audit({}).join()).toContain('more than the 1000 XAF');
    expect(audit({ decisions: [decision] }).join()).not.toContain('more than the 1000 XAF');
  });

  it('finds one that was refused for a reason that there wasn’t', () => {
    const refused = (refusal: string, body = {}) => refund(body, [], { refused: true, refusal });
    expect(found(paid(), refused('not_refundable'))).toEqual(['wrongOutcome']);
    expect(found(paid({ reviews: 1 }), refused('not_refundable'))).toEqual([]);
    expect(found({ ...paid(), isLost: true }, refused('not_refundable'))).toEqual([]);
    expect(found({ ...paid(), isLost: true }, refused('not_found'))).toEqual(['wrongOutcome']);
    expect(found({ ...paid(), isLost: true, isForgotten: true }, refused('not_found'))).toEqual([]);
    expect(found(paid(), refused('refundable_mismatch'))).toEqual(['wrongOutcome']);
    expect(found(paid(), refused('refundable_mismatch', { expectedRefundable: 7 }))).toEqual([]);
    expect(found(paid(), refused('phone_required'))).toEqual(['wrongOutcome']);
  });
});
