import { describe, expect, it } from '@jest/globals';
import type { SeenPayment } from '../../../../lab/simulation/actors/api-client.js';
import type { Notice } from '../../../../lab/simulation/actors/merchant-endpoint.js';
import { audit } from '../../../../lab/simulation/audit/audit.js';
import type { BookedAtLast } from '../../../../lab/simulation/audit/booked.js';
import type { Case } from '../../../../lab/simulation/audit/case.js';
import {
  type MadeDecision,
  type PaymentRecord,
  recordOf,
} from '../../../../lab/simulation/payment-record.js';
import { planPayments } from '../../../../lab/simulation/plan/plan-payments.js';

const planned = planPayments(50, 1).payments.find(({ way }) => way === 'payout');
if (planned === undefined) throw new Error('the plan has no payout');
const { id } = planned;

const booked = (status: BookedAtLast['status'], more: Partial<BookedAtLast> = {}): BookedAtLast => ({
  status,
  createdAt: 1_000,
  statusCalls: { throttled: 0 },
  ...more,
});

const shown = (status: SeenPayment['status']): SeenPayment => ({
  id,
  status,
  final: status === 'SUCCESSFUL' || status === 'FAILED',
  amount: 100,
});

const EVENTS = {
  SUCCESSFUL: 'payment.succeeded',
  FAILED: 'payment.failed',
  REVIEW: 'payment.review',
} as const;

function notice(
  number: number,
  status: keyof typeof EVENTS,
  at: number,
  truth = [booked(status as 'FAILED')],
): Notice {
  const type = EVENTS[status];
  return {
    webhookId: `evt_${id}_${type.replace('payment.', '')}_${number}`,
    at,
    acknowledged: true,
    told: { type, timestamp: new Date(at).toISOString(), data: shown(status) },
    truth,
  };
}

const decision = (more: Partial<MadeDecision>): MadeDecision => ({
  at: 2_000,
  action: 'fail',
  review: 1,
  forced: false,
  outcome: 'done',
  isWrong: false,
  ...more,
});

interface Story extends Partial<Omit<Case, 'record'>> {
  readonly record?: Partial<PaymentRecord>;
}

function found({ record, ...story }: Story): string[] {
  const subject: Case = {
    record: { ...recordOf(planned as NonNullable<typeof planned>), taken: true, ...record },
    shown: shown('SUCCESSFUL'),
    transactions: [booked('SUCCESSFUL')],
    posts: 1,
    ...story,
  };
  return audit(subject).map(({ invariant }) => invariant);
}

const paid = notice(1, 'SUCCESSFUL', 3_000);

describe('the audit', () => {
  it('finds nothing about a payment that was sent once and paid', () => {
    expect(found({ record: { notices: [paid] } })).toEqual([]);
  });

  it('finds a request for which nobody decided, whatever became of it', () => {
    expect(found({ record: { notices: [paid] }, posts: 2 })).toEqual(['oversent']);
    const decisions = [decision({ action: 'resend' })];
    expect(found({ record: { notices: [paid], decisions }, posts: 2 })).toEqual([]);
    const refused = [decision({ action: 'resend', outcome: 'refused' })];
    expect(found({ record: { notices: [paid], decisions: refused }, posts: 2 })).toEqual(['oversent']);
  });

  it('finds money that moved twice on one decision', () => {
    const transactions = [booked('SUCCESSFUL'), booked('SUCCESSFUL', { createdAt: 1_500 })];
    const notices = [notice(1, 'REVIEW', 2_000), notice(2, 'SUCCESSFUL', 3_000)];
    expect(found({ record: { notices }, transactions })).toEqual(['doublePaid']);
  });

  it('finds that a second transaction was put before nobody, when an operator had it sent twice', () => {
    const transactions = [booked('SUCCESSFUL'), booked('SUCCESSFUL', { createdAt: 2_500 })];
    const decisions = [decision({ action: 'resend', forced: true, isWrong: true })];
    const before = [notice(1, 'REVIEW', 1_500), notice(2, 'SUCCESSFUL', 3_000)];
    expect(found({ record: { notices: before, decisions }, transactions, posts: 2 })).toEqual(['unnoticed']);
    const after = [...before, notice(3, 'REVIEW', 4_000), notice(4, 'SUCCESSFUL', 5_000)];
    expect(found({ record: { notices: after, decisions }, transactions, posts: 2 })).toEqual([]);
  });

  it('finds it of a transaction that the provider made by itself, once Sanaga could know', () => {
    const stray = (isKnown: boolean) => booked('SUCCESSFUL', { createdAt: 2_500, isStray: true, isKnown });
    const of = (isKnown: boolean) =>
      found({ record: { notices: [paid] }, transactions: [booked('SUCCESSFUL'), stray(isKnown)] });
    expect(of(false)).toEqual([]);
    expect(of(true)).toEqual(['unnoticed']);
  });

  it('finds FAILED over money that moved, at the end always, and before unless a person insisted', () => {
    const moved = [booked('SUCCESSFUL')];
    const failed = notice(1, 'FAILED', 3_000, moved);
    expect(found({ record: { notices: [failed] }, shown: shown('FAILED') })).toEqual([
      'lost',
      'wrongOutcome',
      'notifiedWrong',
    ]);
    const decisions = [decision({ forced: true, isWrong: true })];
    expect(found({ record: { notices: [failed], decisions }, shown: shown('FAILED') })).toEqual([
      'lost',
      'wrongOutcome',
    ]);
    const mended = [failed, notice(2, 'REVIEW', 4_000, moved), notice(3, 'SUCCESSFUL', 5_000, moved)];
    expect(found({ record: { notices: mended, decisions } })).toEqual([]);
  });

  it('finds two ends between which nobody was asked', () => {
    const failed = notice(1, 'FAILED', 2_500, [booked('FAILED')]);
    expect(found({ record: { notices: [failed, notice(2, 'SUCCESSFUL', 3_000)] } })).toEqual([
      'notifiedWrong',
    ]);
  });

  it('finds a notification that never came', () => {
    expect(found({ record: { notices: [notice(2, 'SUCCESSFUL', 3_000)] } })).toEqual([
      'unnotified',
      'notifiedWrong',
    ]);
  });

  it('finds a review that is never ended, unless somebody terminated its workflow', () => {
    const notices = [notice(1, 'REVIEW', 2_000)];
    expect(found({ record: { notices }, shown: shown('REVIEW') })).toEqual(['stuck']);
    expect(found({ record: { notices, terminated: true }, shown: shown('REVIEW') })).toEqual([]);
    const pending = { shown: shown('PENDING'), transactions: [booked('PENDING')] };
    expect(found({ record: { terminated: true }, ...pending })).toEqual(['stuck']);
  });

  it('finds a review that was decided twice', () => {
    const decisions = [decision({ action: 'match' }), decision({ action: 'match' })];
    expect(found({ record: { notices: [paid], decisions } })).toEqual(['wrongOutcome']);
  });

  it('finds more questions than the provider takes', () => {
    expect(found({ record: { notices: [paid] }, tooManyQuestions: ['seven within a minute'] })).toEqual([
      'overLimit',
    ]);
  });
});
