import { describe, expect, it } from '@jest/globals';
import { lookUpDelay } from '../../../src/payments/machine/look-ups.js';
import type { StatusAnswer } from '../../../src/payments/words/outcome.js';
import type { Transaction } from '../../../src/payments/words/transaction.js';
import {
  directOrder,
  HOUR,
  linkOrder,
  MINUTE,
  payoutOrder,
  START,
  terms,
  transactionOf,
  transId,
} from '../../support/orders.js';
import {
  absent,
  ambiguous,
  NOT_SENT,
  opened,
  type Scenario,
  SILENT,
  throttled,
  UNAUTHORIZED,
  UNKNOWN,
} from '../../support/scenario.js';

const graceOver = START + 15 * MINUTE;

/** Look-ups that all get the same answer, until the grace period is over. */
function searchUntilOver(payment: Scenario, look: (payment: Scenario) => void): Scenario {
  while (payment.now < graceOver) look(payment);
  return payment;
}

describe.each([directOrder, payoutOrder])('an ambiguous request that moves money ($kind)', (order) => {
  const own = transactionOf(order);

  it('is looked up after a second', () => {
    expect(ambiguous(order).todo).toMatchObject({ kind: 'wait', until: START + 1_000 });
  });

  it('goes on when its transaction is found, and asked about at once', () => {
    const payment = ambiguous(order).listed(own);
    expect(payment.phase('following').transId).toBe('T1');
    expect(payment.todo).toEqual({ kind: 'askStatus', transId: 'T1', isClaim: false });
  });

  it('is looked for again within the grace period', () => {
    const payment = ambiguous(order);
    while (payment.asks('lookUp') && payment.now < graceOver) {
      expect(payment.payment.phase.kind).toBe('searching');
      payment.listed();
    }
    expect(payment.now).toBe(graceOver);
  });

  it('goes to review when it is absent for the whole grace period, and is looked for on', () => {
    const payment = searchUntilOver(ambiguous(order), (one) => one.listed());
    expect(payment.phase('review')).toMatchObject({
      number: 1,
      held: false,
      why: "it isn't known whether the provider accepted the payment (no answer within 15 s), and the provider doesn't show it",
    });
    expect(payment.notified).toEqual(['payment.review']);
    expect(payment.todo).toMatchObject({ kind: 'wait', until: graceOver + HOUR });
    expect(payment.listed(own).found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });

  it('is sent once more under the policy resend, and not twice', () => {
    const payment = searchUntilOver(ambiguous(order, { ambiguousPolicy: 'resend' }), (one) => one.listed());
    expect(payment.todo).toEqual({ kind: 'send', cause: 'policy' });
    expect(payment.payment.sends).toMatchObject({ policySpent: true, mayBeDouble: true });
    payment.sent({ kind: 'ambiguous', reason: 'reset' });
    while (payment.payment.phase.kind === 'searching') payment.listed();
    expect(payment.payment.phase.kind).toBe('review');
    expect(payment.now).toBe(graceOver + 15 * MINUTE);
  });

  it.each(['PENDING', 'FAILED'] as const)(
    'is never sent under the policy resend once the list has shown a transaction (%s), though it leaves that out later',
    (status) => {
      const shown = [{ ...own, status }];
      const payment = opened(order, { ambiguousPolicy: 'resend' });
      payment.sent({ kind: 'ambiguous', reason: 'nothing was sent', shown });
      while (payment.payment.phase.kind === 'searching') payment.listed();
      if (status === 'PENDING') expect(payment.phase('following').transId).toBe('T1');
      else expect(payment.phase('review').why).toContain('but has shown T1 (FAILED)');
    },
  );

  it('is not sent again under the policy resend once a notification has named the payment alone', () => {
    const payment = ambiguous(order, { ambiguousPolicy: 'resend' });
    payment.take({ kind: 'hintWithoutTransaction' });
    searchUntilOver(payment, (one) => one.listed());
    expect(payment.phase('review').why).toContain('; a notification names a transaction without its id');
    expect(payment.resend().reply).toMatchObject({ kind: 'refused', force: ['reported_transaction'] });
    expect(payment.later(HOUR).resend({ force: true }).listed().todo).toMatchObject({ kind: 'send' });
  });

  it('is not sent again by an operator when one comes while that is looked into, forced or not', () => {
    const payment = absent(order).later(HOUR).resend({ force: true });
    payment.take({ kind: 'hintWithoutTransaction' });
    expect(payment.listed().reply).toMatchObject({ kind: 'refused' });
    expect(payment.payment.sends.count).toBe(1);
  });

  it('is sent again by nobody’s mistake: a transaction that the list shows is what a notification has left unnamed', () => {
    const payment = ambiguous(order).named().listed(own);
    expect(payment.found('PENDING').payment.claims.isNamed).toBeUndefined();
  });

  describe.each([
    ['its userId is another’s', { userId: 'C-4711' }],
    ['its externalId is another’s', { externalId: 'C-4711', userId: order.id }],
  ])('of which the list shows a transaction that names the payment, and another: %s', (_, names) => {
    const disputed = { ...own, ...names };

    it('is put before a person at once, and neither followed nor sent again', () => {
      const payment = ambiguous(order, { ambiguousPolicy: 'resend' }).listed(disputed);
      expect(payment.phase('review')).toMatchObject({ held: true, why: expect.stringContaining('C-4711') });
      expect(payment.later(HOUR).resend({ force: true }).reply).toMatchObject({ kind: 'refused' });
    });

    it('is FAILED only by a person who insists, and then stays so, though the list goes on to show it', () => {
      const payment = ambiguous(order).listed(disputed).later(HOUR).fail().listed();
      expect(payment.reply).toMatchObject({ kind: 'refused', force: ['different_transaction'] });
      payment.fail({ force: ['different_transaction'] }).listed(disputed);
      expect(payment.status).toBe('FAILED');
      while (payment.todo.kind !== 'end') payment.listed(disputed);
      expect(payment.status).toBe('FAILED');
    });

    it('is not sent when that is shown right before', () => {
      const payment = opened(order).sent({ kind: 'ambiguous', reason: 'not sent', shown: [disputed] });
      expect(payment.phase('review').held).toBe(true);
      expect(payment.payment.others).toEqual([]);
    });

    it('is not FAILED when that is shown before its end, or right after it', () => {
      const verified = ambiguous(order).listed(own).found('FAILED');
      verified.listed({ ...disputed, transId: transId('T2') });
      expect(verified.notified).toEqual(['payment.review']);
      const ended = absent(order).after(HOUR).fail().listed().listed(disputed);
      expect(ended.status).toBe('REVIEW');
    });
  });

  it('is not sent again under the policy resend while a notification names a transaction for it', () => {
    const payment = ambiguous(order, { ambiguousPolicy: 'resend' }).hint('T7');
    while (payment.status === 'CREATED') {
      if (payment.todo.kind === 'askStatus') payment.answered(SILENT);
      else if (payment.todo.kind === 'lookUp') payment.listed();
      else payment.after(1_000);
    }
    expect(payment.phase('review').why).toContain('a notification names T7 as its transaction');
  });

  it.each([SILENT, throttled(), UNAUTHORIZED, { kind: 'refused', message: 'no such user', statusCode: 404 } as const])(
    'is never sent again while it cannot be looked up ($kind)',
    (answer) => {
      const payment = ambiguous(order, { ambiguousPolicy: 'resend' });
      searchUntilOver(payment, (one) => one.listing(answer));
      expect(payment.phase('review')).toMatchObject({
        held: false,
        why: expect.stringContaining("the payment couldn't be looked up"),
      });
    },
  );

  it('is under review for what is so now: the list cannot be read, and then shows nothing', () => {
    const payment = searchUntilOver(ambiguous(order), (one) => one.listing(SILENT));
    const { number } = payment.phase('review');
    expect(payment.listed().phase('review').why).toContain("the provider doesn't show it");
    expect(payment.listing(SILENT).phase('review').why).toContain("the payment couldn't be looked up");
    expect(payment.phase('review').number).toBe(number);
  });

  it.each([
    ['of another amount', { amount: 1 }],
    ['of the other kind', { transType: order.kind === 'payout' ? ('Collection' as const) : ('Payout' as const) }],
  ])('goes to a held review at once when what is found is %s', (_, difference) => {
    const payment = ambiguous(order, { ambiguousPolicy: 'resend' }).listed({ ...own, ...difference });
    expect(payment.now).toBe(START + 1_000);
    expect(payment.phase('review')).toMatchObject({ held: true, inquiry: { kind: 'searching' } });
    expect(payment.payment.sends.mayBeDouble).toBe(true);
  });

  it('goes to a held review at once when two are found', () => {
    const payment = ambiguous(order, { ambiguousPolicy: 'resend' });
    payment.listed(own, { ...own, transId: transId('T2') });
    expect(payment.phase('review')).toMatchObject({ held: true, why: expect.stringContaining('T1, T2') });
  });

  it("is not taken for another payment of the same user's and the same amount", () => {
    const another = { ...own, externalId: 'pay_other' };
    expect(ambiguous(order).listed(another).payment.phase.kind).toBe('searching');
    const payment = ambiguous(order, { ambiguousPolicy: 'resend' });
    expect(searchUntilOver(payment, (one) => one.listed(another)).todo).toMatchObject({ kind: 'send' });
  });

  it('is found without its externalId, since the list is of its own id', () => {
    const payment = ambiguous(order).listed({ ...own, externalId: undefined });
    expect(payment.phase('following').transId).toBe('T1');
  });
});

describe('a review of a request in doubt', () => {
  it('ends the right of the policy to send once more', () => {
    const payment = ambiguous(payoutOrder, { ambiguousPolicy: 'resend' });
    searchUntilOver(payment, (one) => one.listing(SILENT));
    for (let looks = 0; looks < 50; looks++) {
      payment.listed();
      expect(payment.payment.phase.kind).toBe('review');
      expect(payment.todo.kind).toBe('wait');
    }
  });

  it('is no news again when the look-ups go on to show nothing, or get no answer', () => {
    const payment = absent(payoutOrder);
    const before = payment.phase('review');
    payment.listing(SILENT).listed();
    expect(payment.phase('review')).toMatchObject({ number: before.number, why: before.why });
    expect(payment.notified).toEqual(['payment.review']);
  });

  it('becomes a held one, with a new number, when a look-up shows two', () => {
    const own = transactionOf(payoutOrder);
    const payment = absent(payoutOrder).listed(own, { ...own, transId: transId('T2') });
    expect(payment.phase('review')).toMatchObject({ number: 2, held: true, since: graceOver });
    expect(payment.todo.kind).toBe('wait');
  });
});

describe('an ambiguous link', () => {
  const link = transactionOf(linkOrder);

  it('is made anew, for nobody was given the first', () => {
    expect(ambiguous(linkOrder).listed().todo).toEqual({ kind: 'send', cause: 'policy' });
  });

  it('is no reason to check the outcome again afterwards', () => {
    expect(ambiguous(linkOrder).listed().payment.sends).toMatchObject({ mayBeDouble: false });
  });

  it('is made anew only when those that were found have been expired', () => {
    const payment = ambiguous(linkOrder).listed(
      link,
      { ...link, transId: transId('T2'), status: 'EXPIRED' },
      { ...link, transId: transId('T3') },
    );
    expect(payment.todo).toEqual({ kind: 'expire', transId: 'T1' });
    expect(payment.expired().todo).toEqual({ kind: 'expire', transId: 'T3' });
    expect(payment.expired(SILENT).todo).toEqual({ kind: 'send', cause: 'policy' });
  });

  it('keeps the quiet that the provider asks for while it expires them', () => {
    const payment = ambiguous(linkOrder).listed(link, { ...link, transId: transId('T2') });
    payment.expired(throttled(30_000));
    expect(payment.asks('expire')).toEqual({ kind: 'expire', transId: 'T2' });
    expect(payment.now).toBe(START + 32_000);
  });

  it.each(['SUCCESSFUL', 'PENDING'] as const)('is the payment when somebody has paid it (%s)', (status) => {
    const payment = ambiguous(linkOrder).listed({ ...link, status });
    expect(payment.phase('following').transId).toBe('T1');
  });

  it.each([
    ['refuses to expire it', { kind: 'refused', message: 'the link is being paid', statusCode: 400 }],
    ['shows it as paid instead', { kind: 'expired', transaction: { ...link, status: 'SUCCESSFUL' } }],
  ] as const)('is looked for again when the provider %s, before another is made', (_how, answer) => {
    const payment = ambiguous(linkOrder).listed(link).expired(answer);
    expect(payment.payment.phase.kind).toBe('searching');
    expect(payment.listed({ ...link, status: 'SUCCESSFUL' }).phase('following').transId).toBe('T1');
  });

  it('has ended once it was expired, though an old list shows it as it was', () => {
    const payment = ambiguous(linkOrder).listed(link).expired();
    payment.sent({ kind: 'ambiguous', reason: 'reset' }).listed(link);
    expect(payment.payment.others).toMatchObject([{ transId: 'T1', status: 'EXPIRED' }]);
    expect(payment.todo.kind).toBe('send');
  });

  it('is kept in mind with all that are listed, those that have ended among them', () => {
    const ended = { ...link, transId: transId('T2'), status: 'EXPIRED' } as const;
    expect(ambiguous(linkOrder).listed(link, ended).payment.others).toMatchObject([
      { transId: 'T1', status: 'CREATED' },
      { transId: 'T2', status: 'EXPIRED' },
    ]);
  });

  it('is kept in mind when nobody answers the request to expire it', () => {
    const payment = ambiguous(linkOrder).listed(link).expired(SILENT);
    expect(payment.todo.kind).toBe('send');
    expect(payment.payment.others).toMatchObject([{ transId: 'T1', status: 'CREATED' }]);
  });

  it('is expired with all that were listed beside it, though the list leaves them out after that', () => {
    const second = { ...link, transId: transId('T2') };
    const payment = ambiguous(linkOrder).listed(link, second);
    payment.expired({ kind: 'refused', message: 'no', statusCode: 400 }).listed();
    expect(payment.asks('expire').transId).toBe('T1');
    payment.expired();
    expect(payment.asks('expire').transId).toBe('T2');
    expect(payment.expired().todo.kind).toBe('send');
  });

  it('is never FAILED while the provider refuses to expire it: a person is asked after a day', () => {
    const payment = ambiguous(linkOrder);
    while (payment.status === 'CREATED') {
      payment.listed(link).expired({ kind: 'refused', message: 'no', statusCode: 400 });
    }
    expect(payment.phase('review')).toMatchObject({
      held: false,
      why: "the provider doesn't expire T1, which was made for this payment",
    });
    expect(payment.now).toBeLessThan(graceOver + 25 * HOUR);
    payment.listed({ ...link, status: 'EXPIRED' });
    expect(payment.phase('ended')).toMatchObject({ failureCode: 'link_not_created' });
  });

  it('goes to a held review when two have been paid', () => {
    const paid = { ...link, status: 'SUCCESSFUL' } as const;
    const payment = ambiguous(linkOrder).listed(paid, { ...paid, transId: transId('T2') });
    expect(payment.phase('review')).toMatchObject({ held: true, why: expect.stringContaining('T1, T2') });
  });

  it('is given up when none could be made in the whole grace period, which all tries share', () => {
    const payment = ambiguous(linkOrder);
    while (payment.status === 'CREATED') {
      expect(payment.now).toBeLessThanOrEqual(graceOver);
      payment.listed();
      if (payment.payment.phase.kind === 'sending') payment.sent({ kind: 'ambiguous', reason: 'reset' });
    }
    expect(payment.phase('ended')).toMatchObject({
      status: 'FAILED',
      reason: 'no link could be created: reset',
    });
    expect(payment.now).toBe(graceOver);
  });

  it("is nobody's to decide while the list cannot be read, however long the grace period is over: it goes on by itself", () => {
    const payment = ambiguous(linkOrder);
    while (payment.now < graceOver + 12 * HOUR) payment.listing(SILENT);
    expect([payment.status, payment.notified]).toEqual(['CREATED', []]);
    expect(payment.listed().phase('ended')).toMatchObject({ failureCode: 'link_not_created' });
  });

  it('is put before a person when the list could not be read for a day', () => {
    const payment = ambiguous(linkOrder);
    while (payment.now < graceOver + 25 * HOUR) payment.listing(SILENT);
    expect(payment.status).toBe('REVIEW');
  });

  it('is given up only when those that were made have been expired', () => {
    const payment = ambiguous(linkOrder);
    while (payment.now < graceOver) payment.listing(SILENT);
    expect(payment.listed(link).todo).toEqual({ kind: 'expire', transId: 'T1' });
    expect(payment.expired().phase('ended').status).toBe('FAILED');
  });

  it('is looked for again, and not given up, when a notification comes in that says that it has been paid', () => {
    const payment = ambiguous(linkOrder).at(graceOver).listed(link);
    expect(payment.todo).toEqual({ kind: 'expire', transId: 'T1' });
    payment.hint('T1');
    expect(payment.phase('searching').clearing).toBeUndefined();
  });

  describe('that is to be given up while a notification names a transaction', () => {
    /** Goes on with what the payment does next, whatever that is. */
    function goOn(payment: Scenario, answer: StatusAnswer, ...listed: readonly Transaction[]): void {
      const { todo } = payment;
      if (todo.kind === 'askStatus') payment.answered(answer);
      else if (todo.kind === 'wait' && todo.until !== undefined) payment.at(todo.until);
      else payment.listed(...listed);
    }

    function named(): Scenario {
      const payment = ambiguous(linkOrder)
        .at(graceOver + HOUR)
        .hint('T9', 'PENDING');
      while (payment.phase('searching').ambiguity.otherwise === undefined) goOn(payment, SILENT);
      return payment;
    }

    it('is not, for a grace period of its own: then a person is asked', () => {
      const payment = named();
      const { since } = payment.phase('searching').ambiguity;
      while (payment.status === 'CREATED') goOn(payment, SILENT);
      expect(payment.now).toBe(since + 15 * MINUTE);
      expect(payment.phase('review')).toMatchObject({ held: false, why: expect.stringContaining('names T9') });
      expect(payment.notified).toEqual(['payment.review']);
    });

    it('is given up once the provider has denied it, and the outcome is checked afterwards', () => {
      const payment = named();
      while (payment.payment.phase.kind !== 'ended') goOn(payment, UNKNOWN);
      expect(payment.phase('ended')).toMatchObject({ failureCode: 'link_not_created' });
      expect(payment.phase('ended').checks).toHaveLength(3);
    });

    it('is neither made anew nor expired: it is followed when it is paid', () => {
      const payment = named();
      while (payment.status === 'CREATED') {
        expect(['askStatus', 'lookUp', 'wait']).toContain(payment.todo.kind);
        goOn(payment, SILENT, link);
      }
      while (payment.payment.phase.kind === 'review') goOn(payment, SILENT, { ...link, status: 'SUCCESSFUL' });
      expect(payment.phase('following').transId).toBe('T1');
    });
  });

  it('is not made anew while the first cannot be looked up', () => {
    expect(ambiguous(linkOrder).listing(SILENT).payment.phase.kind).toBe('searching');
  });
});

describe('a link of which the book may have lost that it was made before', () => {
  const lost = (): Scenario => {
    const payment = opened(linkOrder);
    payment.take({ kind: 'gap', at: START });
    return payment;
  };
  const first = transactionOf(linkOrder, { status: 'SUCCESSFUL' });

  it('is looked for before it is made', () => {
    const payment = lost().after(0);
    expect(payment.listed(first).found('SUCCESSFUL').phase('ended')).toMatchObject({ transId: 'T1' });
    expect(lost().after(0).listing(SILENT).todo.kind).toBe('wait');
    expect(lost().after(MINUTE).listed().todo.kind).toBe('send');
  });

  it('is not made before the list shows what was made a moment before', () => {
    const payment = lost().after(0);
    while (payment.todo.kind !== 'send') payment.listed();
    expect(payment.now).toBeGreaterThanOrEqual(START + MINUTE);
  });

  it('is made only once the one that the list shows is known to have expired, and then as any other', () => {
    const unpaid = transactionOf(linkOrder, { status: 'CREATED' });
    const payment = lost().after(MINUTE).listed(unpaid);
    expect(payment.asks('expire')).toMatchObject({ transId: 'T1' });
    expect(payment.expired(SILENT).todo.kind).toBe('wait');
    payment.listed(unpaid).expired({ kind: 'alreadyExpired' });
    payment.sent({ kind: 'ambiguous', reason: 'no answer' });
    payment.listed(transactionOf(linkOrder, { transId: transId('T2'), status: 'CREATED' }));
    expect(payment.expired(SILENT).todo.kind).toBe('send');
  });

  it('is looked for once more where it was about to be made again', () => {
    const payment = ambiguous(linkOrder).listed().sent(NOT_SENT);
    payment.take({ kind: 'gap', at: payment.now });
    expect(payment.asks('lookUp')).toBeDefined();
  });

  it('is looked for once more where what the list had shown before was being expired', () => {
    const payment = ambiguous(linkOrder).listed(transactionOf(linkOrder, { status: 'CREATED' }));
    payment.asks('expire');
    payment.take({ kind: 'gap', at: payment.now });
    expect(payment.asks('lookUp')).toBeDefined();
  });

  it('is looked for once, however often it is told', () => {
    const payment = lost().after(MINUTE).listed();
    payment.take({ kind: 'gap', at: START });
    expect(payment.after(0).todo.kind).toBe('send');
    payment.take({ kind: 'gap', at: payment.now });
    expect(payment.after(0).asks('lookUp')).toBeDefined();
  });

  it('is looked for when a try to make it has failed', () => {
    expect(lost().sent(NOT_SENT).after(0).asks('lookUp')).toBeDefined();
  });

  it.each([
    ['refused', { kind: 'rejected', message: 'no', statusCode: 400 }],
    ['withheld', { kind: 'withheld', failureCode: 'not_sent', reason: 'too late' }],
  ] as const)('is FAILED only once the list shows none: it was %s', (_, outcome) => {
    expect(lost().sent(outcome).status).toBe('CREATED');
    expect(lost().sent(outcome).listed().status).toBe('FAILED');
    expect(lost().sent(outcome).listed(first).found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });

  it('is EXPIRED only once the list shows no other', () => {
    const payment = lost().sent({ kind: 'accepted', transId: transId('T2') });
    const second = transactionOf(linkOrder, { transId: transId('T2'), status: 'EXPIRED' });
    expect(payment.found('EXPIRED').status).toBe('CREATED');
    expect(payment.listed(second, first).phase('review').held).toBe(true);
    expect(payment.notified).toEqual(['payment.review']);
  });

  it('is not made when it is too late', () => {
    const payment = lost().after(terms.sendByMs);
    expect(payment.todo.kind).toBe('send');
    expect(payment.sent({ kind: 'withheld', failureCode: 'not_sent', reason: 'too late' }).listed().status).toBe(
      'FAILED',
    );
  });
});

describe('the pause between look-ups', () => {
  it('grows from a second to two minutes, ends with the grace period, and is long after it', () => {
    const { payment } = ambiguous(payoutOrder);
    const pauseAfter = (lookUps: number, now: number) => lookUpDelay(payment, { since: START }, lookUps, now);
    expect([0, 1, 2, 3, 7, 100].map((lookUps) => pauseAfter(lookUps, START))).toEqual([
      1_000,
      2_000,
      4_000,
      8_000,
      2 * MINUTE,
      2 * MINUTE,
    ]);
    expect(pauseAfter(100, graceOver - 30_000)).toBe(30_000);
    expect(pauseAfter(100, graceOver)).toBe(HOUR);
  });

  it('lasts as long as the provider asks', () => {
    const payment = ambiguous(payoutOrder).listing(throttled(5 * MINUTE));
    expect(payment.todo).toMatchObject({ kind: 'wait', until: START + 1_000 + 5 * MINUTE });
  });

  it('is cut short by a notification, but ten seconds lie between two look-ups', () => {
    const payment = ambiguous(payoutOrder);
    for (let looks = 0; looks < 6; looks++) payment.listed();
    const lookedAt = payment.now;
    payment.later(2_000).hint('T1').answered(SILENT);
    payment.asks('lookUp');
    expect(payment.now).toBe(lookedAt + 10_000);
    payment.listed().later(11_000).hint('T1');
    expect(payment.todo).toEqual({ kind: 'lookUp' });
  });
});
