import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sentIf } from '../../../src/payments/machine/sending.js';
import { describePayment } from '../../../src/payments/views/describe-payment.js';
import { summaryOf } from '../../../src/payments/views/timeline-words.js';
import { toPayment } from '../../../src/payments/views/to-payment.js';
import type { PaymentTerms, PayoutOrder } from '../../../src/payments/words/order.js';
import { DAY, directOrder, HOUR, MINUTE, payoutOrder, START, transactionOf, transId } from '../../support/orders.js';
import {
  NOT_SENT,
  opened,
  paid,
  type Scenario,
  SILENT,
  UNAUTHORIZED,
  UNKNOWN,
  UNREAD,
} from '../../support/scenario.js';

const ordered: PayoutOrder = { ...payoutOrder, name: 'Ngono Marie', orderedBy: 'ann' };
/** Nothing was sent: SEND_BY was over. */
const TOO_LATE = { kind: 'withheld', failureCode: 'not_sent', reason: 'never sent to the provider: too late' } as const;
const FRIDAY = START + 3 * DAY;

/** A payout that ann has ordered, and that somebody else has to approve. */
const toApprove = (more: Partial<PayoutOrder> = {}, given: Partial<PaymentTerms> = {}) =>
  opened({ ...ordered, approval: true, ...more }, given);
const dated = (more: Partial<PayoutOrder> = {}) => opened({ ...ordered, sendAt: FRIDAY, ...more });

const refused = (type: string, words: string) => ({ kind: 'refused', type, words: expect.stringContaining(words) });
const held = ({ payment }: Scenario) => toPayment(payment).held;
const codeOf = ({ payment }: Scenario) => toPayment(payment).failureCode;
const typesOf = ({ timeline }: Scenario) => timeline.entries.map(({ type }) => type);

describe('a payout above the limit', () => {
  it('waits for another person, and the merchant is told so', () => {
    const payment = opened(ordered, { approveAbove: ordered.amount - 1 });
    expect(payment.notified).toEqual(['payment.held']);
    expect(payment.todo).toEqual({
      kind: 'wait',
      until: START + 7 * DAY,
      summary: 'End without an approval by another person than ann',
    });
    expect(payment.status).toBe('CREATED');
    expect(held(payment)).toEqual({
      for: ['approval'],
      since: new Date(START).toISOString(),
      until: new Date(START + 7 * DAY).toISOString(),
      sendAt: undefined,
      name: 'Ngono Marie',
      email: undefined,
      approvals: [],
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('is sent at once when it is not above', () => {
    const payment = opened(ordered, { approveAbove: ordered.amount });
    expect(payment.todo.kind).toBe('send');
    expect(payment.payment.release).toBeUndefined();
    expect(payment.notified).toEqual([]);
  });

  it('waits as long as its terms say', () => {
    expect(toApprove({}, { approvalWithinMs: HOUR }).todo).toMatchObject({ until: START + HOUR });
  });
});

describe('an approval', () => {
  it('releases the payout, and is told', () => {
    const payment = toApprove().later(HOUR).approve('bob');
    expect(payment.reply?.kind).toBe('done');
    expect(payment.todo).toEqual({ kind: 'send', cause: 'order' });
    expect(payment.payment.release).toEqual({ approvals: [{ by: 'bob', at: START + HOUR }], at: START + HOUR });
    expect(payment.payment.updatedAt).toBe(START + HOUR);
    expect(held(payment)).toBeUndefined();
    expect(typesOf(payment)).toEqual(['held', 'approved', 'sending']);
    expect(paid(ordered).timeline.entries.map(({ type }) => type)).not.toContain('held');
  });

  it('of the person who ordered it is refused, again and again', () => {
    const payment = toApprove().approve('ann');
    expect(payment.reply).toMatchObject(refused('SamePerson', 'ann has ordered'));
    expect(payment.approve('ann').payment.phase.kind).toBe('held');
  });

  it.each([
    ['with another name for one of their keys', 'zoe', ['k9', 'k2']],
    ['with a name for a key that had none', 'ann-lee', ['k1']],
    ['in another case', 'ANN', ['k3']],
    ['with an accent', 'Ànn', ['k3']],
    ['in full width', 'ａｎｎ', ['k3']],
    ['with spaces', ' ann ', ['k3']],
    ['with what has no width', 'a\u200bnn', ['k3']],
    ['by an API that sends no keys', 'Ann', undefined],
  ])('of the person who ordered it is refused, %s', (_, by, keys) => {
    const payment = toApprove({ orderedByKeys: ['k1', 'k2'] }).approve(by, undefined, keys);
    expect(payment.reply).toMatchObject(refused('SamePerson', 'another person has to approve it'));
    expect(payment.payment.phase.kind).toBe('held');
    expect(payment.approve('bob', undefined, ['k4']).reply?.kind).toBe('done');
  });

  it('goes by the names alone where the order is from before keys were kept', () => {
    const payment = toApprove().approve('Ann', undefined, ['k1']);
    expect(payment.reply).toMatchObject(refused('SamePerson', 'Ann has ordered'));
    expect(payment.approve('zoe', undefined, ['k1']).reply?.kind).toBe('done');
  });

  it('says whose key it was, where the name is another', () => {
    const payment = toApprove({ orderedByKeys: ['k1'] }).approve('zoe', undefined, ['k1']);
    expect(payment.reply).toMatchObject(refused('SamePerson', 'zoe has a key that was that of ann'));
  });

  it('shows no key', () => {
    const { payment } = toApprove({ orderedByKeys: ['key-of-ann'] }).approve('bob', undefined, ['key-of-bob']);
    expect(JSON.stringify(toPayment(payment))).not.toContain('key-of');
  });

  it('is refused whoever makes it while nobody knows who ordered the payout', () => {
    const payment = toApprove({ orderedBy: undefined }).approve('bob');
    expect(payment.reply).toMatchObject(refused('SamePerson', "isn't known who ordered"));
  });

  it.each([
    ['amount', { amount: 50_000 }],
    ['phone', { phone: '670000009' }],
    ['name', { name: 'Ngono Marc' }],
    ['refunded collection', { refundOf: directOrder.id }],
    ['medium', { medium: 'orange money' as const }],
    ['e-mail address', { email: 'other@example.com' }],
  ])('of another %s is refused', (_, more) => {
    const other = held(toApprove(more))?.digest ?? '';
    const payment = toApprove().approve('bob', other);
    expect(payment.reply).toMatchObject(refused('OtherDigest', 'read the payment again'));
    expect(payment.todo.kind).toBe('wait');
  });

  it('repeats a digest that anybody can compute', () => {
    const text = JSON.stringify([ordered.id, ordered.amount, null, ordered.phone, null, ordered.name]);
    expect(held(toApprove())?.digest).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('is refused once the payout was released, and of one that was never held', () => {
    const digest = held(toApprove())?.digest ?? '';
    const payment = toApprove().approve('bob').approve('eve', digest);
    expect(payment.reply).toMatchObject(refused('NotHeld', 'released already'));
    expect(paid(ordered).approve('bob', digest).reply).toMatchObject(refused('NotHeld', 'never held'));
  });

  it('is refused of a payout that waits for its date alone', () => {
    expect(dated().approve('bob').reply).toMatchObject(refused('NotHeld', 'nobody has to approve'));
  });

  it('comes too late once its time is over, though nothing else has noticed that', () => {
    const payment = toApprove()
      .later(7 * DAY)
      .approve('bob');
    expect(payment.reply).toMatchObject(refused('NotHeld', 'time for the approval is over'));
    expect(payment.listed().listed().status).toBe('FAILED');
  });
});

describe('a payout with a date', () => {
  it('is sent when the date has come, and not before', () => {
    const payment = dated();
    expect(payment.todo).toEqual({ kind: 'wait', until: FRIDAY, summary: 'Wait for its date, to be sent' });
    expect(payment.at(FRIDAY - 1).todo.kind).toBe('wait');
    expect(payment.at(FRIDAY).todo).toEqual({ kind: 'send', cause: 'order' });
  });

  it('whose date is over is sent at once', () => {
    expect(dated({ sendAt: START }).todo.kind).toBe('send');
  });

  it('and an approval to wait for is sent when the last is there, in either order', () => {
    const first = dated({ approval: true }).approve('bob');
    expect(held(first)).toMatchObject({ for: ['date'], approvals: [{ by: 'bob' }] });
    expect(first.approve('eve').reply?.kind).toBe('done');
    expect(held(first)?.approvals).toMatchObject([{ by: 'bob' }]);
    expect(first.at(FRIDAY).todo.kind).toBe('send');

    const last = dated({ approval: true }).at(FRIDAY);
    expect(held(last)).toMatchObject({ for: ['approval'] });
    expect(last.approve('bob').todo.kind).toBe('send');
  });

  it('is not sent without its approval in time, however far its date is', () => {
    const payment = dated({ approval: true, sendAt: START + 30 * DAY });
    expect(payment.todo).toMatchObject({ until: START + 7 * DAY });
    expect(
      payment
        .at(START + 7 * DAY)
        .listed()
        .listed().status,
    ).toBe('FAILED');
  });
});

describe('a payout that is released', () => {
  it('is not sent any more when a worker gets to it SEND_BY after its date, or later', () => {
    const payment = dated();
    const { sendByMs } = payment.payment.terms;
    expect(sentIf(payment.at(FRIDAY + sendByMs - 1).payment, payment.now)).toBe('absent');
    const late = dated().at(FRIDAY + sendByMs);
    expect(late.todo.kind).toBe('send');
    expect(sentIf(late.payment, late.now)).toBe('late');
    late.sent(TOO_LATE);
    expect(toPayment(late.payment)).toMatchObject({
      status: 'FAILED',
      final: true,
      failureCode: 'not_sent',
      reason: TOO_LATE.reason,
    });
    expect(late.notified).toEqual(['payment.held', 'payment.failed']);
    expect(late.timeline.entries.at(-1)).toMatchObject({ source: 'system', failureCode: 'not_sent' });
  });

  it('has the whole of SEND_BY after its approval, where that comes after its date', () => {
    const payment = dated({ approval: true })
      .at(FRIDAY + DAY)
      .approve('bob');
    const { sendByMs } = payment.payment.terms;
    expect(sentIf(payment.payment, FRIDAY + DAY + sendByMs - 1)).toBe('absent');
    expect(sentIf(payment.payment, FRIDAY + DAY + sendByMs)).toBe('late');
  });

  it('counts from when a person approved, and not from when a worker took that up', () => {
    const payment = toApprove();
    const approvedAt = START + HOUR;
    const approve = { kind: 'approve', request: 1, by: 'bob', digest: held(payment)?.digest ?? '' } as const;
    payment.later(3 * DAY).take({ ...approve, at: approvedAt });
    expect(payment.payment.release).toMatchObject({ approvals: [{ by: 'bob', at: approvedAt }], at: payment.now });
    expect(sentIf(payment.payment, payment.now)).toBe('late');
    const ahead = toApprove();
    ahead.take({ ...approve, at: START + 30 * DAY });
    expect(ahead.payment.release?.approvals).toEqual([{ by: 'bob', at: START }]);
  });

  it('is tried until SEND_BY from its release on', () => {
    const payment = dated().at(FRIDAY);
    while (payment.status === 'CREATED') payment.sent(UNAUTHORIZED);
    expect(codeOf(payment)).toBe('not_sent');
    expect(payment.now).toBeGreaterThanOrEqual(FRIDAY + payment.payment.terms.sendByMs);
  });

  it('can be withdrawn while it could not be sent', () => {
    expect(codeOf(dated().at(FRIDAY).sent(NOT_SENT).cancel())).toBe('withdrawn');
  });
});

describe('a payout that nobody approves in time', () => {
  const late = () => toApprove().at(START + 7 * DAY);

  it('is FAILED once the list has shown nothing', () => {
    const payment = late();
    expect(payment.status).toBe('CREATED');
    payment.listed();
    expect(payment.status).toBe('FAILED');
    expect(toPayment(payment.payment)).toMatchObject({
      failureCode: 'not_approved',
      reason: 'not approved: nobody approved it in time',
      final: true,
    });
    expect(payment.notified).toEqual(['payment.held', 'payment.failed']);
    expect(payment.timeline.entries.at(-1)).toMatchObject({ source: 'system', failureCode: 'not_approved' });
  });

  it('goes to a person when the list shows that it was sent: the book has lost its approval', () => {
    const payment = late().listed(transactionOf(ordered, { status: 'SUCCESSFUL' }));
    expect(payment.phase('review')).toMatchObject({ held: true, why: expect.stringContaining('not released') });
    expect(payment.match('T1').found('SUCCESSFUL').reply?.kind).toBe('done');
    expect(payment.status).toBe('SUCCESSFUL');
  });

  it('goes to a person when the list can’t be read for a day, and is not sent even by an operator’s decision', () => {
    const payment = late();
    while (payment.status === 'CREATED') payment.listing(SILENT);
    expect(payment.status).toBe('REVIEW');
    expect(payment.resend({ force: true }).reply).toMatchObject(refused('ResolutionRefused', "can't be sent"));
    expect(payment.fail().listed().reply?.kind).toBe('done');
  });

  it('goes to a person when a notification names a transaction meanwhile that the provider has for it', () => {
    const payment = late().hint('T1').listed().found('SUCCESSFUL');
    expect(payment.phase('review').held).toBe(true);
  });
});

describe('a payout that a person rejects', () => {
  it('is FAILED at once where nothing of it can have left, and says why and who', () => {
    const payment = toApprove().rejectPayout('bob');
    expect(payment.reply?.kind).toBe('done');
    expect(toPayment(payment.payment)).toMatchObject({
      status: 'FAILED',
      failureCode: 'not_approved',
      reason: 'not approved: the wrong amount.',
    });
    expect(payment.timeline.entries.slice(-2)).toMatchObject([
      { type: 'approval_refused', by: 'bob' },
      { type: 'status_changed', source: 'merchant', by: 'bob' },
    ]);
    expect(payment.todo).toEqual({ kind: 'end' });
  });

  it('is never sent, and ends once the list was read where something may have left', () => {
    const payment = dated({ approval: true }).approve('bob').rejectPayout('eve', true);
    expect(payment.reply).toBeUndefined();
    expect(payment.at(FRIDAY).todo.kind).toBe('lookUp');
    payment.listed();
    expect(payment.reply?.kind).toBe('done');
    expect(codeOf(payment)).toBe('not_approved');
  });

  it('may be rejected after its approval until its date, and not once it was released', () => {
    expect(codeOf(dated({ approval: true }).approve('bob').rejectPayout('eve'))).toBe('not_approved');
    expect(toApprove().approve('bob').rejectPayout('eve').reply).toMatchObject(refused('NotHeld', 'released already'));
  });
});

describe('a held payout that its merchant cancels', () => {
  it('is withdrawn at once where nothing of it can have left', () => {
    const payment = toApprove().cancel();
    expect(toPayment(payment.payment)).toMatchObject({ status: 'FAILED', failureCode: 'withdrawn' });
    expect(payment.timeline.entries.at(-1)).toMatchObject({ source: 'merchant', by: 'shop' });
  });

  it('is told where the list has to be read first, and goes to a person when that shows it', () => {
    const cancelled = () => dated().cancel(true);
    const ended = cancelled().listed();
    expect(codeOf(ended)).toBe('withdrawn');
    const told = ended.timeline.entries.map((entry) => summaryOf(entry));
    expect(told.find((words) => words.includes('withdrew'))).toMatch(/^The merchant withdrew the payout/);
    expect(told.join()).not.toMatch(/Temporal's own tools/);
    const sent = cancelled().listed(transactionOf(ordered, { status: 'PENDING' }));
    expect(sent.status).toBe('REVIEW');
    expect(sent.reply?.kind).toBe('done');
  });

  it('answers whoever cancels or rejects it again with the outcome of the first', () => {
    const asks = [(payment: Scenario) => payment.cancel(true), (payment: Scenario) => payment.rejectPayout('bob')];
    for (const again of asks) {
      const payment = again(dated().cancel(true));
      expect(payment.reply).toBeUndefined();
      expect(codeOf(payment.listed())).toBe('withdrawn');
      expect(payment.replies.map(({ kind }) => kind)).toEqual(['done', 'done']);
    }
    expect(codeOf(toApprove().rejectPayout('bob', true).cancel(true).listed())).toBe('not_approved');
  });
});

describe('a payout that was released, and of which nothing was sent', () => {
  const released = () => dated({}).at(FRIDAY);

  it('waits for the list until SEND_BY, and then ends, never sent', () => {
    const payment = released();
    while (payment.status === 'CREATED') payment.sent(UNREAD);
    expect(payment.now).toBeGreaterThanOrEqual(FRIDAY + DAY);
    expect(codeOf(payment)).toBe('not_sent');
  });

  it('is sent once the list can be read', () => {
    const payment = released();
    while (payment.now < FRIDAY + 12 * HOUR) payment.sent(UNREAD);
    payment.sent({ kind: 'accepted', transId: transId('T1') });
    expect(payment.payment.phase.kind).toBe('following');
  });

  it('waits for a connection as long, whatever it waited for before', () => {
    const payment = released();
    while (payment.now < FRIDAY + 12 * HOUR) payment.sent(UNREAD);
    while (payment.status === 'CREATED') payment.sent(NOT_SENT);
    expect(payment.now).toBeGreaterThanOrEqual(FRIDAY + DAY);
    expect(codeOf(payment)).toBe('not_sent');
  });
});

describe('a notification while a payout is held', () => {
  it.each([
    ['names a transaction', (payment: Scenario) => payment.hint('S1')],
    ['names the payment alone', (payment: Scenario) => payment.named()],
  ])('that %s brings a person, and keeps it from being sent', (_, notify) => {
    const payment = notify(dated({ approval: true }).approve('bob'));
    expect(payment.phase('review')).toMatchObject({ held: true, why: expect.stringContaining('a notification names') });
    expect(payment.notified).toEqual(['payment.held', 'payment.review']);
    payment.at(FRIDAY + DAY);
    expect(payment.status).toBe('REVIEW');
    expect(payment.resend({ force: true }).reply).toMatchObject(refused('ResolutionRefused', 'not released'));
  });

  it('is ended by a person, who finds it forged', () => {
    const payment = toApprove().hint('S1').answered(UNKNOWN).later(HOUR).fail({ force: true }).listed();
    expect(payment.reply?.kind).toBe('done');
    expect(codeOf(payment)).toBe('decided_by_operator');
  });

  it('keeps a decision off until the list would show what was sent right before it', () => {
    const payment = opened({ ...ordered, sendAt: FRIDAY }, { resolveAfterMs: HOUR })
      .at(FRIDAY - MINUTE)
      .hint('S1')
      .answered(UNKNOWN);
    expect(toPayment(payment.payment).review?.decideFrom).toBe(new Date(FRIDAY - MINUTE + HOUR).toISOString());
    const early = payment.fail({ force: ['reported_transaction'] });
    expect(early.reply).toMatchObject(refused('ResolutionRefused', 'may list a transaction late'));
    expect(
      early
        .later(HOUR)
        .fail({ force: ['reported_transaction'] })
        .listed().reply?.kind,
    ).toBe('done');
  });

  it('keeps it from being sent even after its release, until it is on its way', () => {
    const payment = toApprove().approve('bob').hint('S1');
    expect(payment.status).toBe('REVIEW');
  });
});

describe('the approver', () => {
  it('sees the recipient and the date of what is held, but no whole address', () => {
    const platform = { medium: 'platform', phone: undefined, email: 'jane.doe@example.org', sendAt: FRIDAY } as const;
    expect(held(toApprove(platform))).toMatchObject({
      name: 'Ngono Marie',
      email: 'j•••@example.org',
      sendAt: new Date(FRIDAY).toISOString(),
    });
  });
});

describe('operators', () => {
  it('see what a payout waits for, who has approved it, and what can be done', () => {
    const text = describePayment(dated({ approval: true }).payment);
    expect(text).toContain(
      "Held: for another person's approval, until 2026-01-08 00:00:00 UTC; for its date, until 2026",
    );
    expect(text).toContain('Ordered by: ann');
    expect(text).not.toContain('Approved by');
    expect(text).toContain(
      'approve or reject it, with the approve and reject calls; withdraw it, with the cancel call',
    );
    const approved = dated({ approval: true }).approve('bob');
    const by = 'Approved by: bob at 2026-01-01 00:00:00 UTC';
    expect(describePayment(approved.payment)).toContain(by);
    expect(describePayment(approved.payment)).toContain('Can be done: withdraw it, with the cancel call');
    expect(describePayment(approved.at(FRIDAY).payment)).toContain(by);
    const onDesk = toApprove({}, { deskUrl: 'https://desk.example' }).payment;
    expect(describePayment(onDesk)).toContain(
      `approve or reject it, [on the desk](https://desk.example/desk/approvals)`,
    );
  });

  it('may have it asked about, which asks nothing', () => {
    const payment = toApprove().request('refresh');
    expect(payment.reply?.kind).toBe('done');
    expect(payment.todo.kind).toBe('wait');
    expect(payment.later(MINUTE).fail().reply).toMatchObject(refused('NotUnderReview', 'not under review'));
  });
});
