import { describe, expect, it } from '@jest/globals';
import { step } from '../../../src/payments/machine/machine.js';
import { objectionTo } from '../../../src/payments/machine/requests.js';
import { describePayment } from '../../../src/payments/views/describe-payment.js';
import { forMerchant, toPayment } from '../../../src/payments/views/to-payment.js';
import { directOrder, HOUR, MINUTE, payoutOrder, transactionOf, transId } from '../../support/orders.js';
import { absent, ambiguous, paid, Scenario, SILENT, throttled } from '../../support/scenario.js';

const [ann, bob] = [{ by: 'ann' }, { by: 'bob' }];
const large = { secondPersonAbove: payoutOrder.amount - 1 };
/** A payout in REVIEW of which a decision takes two people. */
const reviewed = (given = {}) => absent(payoutOrder, { ...large, ...given });
const own = transactionOf(payoutOrder, { status: 'SUCCESSFUL' });

const refused = (words: string) => ({
  kind: 'refused',
  type: 'ResolutionRefused',
  words: expect.stringContaining(words),
});

const proposedOf = ({ payment }: Scenario) => toPayment(payment).review?.proposed;

describe('a decision on a large payout', () => {
  it('does nothing and asks nothing when one person has made it: it waits for a second one', () => {
    const payment = reviewed();
    const todo = payment.todo;
    payment.later(MINUTE).resend(ann);
    expect(payment.reply?.kind).toBe('done');
    expect(payment.todo).toEqual(todo);
    expect(payment.status).toBe('REVIEW');
    expect(payment.payment.resolved).toBeUndefined();
    expect(payment.phase('review').proposed).toEqual({
      decision: { action: 'resend' },
      review: 1,
      by: 'ann',
      why: 'seen in the portal',
      force: false,
      at: payment.now,
    });
    expect(payment.payment.updatedAt).toBe(payment.now);
  });

  it.each(['resend', 'fail', 'match'] as const)(
    'is checked with the provider and carried out when somebody else makes the same (%s)',
    (action) => {
      const payment = reviewed();
      const decide = (options: object) =>
        action === 'match' ? payment.match('T1', options) : payment[action](options);
      decide(ann);
      expect(payment.payment.phase.kind).toBe('review');
      decide(bob);
      expect(payment.payment.phase.kind).toBe('deciding');
      if (action === 'match') payment.found('SUCCESSFUL');
      else payment.listed();
      expect(payment.reply?.kind).toBe('done');
      expect(payment.payment.resolved).toMatchObject({
        decision: { action },
        by: 'ann',
        approval: { by: 'bob', why: 'seen in the portal' },
        at: payment.now,
      });
      expect(payment.status).toBe({ resend: 'CREATED', fail: 'FAILED', match: 'SUCCESSFUL' }[action]);
    },
  );

  it('is refused to the same person a second time, whatever else she does in between', () => {
    const payment = reviewed().fail(ann).fail(ann);
    expect(payment.reply).toMatchObject(
      refused('you (ann) have decided this already, and it waits for a second person'),
    );
    payment.resend(ann).fail(ann).resend(ann);
    expect(payment.payment.phase.kind).toBe('review');
    expect(payment.payment.resolved).toBeUndefined();
  });

  it.each([
    ['with another name for one of her keys', 'zoe', ['k9', 'k2']],
    ['in another case', 'ANN', ['k3']],
    ['with an accent', 'Ànn', ['k3']],
    ['in full width', 'ａｎｎ', ['k3']],
    ['with spaces', ' ann ', ['k3']],
    ['with what has no width', 'a\u200bnn', ['k3']],
    ['by an API that sends no keys', 'Ann', undefined],
  ])('is refused to the same person a second time, %s', (_, by, keys) => {
    for (const action of ['resend', 'fail'] as const) {
      const payment = reviewed()[action]({ ...ann, keys: ['k1', 'k2'] });
      payment[action]({ by, keys });
      expect(payment.reply).toMatchObject(refused('you (as ann) have decided this already'));
      expect(payment.phase('review').proposed).toMatchObject({ by: 'ann' });
      payment[action]({ ...bob, keys: ['k4'] });
      expect(payment.payment.phase.kind).toBe('deciding');
    }
  });

  it('shows no key', () => {
    const payment = reviewed().fail({ ...ann, keys: ['key-of-ann'] });
    expect(JSON.stringify(toPayment(payment.payment))).not.toContain('key-of');
    payment.fail({ ...bob, keys: ['key-of-bob'] }).listed();
    expect(payment.payment.resolved).toMatchObject({ by: 'ann', approval: { by: 'bob' } });
    expect(JSON.stringify([toPayment(payment.payment), payment.timeline])).not.toContain('key-of');
  });

  it('is replaced by another one, by whomever, which then waits in its place', () => {
    const payment = reviewed().fail(ann).resend(bob);
    expect(payment.reply?.kind).toBe('done');
    expect(proposedOf(payment)).toMatchObject({ action: 'resend', by: 'bob' });
    // What bob has replaced isn't there any more for him to agree to.
    payment.fail(bob);
    expect(proposedOf(payment)).toMatchObject({ action: 'fail', by: 'bob' });
    expect(payment.fail(ann).payment.phase.kind).toBe('deciding');
  });

  it('to match is another one for another transaction', () => {
    const payment = reviewed().match('T1', ann).match('T2', bob);
    expect(proposedOf(payment)).toMatchObject({ action: 'match', transId: 'T2', by: 'bob' });
    expect(payment.payment.phase.kind).toBe('review');
  });

  it('is carried out by nobody who has not seen it: each proposal is another review', () => {
    const payment = reviewed()
      .resend(ann)
      .resend({ ...bob, review: 1 });
    expect(payment.reply).toMatchObject(refused('a decision of ann waits for a second person'));
    expect(payment.phase('review')).toMatchObject({ number: 2, proposed: { by: 'ann' } });
    expect(payment.resend({ ...bob, review: 2 }).payment.phase.kind).toBe('deciding');
  });

  it('is not what it was for whoever saw it, once the first person has put another in its place', () => {
    const payment = reviewed()
      .fail(ann)
      .fail({ ...ann, force: true });
    expect(proposedOf(payment)).toMatchObject({ by: 'ann', forced: true });
    expect(payment.fail({ ...bob, force: true, review: 2 }).reply).toMatchObject(refused('the review has changed'));
    expect(payment.reject('bob', 2).reply).toMatchObject(refused('the review has changed'));
    payment.reject('ann');
    expect(payment.fail({ ...bob, force: true, review: 3 }).reply).toMatchObject(refused('the review has changed'));
    expect(payment.payment.phase.kind).toBe('review');
  });

  it('is void when there is new evidence', () => {
    const payment = reviewed()
      .fail(ann)
      .listed(own, { ...own, transId: transId('T2') });
    expect(payment.phase('review').number).toBe(3);
    expect(proposedOf(payment)).toBeUndefined();
    expect(payment.fail({ ...bob, review: 2 }).reply).toMatchObject(refused('the review has changed'));
    payment.fail(bob);
    expect(proposedOf(payment)).toMatchObject({ by: 'bob' });
  });

  it('is void when the payment leaves its review by itself', () => {
    const payment = reviewed().fail(ann).listed(own).found('SUCCESSFUL');
    expect(payment.status).toBe('SUCCESSFUL');
    expect(payment.payment.resolved).toBeUndefined();
    expect(toPayment(payment.payment).review).toBeUndefined();
  });

  it('waits on when the provider speaks against it, or gives no answer, as the second person makes it', () => {
    const payment = reviewed().resend(ann).resend(bob).listing(SILENT);
    expect(payment.reply).toMatchObject(refused("list can't be read"));
    expect(proposedOf(payment)).toMatchObject({ action: 'resend', by: 'ann' });
    payment.resend(bob).listed();
    expect(payment.payment.phase.kind).toBe('sending');
  });

  it('waits on when another run goes on with the payment', () => {
    const payment = reviewed().fail(ann);
    const next = new Scenario(structuredClone(payment.payment), payment.now).fail(bob).listed();
    expect(next.status).toBe('FAILED');
    expect(next.payment.resolved).toMatchObject({ by: 'ann', approval: { by: 'bob' } });
  });

  it('can be made while the provider wants to be left alone: only the second one has it asked', () => {
    const payment = reviewed().listing(throttled(HOUR)).fail(ann);
    expect(payment.reply?.kind).toBe('done');
    expect(payment.fail(bob).reply).toMatchObject(refused('the provider has asked not to be called until'));
  });

  it('comes too early from the first person, too', () => {
    const payment = reviewed({ resolveAfterMs: 24 * HOUR }).fail(ann);
    expect(payment.reply).toMatchObject(refused('decide after'));
    expect(proposedOf(payment)).toBeUndefined();
  });

  it('is told as failed by both', () => {
    const payment = reviewed().fail(ann).fail(bob).listed();
    expect(toPayment(payment.payment).reason).toBe('decided by ann and bob: no money has moved');
  });
});

describe('an objection that is overruled', () => {
  const hasty = () => reviewed({ resolveAfterMs: 24 * HOUR });

  it('is overruled by both', () => {
    const payment = hasty().fail({ ...ann, force: true });
    expect(proposedOf(payment)).toMatchObject({ forced: true });
    expect(payment.fail(bob).reply).toMatchObject(
      refused('the decision of ann, which waits, overrules more: reject it, or override this with "force": true'),
    );
    payment.fail({ ...bob, force: true }).listed();
    expect(payment.payment.resolved).toMatchObject({ force: true, by: 'ann', approval: { by: 'bob' } });
  });

  it('is all that the first person has overruled, and no more', () => {
    const force = ['too_early', 'reported_transaction'] as const;
    const payment = hasty().fail({ ...ann, force });
    expect(proposedOf(payment)).toMatchObject({ forced: true, overruled: force });
    expect(payment.fail({ ...bob, force: ['too_early'] }).reply).toMatchObject({
      ...refused('the decision of ann, which waits, overrules more'),
      force,
    });
    // Who overrules more has decided something else, which waits for the other.
    payment.fail({ ...bob, force: [...force, 'no_answer'] });
    expect(proposedOf(payment)).toMatchObject({ by: 'bob' });
    expect(payment.payment.phase.kind).toBe('review');
    expect(payment.fail({ ...ann, force: [...force, 'no_answer'] }).payment.phase.kind).toBe('deciding');
  });

  it('is another decision than one that respects it: the second person’s waits for the first', () => {
    const payment = reviewed()
      .fail(ann)
      .fail({ ...bob, force: true });
    expect(proposedOf(payment)).toMatchObject({ by: 'bob', forced: true });
    expect(payment.fail({ ...ann, force: true }).payment.phase.kind).toBe('deciding');
  });
});

describe('a decision that waits for a second person', () => {
  it('can be rejected by that person, who says why', () => {
    const payment = reviewed().fail(ann).later(MINUTE).reject('bob');
    expect(payment.reply?.kind).toBe('done');
    expect(toPayment(payment.payment).review).toMatchObject({
      number: 3,
      proposed: undefined,
      rejected: { action: 'fail', proposedBy: 'ann', by: 'bob', why: 'not what the portal shows' },
    });
    payment.fail(bob);
    expect(proposedOf(payment)).toMatchObject({ by: 'bob' });
    expect(toPayment(payment.payment).review?.rejected).toBeUndefined();
  });

  it('can be withdrawn by whom made it', () => {
    const payment = reviewed().fail(ann).reject('ann');
    expect(proposedOf(payment)).toBeUndefined();
    expect(payment.fail(bob).payment.phase.kind).toBe('review');
  });

  it('is rejected on its own review alone, once, and not while it is being checked', () => {
    expect(reviewed().reject('ann').reply).toMatchObject(refused('no decision waits for a second person'));
    expect(reviewed().fail(ann).reject('bob', 1).reply).toMatchObject(refused('the review has changed'));
    expect(reviewed().fail(ann).fail(bob).reject('ann').reply).toMatchObject(refused('is being checked'));
    expect(paid(payoutOrder).reject('ann').reply).toMatchObject({ type: 'NotUnderReview' });
  });

  it('is in the timeline, and so is what became of it', () => {
    const payment = reviewed().fail(ann).reject('bob').resend(bob).resend(ann).listed();
    expect(payment.timeline.entries.map(({ at: _, ...entry }) => entry)).toEqual(
      expect.arrayContaining([
        { type: 'decision_proposed', review: 1, action: 'fail', by: 'ann' },
        { type: 'decision_rejected', review: 1, action: 'fail', proposedBy: 'ann', by: 'bob' },
        { type: 'decision_proposed', review: 3, action: 'resend', by: 'bob' },
        { type: 'decided', review: 3, action: 'resend', by: 'bob', approvedBy: 'ann' },
      ]),
    );
    const opened = payment.timeline.entries.filter(({ type }) => type === 'review_opened');
    expect(opened).toHaveLength(1);
  });

  it('is what operators read first, and is nothing that the merchant is told', () => {
    const payment = reviewed();
    expect(describePayment(payment.payment)).toContain('which takes two people');
    payment.match('T1', ann);
    expect(describePayment(payment.payment)).toContain('a second person, and not ann, has to decide the same');
    expect(describePayment(payment.payment)).toMatch(/match `T1`, decided by ann at .* UTC: seen in the portal/);
    const shown = forMerchant(toPayment(payment.payment));
    expect(shown.review).toMatchObject({ number: 2, secondPerson: true });
    expect(JSON.stringify(shown)).not.toContain('ann');
    expect(JSON.stringify(forMerchant(toPayment(payment.reject('bob').payment)))).not.toContain('bob');
  });
});

describe('a decision on a payout of which the provider shows a larger transaction than one person may decide on', () => {
  const limit = { secondPersonAbove: payoutOrder.amount };
  const amount = payoutOrder.amount + 1;
  const forced = { force: true };

  it('takes two people once that is known', () => {
    const payment = ambiguous(payoutOrder, limit).listed({ ...own, amount });
    expect(toPayment(payment.payment).review?.secondPerson).toBe(true);
    payment.match('T1', { ...ann, ...forced });
    expect(payment.phase('review').proposed).toMatchObject({ by: 'ann' });
    payment.match('T1', { ...bob, ...forced }).found('SUCCESSFUL', { amount });
    expect(payment.payment.resolved).toMatchObject({ by: 'ann', approval: { by: 'bob' } });
    expect(toPayment(payment.payment)).toMatchObject({ status: 'SUCCESSFUL', amountPaid: amount });
  });

  it.each(['externalId', 'nobody'])('is refused when it is shown only while that is checked (made for %s)', (whose) => {
    const payment = absent(payoutOrder, limit).match('T1', { ...ann, ...forced });
    const externalId = whose === 'nobody' ? undefined : payoutOrder.id;
    payment.found('SUCCESSFUL', { amount, externalId, userId: externalId });
    expect(payment.reply).toMatchObject(refused('takes two people'));
    expect([payment.status, payment.payment.resolved]).toEqual(['REVIEW', undefined]);
    payment.match('T1', { ...ann, ...forced });
    expect(payment.phase('review').proposed).toMatchObject({ by: 'ann' });
  });

  it('takes one person when it is of what was ordered, or of less', () => {
    const payment = absent(payoutOrder, limit).match('T1', { ...ann, ...forced });
    payment.found('SUCCESSFUL', { amount: payoutOrder.amount - 1 });
    expect(payment.payment.resolved).toMatchObject({ by: 'ann' });
  });
});

describe('a decision takes one person', () => {
  it.each([
    ['without a limit', payoutOrder, {}],
    ['on a payout of just the limit', payoutOrder, { secondPersonAbove: payoutOrder.amount }],
    ['on a collection from a phone, however large', directOrder, large],
  ])('%s', (_, order, given) => {
    const payment = absent(order, given).fail(ann);
    expect(payment.payment.phase.kind).toBe('deciding');
    expect(toPayment(payment.payment).review?.secondPerson).toBeUndefined();
    while (payment.status === 'REVIEW') payment.listed();
    expect(payment.payment.resolved).toMatchObject({ by: 'ann' });
    expect(payment.payment.resolved).not.toHaveProperty('approval');
  });
});

describe('what is asked of a review', () => {
  it('is refused for the same reasons before it is recorded and afterwards', () => {
    const payment = reviewed().fail(ann);
    const again = { decision: { action: 'fail' }, review: 2, by: 'ann', why: 'again', force: false } as const;
    for (const event of [
      { kind: 'decide', request: 99, resolution: again },
      { kind: 'reject', request: 99, rejection: { review: 1, by: 'bob', why: 'old' } },
    ] as const) {
      const objection = objectionTo(payment.payment, event, payment.now);
      const { replies, payment: after } = step(payment.payment, event, payment.now);
      expect(replies).toEqual([{ request: 99, kind: 'refused', ...objection }]);
      expect(after.phase).toBe(payment.payment.phase);
    }
  });
});
