import { describe, expect, it } from '@jest/globals';
import { MACHINE } from '../../../lab/explore/machine.js';
import type { Actor, PaymentEvent } from '../../../src/payments/machine/events.js';
import { step } from '../../../src/payments/machine/machine.js';
import { FIRST_KEPT, MAX_ENTRIES, recordStep } from '../../../src/payments/views/timeline.js';
import { EMPTY_TIMELINE, type Timeline, type TimelineEntry } from '../../../src/payments/views/timeline-entry.js';
import type { DirectOrder } from '../../../src/payments/words/order.js';
import { isFinalPayment, openPayment, statusOf } from '../../../src/payments/words/payment-state.js';
import { directOrder, HOUR, linkOrder, MINUTE, payoutOrder, START, transactionOf } from '../../support/orders.js';
import {
  absent,
  ambiguous,
  MERCHANT,
  NOT_SENT,
  OPERATOR,
  opened,
  paid,
  type Scenario,
  SILENT,
  taken,
  UNKNOWN,
} from '../../support/scenario.js';
import { randomStory } from '../../support/stories.js';

/** Actors, with the timeline's names for them. Temporal's own tools name nobody. */
const ACTORS: readonly (readonly [Actor | undefined, object])[] = [
  [MERCHANT, { source: 'merchant', by: 'shop' }],
  [OPERATOR, { source: 'operator', by: 'ada' }],
  [{ role: 'operator' }, { source: 'operator' }],
  [undefined, { source: 'temporal' }],
];

/** The entries without their times. */
function told({ timeline }: Scenario) {
  return timeline.entries.map(({ at: _at, lastAt: _lastAt, ...entry }) => entry);
}

const SENT = [{ type: 'sending' }, { type: 'accepted', transId: 'T1' }];
const PAID = { type: 'status_changed', source: 'provider', status: 'SUCCESSFUL', final: true };

describe('the timeline of a payment', () => {
  it('tells of a paid link in a few hundred bytes', () => {
    const payment = paid(linkOrder);
    expect(payment.todo).toEqual({ kind: 'end' });
    expect(told(payment)).toEqual([...SENT, { type: 'provider_notification', providerStatus: 'SUCCESSFUL' }, PAID]);
    expect(JSON.stringify(payment.timeline).length).toBeLessThan(450);
  });

  it('has the times at which things happened', () => {
    const payment = taken(linkOrder).later(MINUTE).hint('T1').later(500).found('SUCCESSFUL');
    expect(payment.timeline.entries.map(({ at }) => at - START)).toEqual([0, 0, MINUTE, MINUTE + 500]);
  });

  it('counts the same answers in one entry, with the first and the last time', () => {
    const payment = taken(directOrder).found('PENDING');
    for (let polls = 0; polls < 12; polls++) payment.found('PENDING');
    const last = payment.timeline.entries.at(-1);
    expect(last).toMatchObject({ type: 'asked', answer: 'PENDING', count: 12 });
    expect(last?.lastAt).toBe(payment.now);
    expect(last?.at).toBeLessThan(payment.now);
    expect(told(payment)).toHaveLength(4);
  });

  it('tells each attempt of a link’s payer', () => {
    const payment = taken(linkOrder)
      .found('FAILED', { reason: 'declined' })
      .found('PENDING')
      .found('FAILED', { reason: 'declined' });
    const failed = { failureCode: 'failed_at_provider', reason: 'declined' };
    expect(told(payment).filter(({ type }) => type === 'status_changed')).toEqual([
      { type: 'status_changed', source: 'provider', status: 'FAILED', ...failed },
      { type: 'status_changed', source: 'provider', status: 'PENDING' },
      { type: 'status_changed', source: 'provider', status: 'FAILED', ...failed },
    ]);
  });

  it('tells why nobody knows, what the list showed, and that a person must look', () => {
    const payment = absent(payoutOrder);
    expect(told(payment)).toEqual([
      { type: 'sending' },
      { type: 'unanswered', reason: 'no answer within 15 s' },
      { type: 'looked_up', answer: 'listed', transactions: [], count: expect.any(Number) },
      { type: 'review_opened', review: 1, reason: expect.stringContaining("doesn't show it") },
    ]);
  });

  it('tells what was found, and that it was the answer to an unanswered request', () => {
    const payment = ambiguous(payoutOrder).listed(transactionOf(payoutOrder, { status: 'PENDING' }));
    expect(told(payment).slice(2)).toEqual([
      { type: 'looked_up', answer: 'listed', transactions: [{ transId: 'T1', status: 'PENDING' }] },
      { type: 'accepted', transId: 'T1' },
    ]);
  });

  it('tells who decided what once it was carried out, and then whose word it is', () => {
    const payment = absent(payoutOrder).match('T1').found('SUCCESSFUL');
    expect(told(payment).slice(-4)).toEqual([
      { type: 'asked', answer: 'SUCCESSFUL', other: true, transId: 'T1' },
      { type: 'decided', review: 1, action: 'match', transId: 'T1', by: 'ops' },
      { type: 'accepted', transId: 'T1' },
      { type: 'status_changed', source: 'operator', by: 'ops', status: 'SUCCESSFUL', final: true },
    ]);
  });

  it('tells of no decision that was refused', () => {
    const payment = absent(payoutOrder).match('T1').answered(UNKNOWN);
    expect(payment.reply?.kind).toBe('refused');
    expect(told(payment).some(({ type }) => type === 'decided')).toBe(false);
  });

  it('tells that it was sent once more, on whose decision', () => {
    const byOperator = absent(payoutOrder).resend().listed();
    expect(told(byOperator).slice(-3)).toEqual([
      { type: 'decided', review: 1, action: 'resend', by: 'ops' },
      { type: 'status_changed', source: 'operator', by: 'ops', status: 'CREATED' },
      { type: 'sending', by: 'operator' },
    ]);
    const policySpent = ambiguous(linkOrder).listed();
    expect(told(policySpent)).toContainEqual(expect.objectContaining({ type: 'sending', by: 'policy' }));
  });

  it('tells that it was never sent', () => {
    const payment = opened(payoutOrder);
    while (payment.status === 'CREATED') payment.sent(NOT_SENT);
    expect(told(payment)).toEqual([
      { type: 'sending', count: expect.any(Number) },
      { type: 'send_failed', cause: 'connection', count: expect.any(Number) },
      {
        type: 'status_changed',
        source: 'system',
        status: 'FAILED',
        final: true,
        failureCode: 'not_sent',
        reason: 'never sent to the provider: connection refused',
      },
    ]);
  });

  it.each(ACTORS)('tells that it was withdrawn, and by whom: %j', (by, asker) => {
    const payment = opened(payoutOrder).sent(NOT_SENT);
    payment.take({ kind: 'expire', request: 1, by, mayHaveBeenSent: false });
    expect(told(payment).at(-1)).toMatchObject({ ...asker, failureCode: 'withdrawn' });
  });

  it.each(ACTORS)('tells who had something done about it: %j', (by, asker) => {
    const payment = paid(linkOrder);
    payment.take({ kind: 'recheck', request: 1, by });
    expect(told(payment).at(-1)).toEqual({ type: 'recheck_requested', ...asker });
    const open = taken(linkOrder);
    open.take({ kind: 'refresh', request: 1, by });
    open.take({ kind: 'expire', request: 2, by });
    expect(told(open).slice(-2)).toEqual([
      { type: 'refresh_requested', ...asker },
      { type: 'expiring', ...asker },
    ]);
  });

  it('tells that the statement of its day had it compared', () => {
    const payment = paid(linkOrder);
    payment.take({ kind: 'recheck', request: 1, by: { role: 'statement' } });
    expect(told(payment).at(-1)).toEqual({ type: 'recheck_requested', source: 'system', by: 'statement' });
  });

  it('counts one’s requests apart from another’s', () => {
    const payment = taken(linkOrder).request('refresh').request('refresh').request('refresh', OPERATOR);
    expect(told(payment).slice(-2)).toEqual([
      { type: 'refresh_requested', source: 'merchant', by: 'shop', count: 2 },
      { type: 'refresh_requested', source: 'operator', by: 'ada' },
    ]);
  });

  it('tells whether a link ended by its time or because it was asked to', () => {
    const ended = (payment: Scenario) =>
      told(payment.found('CREATED').expired({ kind: 'alreadyExpired' }).found('EXPIRED')).slice(2);
    const asked = { type: 'asked', answer: 'CREATED' };
    const end = [
      { type: 'expiry_answered', answer: 'already_expired' },
      { type: 'status_changed', source: 'provider', status: 'EXPIRED', final: true, failureCode: 'expired' },
    ];
    expect(ended(taken(linkOrder).request('expire'))).toEqual([
      { type: 'expiring', source: 'merchant', by: 'shop' },
      asked,
      ...end,
    ]);
    expect(ended(taken({ ...linkOrder, expiresInMs: 2 * MINUTE }))).toEqual([
      { type: 'expiring', source: 'timer' },
      asked,
      ...end,
    ]);
  });

  it('tells of an outcome that was contradicted', () => {
    const payment = paid(payoutOrder);
    expect(payment.todo).toEqual({ kind: 'end' });
    payment.hint('T1', 'FAILED').found('FAILED');
    expect(told(payment).slice(-3)).toEqual([
      { type: 'provider_notification', providerStatus: 'FAILED' },
      { type: 'asked', answer: 'FAILED', other: undefined },
      { type: 'review_opened', review: 1, reason: expect.stringContaining('SUCCESSFUL') },
    ]);
  });

  it('names the other transactions that notifications name, five at most: anybody may have sent those', () => {
    const payment = taken(payoutOrder).hint('forged-1').hint('forged-1').answered(UNKNOWN);
    const notified = { type: 'provider_notification', providerStatus: 'SUCCESSFUL', other: true };
    expect(told(payment).slice(2)).toEqual([
      { ...notified, transId: 'forged-1', count: 2 },
      { type: 'asked', answer: 'unknown', other: true, transId: 'forged-1' },
    ]);
    for (let number = 2; number <= 50; number++) payment.hint(`forged-${number}`);
    expect(told(payment).slice(4)).toEqual([
      ...[2, 3, 4, 5].map((number) => ({ ...notified, transId: `forged-${number}` })),
      { ...notified, count: 45 },
    ]);
  });

  it('has nothing of the payer, and nothing that the merchant wrote', () => {
    const order: DirectOrder = {
      ...directOrder,
      phone: '677123456',
      name: 'Ngono Marie',
      email: 'ngono@example.com',
      message: 'Two tickets',
      metadata: { seat: 'balcony' },
    };
    const payment = absent(order).listing(SILENT).match('T1').found('FAILED', { reason: 'declined' });
    const text = JSON.stringify(payment.timeline);
    for (const secret of ['677123456', 'Ngono', 'ngono@', 'tickets', 'balcony']) {
      expect(text).not.toContain(secret);
    }
  });

  it('keeps a long reason short', () => {
    const payment = taken(linkOrder).found('FAILED', { reason: '🙂'.repeat(1_000) });
    const last = payment.timeline.entries.at(-1);
    expect(last?.type === 'status_changed' && [...(last.reason ?? '')]).toHaveLength(300);
  });

  it('keeps the first entries and the latest, and says how many are missing between them', () => {
    const payment = taken(linkOrder, { pollFirstMs: MINUTE, pollMaxMs: MINUTE });
    for (let tries = 0; tries < 200; tries++) payment.found(tries % 2 === 0 ? 'PENDING' : 'FAILED');
    const { entries, omitted } = payment.timeline;
    expect(entries).toHaveLength(MAX_ENTRIES);
    expect(entries.slice(0, 2)).toMatchObject(SENT);
    expect(entries.at(-1)).toMatchObject({ at: payment.now });
    expect(omitted).toBeGreaterThan(100);
    const [last, next] = [entries[FIRST_KEPT - 1], entries[FIRST_KEPT]];
    expect((next?.at ?? 0) - (last?.at ?? 0)).toBeGreaterThan(HOUR);
  });
});

describe('the timelines of random stories', () => {
  it('end with the status that the payment has, and are in order and bounded', () => {
    let [entriesSeen, statuses] = [0, new Set<string>()];
    for (let seed = 1; seed <= 200; seed++) {
      const { order, terms, startedAt, events } = randomStory(MACHINE, seed);
      let payment = openPayment(order, terms, startedAt);
      let timeline: Timeline = EMPTY_TIMELINE;
      const take = (event: PaymentEvent, now: number): void => {
        const before = payment;
        const { payment: after, replies } = step(before, event, now);
        payment = after;
        timeline = recordStep(timeline, { before, event, after, replies }, now);
        const said = saidOf(timeline);
        expect({ seed, ...said }).toEqual({
          seed,
          status: statusOf(payment),
          final: isFinalPayment(payment),
        });
        statuses = statuses.add(said.status);
      };
      take({ kind: 'begin' }, startedAt);
      for (const { event, now } of events) take(event, now);

      const { entries } = timeline as Timeline;
      entriesSeen += entries.length;
      expect(entries.length).toBeLessThanOrEqual(MAX_ENTRIES);
      expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).sort((one, two) => one - two));
      expect(JSON.parse(JSON.stringify(timeline))).toEqual(timeline);
    }
    expect(entriesSeen).toBeGreaterThan(2_000);
    expect(statuses).toEqual(new Set(['CREATED', 'PENDING', 'SUCCESSFUL', 'FAILED', 'EXPIRED', 'REVIEW']));
  });
});

/** The status as the timeline tells it, with `created` before it. */
function saidOf({ entries }: Timeline): { status: string; final: boolean } {
  const last = entries.findLast(
    (entry): entry is Extract<TimelineEntry, { type: 'status_changed' | 'review_opened' }> =>
      entry.type === 'status_changed' || entry.type === 'review_opened',
  );
  if (last === undefined) return { status: 'CREATED', final: false };
  if (last.type === 'review_opened') return { status: 'REVIEW', final: false };
  return { status: last.status, final: last.final === true };
}
