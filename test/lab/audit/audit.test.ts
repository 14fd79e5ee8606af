import { describe, expect, it } from '@jest/globals';
import { audit } from '../../../lab/audit/audit.js';
import type { AuditCase } from '../../../lab/audit/case.js';
import type { Recorded } from '../../../lab/audit/recorded.js';
import type { SeenPayment } from '../../../lab/people/api-client.js';
import type { ReceivedNotification } from '../../../lab/people/merchant-endpoint.js';
import { type MadeDecision, type ObservedPayment, observedOf } from '../../../lab/people/observed-payment.js';
import { planPayments } from '../../../lab/plan/simulation-payments.js';
import type { FinalTransaction } from '../../../lab/world/provider-books.js';

const planned = planPayments(50, 1).payments.find(({ way }) => way === 'payout');
if (planned === undefined) throw new Error('the plan has no payout');
const { id } = planned;

const booked = (status: FinalTransaction['status'], more: Partial<FinalTransaction> = {}): FinalTransaction => ({
  status,
  transId: 'T1',
  amount: 100,
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

function notification(
  number: number,
  status: keyof typeof EVENTS,
  at: number,
  truth = [booked(status as 'FAILED')],
): ReceivedNotification {
  const type = EVENTS[status];
  return {
    webhookId: `evt_${id}_${type.replace('payment.', '')}_${number}`,
    at,
    acknowledged: true,
    content: { type, timestamp: new Date(at).toISOString(), data: shown(status) },
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

interface Story extends Partial<Omit<AuditCase, 'record'>> {
  readonly record?: Partial<ObservedPayment>;
}

function found({ record, ...story }: Story): string[] {
  const complete = { ...observedOf(planned as NonNullable<typeof planned>), taken: true, ...record };
  const seen = 'shown' in story ? story.shown : shown('SUCCESSFUL');
  const told = [...new Set(complete.notifications.map(({ webhookId }) => webhookId))];
  const subject: AuditCase = {
    record: complete,
    shown: seen,
    // As they should be: the payment, and all that its merchant was notified of.
    recorded: {
      payments: seen === undefined ? [] : [{ ...seen, notifications: told }],
      events: told,
    },
    transactions: [booked('SUCCESSFUL')],
    posts: 1,
    ...story,
  };
  return audit(subject).map(({ invariant }) => invariant);
}

const paid = notification(1, 'SUCCESSFUL', 3_000);

describe('the audit', () => {
  it('finds nothing about a payment that was sent once and paid', () => {
    expect(found({ record: { notifications: [paid] } })).toEqual([]);
  });

  it('finds an amount that isn’t what the ledger has moved, wherever it is said', () => {
    const moved = (amount: number, told = paid.content.data, seen = shown('SUCCESSFUL')) =>
      found({
        shown: { ...seen, transId: 'T1' },
        transactions: [booked('SUCCESSFUL', { amount })],
        record: { notifications: [{ ...paid, content: { ...paid.content, data: told } }] },
      });
    const corrected = { ...shown('SUCCESSFUL'), transId: 'T1', amountPaid: 57 };
    expect(moved(100)).toEqual([]);
    expect(moved(57, corrected, corrected)).toEqual([]);
    expect(moved(57)).toEqual(['wrongOutcome']);
    expect(moved(57, corrected)).toEqual(['wrongOutcome']);
    expect(moved(57, { ...corrected, amountPaid: undefined }, corrected)).toEqual(['wrongOutcome']);
    // Whatever isn't told to have moved has no amount to be wrong.
    expect(moved(57, shown('REVIEW'), shown('REVIEW'))).not.toContain('wrongOutcome');
  });

  it('finds what has ended and is not in the records as it is shown, once', () => {
    const record = { notifications: [paid] };
    const events = [paid.webhookId];
    const of = (...payments: Recorded['payments']) => found({ record, recorded: { payments, events } });
    const kept = { ...shown('SUCCESSFUL'), notifications: events };
    expect(of(kept)).toEqual([]);
    for (const payments of [
      [],
      [kept, kept],
      [undefined],
      [{ ...kept, status: 'FAILED' as const }],
      [{ ...kept, final: false }],
      [{ ...kept, amount: 7 }],
      [{ ...kept, amountPaid: 7 }],
      [{ ...kept, transId: 'another' }],
    ]) {
      expect(of(...payments)).toEqual(['unrecorded']);
    }
  });

  it('finds a notification of the payment that is not in the feed once', () => {
    const notifications = [paid.webhookId];
    const of = (...events: string[]) =>
      found({
        record: { notifications: [] },
        recorded: { payments: [{ ...shown('SUCCESSFUL'), notifications }], events },
      }).filter((invariant) => invariant === 'unrecorded');
    expect(of(paid.webhookId)).toEqual([]);
    expect(of()).toEqual(['unrecorded']);
    expect(of(paid.webhookId, paid.webhookId)).toEqual(['unrecorded']);
  });

  it('finds a feed without anything of what the merchant has taken', () => {
    const payments = [{ ...shown('SUCCESSFUL'), notifications: [] }];
    const again = notification(2, 'SUCCESSFUL', 3_000);
    const of = (...events: string[]) =>
      found({ record: { notifications: [paid, again] }, recorded: { payments, events } });
    expect(of()).toEqual(['unrecorded']);
    // The first was of a workflow task that Temporal threw away.
    expect(of(again.webhookId)).toEqual([]);
  });

  it('lets the record of a payment whose workflow was terminated be unreadable, and not missing', () => {
    const record = { terminated: true, notifications: [notification(1, 'REVIEW', 3_000)] };
    const of = (...payments: Recorded['payments']) =>
      found({ record, shown: shown('REVIEW'), transactions: [], recorded: { payments, events: [] } });
    expect(of(undefined)).toEqual([]);
    expect(of()).toContain('unrecorded');
  });

  it('finds a request for which nobody decided, whatever became of it', () => {
    expect(found({ record: { notifications: [paid] }, posts: 2 })).toEqual(['oversent']);
    const decisions = [decision({ action: 'resend' })];
    expect(found({ record: { notifications: [paid], decisions }, posts: 2 })).toEqual([]);
    const refused = [decision({ action: 'resend', outcome: 'refused' })];
    expect(found({ record: { notifications: [paid], decisions: refused }, posts: 2 })).toEqual(['oversent']);
  });

  it('finds money that moved twice on one decision', () => {
    const transactions = [booked('SUCCESSFUL'), booked('SUCCESSFUL', { createdAt: 1_500 })];
    const notifications = [notification(1, 'REVIEW', 2_000), notification(2, 'SUCCESSFUL', 3_000)];
    expect(found({ record: { notifications }, transactions })).toEqual(['doublePaid']);
  });

  it('finds that a second transaction was put before nobody, when an operator had it sent twice', () => {
    const transactions = [booked('SUCCESSFUL'), booked('SUCCESSFUL', { createdAt: 2_500 })];
    const decisions = [decision({ action: 'resend', forced: true, isWrong: true })];
    const before = [notification(1, 'REVIEW', 1_500), notification(2, 'SUCCESSFUL', 3_000)];
    expect(found({ record: { notifications: before, decisions }, transactions, posts: 2 })).toEqual(['unnoticed']);
    const after = [...before, notification(3, 'REVIEW', 4_000), notification(4, 'SUCCESSFUL', 5_000)];
    expect(found({ record: { notifications: after, decisions }, transactions, posts: 2 })).toEqual([]);
  });

  it('finds it of a transaction that the provider made by itself, once Sanaga could know', () => {
    const stray = (isKnown: boolean) => booked('SUCCESSFUL', { createdAt: 2_500, isStray: true, isKnown });
    const of = (isKnown: boolean) =>
      found({ record: { notifications: [paid] }, transactions: [booked('SUCCESSFUL'), stray(isKnown)] });
    expect(of(false)).toEqual([]);
    expect(of(true)).toEqual(['unnoticed']);
  });

  it('finds FAILED over money that moved, at the end always, and before unless a person insisted', () => {
    const moved = [booked('SUCCESSFUL')];
    const failed = notification(1, 'FAILED', 3_000, moved);
    expect(found({ record: { notifications: [failed] }, shown: shown('FAILED') })).toEqual([
      'lost',
      'wrongOutcome',
      'notifiedWrong',
    ]);
    const decisions = [decision({ forced: true, isWrong: true })];
    expect(found({ record: { notifications: [failed], decisions }, shown: shown('FAILED') })).toEqual([
      'lost',
      'wrongOutcome',
    ]);
    const mended = [failed, notification(2, 'REVIEW', 4_000, moved), notification(3, 'SUCCESSFUL', 5_000, moved)];
    expect(found({ record: { notifications: mended, decisions } })).toEqual([]);
  });

  it('finds two ends between which nobody was asked', () => {
    const failed = notification(1, 'FAILED', 2_500, [booked('FAILED')]);
    expect(found({ record: { notifications: [failed, notification(2, 'SUCCESSFUL', 3_000)] } })).toEqual([
      'notifiedWrong',
    ]);
  });

  it('finds a notification that never came', () => {
    expect(found({ record: { notifications: [notification(2, 'SUCCESSFUL', 3_000)] } })).toEqual([
      'unnotified',
      'notifiedWrong',
    ]);
  });

  it('finds a review that is never ended, unless somebody terminated its workflow', () => {
    const notifications = [notification(1, 'REVIEW', 2_000)];
    expect(found({ record: { notifications }, shown: shown('REVIEW') })).toEqual(['stuck']);
    expect(found({ record: { notifications, terminated: true }, shown: shown('REVIEW') })).toEqual([]);
    const pending = { shown: shown('PENDING'), transactions: [booked('PENDING')] };
    expect(found({ record: { terminated: true }, ...pending })).toEqual(['stuck']);
  });

  it('finds a review that was decided twice', () => {
    const decisions = [decision({ action: 'match' }), decision({ action: 'match' })];
    expect(found({ record: { notifications: [paid], decisions } })).toEqual(['wrongOutcome']);
  });

  it('finds more questions than the provider takes', () => {
    expect(found({ record: { notifications: [paid] }, tooManyQuestions: ['seven within a minute'] })).toEqual([
      'overLimit',
    ]);
  });
});
