import { describe, expect, it } from '@jest/globals';
import { toPayment } from '../../../src/payments/views/to-payment.js';
import type { Force } from '../../../src/payments/words/decision.js';
import { decideFrom } from '../../../src/payments/words/payment-state.js';
import { isoTime } from '../../../src/payments/words/time.js';
import {
  DAY,
  directOrder,
  HOUR,
  linkOrder,
  MINUTE,
  payoutOrder,
  START,
  transactionOf,
  transId,
} from '../../support/orders.js';
import {
  absent,
  ambiguous,
  backoff,
  opened,
  paid,
  type Scenario,
  SILENT,
  THROTTLED_SEND,
  taken,
  throttled,
  UNAUTHORIZED,
  UNKNOWN,
} from '../../support/scenario.js';

const own = transactionOf(payoutOrder, { status: 'SUCCESSFUL' });

/** The provider has it, and has given no outcome for a day. */
function undecided(order: typeof payoutOrder | typeof linkOrder = payoutOrder): Scenario {
  const payment = taken(order);
  while (payment.status !== 'REVIEW') {
    if (payment.todo.kind === 'expire') payment.expired(SILENT);
    else payment.found('PENDING');
  }
  return payment.later(2 * MINUTE);
}

const refused = (words: string) => ({
  kind: 'refused',
  type: 'ResolutionRefused',
  words: expect.stringContaining(words),
});

describe('a decision', () => {
  it('is one on a payment under review', () => {
    expect(taken(payoutOrder).fail().reply).toMatchObject({ kind: 'refused', type: 'NotUnderReview' });
    expect(paid(payoutOrder).fail().reply).toMatchObject({ kind: 'refused', type: 'NotUnderReview' });
  });

  it.each(['resend', 'fail', 'match'] as const)(
    'is refused when the review has changed since, forced or not (%s)',
    (action) => {
      const decide = (payment: Scenario, options: { review: number; force: boolean }) =>
        action === 'match' ? payment.match('T1', options) : payment[action](options);
      for (const force of [false, true]) {
        const payment = absent(payoutOrder).listed(own, { ...own, transId: transId('T2') });
        expect(decide(payment, { review: 1, force }).reply).toMatchObject(
          refused('the review has changed: it is now number 2 (the provider has several transactions'),
        );
        expect(payment.payment.phase.kind).toBe('review');
      }
    },
  );

  it('is looked into before anything else is: another is refused meanwhile', () => {
    const payment = absent(payoutOrder).resend();
    expect(payment.payment.phase.kind).toBe('deciding');
    expect(payment.status).toBe('REVIEW');
    expect(payment.fail().reply).toMatchObject(refused('another decision is being checked'));
    payment.listed();
    expect(payment.replies).toContainEqual({ request: 1, kind: 'done' });
  });

  it('leaves the review as it was when it is refused', () => {
    const payment = absent(payoutOrder);
    const before = payment.phase('review');
    payment.resend().listing(SILENT);
    expect(payment.phase('review')).toEqual(before);
    expect(payment.payment.resolved).toBeUndefined();
    expect(payment.notified).toEqual(['payment.review']);
  });

  it('is written down when it is carried out, with who made it, why, and on which review', () => {
    const payment = absent(payoutOrder).later(MINUTE).fail().listed();
    expect(payment.payment.resolved).toEqual({
      decision: { action: 'fail' },
      review: 1,
      by: 'ops',
      why: 'seen in the portal',
      force: false,
      at: payment.now,
    });
    expect(toPayment(payment.payment).resolution?.forced).toBeUndefined();
  });

  it('is written down as forced when it was', () => {
    const payment = absent(payoutOrder).fail({ force: true }).listed();
    expect(payment.payment.resolved?.force).toBe(true);
    expect(toPayment(payment.payment).resolution?.forced).toBe(true);
  });

  it('is refused while the provider asks for more than a minute of quiet, and waits out less', () => {
    const payment = absent(payoutOrder).listing(throttled(2 * MINUTE));
    expect(payment.fail().reply).toMatchObject(refused('the provider has asked not to be called until'));
    payment.later(MINUTE).fail();
    expect(payment.reply).toBeUndefined();
    expect(payment.todo).toMatchObject({ kind: 'wait', until: payment.now + MINUTE });
    expect(payment.listed().status).toBe('FAILED');
  });
});

describe('the least age of what is decided', () => {
  const young = () => absent(payoutOrder, { resolveAfterMs: HOUR });

  it('counts from the last request that the provider may have taken', () => {
    expect(decideFrom(young().payment)).toBe(START + HOUR);
    const payment = young().resend({ force: true }).listed();
    payment.sent({ kind: 'ambiguous', reason: 'reset' });
    expect(decideFrom(payment.payment)).toBe(payment.now + HOUR);
  });

  it('counts from one that the provider throttled, too, though it was taken back after that', () => {
    const payment = young().later(HOUR).resend().listed().sent(THROTTLED_SEND);
    const throttledAt = payment.now;
    payment.hint('T9').listed().found('PENDING', { externalId: 'pay_other' });
    expect(payment.resend().reply).toMatchObject(refused(`decide after ${new Date(throttledAt + HOUR).toISOString()}`));
  });

  it.each(['resend', 'fail'] as const)('is asked of a %s', (action) => {
    const payment = young();
    expect(payment[action]().reply).toMatchObject(
      refused('decide after 2026-01-01T01:00:00.000Z, or override this with "force": ["too_early"]'),
    );
    expect(payment.at(START + HOUR - 1)[action]().reply).toMatchObject(refused('decide after'));
    payment.later(1)[action]().listed();
    expect(payment.reply?.kind).toBe('done');
  });

  it.each(['resend', 'fail'] as const)('is not asked of a %s that is forced', (action) => {
    expect(young()[action]({ force: true }).listed().reply?.kind).toBe('done');
  });

  it('is not over while a request may still leave, whatever is overruled, nor for a match', () => {
    const payment = opened(payoutOrder, { resolveAfterMs: 0 });
    const leavesBy = START + 20_000;
    payment.sent({ kind: 'ambiguous', reason: 'lost', leavesBy }).listed(own, { ...own, transId: transId('T2') });
    const early = refused(`its latest request may still be on its way: decide after ${isoTime(leavesBy)}`);
    expect(payment.status).toBe('REVIEW');
    expect(payment.fail({ force: true }).reply).toMatchObject(early);
    expect(payment.match('T1', { force: true }).reply).toMatchObject(early);
    payment.at(leavesBy - 1);
    expect(payment.fail({ force: true }).reply).toMatchObject(early);
    payment.later(1).match('T1').found('SUCCESSFUL');
    expect(payment.reply?.kind).toBe('done');
  });

  it('is not asked of a match', () => {
    expect(young().match('T1').found('SUCCESSFUL').reply?.kind).toBe('done');
  });
});

describe('a decision while a notification names a transaction', () => {
  const named = () => absent(payoutOrder).hint('T7');

  it.each(['resend', 'fail'] as const)('is refused: %s', (action) => {
    const payment = named().answered(SILENT);
    expect(payment[action]().reply).toMatchObject(refused('a notification names T7 for this payment'));
  });

  it('is refused when another one is matched, and taken when that one is', () => {
    const payment = named().answered(SILENT);
    expect(payment.match('T1').reply).toMatchObject(refused('a notification names T7'));
    expect(payment.match('T7').found('SUCCESSFUL').reply?.kind).toBe('done');
    expect(payment.payment.claims.open).toEqual([]);
  });

  it.each(['resend', 'fail'] as const)('is taken when it is forced: %s', (action) => {
    const payment = named().answered(SILENT)[action]({ force: true });
    expect(payment.listed().reply?.kind).toBe('done');
  });

  it.each(['resend', 'fail'] as const)(
    'is refused when the notification comes while the decision waits for its answers: %s',
    (action) => {
      const payment = absent(payoutOrder).listing(throttled(MINUTE));
      payment[action]().later(1_000).hint('T7').listed();
      expect(payment.reply).toMatchObject(refused('a notification names T7'));
      expect(payment.payment.phase.kind).toBe('review');
    },
  );

  const unanswered = () => {
    const payment = named();
    while (payment.payment.claims.open.length > 0) {
      const { todo } = payment;
      if (todo.kind === 'wait') payment.at(todo.until ?? payment.now);
      else if (todo.kind === 'lookUp') payment.listed();
      else payment.answered(SILENT);
    }
    return payment;
  };

  it.each(['resend', 'fail'] as const)(
    'is refused for as long as the provider has given no answer about it, unless it is forced: %s',
    (action) => {
      expect(unanswered()[action]().reply).toMatchObject(
        refused("a notification names T7 for this payment, and the provider hasn't said what it is"),
      );
      expect(unanswered()[action]({ force: true }).listed().reply?.kind).toBe('done');
    },
  );

  it('is taken when a transaction is matched, though the provider has given no answer about another', () => {
    expect(unanswered().match('T1').found('SUCCESSFUL').reply?.kind).toBe('done');
  });

  it('keeps in mind what the provider has shown meanwhile', () => {
    const payment = absent(payoutOrder).match('T1').hint('T7');
    expect(payment.found('PENDING').reply).toMatchObject(refused('a notification names T7'));
    expect(payment.payment.others).toMatchObject([{ transId: 'T1', status: 'PENDING' }]);
    expect(payment.found('SUCCESSFUL', { transId: transId('T7') }).phase('review').held).toBe(true);
  });

  it('is taken again when the transaction turns out not to be the payment’s', () => {
    const payment = named().found('SUCCESSFUL', { externalId: 'pay_other' });
    expect(payment.later(MINUTE).fail().listed().reply?.kind).toBe('done');
  });
});

describe('a decision while a notification names the payment alone', () => {
  it.each(['resend', 'fail'] as const)('is refused, and can be forced: %s', (action) => {
    const payment = absent(payoutOrder).named().after(HOUR);
    payment[action]();
    expect(payment.reply).toMatchObject({ kind: 'refused', force: ['reported_transaction'] });
    payment[action]({ force: ['reported_transaction'] }).listed();
    expect(payment.reply).toMatchObject({ kind: 'done' });
    expect(payment.payment.claims.isNamed).toBeUndefined();
  });

  it.each(['resend', 'fail'] as const)('is refused when the notification comes while it is checked: %s', (action) => {
    const payment = absent(payoutOrder).after(HOUR);
    payment[action]({ force: true }).named().listed();
    expect(payment.reply).toMatchObject({ kind: 'refused' });
  });

  it('is taken when a transaction is matched', () => {
    const payment = absent(payoutOrder).named().match('T1').found('SUCCESSFUL');
    expect(payment.status).toBe('SUCCESSFUL');
  });

  it('makes it another review', () => {
    const payment = absent(payoutOrder);
    const { number } = payment.phase('review');
    expect(payment.named().phase('review').number).toBe(number + 1);
    expect(payment.named().phase('review').number).toBe(number + 1);
  });
});

describe('a decision that is forced', () => {
  const named = () => absent(payoutOrder).hint('T7').answered(SILENT);

  it('overrules what its operator has read, and is refused for what comes up besides', () => {
    const payment = named();
    const next = (force: Force) => {
      payment.match('T1', { force });
      if (payment.payment.phase.kind === 'deciding') payment.found('SUCCESSFUL', { amount: 1 });
      return payment.reply;
    };
    expect(next(false)).toMatchObject({ kind: 'refused', force: ['reported_transaction'] });
    expect(next(['reported_transaction'])).toMatchObject({
      ...refused('of 1 XAF'),
      force: ['reported_transaction', 'different_transaction'],
    });
    expect(payment.payment.phase.kind).toBe('review');
    expect(next(['reported_transaction', 'different_transaction'])?.kind).toBe('done');
    expect(payment.phase('ended').status).toBe('SUCCESSFUL');
    expect(toPayment(payment.payment).resolution).toMatchObject({
      forced: true,
      overruled: ['reported_transaction', 'different_transaction'],
    });
  });

  it('is told all the transactions that notifications name', () => {
    const payment = named().hint('T8');
    expect(payment.resend().reply).toMatchObject(refused('names T7, T8 for this payment'));
  });

  it('before its time doesn’t overrule a notification, nor the other way round', () => {
    for (const [force, missing] of [
      ['too_early', 'reported_transaction'],
      ['reported_transaction', 'too_early'],
    ] as const) {
      const payment = absent(payoutOrder, { resolveAfterMs: 24 * HOUR })
        .hint('T7')
        .answered(SILENT);
      expect(payment.fail({ force: [force] }).reply).toMatchObject({
        kind: 'refused',
        force: ['too_early', 'reported_transaction'],
        words: expect.stringContaining(missing === 'too_early' ? 'decide after' : 'names T7'),
      });
    }
  });

  it('over a silent provider is refused for a difference that was known, until that is overruled, too', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL', { amount: 1 });
    const next = (force: Force) => payment.match('T1', { force }).answered(SILENT).reply;
    expect(next(false)).toMatchObject({ kind: 'refused', force: ['no_answer'] });
    expect(next(['no_answer'])).toMatchObject({
      kind: 'refused',
      force: ['no_answer', 'different_transaction'],
    });
    expect(next(['no_answer', 'different_transaction'])?.kind).toBe('done');
  });

  it('fails a payment of which the provider says nothing', () => {
    const payment = absent(payoutOrder);
    expect(payment.fail().listing(SILENT).reply).toMatchObject({ kind: 'refused', force: ['no_answer'] });
    expect(payment.fail({ force: ['no_answer'] }).listing(SILENT).reply?.kind).toBe('done');
  });

  it('whatever comes up is forced as such for good', () => {
    const payment = absent(payoutOrder).fail({ force: true }).listed();
    expect(toPayment(payment.payment).resolution).toMatchObject({ forced: true, overruled: undefined });
  });
});

describe('an operator’s match', () => {
  it('gives the payment the transaction and its outcome', () => {
    const payment = absent(payoutOrder).match('T1').found('SUCCESSFUL');
    expect(payment.reply).toEqual({ request: 1, kind: 'done' });
    expect(payment.phase('ended')).toMatchObject({ status: 'SUCCESSFUL', transId: 'T1' });
    expect(payment.payment.resolved).toMatchObject({
      by: 'ops',
      decision: { action: 'match', transId: 'T1' },
    });
    expect(payment.notified).toEqual(['payment.review', 'payment.succeeded']);
  });

  it('goes on with a transaction that is not decided yet', () => {
    const payment = absent(payoutOrder).match('T1').found('PENDING');
    expect(payment.phase('following')).toMatchObject({ transId: 'T1', status: 'PENDING' });
    expect(payment.found('SUCCESSFUL').phase('ended').status).toBe('SUCCESSFUL');
  });

  it.each([
    ['of another amount', { amount: 1 }],
    ['of another kind', { transType: 'Collection' as const }],
  ])('is refused for a transaction %s, unless it is forced', (_, difference) => {
    expect(absent(payoutOrder).match('T1').found('SUCCESSFUL', difference).reply).toMatchObject(
      refused('match it anyway with "force": ["different_transaction"]'),
    );
    const payment = absent(payoutOrder).match('T1', { force: true }).found('PENDING', difference);
    expect(payment.reply?.kind).toBe('done');
    expect(payment.found('SUCCESSFUL', difference).phase('ended').status).toBe('SUCCESSFUL');
  });

  it('takes only the difference that was insisted on', () => {
    const payment = absent(payoutOrder).match('T1', { force: true }).found('PENDING', { amount: 1 });
    expect(payment.found('SUCCESSFUL', { amount: 2 }).phase('review').held).toBe(true);
  });

  const ANOTHERS = [
    ['both of its names', { externalId: 'pay_other', userId: 'pay_other' }],
    ['its externalId alone', { externalId: 'pay_other', userId: undefined }],
    ['its userId alone', { externalId: undefined, userId: 'pay_other' }],
    ['its userId, beside this one’s externalId', { userId: 'pay_other' }],
    ['its externalId, beside this one’s userId', { externalId: 'pay_other' }],
  ] as const;

  it.each(ANOTHERS)('is refused for a transaction that names another payment by %s, forced or not', (_, names) => {
    for (const force of [false, true]) {
      const payment = absent(payoutOrder).match('T1', { force });
      payment.found('SUCCESSFUL', names);
      expect(payment.reply).toMatchObject(refused('was made for pay_other'));
    }
  });

  it.each(ANOTHERS)('takes none on an earlier answer, once it has named another payment by %s', (_, names) => {
    // It was listed for this payment, and named nobody then.
    const nameless = { ...own, transId: transId('T2'), externalId: undefined, userId: undefined };
    const payment = ambiguous(payoutOrder).listed(own, nameless).later(HOUR);
    expect(payment.match('T2').found('SUCCESSFUL', names).reply).toMatchObject(refused('pay_other'));
    expect(payment.match('T2', { force: true }).answered(SILENT).reply).toMatchObject(refused('pay_other'));
  });

  it('can be failed in its place by force, when the payment’s own has come to name another', () => {
    const names = { externalId: 'pay_other' };
    const payment = taken(payoutOrder).found('SUCCESSFUL', names).later(HOUR);
    expect(payment.fail().found('SUCCESSFUL', names).reply).toMatchObject({
      kind: 'refused',
      force: ['different_transaction'],
    });
    payment
      .later(HOUR)
      .fail({ force: ['different_transaction'] })
      .found('SUCCESSFUL', names)
      .listed();
    expect(payment.phase('ended').status).toBe('FAILED');
    payment.request('recheck').found('SUCCESSFUL', names).listed();
    expect(payment.status).toBe('FAILED');
    payment.request('recheck').found('SUCCESSFUL');
    expect(payment.status).toBe('REVIEW');
  });

  it('doesn’t take the payment’s own on an earlier answer, once it has named another payment', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL', { externalId: 'pay_other' }).later(HOUR);
    expect(payment.match('T1', { force: true }).answered(SILENT).reply?.kind).toBe('refused');
  });

  it('is refused when the provider does not say whose the transaction is, unless it is forced', () => {
    const nameless = { externalId: undefined, userId: undefined };
    const payment = absent(payoutOrder).match('T1').found('SUCCESSFUL', nameless);
    expect(payment.reply).toMatchObject(refused("doesn't say whose transaction T1 is"));
    expect(payment.status).toBe('REVIEW');
    expect(absent(payoutOrder).match('T1', { force: true }).found('SUCCESSFUL', nameless).status).toBe('SUCCESSFUL');
  });

  it('takes the transaction that the payment has gone by, though the provider does not say whose it is', () => {
    const payment = undecided().match('T1').found('SUCCESSFUL', { externalId: undefined, userId: undefined });
    expect(payment.phase('ended').transId).toBe('T1');
  });

  it('is refused when the provider does not know the transaction, or gives no answer, forced or not', () => {
    for (const force of [false, true]) {
      const matching = () => absent(payoutOrder).match('T1', { force });
      expect(matching().answered(UNKNOWN).reply).toMatchObject(
        refused("the provider doesn't know T1: no such transaction"),
      );
      for (const answer of [SILENT, throttled(), UNAUTHORIZED]) {
        expect(matching().answered(answer).reply).toMatchObject(refused("can't be looked up"));
      }
    }
  });

  it('leaves the transaction that the payment went by as a further one, and checks the outcome again', () => {
    const payment = undecided().match('T2').found('SUCCESSFUL');
    expect(payment.payment.others).toMatchObject([{ transId: 'T1', status: 'PENDING', decidedAs: 'PENDING' }]);
    expect(payment.phase('ended')).toMatchObject({ transId: 'T2', checks: { length: 3 } });
    payment.answered(SILENT).listed({ ...own, transId: transId('T2') }, { ...own, status: 'PENDING' });
    expect(payment.status).toBe('SUCCESSFUL');
    payment.answered(SILENT).listed({ ...own, transId: transId('T2') }, own);
    expect(payment.phase('review')).toMatchObject({
      held: true,
      why: 'the provider has another transaction for this payment: T1 (SUCCESSFUL)',
    });
  });

  it('has the provider speak of the transaction that was abandoned, until it has ended', () => {
    const payment = undecided().match('T2').found('SUCCESSFUL');
    expect(payment.asks('askStatus').transId).toBe('T1');
    payment.answered(SILENT).listed({ ...own, transId: transId('T2') });
    expect(payment.phase('ended').checks).toHaveLength(3);
    payment.found('PENDING').listed();
    expect(payment.phase('ended').checks).toHaveLength(2);
    payment.found('FAILED').listed().listed();
    expect(payment.todo).toEqual({ kind: 'end' });
  });

  it.each([
    ['SUCCESSFUL', (payment: Scenario) => payment.found('SUCCESSFUL')],
    ['not spoken of for long', (payment: Scenario) => silenceAfter(payment)],
  ])('asks a person when the one that was abandoned is %s, and the list leaves it out', (_, goOn) => {
    const payment = goOn(undecided().match('T2').found('SUCCESSFUL'));
    expect(payment.phase('review')).toMatchObject({ number: 2, held: true });
    expect(payment.phase('review').why).toContain('T1');
  });

  function silenceAfter(payment: Scenario): Scenario {
    while (payment.status !== 'REVIEW') payment.answered(SILENT).listed();
    return payment;
  }

  it('tells nothing of the transaction that was abandoned as if it were of the other', () => {
    const payment = taken(payoutOrder);
    const fields = {
      revenue: 4_900,
      medium: 'orange money',
      financialTransId: 'F1',
      reason: 'slow',
    } as const;
    while (payment.status !== 'REVIEW') payment.found('PENDING', fields);
    expect(toPayment(payment.payment)).toMatchObject({ transId: 'T1', financialTransId: 'F1' });
    payment.match('T2').found('SUCCESSFUL');
    const told = toPayment(payment.payment);
    expect(told).toMatchObject({ status: 'SUCCESSFUL', transId: 'T2' });
    expect([told.revenue, told.fee, told.medium, told.financialTransId]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('can take back the transaction that was abandoned', () => {
    const payment = undecided().match('T2').found('PENDING').found('FAILED').later(HOUR);
    expect(payment.match('T1').found('SUCCESSFUL').phase('ended')).toMatchObject({
      status: 'SUCCESSFUL',
      transId: 'T1',
    });
  });
});

describe('a match of one of several', () => {
  const second = { ...own, transId: transId('T2') };
  const several = (status: 'SUCCESSFUL' | 'PENDING') =>
    ambiguous(payoutOrder)
      .listed({ ...own, status: 'PENDING' }, { ...second, status })
      .later(HOUR);

  const besides = (status: string) =>
    `T1 is FAILED, but the provider has another transaction for this payment: T2 (${status})`;

  it.each([false, true])('is refused when it has failed and the other has moved money (forced: %s)', (force) => {
    const payment = several('SUCCESSFUL').match('T1', { force }).found('FAILED').found('SUCCESSFUL');
    expect(payment.reply).toMatchObject(refused(besides('SUCCESSFUL')));
    expect(payment.match('T2').found('SUCCESSFUL').phase('ended').transId).toBe('T2');
  });

  it.each([false, true])('is refused when it has failed and the other can still move money (forced: %s)', (force) => {
    const payment = several('PENDING').match('T1', { force }).found('FAILED');
    expect(payment.asks('askStatus')).toMatchObject({ transId: 'T2', isClaim: false });
    expect(payment.found('PENDING').reply).toMatchObject(refused(besides('PENDING')));
    expect(payment.match('T2').found('SUCCESSFUL').phase('ended').transId).toBe('T2');
  });

  it('is refused when the provider gives no answer about the other, or has never heard of it', () => {
    for (const answer of [SILENT, UNKNOWN]) {
      for (const status of ['PENDING', 'SUCCESSFUL'] as const) {
        const payment = several(status).match('T1', { force: true }).found('FAILED').answered(answer);
        expect(payment.reply).toMatchObject(refused(besides(status)));
      }
    }
  });

  it('is carried out when what has moved the money is taken back at that moment', () => {
    const payment = several('SUCCESSFUL').match('T1').found('FAILED').found('FAILED');
    expect(payment.listed({ ...own, status: 'FAILED' }, { ...second, status: 'FAILED' }).phase('ended')).toMatchObject({
      status: 'FAILED',
      transId: 'T1',
    });
  });

  it('gives way to a `fail` when the list takes back what had moved the money', () => {
    const payment = several('SUCCESSFUL').fail();
    expect(payment.listed({ ...own, status: 'FAILED' }, { ...second, status: 'FAILED' }).status).toBe('FAILED');
    expect(several('SUCCESSFUL').fail({ force: true }).listed(own).reply).toMatchObject({ kind: 'refused' });
  });

  it('is carried out when the other has failed since it was last heard of', () => {
    const payment = several('PENDING').match('T1').found('FAILED').found('FAILED');
    expect(payment.reply).toMatchObject({ kind: 'done' });
    const failed = { ...own, status: 'FAILED' } as const;
    payment.listed(failed, { ...second, status: 'FAILED' });
    expect(payment.phase('ended')).toMatchObject({ status: 'FAILED', transId: 'T1' });
  });

  it('is refused, and makes it another review, when the other turns out to have moved money', () => {
    const payment = several('PENDING').match('T1').found('FAILED').found('SUCCESSFUL');
    expect(payment.reply).toMatchObject(refused(besides('SUCCESSFUL')));
    expect(payment.phase('review')).toMatchObject({ number: 3, held: true });
    expect(payment.phase('review').why).toContain('T2 (SUCCESSFUL)');
  });

  it('asks about each of the others once, also when one has no answer', () => {
    const third = { ...own, transId: transId('T3'), status: 'PENDING' } as const;
    const payment = ambiguous(payoutOrder)
      .listed({ ...own, status: 'PENDING' }, { ...second, status: 'PENDING' }, third)
      .later(HOUR);
    payment.match('T1').found('FAILED').answered(SILENT);
    expect(payment.asks('askStatus').transId).toBe('T3');
    expect(payment.found('FAILED').reply).toMatchObject(refused(besides('PENDING')));
    // What was heard of the third is not asked again, and stands in nobody's way.
    expect(payment.match('T1').found('FAILED').found('FAILED').reply).toMatchObject({ kind: 'done' });
  });

  it('keeps what was heard of the others when a notification names one more meanwhile', () => {
    const payment = several('PENDING').match('T1').found('FAILED').hint('T3').found('SUCCESSFUL');
    expect(payment.reply).toMatchObject(refused('a notification names T3'));
    expect(payment.phase('review').why).toContain('T2 (SUCCESSFUL)');
  });

  it.each(['SUCCESSFUL', 'PENDING'] as const)(
    'does not end the payment when it fails later and the other was %s: a person is asked',
    (status) => {
      const payment = several(status).match('T1').found('PENDING').found('FAILED');
      expect(payment.phase('review')).toMatchObject({
        number: 2,
        held: true,
        why: `T1 is FAILED, but the provider has another transaction for this payment: T2 (${status})`,
      });
      expect(payment.notified).not.toContain('payment.failed');
    },
  );

  it('ends the payment when it fails and the others have failed', () => {
    const payment = several('PENDING').match('T1').found('PENDING').found('FAILED').later(HOUR);
    const failed = { ...own, status: 'FAILED' } as const;
    payment
      .fail()
      .found('FAILED')
      .listed(failed, { ...second, status: 'FAILED' });
    expect(payment.phase('ended')).toMatchObject({ status: 'FAILED', transId: 'T1' });
  });

  it('can be called FAILED when the provider has taken back what it had shown of the other', () => {
    const payment = several('SUCCESSFUL').match('T1').found('PENDING').found('FAILED').later(HOUR);
    payment.match('T2').answered({ kind: 'found', transaction: { transId: transId('T2'), status: 'FAILED' } });
    payment.listed({ ...own, status: 'FAILED' }, { ...second, status: 'FAILED' });
    expect(payment.phase('ended')).toMatchObject({ status: 'FAILED', transId: 'T2' });
  });

  it('does not end a link as EXPIRED while one that was left for it can be paid', () => {
    const one = transactionOf(linkOrder, { status: 'FAILED' });
    const payment = ambiguous(linkOrder);
    payment.listed(one, { ...one, transId: transId('T2') }).later(HOUR);
    payment
      .match('T1')
      .found('CREATED')
      .later(2 * DAY)
      .found('EXPIRED');
    expect(payment.phase('review').why).toContain('T1 is EXPIRED');
    payment
      .fail()
      .found('EXPIRED')
      .listed({ ...one, transId: transId('T2') });
    payment.expired().found('EXPIRED').listed();
    expect(payment.reply).toMatchObject(refused('the provider has shown T2 since this was decided'));
    payment.later(HOUR).fail().found('EXPIRED');
    payment.listed({ ...one, transId: transId('T2'), status: 'EXPIRED' });
    expect(payment.phase('ended').status).toBe('FAILED');
  });
});

describe('an operator’s resend', () => {
  it('is carried out when the provider shows nothing', () => {
    const payment = absent(payoutOrder).resend();
    expect(payment.todo).toEqual({ kind: 'lookUp' });
    payment.listed();
    expect(payment).toMatchObject({ status: 'CREATED', todo: { kind: 'send', cause: 'operator' } });
    expect(payment.reply?.kind).toBe('done');
  });

  it('is good for one request', () => {
    const payment = absent(payoutOrder).resend().listed().sent({ kind: 'ambiguous', reason: 'reset' });
    while (payment.status === 'CREATED') payment.listed();
    expect(payment.payment.sends.count).toBe(2);
    expect(payment.payment.phase.kind).toBe('review');
  });

  it.each(['SUCCESSFUL', 'FAILED', 'PENDING'] as const)(
    'is refused when the provider shows it as %s, forced or not',
    (status) => {
      for (const force of [false, true]) {
        const payment = absent(payoutOrder)
          .resend({ force })
          .listed({ ...own, status });
        expect(payment.reply).toMatchObject(refused(`shows T1 (${status}) for this payment: match it`));
      }
    },
  );

  it('is refused when what is shown may be it, or is of another amount, or there are two', () => {
    const shown = [[{ ...own, externalId: undefined }], [{ ...own, amount: 1 }]];
    for (const transactions of [...shown, [own, { ...own, transId: transId('T2') }]]) {
      expect(
        absent(payoutOrder)
          .resend()
          .listed(...transactions).reply,
      ).toMatchObject(refused('T1'));
    }
  });

  it.each(['SUCCESSFUL', 'FAILED', 'PENDING'] as const)(
    'is refused when the list leaves out what a refused decision has read as %s, forced or not',
    (status) => {
      const shown = { ...own, status };
      const payment = absent(payoutOrder).resend().listed(shown);
      for (const force of [false, true]) {
        payment.later(1_000).resend({ force }).listed();
        expect(payment.reply).toMatchObject(refused(`T1 was ${status} when last heard of, and is missing`));
        expect(payment.payment.sends.count).toBe(1);
      }
      payment.match('T1').found('SUCCESSFUL');
      expect(payment.phase('ended')).toMatchObject({ status: 'SUCCESSFUL', transId: 'T1' });
    },
  );

  it('is refused when nothing can be shown, forced or not', () => {
    for (const force of [false, true]) {
      for (const answer of [SILENT, throttled()]) {
        const payment = absent(payoutOrder).resend({ force }).listing(answer);
        expect(payment.reply).toMatchObject(refused("list can't be read"));
      }
    }
  });

  describe('where the provider refuses to list the payment', () => {
    const NOBODY = { kind: 'refused', message: 'invalid user identifier', statusCode: 404 } as const;
    const given = { resolveAfterMs: 2 * HOUR };
    const unlisted = (): Scenario => {
      const payment = ambiguous(payoutOrder, given);
      while (payment.status === 'CREATED') payment.listing(NOBODY);
      return payment;
    };
    const late = () => unlisted().at(START + 3 * HOUR);

    it('is never done by itself, whatever the policy', () => {
      const payment = ambiguous(payoutOrder, { ...given, ambiguousPolicy: 'resend' });
      while (payment.status === 'CREATED') payment.listing(NOBODY);
      expect(payment.phase('review').held).toBe(false);
      expect(payment.payment.sends.count).toBe(1);
    });

    it('says what is not known, and is carried out when a person insists after the list would show it', () => {
      expect(late().resend().listing(NOBODY).reply).toMatchObject({
        kind: 'refused',
        words: expect.stringContaining('invalid user identifier'),
        force: ['no_answer'],
      });
      const payment = late()
        .resend({ force: ['no_answer'] })
        .listing(NOBODY);
      expect(payment.reply?.kind).toBe('done');
      expect(payment.todo).toEqual({ kind: 'send', cause: 'operator' });
    });

    it('is refused before that, and while anything names a transaction, forced or not', () => {
      expect(unlisted().resend({ force: true }).listing(NOBODY).reply).toMatchObject(refused('decide after'));
      const named = late().hint('T7').resend({ force: true }).listing(NOBODY);
      expect(named.reply).toMatchObject(refused('names T7'));
      const shown = late().resend().listed(own).later(MINUTE).resend({ force: true }).listing(NOBODY);
      expect(shown.reply).toMatchObject(refused('T1 was SUCCESSFUL'));
    });

    it('doesn’t ask a person again about what one has failed over that answer', () => {
      const payment = late().fail({ force: true }).listing(NOBODY);
      while (payment.todo.kind !== 'end') payment.listing(NOBODY);
      expect(payment.status).toBe('FAILED');
    });

    it('asks a person again when the decision was made over another answer', () => {
      for (const isSilent of [false, true]) {
        const failed = late().fail({ force: true });
        const payment = isSilent ? failed.listing(SILENT) : failed.listed();
        expect(payment.status).toBe('FAILED');
        while (payment.todo.kind !== 'end' && payment.status === 'FAILED') payment.listing(NOBODY);
        expect(payment.status).toBe('REVIEW');
      }
    });
  });

  it('is refused without a question when the provider has taken it', () => {
    expect(undecided().resend({ force: true }).reply).toMatchObject(refused('has accepted it as T1'));
  });

  it('is refused without a question when the review is held', () => {
    expect(backoff(payoutOrder).resend({ force: true }).reply).toMatchObject(
      refused('the provider has a transaction for this payment'),
    );
  });

  it('is refused without a question when the payment has ended once', () => {
    const payment = absent(payoutOrder).fail().listed().hint('T1').listed().found('SUCCESSFUL');
    expect(payment.phase('review').held).toBe(true);
    expect(payment.resend({ force: true }).reply?.kind).toBe('refused');
  });
});

describe('an operator’s fail', () => {
  it('ends a payment that the provider does not show', () => {
    const payment = absent(payoutOrder).fail().listed();
    expect(payment.phase('ended')).toMatchObject({
      status: 'FAILED',
      reason: 'decided by ops: no money has moved',
    });
    expect(payment.notified).toEqual(['payment.review', 'payment.failed']);
    expect(payment.reply?.kind).toBe('done');
  });

  it('ends a payment whose transaction has failed', () => {
    const failed = { ...own, status: 'FAILED' } as const;
    expect(undecided().fail().found('FAILED').listed(failed).reply?.kind).toBe('done');
    expect(absent(payoutOrder).fail().listed(failed).reply?.kind).toBe('done');
  });

  it.each(['SUCCESSFUL', 'PENDING', 'CREATED'] as const)(
    'is refused while the provider has it as %s, forced or not',
    (status) => {
      for (const force of [false, true]) {
        expect(undecided().fail({ force }).found(status).reply).toMatchObject(
          refused(`the provider says that T1 is ${status}`),
        );
        const payment = absent(payoutOrder)
          .fail({ force })
          .listed({ ...own, status });
        expect(payment.reply).toMatchObject(refused(`T1 (${status})`));
      }
    },
  );

  it('is refused while what has moved may be it, though it doesn’t say so', () => {
    const unnamed = { ...own, externalId: undefined };
    expect(absent(payoutOrder).fail().listed(unnamed).reply?.kind).toBe('refused');
    expect(
      absent(payoutOrder)
        .fail()
        .listed({ ...unnamed, status: 'FAILED' }).reply?.kind,
    ).toBe('done');
  });

  it('is refused when money moved of another amount', () => {
    expect(
      absent(payoutOrder)
        .fail()
        .listed({ ...own, amount: 1 }).reply?.kind,
    ).toBe('refused');
  });

  it('is refused when another transaction of its own is listed beside the one that failed', () => {
    const payment = undecided().fail().found('FAILED');
    payment.listed({ ...own, status: 'FAILED' }, { ...own, transId: transId('T2') });
    expect(payment.reply).toMatchObject(refused('T2 (SUCCESSFUL)'));
  });

  it('is refused when the provider gives no answer', () => {
    expect(absent(payoutOrder).fail().listing(SILENT).reply?.kind).toBe('refused');
    expect(undecided().fail().answered(SILENT).reply?.kind).toBe('refused');
    expect(undecided().fail().answered(UNKNOWN).reply?.kind).toBe('refused');
    expect(undecided().fail().found('FAILED').listing(SILENT).reply?.kind).toBe('refused');
  });

  it('is carried out without the provider’s answer when it is forced', () => {
    expect(absent(payoutOrder).fail({ force: true }).listing(SILENT).reply?.kind).toBe('done');
    for (const answer of [SILENT, UNKNOWN, UNAUTHORIZED]) {
      const payment = undecided().fail({ force: true }).answered(answer).listing(SILENT);
      expect(payment.reply?.kind).toBe('done');
      expect(payment.phase('ended')).toMatchObject({ status: 'FAILED', transId: 'T1' });
    }
  });

  it.each([
    [payoutOrder, 'CREATED', 'the provider says that T1 is CREATED'],
    [payoutOrder, 'PENDING', 'the provider says that T1 is PENDING'],
    [linkOrder, 'CREATED', 'its link T1 can still be paid'],
    [linkOrder, 'FAILED', 'its link T1 can still be paid'],
  ] as const)(
    'without the provider’s answer is taken back by the answer that would have refused it (%#)',
    (order, status, why) => {
      const shown = transactionOf(order, { status });
      for (const check of [0, 1, 2]) {
        const payment = undecided(order).fail({ force: true }).answered(SILENT).listing(SILENT);
        for (let before = 0; before < check; before++) payment.answered(UNKNOWN).listed();
        payment.answered(SILENT).listed(shown);
        expect(payment.phase('review')).toMatchObject({
          number: 2,
          held: true,
          why: `an operator decided that no money has moved, but ${why}`,
        });
        expect(payment.notified).toEqual(['payment.review', 'payment.failed', 'payment.review']);
      }
    },
  );

  it('without the provider’s answer stands when the provider then says that nothing moves', () => {
    const payment = undecided().fail({ force: true }).answered(SILENT).listing(SILENT);
    const failed = transactionOf(payoutOrder, { status: 'FAILED' });
    payment.answered(SILENT).listed(failed).listed(failed).listed(failed);
    expect(payment.todo).toEqual({ kind: 'end' });
  });

  it('without the provider’s answer stands when the provider then knows of no such transaction', () => {
    const payment = undecided().fail({ force: true }).answered(SILENT).listing(SILENT);
    for (let check = 0; check < 3; check++) payment.answered(UNKNOWN).listed();
    expect(payment.todo).toEqual({ kind: 'end' });
  });

  it('without the provider’s answer is not proven by a list that leaves the transaction out: a person is asked in the end', () => {
    const payment = undecided().fail({ force: true }).answered(SILENT).listing(SILENT);
    for (let tries = 0; tries < 3 + 3 + 30; tries++) {
      expect(payment.phase('ended').status).toBe('FAILED');
      payment.answered(SILENT).listed();
    }
    expect(payment.phase('review')).toMatchObject({
      number: 2,
      held: true,
      why: "an operator decided that no money has moved, but the provider hasn't said what became of T1",
    });
  });

  it('without the provider’s answer is not called checked for an operator who asks, by a list that leaves the transaction out', () => {
    const payment = undecided().fail({ force: true }).answered(SILENT).listing(SILENT);
    payment.request('recheck').answered(SILENT).listed();
    expect(payment.reply).toMatchObject({ kind: 'refused', type: 'NotChecked' });
    payment.request('recheck').found('FAILED').listed();
    expect(payment.reply).toMatchObject({ kind: 'done' });
    expect(payment.phase('ended').outstanding).toEqual([]);
  });

  it('without the provider’s list is not proven by one that leaves out another transaction that can move money', () => {
    const t2 = transactionOf(payoutOrder, { transId: transId('T2'), status: 'PENDING' });
    const payment = undecided().fail().found('FAILED').listed(t2).fail({ force: true });
    payment.found('FAILED').listing(SILENT);
    expect(payment.phase('ended').outstanding).toEqual(['T2']);
    payment.answered(SILENT).listed().answered(SILENT).listed();
    expect(payment.phase('ended').checks).toHaveLength(3);
    payment.answered(SILENT).listed({ ...t2, status: 'FAILED' });
    expect(payment.phase('ended')).toMatchObject({ outstanding: [], checks: { length: 2 } });
  });

  it('is a reason to check the outcome again afterwards', () => {
    const { checks } = absent(payoutOrder).fail().listed().phase('ended');
    expect(checks).toHaveLength(3);
  });
});

describe('an operator’s fail of a link', () => {
  const paidLink = transactionOf(linkOrder, { status: 'SUCCESSFUL' });
  const alive = transactionOf(linkOrder, { status: 'CREATED' });

  it('expires the link first when it could still be paid', () => {
    const payment = undecided(linkOrder).later(HOUR).fail().found('PENDING').listed(alive);
    expect(payment.todo).toEqual({ kind: 'expire', transId: 'T1' });
    payment
      .expired()
      .found('EXPIRED')
      .listed({ ...alive, status: 'EXPIRED' });
    expect(payment.reply?.kind).toBe('done');
    expect(payment.phase('ended')).toMatchObject({ status: 'FAILED', transId: 'T1' });
  });

  it('stands when the provider goes on to say that the link has expired', () => {
    const payment = undecided(linkOrder).later(HOUR).fail().found('PENDING').listed(alive);
    const expired = { ...alive, status: 'EXPIRED' } as const;
    payment.expired().found('EXPIRED').listed(expired);
    payment.request('recheck').found('EXPIRED').listed(expired);
    expect(payment.reply?.kind).toBe('done');
    payment.listed(expired).listed(expired).listed(expired);
    expect(payment.todo).toEqual({ kind: 'end' });
    expect(payment.notified).toEqual(['payment.review', 'payment.failed']);
    payment.hint('T1', 'EXPIRED').found('EXPIRED');
    expect(payment.status).toBe('FAILED');
    payment.later(HOUR).hint('T1', 'SUCCESSFUL').found('SUCCESSFUL');
    expect(payment.phase('review').why).toBe(
      'the payment ended as FAILED, and the provider now says that T1 is SUCCESSFUL',
    );
  });

  it('expires every link of its own that could still be paid', () => {
    const payment = undecided(linkOrder).later(HOUR).fail().found('EXPIRED');
    payment.listed({ ...alive, transId: transId('T2') }, { ...alive, transId: transId('T3') });
    expect(payment.expired().todo).toEqual({ kind: 'expire', transId: 'T3' });
    const expired = { ...alive, status: 'EXPIRED' } as const;
    payment.expired().found('EXPIRED');
    payment.listed({ ...expired, transId: transId('T2') }, { ...expired, transId: transId('T3') });
    expect(payment.reply?.kind).toBe('done');
  });

  it('is refused when the link was paid meanwhile', () => {
    const payment = undecided(linkOrder).later(HOUR).fail().found('CREATED').listed(alive);
    payment.expired().found('SUCCESSFUL');
    expect(payment.reply).toMatchObject(refused('the provider says that T1 is SUCCESSFUL'));
    expect(backoff(linkOrder).fail().listed(paidLink).reply).toMatchObject(refused('T1 (SUCCESSFUL)'));
  });

  it('is refused when the link can’t be ended in two rounds', () => {
    const payment = undecided(linkOrder).later(HOUR).fail();
    for (let round = 0; round < 2; round++) {
      payment
        .found('PENDING')
        .listed({ ...alive, status: 'PENDING' })
        .expired(SILENT);
    }
    payment.found('PENDING').listed({ ...alive, status: 'PENDING' });
    expect(payment.reply).toMatchObject(refused('T1 (PENDING)'));
    expect(payment.payment.phase.kind).toBe('review');
  });
});

describe('a held review', () => {
  it('is ended by a decision alone: nothing is asked meanwhile', () => {
    for (const payment of [
      backoff(payoutOrder),
      ambiguous(directOrder).listed(transactionOf(directOrder, { amount: 1 })),
      taken(linkOrder).found('SUCCESSFUL', { amount: 1 }),
    ]) {
      expect(payment.todo).toEqual({ kind: 'wait', summary: 'Until something happens' });
      payment.hint('T1').after(3 * DAY);
      payment.request('refresh');
      expect(payment.reply?.kind).toBe('done');
      expect(payment.request('expire').reply?.kind).toBe('refused');
      while (payment.todo.kind !== 'wait' || payment.todo.until !== undefined) payment.found('SUCCESSFUL');
      expect(payment.status).toBe('REVIEW');
    }
  });

  it('does not come back with what was judged, unless its status changes', () => {
    const payment = backoff(payoutOrder).match('T1').found('SUCCESSFUL');
    expect(payment.payment.others).toMatchObject([{ transId: 'T2', status: 'SUCCESSFUL', decidedAs: 'SUCCESSFUL' }]);
    payment.listed(own, { ...own, transId: transId('T2') });
    payment.later(HOUR).hint('T2').listed(own).found('SUCCESSFUL');
    expect(payment.status).toBe('SUCCESSFUL');
    // An old answer.
    payment.later(HOUR).hint('T2').found('PENDING');
    expect(payment.status).toBe('SUCCESSFUL');
    payment.later(HOUR).hint('T2').found('FAILED');
    expect(payment.status).toBe('SUCCESSFUL');
  });

  it('is not forgotten for a match that was under way: that names the review before it', () => {
    const payment = undecided().hint('T2').found('SUCCESSFUL');
    expect(payment.phase('review')).toMatchObject({ number: 3, held: true });
    expect(payment.match('T1', { review: 1 }).reply).toMatchObject(refused('the review has changed'));
  });

  it('is asked for once, and has the same number when the same is heard again', () => {
    const payment = undecided().hint('T2').found('SUCCESSFUL');
    const { number } = payment.phase('review');
    payment
      .later(2 * MINUTE)
      .hint('T2')
      .found('SUCCESSFUL');
    expect(payment.phase('review').number).toBe(number);
    expect(payment.notified).toEqual(['payment.review']);
  });

  it('stays held, with a new number, when more is heard', () => {
    const payment = backoff(payoutOrder)
      .later(2 * MINUTE)
      .hint('T3')
      .found('PENDING');
    expect(payment.phase('review')).toMatchObject({
      number: 3,
      held: true,
      why: expect.stringContaining('T3'),
    });
  });
});

describe('further transactions', () => {
  it('are all remembered that can move money, however many there are', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ ...own, transId: transId(`T${index + 1}`) }));
    const payment = ambiguous(payoutOrder).listed(...many);
    expect(payment.payment.others).toHaveLength(30);
    const over = many.map((one, index) => (index < 25 ? { ...one, status: 'FAILED' as const } : one));
    expect(ambiguous(payoutOrder).listed(...over).payment.others).toHaveLength(20);
  });
});

describe('what an operator has decided on', () => {
  const second = { ...own, transId: transId('T2') };

  it.each(['resend', 'fail', 'match'] as const)(
    'is what was shown: the number is another when a transaction’s status has changed (%s)',
    (action) => {
      for (const force of [false, true]) {
        const payment = backoff(payoutOrder);
        const { number } = payment.phase('review');
        payment.later(HOUR).match('T1', { force }).found('FAILED').found('SUCCESSFUL');
        expect(payment.reply?.kind).toBe('refused');
        const decided =
          action === 'match'
            ? payment.match('T2', { review: number, force })
            : payment[action]({ review: number, force });
        expect(decided.reply).toMatchObject(refused('the review has changed'));
      }
    },
  );

  it('is what was shown: a transaction that a notification has named since makes it another review', () => {
    const payment = absent(payoutOrder);
    const { number } = payment.phase('review');
    payment.hint('T7').answered(UNKNOWN);
    expect(payment.resend({ review: number, force: true }).reply).toMatchObject(refused('has changed'));
    expect(payment.resend({ force: true }).listed().reply?.kind).toBe('done');
  });

  it('is void for the second person, too, when the evidence has changed', () => {
    const changed = backoff(payoutOrder, { secondPersonAbove: 1_000 }).later(HOUR);
    expect(changed.match('T1', { by: 'one' }).phase('review').proposed).toBeDefined();
    changed.match('T1', { by: 'two' }).found('FAILED').found('SUCCESSFUL');
    expect(changed.reply?.kind).toBe('refused');
    expect(changed.phase('review').proposed).toBeUndefined();
  });

  it('judges the transaction that it leaves by what was shown last, and not by what was shown once', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL', { amount: 1 }).later(HOUR);
    payment.fail().found('FAILED', { amount: 1 }).listed(second);
    payment.later(HOUR).match('T2').found('SUCCESSFUL');
    expect(payment.phase('ended')).toMatchObject({ status: 'SUCCESSFUL', transId: 'T2' });
    expect(payment.payment.others).toMatchObject([{ transId: 'T1', status: 'FAILED', decidedAs: 'FAILED' }]);
    payment
      .listed(second)
      .later(2 * MINUTE)
      .hint('T1')
      .found('SUCCESSFUL');
    expect(payment.phase('review').why).toContain('another transaction for this payment: T1 (SUCCESSFUL)');
  });

  it('is the difference from the order that was shown, and no other', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL', { amount: 1 }).later(HOUR);
    const matched = payment.match('T1', { force: ['different_transaction'] });
    expect(matched.found('SUCCESSFUL', { amount: 2 }).reply).toMatchObject(refused('it has changed'));
    const again = payment.later(HOUR).match('T1', { force: ['different_transaction'] });
    expect(again.found('SUCCESSFUL', { amount: 2 }).reply?.kind).toBe('done');
  });

  it('is that difference, though the answer leaves it out', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL', { amount: 1 }).later(HOUR);
    const left = { amount: undefined };
    expect(payment.match('T1').found('SUCCESSFUL', left).reply).toMatchObject({
      kind: 'refused',
      force: ['different_transaction'],
    });
    const corrected = payment.later(HOUR).match('T1').found('SUCCESSFUL', { amount: payoutOrder.amount });
    expect(corrected.phase('ended').status).toBe('SUCCESSFUL');
  });
});

describe('what the provider shows while a decision is looked into', () => {
  const second = { ...own, transId: transId('T2'), status: 'PENDING' as const };

  it('is another review when it is a further transaction, and the old number is refused', () => {
    const payment = undecided().fail().found('FAILED').listed(second);
    expect(payment.reply).toMatchObject(refused('the provider shows T2 (PENDING) for this payment'));
    expect(payment.phase('review')).toMatchObject({ number: 3, held: true });
    expect(payment.payment.others).toMatchObject([{ transId: 'T2', status: 'PENDING' }]);
    expect(payment.fail({ review: 1 }).reply).toMatchObject(refused('the review has changed'));
  });

  it('must show again what it has shown before, for a payment to be failed unforced', () => {
    const seen = () =>
      undecided()
        .fail()
        .found('FAILED')
        .listed(second)
        .later(2 * MINUTE);
    expect(seen().fail().found('FAILED').listed().reply).toMatchObject(refused('T2 was PENDING when last heard of'));
    const forced = seen().fail({ force: true }).found('FAILED').listed();
    expect(forced.phase('ended').status).toBe('FAILED');
  });

  it.each(['PENDING', 'SUCCESSFUL'] as const)(
    'brings the review back after a forced fail when it is shown again, and is %s',
    (status) => {
      const payment = undecided()
        .fail()
        .found('FAILED')
        .listed(second)
        .later(2 * MINUTE);
      payment.fail({ force: true }).found('FAILED').listed();
      payment.answered(SILENT).listed({ ...second, status: 'FAILED' });
      expect(payment.status).toBe('FAILED');
      payment.later(HOUR).listed({ ...second, status });
      expect(payment.phase('review')).toMatchObject({
        held: true,
        why: `the provider has another transaction for this payment: T2 (${status})`,
      });
    },
  );
});

describe('what is shown without saying whose it is', () => {
  it('is not forgotten when a match is refused, if it is known to be the payment’s', () => {
    const second = { ...own, transId: transId('T2'), status: 'PENDING' } as const;
    const payment = ambiguous(payoutOrder).listed(second, { ...own, status: 'FAILED' });
    payment.match('T2').found('SUCCESSFUL', { externalId: undefined, userId: undefined, amount: 1 });
    expect(payment.reply?.kind).toBe('refused');
    expect(payment.payment.others).toContainEqual(expect.objectContaining({ transId: 'T2', status: 'SUCCESSFUL' }));
  });
});

describe('a payout’s further transaction that has EXPIRED', () => {
  it('has moved no money, and brings nothing back', () => {
    const expired = { ...own, transId: transId('T2'), status: 'EXPIRED' } as const;
    const payment = ambiguous(payoutOrder).listed({ ...own, status: 'FAILED' }, expired);
    payment.match('T1', { force: true }).found('FAILED');
    while (payment.todo.kind !== 'end') {
      if (payment.todo.kind === 'wait') payment.at(payment.todo.until ?? 0);
      else if (payment.todo.kind === 'lookUp') payment.listed({ ...own, status: 'FAILED' }, expired);
      else payment.found('EXPIRED');
    }
    expect(payment.status).toBe('FAILED');
  });
});

describe('a link that a decision has left', () => {
  it('can be paid until it has ended, though an attempt to pay it has failed', () => {
    const L1 = transactionOf(linkOrder, { status: 'FAILED' });
    const payment = ambiguous(linkOrder);
    payment
      .listed(L1, { ...L1, transId: transId('T2') })
      .match('T2')
      .found('FAILED');
    payment.hint('T1').found('FAILED').request('expire');
    payment.found('CREATED').expired().found('EXPIRED');
    expect(payment.phase('review')).toMatchObject({
      held: true,
      why: expect.stringContaining('T1 (FAILED)'),
    });
  });
});

describe('a link that the merchant was given, and a decision has left', () => {
  it('comes before a person when it can be paid after a forced fail', () => {
    const payment = taken(linkOrder).hint('T2').found('PENDING').match('T2').found('PENDING');
    payment.found('EXPIRED').fail({ force: true }).answered(SILENT).listing(SILENT);
    expect(payment.status).toBe('FAILED');
    while (payment.status === 'FAILED') {
      const { todo } = payment;
      if (todo.kind === 'wait') payment.at(todo.until ?? 0);
      else if (todo.kind === 'lookUp') payment.listing(SILENT);
      else payment.found(payment.asks('askStatus').transId === 'T1' ? 'CREATED' : 'EXPIRED');
    }
    expect(payment.phase('review').why).toContain('T1 (CREATED)');
  });
});

describe('a link that was listed beside a disputed transaction', () => {
  it('is not forgotten when another link is matched', () => {
    const [L1, L2] = [transactionOf(linkOrder), transactionOf(linkOrder, { transId: transId('T2') })];
    const disputed = { ...L1, transId: transId('T9'), userId: 'pay_2' };
    const payment = ambiguous(linkOrder).listed(L1, L2, disputed).match('T1').found('CREATED');
    payment.request('expire').found('CREATED').expired().found('EXPIRED');
    expect(payment.phase('review').why).toContain('T2 (CREATED)');
  });
});

describe('what a fail has read before it expired the links', () => {
  it('is kept when the list can’t be read after that', () => {
    const L2 = transactionOf(linkOrder, { transId: transId('T2'), status: 'PENDING' });
    const payment = taken(linkOrder).found('PENDING', { amount: 1 }).later(HOUR);
    payment.fail().found('EXPIRED').listed(L2).expired().found('EXPIRED').listing(SILENT);
    expect(payment.reply).toMatchObject(refused("the provider's list can't be read at the moment"));
    expect(payment.payment.others).toMatchObject([{ transId: 'T2', status: 'PENDING' }]);
    expect(payment.fail().found('EXPIRED').listed().reply).toMatchObject(refused('T2 was PENDING'));
  });

  const REFUSED = { kind: 'refused', message: 'the link is being paid', statusCode: 400 } as const;
  const paying = transactionOf(linkOrder, { status: 'PENDING' });

  /** The list can't be read. */
  function unread(): Scenario {
    const payment = ambiguous(linkOrder);
    while (payment.status !== 'REVIEW') payment.listing(SILENT);
    return payment.later(DAY);
  }

  it.each([
    ['can’t be read', SILENT],
    ['is refused', REFUSED],
    ['leaves it out', { kind: 'listed', transactions: [] }],
  ] as const)('is not overruled by any force when a link isn’t expired and the list %s', (_how, list) => {
    const payment = unread().fail({ force: true }).listed(paying).expired(REFUSED).listing(list);
    expect(payment.reply).toMatchObject(refused('the provider has shown T1 since this was decided'));
    expect([payment.status, payment.notified]).toEqual(['REVIEW', ['payment.review']]);
    expect(payment.listed().phase('following').transId).toBe('T1');
  });

  it.each([
    ['isn’t known', UNKNOWN],
    ['can’t be asked for', SILENT],
  ] as const)('stands for the payment’s own link, whose status %s after that', (_how, answer) => {
    const payment = undecided(linkOrder).fail({ force: true }).found('PENDING').listed(paying);
    payment.expired(REFUSED).answered(answer).listing(SILENT);
    expect(payment.reply).toMatchObject(refused('the provider has shown T1 since this was decided'));
    expect(payment.status).toBe('REVIEW');
  });

  it('is remembered, so that an old answer about a link that has ended brings nothing back', () => {
    const payment = unread()
      .fail({ force: true })
      .listed({ ...paying, status: 'EXPIRED' });
    expect(payment.phase('ended').status).toBe('FAILED');
    payment.listed({ ...paying, status: 'CREATED' });
    expect(payment.phase('ended').status).toBe('FAILED');
  });

  it('holds the review when it names the payment and another, though the decision is refused for something else', () => {
    const disputed = { ...paying, transId: transId('T9'), userId: 'pay_2' };
    const payment = unread().fail({ force: true }).listed(paying, disputed).hint('T8');
    payment.listed(paying);
    expect(payment.reply).toMatchObject(refused('a notification has named T8'));
    expect(payment.phase('review')).toMatchObject({ held: true, why: expect.stringContaining('T9') });
  });

  it('is over once the provider shows that the link has ended, though it says nothing after that', () => {
    const ended = { kind: 'expired', transaction: { ...paying, status: 'EXPIRED' } } as const;
    const payment = unread().fail({ force: true }).listed(paying).expired(ended).listing(SILENT);
    expect(payment.phase('ended').status).toBe('FAILED');
  });

  it('is decided on by whoever has seen it and insists, while nobody answers', () => {
    const payment = unread().fail({ force: true }).listed(paying).expired(REFUSED).listing(SILENT);
    expect(payment.fail({ force: ['no_answer'] }).listing(SILENT).reply).toMatchObject({
      kind: 'refused',
      force: ['missing_transaction', 'no_answer'],
    });
    expect(payment.fail({ force: true }).listing(SILENT).phase('ended').outstanding).toEqual(['T1']);
  });
});

describe('what a refused decision has read', () => {
  const first = { ...own, status: 'PENDING' } as const;
  const second = { ...own, transId: transId('T2') };
  const refusedFor = () => absent(payoutOrder).resend().listed(first);

  it('is taken up by the search, though the list leaves it out', () => {
    const payment = refusedFor().listed();
    expect(payment.phase('following').transId).toBe('T1');
    expect(payment.found('SUCCESSFUL').phase('ended').checks).toHaveLength(3);
  });

  it.each([
    ['the list shows another in its place', (payment: Scenario) => payment.listed(second)],
    ['a notification names another', (payment: Scenario) => payment.hint('T2').found('SUCCESSFUL')],
  ])('is a reason to ask a person when %s', (_, another) => {
    const refused = refusedFor();
    const { number } = refused.phase('review');
    const payment = another(refused);
    expect(payment.phase('review').number).toBeGreaterThan(number);
    expect(payment.phase('review').held).toBe(true);
    expect(payment.payment.others.map(({ transId: id }) => id).sort()).toEqual(['T1', 'T2']);
    expect(payment.later(HOUR).match('T2').found('SUCCESSFUL').phase('ended').transId).toBe('T2');
  });
});

describe('money that the provider has shown as moved', () => {
  const silently = () => backoff(payoutOrder).later(2 * MINUTE);

  it('can’t be called FAILED, however much the operator insists and the provider is silent', () => {
    const payment = silently().fail({ force: true }).listing(SILENT);
    expect(payment.reply).toMatchObject(refused('the provider has shown T1 (SUCCESSFUL) for this payment: match it'));
    expect(payment.status).toBe('REVIEW');
  });

  it('can’t be called FAILED by the transaction that the payment had ended by, either', () => {
    const payment = paid(payoutOrder)
      .hint('T2')
      .found('PENDING', { transId: transId('T2') });
    expect(payment.phase('review').held).toBe(true);
    payment.later(DAY).fail({ force: true }).answered(SILENT).listed();
    expect(payment.reply).toMatchObject(refused('the provider has shown T1 (SUCCESSFUL) for this payment: match it'));
    expect(payment.status).toBe('REVIEW');
  });

  it.each<[string, () => Scenario]>([
    ['with a wrong amount', () => taken(payoutOrder).found('SUCCESSFUL', { amount: 1 })],
    ['in the answer to a decision', () => undecided().fail().found('SUCCESSFUL', { amount: 1 })],
    [
      'in the list before it was taken up',
      () => {
        const payment = ambiguous(payoutOrder).listed(own);
        while (payment.status !== 'REVIEW') payment.answered(SILENT);
        return payment;
      },
    ],
    [
      'before it was matched, and was PENDING in the answer',
      () => {
        const failed = transactionOf(payoutOrder, { transId: transId('T2'), status: 'FAILED' });
        const payment = ambiguous(payoutOrder).listed(own, failed).match('T1').found('PENDING');
        while (payment.status !== 'REVIEW') payment.answered(SILENT);
        return payment;
      },
    ],
    [
      'after it was called FAILED',
      () =>
        undecided()
          .fail()
          .found('FAILED')
          .listed()
          .listed({ ...own, amount: 1 }),
    ],
  ])('can’t be called FAILED when it was shown %s', (_, shown) => {
    const payment = shown().later(HOUR).fail({ force: true }).answered(SILENT).listing(SILENT);
    expect(payment.reply).toMatchObject(refused('the provider has shown T1 (SUCCESSFUL) for this payment: match it'));
    expect(payment.match('T1', { force: true }).answered(SILENT).phase('ended').status).toBe('SUCCESSFUL');
  });

  it('can be called FAILED on the provider’s later word', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL', { amount: 1 }).later(HOUR);
    expect(payment.fail().found('FAILED').listed().phase('ended').status).toBe('FAILED');
  });

  it('is not forgotten when another transaction is matched', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL', { amount: 1 }).later(HOUR);
    payment.match('T2').found('FAILED').found('SUCCESSFUL', { amount: 1 });
    expect(payment.reply).toMatchObject(
      refused('the provider has another transaction for this payment: T1 (SUCCESSFUL)'),
    );
  });

  it('can be matched on that word by an operator who insists while the provider is silent', () => {
    const payment = silently().match('T1', { force: true }).answered(SILENT);
    expect(payment.phase('ended')).toMatchObject({ status: 'SUCCESSFUL', transId: 'T1' });
    expect(silently().match('T1').answered(SILENT).reply).toMatchObject(refused("T1 can't be looked up"));
  });
});

describe('a link that the provider has shown to be paid', () => {
  const L1 = transactionOf(linkOrder, { status: 'PENDING' });
  const shown = () => taken(linkOrder).found('SUCCESSFUL', { amount: 1 }).later(HOUR);

  it('is not expired for a fail, though an old answer shows that it isn’t paid', () => {
    const payment = shown().fail().found('PENDING').listed(L1);
    expect(payment.reply).toMatchObject(refused('the provider shows T1 (PENDING) for this payment'));
    expect(payment.status).toBe('REVIEW');
  });

  it('is not expired for a fail when it is another than the payment’s own', () => {
    const L2 = transactionOf(linkOrder, { transId: transId('T2'), status: 'SUCCESSFUL' });
    const payment = shown().hint('T2').found('SUCCESSFUL').later(HOUR);
    payment
      .fail()
      .found('EXPIRED')
      .listed({ ...L2, status: 'PENDING' });
    expect(payment.reply).toMatchObject(refused('the provider shows T2 (PENDING) for this payment'));
    expect(payment.payment.others).toMatchObject([{ transId: 'T2', status: 'SUCCESSFUL' }]);
  });

  it('is not expired at its end when it is matched, and is followed until the provider says what it is', () => {
    const payment = shown().later(DAY).match('T1', { force: true }).found('PENDING', { amount: 1 });
    for (let looks = 0; looks < 5; looks++) {
      payment.asks('askStatus');
      payment.found('PENDING', { amount: 1 });
    }
    expect(payment.found('SUCCESSFUL', { amount: 1 }).status).toBe('SUCCESSFUL');
  });
});

describe('a match by the provider’s earlier word', () => {
  const matched = () =>
    taken(payoutOrder).found('SUCCESSFUL', { amount: 1 }).match('T1', { force: true }).answered(SILENT);

  it('has the provider speak of it afterwards', () => {
    const payment = matched();
    expect(payment.phase('ended')).toMatchObject({
      status: 'SUCCESSFUL',
      outstanding: ['T1'],
      checks: { length: 3 },
    });
    expect(payment.found('FAILED').phase('review').why).toContain('the provider now says that T1 is FAILED');
  });

  it('stands when the provider says so again', () => {
    const payment = matched()
      .found('SUCCESSFUL', { amount: 1 })
      .listed({ ...own, amount: 1 });
    expect(payment.phase('ended')).toMatchObject({ status: 'SUCCESSFUL', outstanding: [] });
  });
});

describe('a transaction that was found without a list', () => {
  const second = { ...own, transId: transId('T2') };

  it('has the list read at the end when an operator has matched it', () => {
    const payment = absent(payoutOrder).match('T1', { force: true }).found('SUCCESSFUL');
    expect(payment.phase('ended').checks).toHaveLength(3);
    expect(payment.listed(own, second).status).toBe('REVIEW');
  });

  it('has the list read at the end when a notification has named it', () => {
    const payment = ambiguous(payoutOrder).hint('T1').listed().found('SUCCESSFUL');
    expect(payment.phase('ended').checks).toHaveLength(3);
    expect(payment.listed(own, second).status).toBe('REVIEW');
  });
});
