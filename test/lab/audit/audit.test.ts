import { describe, expect, it } from '@jest/globals';
import { audit } from '../../../lab/audit/audit.js';
import type { Booked } from '../../../lab/audit/booked.js';
import type { AuditCase } from '../../../lab/audit/case.js';
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

/** The book as it should be: the payment as it is shown, a fence for each request, and what its merchant was told. */
function bookOf(
  seen: SeenPayment | undefined,
  notifications: readonly ReceivedNotification[],
  more: Partial<Booked> = {},
): Booked {
  const told = [...new Set(notifications.map(({ webhookId }) => webhookId))];
  return {
    row: seen,
    fences: 2,
    untaken: 0,
    notifications: told.map((webhookId, index) => ({
      id: webhookId,
      number: index + 1,
      position: 10 * (index + 1),
      delivery: 'delivered',
    })),
    ...more,
  };
}

interface Story extends Partial<Omit<AuditCase, 'record'>> {
  readonly record?: Partial<ObservedPayment>;
}

function found({ record, ...story }: Story): string[] {
  const complete = { ...observedOf(planned as NonNullable<typeof planned>), taken: true, ...record };
  const seen = 'shown' in story ? story.shown : shown('SUCCESSFUL');
  const subject: AuditCase = {
    record: complete,
    shown: seen,
    booked: bookOf(seen, complete.notifications),
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
    // Its row says what is shown.
    expect(moved(57)).toEqual(['wrongOutcome', 'misbooked']);
    expect(moved(57, corrected)).toEqual(['wrongOutcome', 'misbooked']);
    expect(moved(57, { ...corrected, amountPaid: undefined }, corrected)).toEqual(['wrongOutcome']);
    // Whatever isn't told to have moved has no amount to be wrong.
    expect(moved(57, shown('REVIEW'), shown('REVIEW'))).not.toContain('wrongOutcome');
  });

  it('finds what has no row, or another than is shown', () => {
    const of = (row: Booked['row']) =>
      found({ record: { notifications: [paid] }, booked: bookOf(shown('SUCCESSFUL'), [paid], { row }) });
    const kept = shown('SUCCESSFUL');
    expect(of(kept)).toEqual([]);
    for (const row of [
      undefined,
      { ...kept, status: 'FAILED' as const },
      { ...kept, final: false },
      { ...kept, amount: 7 },
      { ...kept, amountPaid: 7 },
      { ...kept, transId: 'another' },
    ]) {
      expect(of(row)).toEqual(['misbooked']);
    }
  });

  it('finds a row that says of another amount that it has moved', () => {
    const kept = { ...shown('SUCCESSFUL'), transId: 'T1' };
    const of = (amount: number) =>
      found({ record: { notifications: [paid] }, shown: kept, transactions: [booked('SUCCESSFUL', { amount })] });
    expect(of(100)).toEqual([]);
    expect(of(57)).toContain('misbooked');
  });

  it('finds a request without a fence, and a message that no turn has taken', () => {
    const of = (more: Partial<Booked>) =>
      found({ record: { notifications: [paid] }, booked: bookOf(shown('SUCCESSFUL'), [paid], more) });
    expect(of({ fences: 1 })).toEqual([]);
    expect(of({ fences: 0 })).toEqual(['misbooked']);
    expect(of({ untaken: 1 })).toEqual(['misbooked']);
  });

  it('finds a notification out of its place in the feed, or that is still to be delivered', () => {
    const review = notification(1, 'REVIEW', 2_000);
    const end = notification(2, 'SUCCESSFUL', 3_000);
    const both = bookOf(shown('SUCCESSFUL'), [review, end]).notifications;
    const of = (change: Partial<Booked['notifications'][number]>) =>
      found({
        record: { notifications: [review, end] },
        booked: bookOf(shown('SUCCESSFUL'), [], {
          notifications: both.map((one, n) => (n === 1 ? { ...one, ...change } : one)),
        }),
      });
    expect(of({})).toEqual([]);
    for (const change of [{ position: undefined }, { position: 1 }, { position: 10 }, { delivery: 'due' } as const]) {
      expect(of(change)).toEqual(['misbooked']);
    }
  });

  it('finds what is delivered by the book alone, or to the merchant alone', () => {
    const of = (notifications: readonly ReceivedNotification[]) =>
      found({ record: { notifications: [paid] }, booked: bookOf(shown('SUCCESSFUL'), notifications) });
    expect(of([paid])).toEqual([]);
    expect(of([])).toEqual(['misbooked']);
    expect(of([paid, notification(2, 'SUCCESSFUL', 4_000)])).toEqual(['misbooked']);
  });

  it('lets a book that went back have forgotten an order, but not send one twice that it knows', () => {
    const lost = {
      isLost: true,
      isForgotten: true,
      shown: undefined,
      booked: bookOf(undefined, []),
      record: { notifications: [paid] },
    };
    expect(found({ ...lost, isForgotten: false })).toContain('lost');
    expect(found(lost)).toEqual([]);
    expect(found({ isLost: true, record: { notifications: [paid] }, posts: 2 })).toEqual(['oversent']);
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

  it('finds a review that is never ended', () => {
    const notifications = [notification(1, 'REVIEW', 2_000)];
    expect(found({ record: { notifications }, shown: shown('REVIEW') })).toEqual(['stuck']);
    const pending = { shown: shown('PENDING'), transactions: [booked('PENDING')] };
    expect(found(pending)).toEqual(['stuck']);
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
