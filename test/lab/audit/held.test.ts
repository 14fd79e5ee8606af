import { describe, expect, it } from '@jest/globals';
import type { AuditCase } from '../../../lab/audit/case.js';
import { auditHeld } from '../../../lab/audit/held.js';
import { type MadeVerdict, type ObservedPayment, observedOf } from '../../../lab/people/observed-payment.js';
import type { PlannedHold } from '../../../lab/plan/planned-hold.js';
import { planPayments } from '../../../lab/plan/simulation-payments.js';

const planned = planPayments(50, 1).payments.find(({ way }) => way === 'payout');
if (planned === undefined) throw new Error('the plan has no payout');
const payout = planned;

const SENT = 10_000;
const toApprove: PlannedHold = { needsApproval: true, approveAbove: 5_000, verdicts: [] };
const dated: PlannedHold = { ...toApprove, needsApproval: false };

const verdict = (action: MadeVerdict['action'], more: Partial<MadeVerdict> = {}): MadeVerdict => ({
  at: SENT - 1_000,
  action,
  mayApprove: action === 'approve',
  outcome: 'done',
  ...more,
});
const approved = verdict('approve');

interface Story extends Partial<Omit<AuditCase, 'record'>> {
  readonly hold?: PlannedHold;
  readonly amount?: number;
  readonly failureCode?: 'not_approved' | 'withdrawn';
  readonly record?: Partial<ObservedPayment>;
}

/** What the audit finds of a payout, sent at {@link SENT} unless the story says otherwise. */
function found({ hold = toApprove, amount = 100, failureCode, record, ...story }: Story): string[] {
  const status = failureCode === undefined ? 'SUCCESSFUL' : 'FAILED';
  const subject: AuditCase = {
    record: { ...observedOf({ ...payout, hold }), taken: true, ...record },
    shown: { id: payout.id, status, final: true, amount, failureCode },
    booked: { row: undefined, fences: 1, notifications: [], untaken: 0 },
    transactions: [{ status: 'SUCCESSFUL', transId: 'T1', amount, createdAt: SENT, statusCalls: { throttled: 0 } }],
    posts: 1,
    ...story,
  };
  return auditHeld(subject).map(({ invariant }) => invariant);
}

const unsent = { transactions: [], posts: 0 };

describe('the audit of a payout that waits', () => {
  it('finds nothing when another person has approved it before it was sent', () => {
    expect(found({ record: { verdicts: [approved] } })).toEqual([]);
    expect(found({ record: { verdicts: [verdict('approve', { outcome: 'open' })] } })).toEqual([]);
  });

  it.each([
    ['nobody', []],
    ['its own clerk, or by another digest', [verdict('approve', { mayApprove: false })]],
    ['somebody whose approval was refused', [verdict('approve', { outcome: 'refused' })]],
    ['somebody after it had left', [verdict('approve', { at: SENT + 1_000 })]],
  ])('finds one that was approved by %s', (_, verdicts) => {
    expect(found({ record: { verdicts } })).toEqual(['unapproved']);
    expect(found({ hold: dated, amount: 5_001, record: { verdicts } })).toEqual(['unapproved']);
    expect(found({ hold: dated, amount: 5_000, record: { verdicts } })).toEqual([]);
  });

  it('finds a request of which the ledger has nothing', () => {
    expect(found({ transactions: [], posts: 1 })).toEqual(['unapproved']);
    expect(found(unsent)).toEqual([]);
  });

  it('finds one that left before its date, or while it was held', () => {
    expect(found({ hold: dated, record: { sendAt: SENT } })).toEqual([]);
    expect(found({ hold: dated, record: { sendAt: SENT + 1_000 } })).toEqual(['early']);
    expect(found({ hold: dated, sentAt: SENT - 1_000, record: { sendAt: SENT } })).toEqual(['early']);
    expect(found({ hold: dated, record: { heldAt: SENT + 1_000 } })).toEqual(['early']);
    expect(found({ hold: dated, isLost: true, record: { heldAt: SENT + 1_000 } })).toEqual([]);
  });

  it('finds one that was sent though it was stopped, or nobody had approved it in time', () => {
    const rejected = { record: { verdicts: [approved, verdict('reject')] } };
    expect(found(rejected)).toEqual(['stopped']);
    expect(found({ ...rejected, ...unsent, failureCode: 'not_approved' })).toEqual([]);
    expect(found({ ...rejected, transactions: [] })).toEqual(['stopped']);
    expect(found({ hold: dated, record: { verdicts: [verdict('cancel')] } })).toEqual(['stopped']);
    expect(found({ hold: dated, failureCode: 'not_approved' })).toEqual(['stopped']);
  });

  it('lets a released one be withdrawn when the provider has taken nothing', () => {
    const withdrawn = { record: { verdicts: [approved, verdict('cancel')] }, failureCode: 'withdrawn' as const };
    expect(found({ ...withdrawn, transactions: [] })).toEqual([]);
    expect(found(withdrawn)).toEqual(['stopped']);
  });

  it('finds one that was approved, and ended as not approved', () => {
    const ended = { ...unsent, failureCode: 'not_approved' } as const;
    expect(found({ ...ended, record: { verdicts: [approved] } })).toEqual(['wrongOutcome']);
    const rejected = [approved, verdict('reject', { outcome: 'open' })];
    expect(found({ ...ended, record: { verdicts: rejected } })).toEqual([]);
  });
});
