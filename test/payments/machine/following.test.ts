import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PROVIDER_STATUSES } from '../../../src/payments/words/transaction.js';
import {
  DAY,
  directOrder,
  HOUR,
  linkOrder,
  MINUTE,
  orders,
  payoutOrder,
  START,
  transactionOf,
  transId,
} from '../../support/orders.js';
import { paid, type Scenario, SILENT, taken, throttled, UNKNOWN } from '../../support/scenario.js';

describe('following a transaction', () => {
  it('begins after the quiet time', () => {
    expect(taken(payoutOrder).todo).toMatchObject({ kind: 'wait', until: START + 3 * MINUTE });
  });

  it('keeps what the provider has told when a later answer leaves it out', () => {
    const payment = taken(linkOrder).found('PENDING', { medium: 'orange money', revenue: 4_900 });
    payment.found('SUCCESSFUL', { financialTransId: 'F1' });
    expect(payment.payment.facts).toMatchObject({
      medium: 'orange money',
      revenue: 4_900,
      financialTransId: 'F1',
    });
  });

  it('goes on when the provider gives no answer, or does not know the transaction', () => {
    const payment = taken(payoutOrder).answered(SILENT).answered(UNKNOWN).answered(throttled(HOUR));
    expect(payment.payment.phase.kind).toBe('following');
    expect(payment.todo).toMatchObject({ kind: 'wait', until: payment.now + HOUR });
  });

  it.each([
    ['of another amount', { amount: 5_001 }],
    ['of another kind', { transType: 'Payout' as const }],
    ['of another payment', { externalId: 'col_other' }],
  ])('goes to a held review when it is %s, even when it is SUCCESSFUL', (_, difference) => {
    const payment = taken(linkOrder).found('SUCCESSFUL', difference);
    expect(payment.phase('review')).toMatchObject({ number: 1, held: true });
    expect(payment.notified).toEqual(['payment.review']);
    expect(payment.todo).toEqual({ kind: 'wait', summary: 'Until something happens' });
  });

  it('ends only in a status that its kind can end in', () => {
    fc.assert(
      fc.property(fc.constantFrom(...orders), fc.constantFrom(...PROVIDER_STATUSES), (order, status) => {
        const ends = order.kind === 'link' ? ['SUCCESSFUL', 'EXPIRED'] : ['SUCCESSFUL', 'FAILED'];
        expect(taken(order).found(status).payment.phase.kind === 'ended').toBe(ends.includes(status));
      }),
    );
  });

  it('is not ended twice: an ended payment asks nothing any more', () => {
    expect(paid(payoutOrder).todo).toEqual({ kind: 'end' });
  });
});

describe('a transaction that has failed', () => {
  it('ends the payment at once when nothing else is known of', () => {
    expect(taken(payoutOrder).found('FAILED').payment.phase.kind).toBe('ended');
  });

  it('ends it after a look at the list when a notification names another, which nobody has confirmed yet', () => {
    const payment = taken(payoutOrder).hint('T2').answered(UNKNOWN).hint('T1').found('FAILED');
    expect(payment.payment.phase.kind).toBe('verifying');
    const T2 = transactionOf(payoutOrder, { transId: transId('T2'), status: 'SUCCESSFUL' });
    expect(payment.listed(T2).phase('review').why).toContain('T2 (SUCCESSFUL)');
  });
});

describe('a link', () => {
  it('ends a day after it was made, or when the merchant wishes', () => {
    const endOf = ({ payment }: Scenario) => payment.facts.expiresAt;
    expect(endOf(taken(linkOrder))).toBe(START + DAY);
    expect(endOf(taken({ ...linkOrder, expiresInMs: MINUTE }))).toBe(START + MINUTE);
  });

  it('is not final after a failed attempt, and can still be paid', () => {
    const payment = taken(linkOrder).found('FAILED', { reason: 'declined' });
    expect(payment).toMatchObject({ status: 'FAILED', notified: ['payment.attempt_failed'] });
    expect(payment.payment.facts.reason).toBe('declined');
    payment.found('SUCCESSFUL');
    expect(payment.notified).toEqual(['payment.attempt_failed', 'payment.succeeded']);
    expect(payment.phase('ended').reason).toBeUndefined();
  });

  it('tells of a failed attempt once, however often the provider says so', () => {
    const payment = taken(linkOrder).found('FAILED').found('FAILED').found('FAILED');
    expect(payment.notified).toEqual(['payment.attempt_failed']);
  });

  it('tells of each attempt that fails', () => {
    const payment = taken(linkOrder).found('FAILED').found('PENDING').found('FAILED');
    expect(payment.notified).toEqual(['payment.attempt_failed', 'payment.attempt_failed']);
  });

  it('is not told as a failed attempt by an old answer once it was shown to be paid', () => {
    const payment = taken(linkOrder).found('SUCCESSFUL', { amount: 1 });
    payment.match('T1', { force: true }).found('FAILED', { amount: 1 });
    expect(payment.status).toBe('CREATED');
    expect(payment.notified).toEqual(['payment.review']);
  });

  it('does not go back to CREATED', () => {
    expect(taken(linkOrder).found('FAILED').found('CREATED').status).toBe('FAILED');
  });

  it('is final when it expired', () => {
    const payment = taken(linkOrder).found('EXPIRED');
    expect(payment.phase('ended').status).toBe('EXPIRED');
    expect(payment.notified).toEqual(['payment.expired']);
  });
});

describe.each([directOrder, payoutOrder])('a payment that is no link ($kind)', (order) => {
  it.each([
    ['SUCCESSFUL', 'payment.succeeded'],
    ['FAILED', 'payment.failed'],
  ] as const)('is final as %s', (status, event) => {
    const payment = taken(order).found(status, { reason: 'the provider’s words' });
    expect(payment.phase('ended')).toMatchObject({ status, transId: 'T1', reason: 'the provider’s words' });
    expect(payment.notified).toEqual([event]);
  });

  it('has no end of its own, and can’t be expired', () => {
    const payment = taken(order);
    expect(payment.payment.facts.expiresAt).toBeUndefined();
    expect(payment.phase('following').end).toBeUndefined();
    expect(payment.request('expire').reply).toMatchObject({ kind: 'refused', type: 'NotALink' });
  });

  it('goes to review when the provider calls it EXPIRED, which it cannot be', () => {
    expect(taken(order).found('EXPIRED').phase('review').held).toBe(true);
  });
});

describe('closing a link', () => {
  /** Polls until the link's end has come: it is looked at. */
  function atItsEnd(): Scenario {
    const payment = taken(linkOrder);
    while (payment.payment.phase.kind === 'following') {
      if (payment.todo.kind === 'wait' && payment.todo.until !== undefined) payment.at(payment.todo.until);
      else payment.found('CREATED');
    }
    return payment;
  }

  it('begins at the link’s end with a look, for it may be paid', () => {
    const payment = atItsEnd();
    expect(payment.now).toBe(START + DAY);
    expect(payment.phase('closing').next).toBe('look');
    expect(payment.todo).toEqual({ kind: 'askStatus', transId: 'T1', isClaim: false });
    expect(payment.found('SUCCESSFUL').phase('ended').status).toBe('SUCCESSFUL');
  });

  it('goes on with expiring it, and another look, for it may be paid meanwhile', () => {
    const payment = atItsEnd().found('CREATED');
    expect(payment.todo).toEqual({ kind: 'expire', transId: 'T1' });
    payment.expired();
    expect(payment.phase('closing').next).toBe('confirm');
    expect(payment.todo).toMatchObject({ kind: 'askStatus', transId: 'T1' });
    expect(payment.found('EXPIRED').phase('ended').status).toBe('EXPIRED');
  });

  it('finds a payment of the last second', () => {
    const payment = atItsEnd().found('PENDING').expired().found('SUCCESSFUL');
    expect(payment.notified).toEqual(['payment.succeeded']);
  });

  it.each([{ kind: 'alreadyExpired' } as const, { kind: 'refused', message: 'no', statusCode: 400 } as const])(
    'lets the status decide whatever the provider answers ($kind)',
    (answer) => {
      expect(atItsEnd().found('CREATED').expired(answer).asks('askStatus').transId).toBe('T1');
    },
  );

  it('never expires a link that could not be looked at', () => {
    const payment = atItsEnd().answered(SILENT);
    expect(payment.todo).toMatchObject({ kind: 'wait', until: payment.now + 5_000 });
    expect(payment.answered(SILENT).todo.kind).toBe('wait');
    expect(payment.phase('closing').next).toBe('look');
  });

  it('begins anew with a look when the provider gave no answer to the expiry', () => {
    const payment = atItsEnd().found('CREATED').expired(SILENT);
    expect(payment.phase('following').end).toEqual({ at: payment.now + 5_000, tries: 1 });
    expect(payment.asks('askStatus').transId).toBe('T1');
    expect(payment.phase('closing').next).toBe('look');
  });

  it('begins anew, later each time, while the provider doesn’t end the link', () => {
    const payment = atItsEnd();
    const pauses: number[] = [];
    for (let round = 0; round < 3; round++) {
      payment.found('PENDING').expired().found('PENDING');
      pauses.push((payment.phase('following').end?.at ?? 0) - payment.now);
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000]);
  });

  it('keeps the quiet that the provider asks for', () => {
    const payment = atItsEnd()
      .found('CREATED')
      .expired(throttled(10 * MINUTE));
    const quietUntil = payment.now + 10 * MINUTE;
    payment.asks('askStatus');
    expect(payment.now).toBe(quietUntil);
  });

  it('is begun by the merchant, who is answered when it is done', () => {
    const payment = taken(linkOrder).later(HOUR).request('expire');
    expect(payment.payment.facts.expiresAt).toBe(START + HOUR);
    payment.found('CREATED').expired();
    expect(payment.reply).toBeUndefined();
    expect(payment.found('EXPIRED').reply).toEqual({ request: 1, kind: 'done' });
  });

  it('is not begun any sooner at a provider that gives no answers', () => {
    const payment = taken(linkOrder).answered(SILENT).answered(SILENT);
    const { nextAt } = payment.phase('following').polling;
    payment.request('expire').asks('askStatus');
    expect(payment.now).toBe(nextAt);
  });

  it('is not put off by a merchant who asks for it again', () => {
    const payment = atItsEnd().later(HOUR).request('expire');
    expect(payment.payment.facts.expiresAt).toBe(START + DAY);
  });
});

describe('an undecided payment', () => {
  it.each([directOrder, payoutOrder])('is put before a person a day after it began ($kind)', (order) => {
    const payment = taken(order);
    while (payment.asks('askStatus') && payment.now < START + DAY) {
      expect(payment.found('PENDING').status).toBe('PENDING');
    }
    expect(payment.found('PENDING').phase('review')).toMatchObject({
      held: false,
      why: 'the provider has given no outcome of T1 for a day: it was PENDING when last heard of',
      inquiry: { kind: 'following', transId: 'T1' },
    });
  });

  it('is put before a person when the provider gives no answer at all', () => {
    const payment = taken(payoutOrder);
    while (payment.status !== 'REVIEW') payment.answered(SILENT);
    expect(payment.now).toBeLessThanOrEqual(START + DAY + HOUR);
  });

  it('is a link only a day after it should have ended', () => {
    const payment = taken(linkOrder);
    while (payment.status !== 'REVIEW') {
      if (payment.todo.kind === 'expire') payment.expired(SILENT);
      else payment.found('PENDING');
    }
    expect(payment.now).toBeGreaterThanOrEqual(START + 2 * DAY);
    expect(payment.now).toBeLessThanOrEqual(START + 2 * DAY + HOUR);
    expect(payment.phase('review').why).toContain('the link T1 should have ended a day ago');
  });

  it('is put before a person once', () => {
    const payment = taken(payoutOrder);
    while (payment.now < START + 3 * DAY) payment.found('PENDING');
    expect(payment.phase('review').number).toBe(1);
    expect(payment.notified).toEqual(['payment.review']);
  });

  it('is followed on, and decided by the provider’s word when that is final', () => {
    const payment = taken(payoutOrder);
    while (payment.status !== 'REVIEW') payment.found('PENDING');
    expect(payment.found('PENDING').status).toBe('REVIEW');
    expect(payment.found('SUCCESSFUL').phase('ended').status).toBe('SUCCESSFUL');
    expect(payment.notified).toEqual(['payment.review', 'payment.succeeded']);
  });

  it('is a link that can still be expired', () => {
    const payment = taken(linkOrder);
    while (payment.status !== 'REVIEW') {
      if (payment.todo.kind === 'expire') payment.expired(SILENT);
      else payment.found('CREATED');
    }
    if (payment.todo.kind === 'expire') payment.expired(SILENT);
    payment.request('expire').found('CREATED').expired().found('EXPIRED');
    expect(payment.phase('ended').status).toBe('EXPIRED');
    expect(payment.reply).toMatchObject({ kind: 'done' });
  });
});

describe('a match with a link', () => {
  it('keeps the link’s own end, and drops an address of another transaction', () => {
    const payment = taken(linkOrder).later(MINUTE).hint('T2').found('PENDING').match('T2').found('PENDING');
    expect(payment.phase('following')).toMatchObject({
      transId: 'T2',
      end: { at: START + DAY, tries: 0 },
    });
    expect(payment.payment.facts).toMatchObject({
      expiresAt: START + DAY,
      link: { transId: transId('T1') },
    });
  });

  it('ends the link at once when its end is over', () => {
    const payment = taken({ ...linkOrder, expiresInMs: MINUTE })
      .found('EXPIRED')
      .later(DAY);
    payment.hint('T2').found('PENDING').match('T2').found('PENDING');
    expect(payment.payment.facts.expiresAt).toBe(START + MINUTE);
    expect(payment.phase('closing')).toMatchObject({ next: 'look', of: { transId: 'T2' } });
  });
});

describe('a question that its worker has kept back', () => {
  it('is asked as soon as there is room, and counts for nothing until then', () => {
    const payment = taken(directOrder).hint('T1');
    payment.answered({ kind: 'throttled', isOurs: true, retryAfterMs: 20_000 });
    expect(payment.todo).toMatchObject({ kind: 'wait', until: payment.now + 20_000 });
    expect(payment.payment.recentQuestions).toEqual([]);
    expect(payment.payment.quietUntil).toBeUndefined();
    expect(payment.after(20_000).found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });
});
