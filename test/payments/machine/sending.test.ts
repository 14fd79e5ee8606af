import { describe, expect, it } from '@jest/globals';
import { sentIf } from '../../../src/payments/machine/sending.js';
import { NOT_SENT_PATIENCE_MS, sendAgainDelay } from '../../../src/payments/machine/waiting.js';
import { failureCodeOf, openPayment, rejectionOf } from '../../../src/payments/words/payment-state.js';
import {
  DAY,
  directOrder,
  HOUR,
  linkOrder,
  MINUTE,
  orders,
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
  THROTTLED_SEND,
  throttled,
  UNAUTHORIZED,
  UNKNOWN,
  UNREAD,
} from '../../support/scenario.js';

const own = transactionOf(payoutOrder, { status: 'SUCCESSFUL' });
const REJECTED = { kind: 'rejected', message: 'duplicate externalId', statusCode: 400 } as const;

/** Sends that get the same outcome, one after the other, until the payment stops sending. */
function sendWhile(payment: Scenario, outcome: Parameters<Scenario['sent']>[0]): Scenario {
  payment.sent(outcome);
  for (let { phase } = payment.payment; phase.kind === 'waiting'; { phase } = payment.payment) {
    const isRepeated = phase.ambiguity !== undefined;
    if (isRepeated) payment.listed();
    if (payment.payment.phase.kind === 'review') break;
    payment.asks('send');
    payment.sent(outcome);
  }
  return payment;
}

/** Answers look-ups until there are no more. */
function searching(payment: Scenario, answer: (payment: Scenario) => void): Scenario {
  while (payment.payment.phase.kind === 'searching') answer(payment);
  return payment;
}

describe('sending', () => {
  it('is what a new payment does first, on the order of its merchant', () => {
    expect(openPayment(payoutOrder, terms, START)).toMatchObject({
      createdAt: START,
      updatedAt: START,
      phase: { kind: 'sending', cause: 'order' },
    });
    expect(opened(payoutOrder)).toMatchObject({ status: 'CREATED', todo: { kind: 'send', cause: 'order' } });
  });

  it.each(orders)('ends in following the transaction that the provider has made ($id)', (order) => {
    const payment = opened(order)
      .later(900)
      .sent({ kind: 'accepted', transId: transId('T1') });
    expect(payment.phase('following')).toMatchObject({
      transId: 'T1',
      status: 'CREATED',
      since: START + 900,
    });
    expect(payment.payment.sends).toEqual({
      count: 1,
      lastAt: START + 900,
      policySpent: false,
      mayBeDouble: false,
    });
  });

  it('ends as FAILED with the words of the provider when it rejects the request', () => {
    const payment = opened(payoutOrder).sent({
      kind: 'rejected',
      message: 'Insufficient balance',
      statusCode: 400,
    });
    expect(payment.phase('ended')).toMatchObject({
      status: 'FAILED',
      reason: 'Insufficient balance',
      failureCode: 'rejected_by_provider',
      checks: [],
    });
    expect(payment.notified).toEqual(['payment.failed']);
  });

  it('ends in searching when nobody knows what became of the request', () => {
    const payment = opened(payoutOrder).later(15_000).sent({ kind: 'ambiguous', reason: 'reset' });
    expect(payment.phase('searching').ambiguity).toEqual({ reason: 'reset', since: START + 15_000 });
    expect(payment.payment.sends).toMatchObject({ count: 1, lastAt: START + 15_000 });
  });

  it.each([UNAUTHORIZED, THROTTLED_SEND, NOT_SENT, UNREAD])(
    'ends in waiting, and counts as no request, when nothing was sent (%o)',
    (outcome) => {
      const payment = opened(payoutOrder).sent(outcome);
      expect(payment.payment.phase.kind).toBe('waiting');
      expect(payment.payment.sends).toMatchObject({ count: 0 });
      expect(payment.notified).toEqual([]);
    },
  );

  it('is left by nothing but the outcome of the request once something may be known of it', () => {
    const payment = opened(payoutOrder);
    payment.hint('T1').request('expire').request('refresh').request('recheck').fail();
    payment.at(START + 9 * DAY).take({ kind: 'begin' });
    expect(payment.todo).toEqual({ kind: 'send', cause: 'order' });
    expect(payment.replies.map((reply) => (reply.kind === 'refused' ? reply.type : 'done'))).toEqual([
      'NotInitiated',
      'done',
      'done',
      'NotUnderReview',
    ]);
  });

  it('asks for the status at once when a notification came before the answer to the request', () => {
    const payment = opened(directOrder)
      .hint('T1')
      .sent({ kind: 'accepted', transId: transId('T1') });
    expect(payment.todo).toEqual({ kind: 'askStatus', transId: 'T1', isClaim: false });
    expect(payment.payment.claims.open).toEqual([]);
  });
});

describe('waiting to send again', () => {
  it('backs off from a second to a minute', () => {
    const pauses = [1, 2, 3, 7, 50].map((tries) => sendAgainDelay({ hold: 'connection', tries }));
    expect(pauses).toEqual([1_000, 2_000, 4_000, MINUTE, MINUTE]);
  });

  it('backs off from one to ten minutes while the credentials are refused', () => {
    const pauses = [1, 2, 3, 4, 5, 50].map((tries) => sendAgainDelay({ hold: 'credentials', tries }));
    expect(pauses).toEqual([1, 2, 4, 8, 10, 10].map((minutes) => minutes * MINUTE));
  });

  it('lasts as long as the provider asked', () => {
    expect(sendAgainDelay({ hold: 'throttled', tries: 1 }, 42_000)).toBe(42_000);
    const payment = opened(payoutOrder).sent({ ...THROTTLED_SEND, retryAfterMs: 90_000 });
    expect(payment.todo).toMatchObject({ kind: 'wait', until: START + 90_000 });
  });

  it('leads to sending when its time has come, and not before', () => {
    const payment = opened(payoutOrder).sent(NOT_SENT);
    expect(payment.at(START + 999).todo).toMatchObject({ kind: 'wait', until: START + 1_000 });
    expect(payment.at(START + 1_000).todo).toEqual({ kind: 'send', cause: 'order' });
  });

  it('ends as FAILED, and not as rejected, five minutes after the first try', () => {
    const payment = sendWhile(opened(payoutOrder), NOT_SENT);
    expect(payment.phase('ended')).toMatchObject({
      status: 'FAILED',
      reason: 'never sent to the provider: connection refused',
    });
    expect(rejectionOf(payment.payment)).toBeUndefined();
    expect(payment.now).toBeGreaterThanOrEqual(START + NOT_SENT_PATIENCE_MS);
    expect(payment.now).toBeLessThanOrEqual(START + NOT_SENT_PATIENCE_MS + MINUTE);
  });

  it('counts the five minutes from the first try that failed for another reason than the credentials', () => {
    const payment = opened(payoutOrder);
    while (payment.now < START + HOUR) payment.sent(UNAUTHORIZED).asks('send');
    const connectedAt = payment.now;
    sendWhile(payment, NOT_SENT);
    expect(payment.phase('ended').status).toBe('FAILED');
    expect(payment.now).toBeGreaterThanOrEqual(connectedAt + NOT_SENT_PATIENCE_MS);
  });

  it('goes on past five minutes while the credentials are refused, until the payment has to be sent by', () => {
    const payment = sendWhile(opened(payoutOrder, { sendByMs: 2 * HOUR }), UNAUTHORIZED);
    expect(payment.phase('ended')).toMatchObject({
      status: 'FAILED',
      reason: 'never sent to the provider: no',
    });
    expect(payment.now).toBeGreaterThanOrEqual(START + 2 * HOUR);
    expect(payment.now).toBeLessThanOrEqual(START + 2 * HOUR + 10 * MINUTE);
  });

  it('ends at the time that the payment has to be sent by, however the reasons alternate', () => {
    const payment = opened(payoutOrder, { sendByMs: HOUR });
    for (let tries = 0; payment.payment.phase.kind !== 'ended'; tries++) {
      payment.sent(tries % 2 === 0 ? UNAUTHORIZED : NOT_SENT);
    }
    expect(payment.phase('ended').status).toBe('FAILED');
    expect(payment.now).toBeGreaterThanOrEqual(START + HOUR);
    expect(payment.now).toBeLessThanOrEqual(START + HOUR + 10 * MINUTE);
  });

  it('ends in following when a later try is accepted', () => {
    const payment = opened(payoutOrder)
      .sent(NOT_SENT)
      .sent(UNAUTHORIZED)
      .sent({ kind: 'accepted', transId: transId('T1') });
    expect(payment.payment.sends.count).toBe(1);
    expect(payment.phase('following').transId).toBe('T1');
  });
});

describe('a payment that waits, and of which a notification says that it has a transaction', () => {
  const tell: [string, (payment: Scenario) => Scenario][] = [
    ['by its id', (payment) => payment.hint('T1')],
    ['that it does not name', (payment) => payment.named()],
  ];

  it.each(tell)('is looked up at once, and then searched for, and not sent (%s)', (_, told) => {
    const payment = told(opened(payoutOrder).sent(THROTTLED_SEND));
    expect(payment.todo).toEqual({ kind: 'lookUp' });
    expect(payment.listed().status).toBe('CREATED');
    payment.phase('searching');
  });

  it.each(tell)('is searched for, and not sent, though the provider never got a request (%s)', (_, told) => {
    const payment = told(opened(payoutOrder).sent(NOT_SENT));
    payment.listed();
    payment.phase('searching');
  });

  it.each(tell)('is never called FAILED before that was looked into: in the end, a person is asked (%s)', (_, told) => {
    const payment = opened(payoutOrder);
    while (payment.now < START + 3 * MINUTE) payment.sent(NOT_SENT);
    told(payment);
    while (payment.status === 'CREATED') {
      if (payment.todo.kind === 'lookUp') payment.listing(SILENT);
      else if (payment.todo.kind === 'askStatus') payment.answered(SILENT);
      else payment.at((payment.todo as { until: number }).until);
    }
    expect(payment.status).toBe('REVIEW');
    expect(payment.notified).toEqual(['payment.review']);
  });

  it.each([THROTTLED_SEND, NOT_SENT])(
    'is sent once the provider says that what was named is of another payment, and shows nothing ($kind)',
    (outcome) => {
      const transaction = { ...own, transId: transId('T9'), externalId: 'pay_9', userId: 'pay_9' };
      const terms = { ambiguousGraceMs: 3_000, pollMaxMs: 8 * HOUR };
      const payment = opened(payoutOrder, terms).sent(outcome).hint('T9').listed();
      payment.answered({ kind: 'found', transaction }).phase('searching');
      while (payment.payment.phase.kind === 'searching') payment.listed();
      expect(payment.now).toBe(START + MINUTE);
      if (outcome === THROTTLED_SEND) payment.listed();
      expect(payment.todo).toEqual({ kind: 'send', cause: 'order' });
      expect(sentIf(payment.payment, START)).toBe('absent');
      expect(payment.notified).toEqual([]);
    },
  );

  it.each(tell)('is followed when the list shows it (%s)', (_, told) => {
    const payment = told(opened(directOrder).sent(NOT_SENT)).listed(transactionOf(directOrder));
    expect(payment.phase('following').transId).toBe('T1');
  });

  it.each(tell)('is not called FAILED when the provider rejects it: it is looked for first (%s)', (_, told) => {
    const payment = told(opened(payoutOrder)).sent(REJECTED);
    expect(payment.notified).toEqual([]);
    payment.phase('searching');
  });

  it.each(tell)('is looked for before it is FAILED when it is a rejected link, too (%s)', (_, told) => {
    const payment = told(opened(linkOrder)).sent(REJECTED);
    expect(payment.notified).toEqual([]);
    expect(payment.phase('searching').ambiguity.otherwise).toMatchObject({ failureCode: 'rejected_by_provider' });
  });
});

describe('withdrawing a payment that waits, or is about to be sent', () => {
  it('ends it as FAILED before its first request is on its way', () => {
    for (const order of orders) {
      const payment = opened(order).request('expire');
      expect(payment.reply).toMatchObject({ kind: 'done' });
      expect(payment.phase('ended')).toMatchObject({ status: 'FAILED', failureCode: 'withdrawn' });
      expect(payment.todo).toEqual({ kind: 'end' });
    }
  });

  it('is refused before a request is repeated that may have been taken', () => {
    for (const payment of [absent(payoutOrder).resend().listed(), opened(payoutOrder).sent(THROTTLED_SEND).listed()]) {
      payment.asks('send');
      expect(payment.request('expire').reply).toMatchObject({ kind: 'refused', type: 'NotInitiated' });
      expect(payment.todo.kind).toBe('send');
    }
  });

  it.each([UNAUTHORIZED, NOT_SENT, UNREAD])('ends it as FAILED when surely nothing was sent (%o)', (outcome) => {
    for (const order of orders) {
      const payment = opened(order).sent(outcome).request('expire');
      expect(payment.reply).toMatchObject({ kind: 'done' });
      expect(payment.phase('ended')).toMatchObject({
        status: 'FAILED',
        reason: 'withdrawn before it was sent',
      });
      expect(payment.notified).toEqual(['payment.failed']);
    }
  });

  it('is refused while it may have been sent', () => {
    const payment = opened(payoutOrder).sent(THROTTLED_SEND).request('expire');
    expect(payment.reply).toMatchObject({ kind: 'refused', type: 'NotInitiated' });
    expect(payment.payment.phase.kind).toBe('waiting');
  });

  it('is refused when something of it may have left', () => {
    for (const payment of [opened(payoutOrder), opened(payoutOrder).sent(NOT_SENT)]) {
      const before = payment.payment.phase;
      expect(payment.cancel(true).reply).toMatchObject({ kind: 'refused', type: 'NotInitiated' });
      expect(payment.payment.phase).toEqual(before);
    }
  });

  it.each(['T1', undefined])('is refused while a notification names %s as its transaction', (named) => {
    const payment = opened(payoutOrder).sent(NOT_SENT);
    (named === undefined ? payment.named() : payment.hint(named)).request('expire');
    expect(payment.reply).toMatchObject({ kind: 'refused', type: 'NotInitiated' });
    expect(payment.notified).toEqual([]);
  });

  it('is refused when an earlier request is in doubt', () => {
    const payment = absent(payoutOrder).resend().listed().sent(NOT_SENT).request('expire');
    expect(payment.reply).toMatchObject({ kind: 'refused', type: 'NotInitiated' });
  });
});

describe('a request that the provider throttled', () => {
  const waiting = () => opened(payoutOrder).sent(THROTTLED_SEND);

  it('is looked up before it is sent again, when the list has had the time to show it', () => {
    const payment = waiting();
    expect(payment.asks('lookUp')).toEqual({ kind: 'lookUp' });
    expect(payment.now).toBe(START + MINUTE);
    expect(payment.listed().todo).toEqual({ kind: 'send', cause: 'order' });
  });

  it('is looked up at once when it is a link, which nobody can pay', () => {
    const payment = opened(linkOrder).sent(THROTTLED_SEND);
    expect(payment.asks('lookUp') && payment.now).toBe(START + 1_000);
  });

  it('goes on when it was taken after all', () => {
    const payment = waiting().listed(own);
    expect(payment.phase('following').transId).toBe('T1');
    expect(payment.todo).toMatchObject({ kind: 'askStatus', transId: 'T1' });
    expect(payment.payment.sends.count).toBe(1);
  });

  it('is not sent again while it cannot be looked up, and is then searched for', () => {
    const payment = waiting();
    while (payment.payment.phase.kind === 'waiting') payment.listing(SILENT);
    const { ambiguity } = payment.phase('searching');
    expect(ambiguity.reason).toBe("too many requests, and the payment couldn't be looked up");
    expect(payment.now).toBeGreaterThanOrEqual(START + NOT_SENT_PATIENCE_MS);
  });

  /** A link that was throttled, and whose time was over when it was looked up first. */
  const lateLink = () =>
    opened(linkOrder)
      .sent(THROTTLED_SEND)
      .at(START + HOUR)
      .listed();

  it('is FAILED when it is a link', () => {
    expect(lateLink().phase('ended')).toMatchObject({ status: 'FAILED', failureCode: 'not_sent' });
  });

  it('waits as long as the provider asks when the look-up is throttled, too', () => {
    const payment = waiting().listing(throttled(40_000));
    const until = START + MINUTE + 40_000;
    expect(payment.todo).toMatchObject({ kind: 'wait', until });
    expect(payment.at(until - 30_000).todo).toMatchObject({ kind: 'wait', until });
    expect(payment.asks('lookUp') && payment.now).toBe(until);
  });

  it('has the list read again before it is FAILED, when the next try is rejected: the first may have been taken', () => {
    const payment = waiting().listed().sent(REJECTED);
    expect(payment.notified).toEqual([]);
    expect(payment.asks('lookUp') && payment.now).toBe(START + 2 * MINUTE);
    payment.listed();
    expect(payment.phase('ended')).toMatchObject({
      failureCode: 'rejected_by_provider',
      reason: REJECTED.message,
    });
    expect(payment.notified).toEqual(['payment.failed']);
    expect(payment.phase('ended').checks).toHaveLength(3);
  });

  it.each([
    ['an hour where the first may have been taken', THROTTLED_SEND, HOUR],
    ['a minute where it surely was not', NOT_SENT, MINUTE],
  ])('is read for that until the list should show the first: %s', (_, first, listedAfter) => {
    const payment = opened(payoutOrder, { listedAfterMs: HOUR }).sent(first);
    if (first.kind === 'throttled') payment.listed();
    payment.sent(REJECTED);
    expect(payment.todo).toEqual(expect.objectContaining({ kind: 'wait', until: payment.now + listedAfter }));
    expect(payment.listed().phase('ended')).toMatchObject({ failureCode: 'rejected_by_provider' });
  });

  it('is followed when the list shows what the next try is rejected for', () => {
    const payment = waiting().listed().sent(REJECTED).listed(own);
    expect(payment.phase('following').transId).toBe('T1');
  });

  it('is left to a person when the next try is rejected, and the list can’t be read', () => {
    const payment = waiting().listed().sent(REJECTED);
    while (payment.status === 'CREATED') payment.listing(SILENT);
    expect(payment.status).toBe('REVIEW');
  });

  it('is never sent again by the policy when the next try is rejected', () => {
    const payment = opened(payoutOrder, { ambiguousPolicy: 'resend', ambiguousGraceMs: 1_000 });
    payment.sent(THROTTLED_SEND).listed().sent(REJECTED).later(2_000).hint('T9');
    while (payment.status === 'CREATED')
      if (payment.todo.kind === 'askStatus') payment.answered(UNKNOWN);
      else payment.listed();
    expect(payment.todo.kind).not.toBe('send');
  });

  it('is checked after its end for a second transaction', () => {
    const payment = waiting()
      .listed()
      .sent({ kind: 'accepted', transId: transId('T2') });
    const ended = payment.found('SUCCESSFUL').phase('ended');
    expect(ended.checks).toHaveLength(3);
    expect(payment.listed(own, { ...own, transId: transId('T2') }).status).toBe('REVIEW');
  });

  it('is FAILED only after a look-up that shows nothing', () => {
    const payment = waiting();
    while (payment.listed().payment.phase.kind === 'sending') payment.sent(THROTTLED_SEND);
    expect(payment.phase('ended')).toMatchObject({
      status: 'FAILED',
      reason: 'never sent to the provider: too many requests',
    });
    expect(payment.now).toBeGreaterThanOrEqual(START + NOT_SENT_PATIENCE_MS);
  });

  it.each([
    ['of another amount', [{ ...own, amount: 1 }]],
    ['more than one', [own, { ...own, transId: transId('T2') }]],
  ])('goes to a held review when what was made is %s', (_, transactions) => {
    const payment = waiting().listed(...transactions);
    expect(payment.phase('review')).toMatchObject({ held: true, inquiry: { kind: 'searching' } });
    expect(payment.payment.others.map(({ transId: id }) => id)).toEqual(transactions.map(({ transId: id }) => id));
  });

  it.each([UNAUTHORIZED, NOT_SENT])(
    'is looked up before each further attempt, whatever the last one came to ($kind)',
    (outcome) => {
      const payment = waiting().listed().sent(outcome);
      for (let tries = 0; tries < 3; tries++) {
        payment.asks('lookUp');
        payment.listed();
        expect(payment.todo).toEqual({ kind: 'send', cause: 'order' });
        payment.sent(outcome);
      }
      payment.asks('lookUp');
      expect(payment.listed(own).phase('following').transId).toBe('T1');
    },
  );

  it('can’t be withdrawn, and is not sent again by itself, once a notification names a transaction', () => {
    const payment = waiting().listed().sent(UNAUTHORIZED).hint('T1');
    expect(payment.request('expire').reply).toMatchObject({ kind: 'refused', type: 'NotInitiated' });
    payment.listed();
    expect(payment.phase('searching').ambiguity.reason).toBe(UNAUTHORIZED.message);
  });

  it('is not called never sent while a notification names a transaction', () => {
    const payment = waiting();
    while (payment.now < START + NOT_SENT_PATIENCE_MS - MINUTE) payment.listed().sent(THROTTLED_SEND);
    payment.hint('T1').listed();
    expect(payment.payment.phase.kind).toBe('searching');
    expect(payment.found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });

  it('is made anew when it is a link, for the list tells no address', () => {
    const payment = opened(linkOrder).sent(THROTTLED_SEND).listed(transactionOf(linkOrder));
    expect(payment.payment.phase.kind).toBe('searching');
    payment.expired();
    expect(payment.todo).toEqual({ kind: 'send', cause: 'policy' });
  });

  it('is sent again when all that the list shows is a link that has expired', () => {
    const payment = ambiguous(linkOrder).listed(transactionOf(linkOrder)).expired();
    payment.sent(UNAUTHORIZED);
    while (payment.now < START + HOUR) payment.sent(UNAUTHORIZED);
    payment.sent(THROTTLED_SEND).listed(transactionOf(linkOrder, { status: 'EXPIRED' }));
    expect(payment.todo).toEqual({ kind: 'send', cause: 'policy' });
  });
});

describe('a payment whose list cannot be read', () => {
  const { sendByMs } = opened(payoutOrder).payment.terms;

  it('is tried again, and not sooner than the provider asks for', () => {
    const payment = opened(payoutOrder).sent(UNREAD);
    expect(payment.asks('send')).toEqual({ kind: 'send', cause: 'order' });
    expect(payment.now).toBe(START + 1_000);
    payment.sent({ ...UNREAD, retryAfterMs: 5 * MINUTE }).asks('send');
    expect(payment.now).toBe(START + 1_000 + 5 * MINUTE);
  });

  it.each([payoutOrder, directOrder])('waits for it until SEND_BY, and then ends, never sent', (order) => {
    const payment = opened(order);
    while (payment.payment.phase.kind !== 'ended') {
      expect(payment.now).toBeLessThan(START + sendByMs + 2 * MINUTE);
      expect([payment.status, payment.notified]).toEqual(['CREATED', []]);
      payment.sent(UNREAD);
    }
    expect(payment.now).toBeGreaterThanOrEqual(START + sendByMs);
    expect(payment.phase('ended')).toMatchObject({
      failureCode: 'not_sent',
      reason: `never sent to the provider: ${UNREAD.reason}`,
    });
  });

  it('is sent as soon as it can be, however long that was', () => {
    const payment = opened(payoutOrder);
    while (payment.now < START + sendByMs - HOUR) payment.sent(UNREAD);
    expect(payment.sent({ kind: 'accepted', transId: transId('T1') }).phase('following').transId).toBe('T1');
  });

  it('has five minutes more, counted anew, once the list can be read and the provider takes nothing', () => {
    const payment = opened(payoutOrder);
    while (payment.now < START + HOUR) payment.sent(UNREAD);
    payment.asks('send');
    const readAt = payment.now;
    while (payment.payment.phase.kind !== 'ended') payment.sent(NOT_SENT);
    expect(payment.now).toBeGreaterThanOrEqual(readAt + NOT_SENT_PATIENCE_MS);
    expect(payment.now).toBeLessThan(readAt + 2 * NOT_SENT_PATIENCE_MS);
  });

  it('goes back to a person after five minutes when it was to be sent once more', () => {
    const payment = absent(payoutOrder).resend().listed();
    const begun = payment.now;
    payment.sent(UNREAD);
    while (payment.status !== 'REVIEW') payment.listing(SILENT);
    expect(payment.now).toBeLessThan(begun + 2 * NOT_SENT_PATIENCE_MS);
  });
});

describe('what the list has to say right before money is sent', () => {
  it('is that it has no transaction, at the first try and at each further one', () => {
    const payment = opened(payoutOrder);
    expect(sentIf(payment.payment, START)).toBe('absent');
    for (const outcome of [NOT_SENT, UNREAD, UNAUTHORIZED]) {
      payment.sent(outcome).asks('send');
      expect(sentIf(payment.payment, START)).toBe('absent');
    }
  });

  it('may be that the provider refuses to list the payment, when an operator insists on a resend', () => {
    const refused = { kind: 'refused', message: 'no such user', statusCode: 404 } as const;
    const resent = (force: boolean) => absent(payoutOrder).after(HOUR).resend({ force }).listing(refused);
    expect(sentIf(resent(true).payment, START)).toBe('refused');
    expect(resent(false).payment.phase.kind).toBe('review');
    expect(sentIf(absent(payoutOrder).resend().listed().payment, START)).toBe('absent');
  });
});

const WITHHELD = { kind: 'withheld', failureCode: 'not_refundable', reason: 'nothing was sent: gone' } as const;

describe('a payment that no worker has taken for SEND_BY', () => {
  const { sendByMs } = opened(payoutOrder).payment.terms;

  it.each([payoutOrder, directOrder])('is not sent any more, however late its workflow begins', (order) => {
    const payment = opened(order).payment;
    expect(sentIf(payment, START + sendByMs - 1)).toBe('absent');
    expect(sentIf(payment, START + sendByMs)).toBe('late');
  });

  it('is not sent again either, after a pause', () => {
    const payment = opened(payoutOrder).sent(NOT_SENT);
    payment.at(START + sendByMs).asks('send');
    expect(sentIf(payment.payment, payment.now)).toBe('late');
    payment.sent(WITHHELD).listed();
    expect([payment.status, failureCodeOf(payment.payment)]).toEqual(['FAILED', 'not_refundable']);
  });

  it('is another matter once an operator has it sent again', () => {
    const payment = absent(payoutOrder)
      .after(2 * DAY)
      .resend()
      .listed();
    payment.asks('send');
    expect(sentIf(payment.payment, payment.now)).toBe('absent');
  });
});

describe('a request that is withheld', () => {
  it('ends the payment unsent', () => {
    const payment = opened(payoutOrder).sent(WITHHELD);
    expect(payment.phase('ended')).toMatchObject({ status: 'FAILED', reason: WITHHELD.reason });
    expect(payment.payment.sends.count).toBe(0);
    expect(payment.notified).toEqual(['payment.failed']);
  });

  it('ends it only once the list shows nothing, when it was tried before', () => {
    const payment = opened(payoutOrder).sent(THROTTLED_SEND).listed();
    payment.sent(WITHHELD);
    expect(payment.status).toBe('CREATED');
    payment.listed(transactionOf(payoutOrder));
    expect(payment.phase('following').transId).toBe('T1');
    expect(opened(payoutOrder).sent(THROTTLED_SEND).listed().sent(WITHHELD).listed().status).toBe('FAILED');
  });

  it('ends nothing while a notification names a transaction', () => {
    const payment = opened(payoutOrder);
    payment.take({ kind: 'hint', transId: transId('T9'), status: 'SUCCESSFUL' });
    payment.sent(WITHHELD);
    expect(payment.phase('searching').ambiguity.reason).toContain('names T9');
  });

  it('goes back to a person when it was to be sent once more', () => {
    const payment = absent(payoutOrder).resend().listed().sent(WITHHELD);
    expect(payment.phase('review')).toMatchObject({ held: false });
    expect(payment.phase('review').why).toContain(`it was not sent once more: ${WITHHELD.reason}`);
    expect(payment.payment.resolved).toBeUndefined();
    payment.listed(transactionOf(payoutOrder));
    expect(payment.phase('following').transId).toBe('T1');
  });
});

describe('sending once more', () => {
  const resent = () => absent(payoutOrder).resend().listed();

  it('is done on an operator’s decision, and leaves a doubt behind', () => {
    const payment = resent();
    expect(payment.todo).toEqual({ kind: 'send', cause: 'operator' });
    expect(payment.payment.sends).toMatchObject({ policySpent: true, mayBeDouble: true });
  });

  it('goes to review when it is rejected, for the first request may have been taken', () => {
    const payment = resent().sent({ kind: 'rejected', message: 'Insufficient balance', statusCode: 400 });
    expect(payment.phase('review')).toMatchObject({
      held: false,
      why: expect.stringContaining('sent once more, and rejected: Insufficient balance'),
      inquiry: { kind: 'searching' },
    });
    expect(payment.listed(own).found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });

  it('has the list read again after a pause, and follows what it shows by then', () => {
    const payment = resent().sent(NOT_SENT);
    payment.asks('lookUp');
    expect(payment.listed(own).phase('following')).toMatchObject({ transId: own.transId });
    expect(payment.payment.sends.count).toBe(1);
  });

  it('is not done when the list, read right before it, shows a transaction: that is followed', () => {
    const shown = [own];
    const payment = resent().sent({ kind: 'ambiguous', reason: 'nothing was sent', shown });
    expect(payment.payment).not.toHaveProperty('resolved');
    expect(payment.listed().phase('following')).toMatchObject({ transId: own.transId });
  });

  it.each(['policy', 'operator'] as const)(
    'is tried again, and at last left to a person, while the list is not read (%s)',
    (cause) => {
      const payment =
        cause === 'operator'
          ? resent()
          : searching(ambiguous(payoutOrder, { ambiguousPolicy: 'resend' }), (one) => one.listed());
      expect(sentIf(payment.payment, START)).toBe('absent');
      while (payment.payment.phase.kind !== 'review') {
        if (payment.todo.kind === 'send') payment.sent(UNREAD);
        else payment.listing(SILENT);
      }
      expect(payment.phase('review').held).toBe(false);
    },
  );

  it('is not done after a pause while a notification names a transaction', () => {
    const payment = resent().sent(UNAUTHORIZED).hint('T9');
    payment.listed();
    expect(payment.phase('review').why).toContain('names T9 as its transaction');
    expect(payment.todo).toMatchObject({ kind: 'askStatus', transId: 'T9', isClaim: true });
  });

  it('is called off by a notification that comes just before it, and names a transaction for the first time', () => {
    const payment = resent();
    expect(payment.todo).toEqual({ kind: 'send', cause: 'operator' });
    payment.hint('T9');
    expect(payment.phase('review')).toMatchObject({ held: false, number: 2, inquiry: { kind: 'searching' } });
    expect(payment.listed(own).phase('following')).toMatchObject({ transId: own.transId });
  });

  it('is called off when the policy has it sent, too, and left to a person', () => {
    const payment = ambiguous(payoutOrder, { ambiguousPolicy: 'resend' });
    while (payment.todo.kind !== 'send') payment.listed();
    expect(payment.todo).toEqual({ kind: 'send', cause: 'policy' });
    payment.hint('T9');
    expect(payment.phase('searching').lookUps).toBe(0);
    expect(payment.listed().status).toBe('REVIEW');
  });

  it('is not called off by what an operator has overruled', () => {
    const payment = absent(payoutOrder).hint('T9').resend({ force: true }).listed();
    expect(payment.hint('T9').todo).toEqual({ kind: 'send', cause: 'operator' });
  });

  it('is not called off when it is a link, whose address nobody has', () => {
    const payment = ambiguous(linkOrder).listed();
    expect(payment.hint('T9').todo).toMatchObject({ kind: 'send' });
  });

  it('is the last one, for the policy never adds another to an operator’s', () => {
    const payment = ambiguous(payoutOrder, { ambiguousPolicy: 'resend' });
    searching(payment, (one) => one.listing(SILENT));
    payment.later(DAY).resend().listed();
    expect(payment.todo).toEqual({ kind: 'send', cause: 'operator' });
    payment.sent({ kind: 'ambiguous', reason: 'reset' });
    expect(searching(payment, (one) => one.listed()).status).toBe('REVIEW');
  });

  it('is no decision that the outcome is told with when the first request was taken after all', () => {
    const payment = resent().sent(UNAUTHORIZED).listed(own);
    expect(payment.found('SUCCESSFUL').status).toBe('SUCCESSFUL');
    expect(payment.payment.resolved).toBeUndefined();
  });

  it('goes to review when it could not be sent, for the same reason', () => {
    const payment = sendWhile(resent(), NOT_SENT);
    expect(payment.phase('review')).toMatchObject({
      why: expect.stringContaining('it could not be sent once more: connection refused'),
      inquiry: { kind: 'searching' },
    });
  });

  it.each([
    ['the credentials are refused', UNAUTHORIZED],
    ['the provider can’t be reached', NOT_SENT],
  ])('is taken back by an operator while %s: a person is asked again', (_, outcome) => {
    const payment = resent().sent(outcome).reject('ben', 1);
    expect(payment.reply?.kind).toBe('done');
    expect(payment.phase('review')).toMatchObject({
      number: 2,
      held: false,
      why: expect.stringContaining('it was to be sent once more, and an operator has taken that back'),
      inquiry: { kind: 'searching' },
      rejected: { by: 'ben', proposed: { decision: { action: 'resend' }, by: 'ops' } },
    });
    expect(payment.timeline.entries).toContainEqual(
      expect.objectContaining({ type: 'decision_rejected', action: 'resend', proposedBy: 'ops', by: 'ben' }),
    );
    expect(payment.notified).toEqual(['payment.review', 'payment.review']);
    expect(payment.listed().status).toBe('REVIEW');
    expect(payment.resend().listed().todo).toEqual({ kind: 'send', cause: 'operator' });
  });

  it('is not taken back by what was said of another review, or while it may have been taken', () => {
    const refused = (words: string) => ({
      kind: 'refused',
      type: 'ResolutionRefused',
      words: expect.stringContaining(words),
    });
    const waiting = resent().sent(NOT_SENT);
    expect(waiting.reject('ben', 2).reply).toMatchObject(refused('no decision on review 2 waits'));
    expect(resent().sent(THROTTLED_SEND).reject('ben', 1).reply).toMatchObject(refused("isn't known yet"));
    expect(waiting.payment.phase.kind).toBe('waiting');
  });

  it('is taken back at the last moment: after the list was read, and before it is sent', () => {
    const payment = absent(payoutOrder).resend().listed();
    expect(payment.todo).toEqual({ kind: 'send', cause: 'operator' });
    expect(payment.reject('ops', 1).reply).toMatchObject({ kind: 'done' });
    expect(payment.phase('review')).toMatchObject({ number: 2, rejected: { by: 'ops' } });
    expect(payment.payment.sends.count).toBe(1);
  });

  it('is taken back once the list was read for what was throttled', () => {
    const payment = resent().sent(THROTTLED_SEND);
    expect(payment.reject('ops', 1).reply).toMatchObject({ kind: 'refused' });
    expect(payment.listed().todo).toEqual({ kind: 'send', cause: 'operator' });
    expect(payment.reject('ops', 1).reply).toMatchObject({ kind: 'done' });
    expect(payment.status).toBe('REVIEW');
  });

  it.each([
    ['by an operator', (payment: Scenario) => payment.sent(UNAUTHORIZED).reject('ops', 1)],
    ['by a notification', (payment: Scenario) => payment.hint('T1')],
    ['because it could not be sent', (payment: Scenario) => sendWhile(payment, NOT_SENT)],
    [
      'because there are two by then',
      (payment: Scenario) => payment.sent(UNAUTHORIZED).listed(own, { ...own, transId: transId('T2') }),
    ],
    [
      'because nothing could be looked up until it had to be sent',
      (payment: Scenario) => {
        payment.sent(UNAUTHORIZED);
        while (payment.payment.phase.kind === 'waiting') payment.listing(SILENT);
      },
    ],
  ])('is nobody’s decision any more when it was taken back %s', (_, takeBack) => {
    const payment = absent(payoutOrder).resend().listed();
    expect(payment.payment.resolved?.decision.action).toBe('resend');
    takeBack(payment);
    expect(payment.status).toBe('REVIEW');
    expect(payment.payment.resolved).toBeUndefined();
  });

  it('is an operator’s to take back only when it was decided by one', () => {
    const ordered = opened(payoutOrder).sent(NOT_SENT).reject('ben', 0);
    const policy = ambiguous(payoutOrder, { ambiguousPolicy: 'resend' });
    while (policy.todo.kind !== 'send') policy.listed();
    for (const payment of [ordered, policy.sent(NOT_SENT).reject('ben', 0)]) {
      expect(payment.reply).toMatchObject({ kind: 'refused', type: 'NotUnderReview' });
      expect(payment.payment.phase.kind).toBe('waiting');
    }
  });

  it('asks nobody when it is a link that could not be sent: what was made is expired, and the payment is FAILED', () => {
    const payment = ambiguous(linkOrder).listed();
    while (payment.payment.phase.kind !== 'searching') payment.sent(NOT_SENT);
    expect(payment.phase('searching').ambiguity).toEqual({ reason: NOT_SENT.reason, since: START });
    while (payment.status === 'CREATED') {
      if (payment.payment.phase.kind === 'searching') payment.listed();
      else payment.sent(NOT_SENT);
    }
    expect(payment.phase('ended')).toMatchObject({
      status: 'FAILED',
      reason: 'no link could be created: connection refused',
      failureCode: 'link_not_created',
    });
  });

  it('begins a grace period of its own when it is ambiguous', () => {
    const payment = resent();
    payment.later(5_000).sent({ kind: 'ambiguous', reason: 'reset' });
    expect(payment.phase('searching').ambiguity).toEqual({ reason: 'reset', since: payment.now });
  });

  it('is FAILED when it is rejected and a link, which nobody was given', () => {
    const payment = ambiguous(linkOrder).listed().sent({ kind: 'rejected', message: 'no', statusCode: 400 });
    expect(payment.phase('ended')).toMatchObject({
      status: 'FAILED',
      failureCode: 'rejected_by_provider',
      reason: 'no',
    });
  });
});
