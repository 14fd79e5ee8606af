import { describe, expect, it } from '@jest/globals';
import { CHECKS_AFTER_MS } from '../../../src/payments/machine/transitions.js';
import { toPayment } from '../../../src/payments/views/to-payment.js';
import { DAY, directOrder, HOUR, MINUTE, payoutOrder, transactionOf, transId } from '../../support/orders.js';
import {
  absent,
  ambiguous,
  opened,
  paid,
  type Scenario,
  SILENT,
  taken,
  throttled,
  UNKNOWN,
} from '../../support/scenario.js';

const own = transactionOf(payoutOrder, { status: 'SUCCESSFUL' });
const second = { ...own, transId: transId('T2') };

/** Sent twice on an operator's decision, and paid with the second. */
function paidAfterResend(): Scenario {
  const payment = absent(payoutOrder)
    .resend()
    .listed()
    .sent({ kind: 'accepted', transId: transId('T2') });
  return payment.found('SUCCESSFUL');
}

/** Called FAILED by an operator. */
const failed = () => absent(payoutOrder).fail().listed();

describe('the end of a payment that was sent once', () => {
  it('is not checked again', () => {
    expect(paid(payoutOrder).phase('ended').checks).toEqual([]);
    expect(taken(directOrder).found('FAILED').todo).toEqual({ kind: 'end' });
  });
});

describe('an end as FAILED that the provider goes on from', () => {
  const asked = (later: number) => taken(payoutOrder).found('FAILED').later(later).hint('T1', 'SUCCESSFUL');

  it('is seen once a minute has passed: before that, the answer may be an old one', () => {
    expect(asked(MINUTE).found('PENDING').status).toBe('REVIEW');
    const payment = asked(1_000).found('PENDING');
    expect(payment.status).toBe('FAILED');
    expect(payment.found('PENDING').status).toBe('REVIEW');
  });

  it('is seen in the list of a check', () => {
    const payment = failed();
    const moving = { ...own, status: 'PENDING' as const };
    expect(payment.listed(moving).status).toBe('REVIEW');
  });
});

describe('a notification that names an ended payment alone', () => {
  const rejected = () => opened(payoutOrder).sent({ kind: 'rejected', message: 'no', statusCode: 400 });
  it.each([
    ['rejected', rejected],
    ['failed by a person', failed],
  ] as const)(
    'has the list read at once where no transaction was known (%s), after an hour and after a day',
    (_, ended) => {
      const payment = ended();
      while (payment.todo.kind !== 'end') payment.listed();
      const told = payment.now;
      payment.named();
      const times: number[] = [];
      while (payment.todo.kind !== 'end') {
        payment.asks('lookUp');
        times.push(payment.now - told);
        payment.listed();
      }
      expect(times).toEqual([0, HOUR, 24 * HOUR]);
      expect(payment.status).toBe('FAILED');
    },
  );

  it('brings it to review when the list shows what money has moved with', () => {
    const payment = rejected();
    expect(payment.named().listed(transactionOf(payoutOrder, { status: 'SUCCESSFUL' })).status).toBe('REVIEW');
  });

  it('has the list read once in ten minutes at most, however many are forged', () => {
    const payment = rejected().named();
    let lists = 0;
    for (const end = payment.now + HOUR; payment.now < end; payment.named()) {
      if (payment.todo.kind === 'lookUp') {
        lists += 1;
        payment.listed();
      } else payment.after(MINUTE);
    }
    expect(lists).toBeLessThanOrEqual(8);
  });

  it('says nothing that the outcome doesn’t', () => {
    expect(rejected().named('FAILED').todo).toEqual({ kind: 'end' });
  });
});

describe('an ended payment whose payer’s data was erased', () => {
  it('is not sent again, whoever decides so when it has come under review', () => {
    const payment = failed();
    payment.listed(own);
    expect(payment.status).toBe('REVIEW');
    const { phone: _erased, ...order } = payoutOrder;
    payment.payment = { ...payment.payment, order };
    expect(payment.resend({ force: true }).reply).toMatchObject({
      kind: 'refused',
      type: 'ResolutionRefused',
      words: "its payer's data was erased: it can't be sent",
    });
  });
});

describe('the end of a payment in doubt', () => {
  it('is compared with the provider’s list at once, after an hour and after a day', () => {
    for (const payment of [paidAfterResend(), failed()]) {
      const endedAt = payment.now;
      const times: number[] = [];
      while (payment.todo.kind !== 'end') {
        payment.asks('lookUp');
        times.push(payment.now - endedAt);
        payment.listed();
      }
      expect(times).toEqual([0, HOUR, DAY]);
      expect(times).toEqual([...CHECKS_AFTER_MS]);
    }
  });

  it('is the same when the policy had it sent once more', () => {
    const payment = ambiguous(payoutOrder, { ambiguousPolicy: 'resend' });
    while (payment.listed().todo.kind !== 'send');
    payment.sent({ kind: 'accepted', transId: transId('T2') }).found('SUCCESSFUL');
    expect(payment.phase('ended').checks).toHaveLength(3);
  });

  it('stands when the list shows nothing else', () => {
    const payment = paidAfterResend().listed(second).listed(second).listed(second);
    expect(payment.todo).toEqual({ kind: 'end' });
    expect(payment.notified).toEqual(['payment.review', 'payment.succeeded']);
  });

  it.each([0, 1, 2])('is opened again when the list shows another one that moves money (check %i)', (check) => {
    const payment = paidAfterResend();
    for (let before = 0; before < check; before++) payment.listed(second);
    payment.listed(second, own);
    expect(payment.phase('review')).toMatchObject({
      held: true,
      why: 'the provider has another transaction for this payment: T1 (SUCCESSFUL)',
      inquiry: { kind: 'following', transId: 'T2' },
    });
    expect(payment.notified.at(-1)).toBe('payment.review');
  });

  it('is opened again when the payment was called FAILED and money has moved', () => {
    const payment = failed().listed().listed(own);
    expect(payment.phase('review').why).toContain('T1 (SUCCESSFUL)');
    expect(payment.later(HOUR).match('T1').found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });

  it('is opened again when its own transaction has another outcome in the list', () => {
    const payment = paidAfterResend().listed({ ...second, status: 'FAILED' });
    expect(payment.phase('review').why).toBe(
      'the payment ended as SUCCESSFUL, and the provider now says that T2 is FAILED',
    );
  });

  it('stands when what else is listed has failed, or is another payment’s', () => {
    const payment = paidAfterResend();
    payment.listed(second, { ...own, status: 'FAILED' }).listed(second, { ...own, externalId: 'pay_other' });
    expect(payment.status).toBe('SUCCESSFUL');
  });

  it('is open again when one that had failed moves money after all', () => {
    const payment = paidAfterResend()
      .listed(second, { ...own, status: 'FAILED' })
      .listed(second, own);
    expect(payment.phase('review').why).toContain('T1 (SUCCESSFUL)');
  });

  it('is checked with new patience after each decision', () => {
    const payment = paidAfterResend().listed(second, own).match('T2').found('SUCCESSFUL');
    expect(payment.phase('ended').checks).toHaveLength(3);
    payment.listed(second, own).listed(second, own).listed(second, own);
    expect(payment.todo).toEqual({ kind: 'end' });
  });
});

describe('a check that gets no answer', () => {
  it('is made three times, a minute and two apart, when another follows', () => {
    const payment = paidAfterResend();
    const endedAt = payment.now;
    const times: number[] = [];
    for (let tries = 0; tries < 4; tries++) {
      payment.asks('lookUp');
      times.push(payment.now - endedAt);
      payment.listing(SILENT);
    }
    expect(times).toEqual([0, MINUTE, 3 * MINUTE, HOUR]);
  });

  it('waits for as long as the provider asks', () => {
    const payment = paidAfterResend().listing(throttled(10 * MINUTE));
    const quietUntil = payment.now + 10 * MINUTE;
    payment.asks('lookUp');
    expect(payment.now).toBe(quietUntil);
  });

  it('is the last one’s thirty tries, and then a person is asked', () => {
    const payment = paidAfterResend().listed(second).listed(second);
    let tries = 0;
    for (; payment.status === 'SUCCESSFUL'; tries++) payment.listing(SILENT);
    expect(tries).toBe(30);
    expect(payment.phase('review')).toMatchObject({
      held: true,
      why: "it couldn't be checked whether the payment has more than one transaction",
    });
  });
});

describe('a recheck of an ended payment', () => {
  it('asks for the status of its transaction, then for the list, and answers after that', () => {
    const payment = paid(payoutOrder).later(HOUR);
    payment.asks('end');
    payment.request('recheck');
    expect(payment.todo).toEqual({ kind: 'askStatus', transId: 'T1', isClaim: false });
    expect(payment.found('SUCCESSFUL').todo).toEqual({ kind: 'lookUp' });
    expect(payment.reply).toBeUndefined();
    expect(payment.listed(own).reply).toEqual({ request: 1, kind: 'done' });
    expect(payment.todo).toEqual({ kind: 'end' });
  });

  it('asks for the list alone when no transaction was ever known', () => {
    const payment = taken(payoutOrder).found('FAILED').request('recheck');
    expect(payment.asks('askStatus').transId).toBe('T1');
    expect(failed().listed().request('recheck').todo).toEqual({ kind: 'lookUp' });
  });

  it('opens it again when the provider contradicts it', () => {
    const payment = paid(payoutOrder).request('recheck').found('FAILED');
    expect(payment.phase('review')).toMatchObject({ held: true, inquiry: { transId: 'T1' } });
    expect(payment.reply?.kind).toBe('done');
  });

  it('opens it again when the list shows another transaction', () => {
    const payment = paid(payoutOrder).request('recheck').found('SUCCESSFUL').listed(own, second);
    expect(payment.phase('review').why).toContain('T2');
    expect(payment.reply?.kind).toBe('done');
  });

  it('goes on to the list when the status gets no answer', () => {
    for (const answer of [SILENT, UNKNOWN]) {
      expect(paid(payoutOrder).request('recheck').answered(answer).todo).toEqual({ kind: 'lookUp' });
    }
  });

  it.each([payoutOrder, directOrder])(
    'brings a $kind that ended as FAILED before a person if the provider goes on with it',
    (order) => {
      for (const status of ['PENDING', 'CREATED'] as const) {
        const payment = taken(order).found('FAILED').request('recheck').found(status);
        const why = `the payment ended as FAILED, and the provider now says that T1 is ${status}`;
        expect(payment.phase('review')).toMatchObject({ held: true, why });
        expect(payment.reply?.kind).toBe('done');
        expect(toPayment(payment.payment).final).toBe(false);
      }
    },
  );

  it('is not done while neither the status nor the list says anything of its transaction', () => {
    const payment = paid(payoutOrder).request('recheck').answered(SILENT).listed();
    expect(payment.reply).toMatchObject({ kind: 'refused', type: 'NotChecked' });
    payment.found('FAILED');
    expect(payment.phase('review').why).toBe(
      'the payment ended as SUCCESSFUL, and the provider now says that T1 is FAILED',
    );
    const listed = paid(payoutOrder).request('recheck').answered(SILENT).listed(own);
    expect(listed.reply).toEqual({ request: 1, kind: 'done' });
  });

  it('is answered when the list can’t be read, tried again, and ends in no review when nothing was in doubt', () => {
    const payment = paid(payoutOrder).request('recheck').found('SUCCESSFUL').listing(SILENT);
    expect(payment.reply).toMatchObject({ kind: 'refused', type: 'NotChecked' });
    while (payment.todo.kind !== 'end') payment.listing(SILENT);
    expect(payment.status).toBe('SUCCESSFUL');
  });

  it('leaves the checks to come as they were', () => {
    const payment = paidAfterResend().listed(second);
    const { checks } = payment.phase('ended');
    payment.request('recheck').found('SUCCESSFUL').listed(second);
    expect(payment.phase('ended').checks).toEqual(checks);
  });

  it('is a refresh for a payment that has not ended', () => {
    const payment = taken(payoutOrder).request('recheck');
    expect(payment.todo).toEqual({ kind: 'askStatus', transId: 'T1', isClaim: false });
    expect(payment.found('PENDING').reply?.kind).toBe('done');
  });
});
