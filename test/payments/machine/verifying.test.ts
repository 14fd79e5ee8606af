import { describe, expect, it } from '@jest/globals';
import { toPayment } from '../../../src/payments/views/to-payment.js';
import type { PaymentTerms } from '../../../src/payments/words/order.js';
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
import { ambiguous, NOT_SENT, opened, type Scenario, SILENT, throttled } from '../../support/scenario.js';

describe.each([directOrder, payoutOrder])('a payment that was found in the list, and has failed ($kind)', (order) => {
  const first = transactionOf(order);
  const second = { ...first, transId: transId('T2') };
  const failed = { ...second, status: 'FAILED' } as const;

  /** T2 was found in the list after the request was lost, and is declined some minutes later. */
  const declined = (given: Partial<PaymentTerms> = {}): Scenario =>
    ambiguous(order, given).listed(second).found('PENDING').found('FAILED', { reason: 'declined' });

  /** The same, and the list can't be read. */
  const unread = (): Scenario => declined().listing(SILENT);

  it('is not FAILED before the list has been read once more', () => {
    const payment = declined();
    expect(payment.todo).toEqual({ kind: 'lookUp' });
    expect(toPayment(payment.payment)).toMatchObject({
      status: 'PENDING',
      final: false,
      transId: 'T2',
      reason: undefined,
      failureCode: undefined,
    });
    expect(payment.notified).toEqual([]);
    payment.listed(failed);
    expect(payment.phase('ended')).toMatchObject({
      status: 'FAILED',
      transId: 'T2',
      reason: 'declined',
      failureCode: 'failed_at_provider',
    });
    expect(payment.notified).toEqual(['payment.failed']);
  });

  it('is not FAILED while the list shows that the provider goes on with it, and in the end a person is asked', () => {
    const payment = declined();
    const pending = { ...second, status: 'PENDING' } as const;
    expect(payment.listed(pending).status).toBe('PENDING');
    expect(payment.listed({ ...second, status: 'SUCCESSFUL' }).status).toBe('SUCCESSFUL');
    const stuck = declined();
    while (stuck.status === 'PENDING') stuck.listed(pending);
    expect(stuck.phase('review')).toMatchObject({
      held: false,
      why: "T2 is FAILED, and the provider's list shows it as PENDING",
    });
    expect(stuck.notified).toEqual(['payment.review']);
    expect(stuck.listed(failed).status).toBe('FAILED');
  });

  it('is not FAILED before the list shows all that was made of its request', () => {
    const payment = declined({ listedAfterMs: HOUR });
    expect(payment.todo).toEqual(expect.objectContaining({ kind: 'wait', until: START + HOUR }));
    payment.request('refresh').at(START + HOUR);
    expect(payment.listing(SILENT).status).toBe('PENDING');
    expect(payment.listed(failed, first).phase('review').why).toContain('T1');
    expect(payment.notified).toEqual(['payment.review']);
  });

  it('counts that time from when it was found, where nothing is known to have been sent', () => {
    const payment = opened(order, { listedAfterMs: HOUR })
      .later(3 * HOUR)
      .sent(NOT_SENT)
      .hint('T2', 'PENDING');
    payment.listed({ ...second, status: 'PENDING' }).found('FAILED');
    expect(payment.todo).toEqual(expect.objectContaining({ kind: 'wait', until: payment.now + HOUR }));
    expect(payment.listed(failed, first).phase('review').why).toContain('T1');
  });

  it('is put before a person when the list shows that it isn’t what was ordered', () => {
    const payment = declined().listed({ ...failed, amount: 1 });
    expect(payment.phase('review')).toMatchObject({
      held: true,
      why: expect.stringContaining('is of 1 XAF'),
    });
    expect(payment.notified).toEqual(['payment.review']);
  });

  it('is asked about once more when it was shown as paid since, and the list leaves it out', () => {
    const payment = unread();
    while (payment.status !== 'REVIEW') payment.listing(SILENT);
    payment
      .fail()
      .found('FAILED')
      .hint('T2')
      .listed({ ...second, status: 'SUCCESSFUL' });
    expect(payment.reply).toMatchObject({ kind: 'refused' });
    while (payment.todo.kind !== 'lookUp') {
      if (payment.todo.kind === 'wait') payment.at(payment.todo.until ?? 0);
      else payment.answered(SILENT);
    }
    expect(payment.listed().status).toBe('REVIEW');
    expect(payment.asks('askStatus').transId).toBe('T2');
    expect(payment.found('SUCCESSFUL').status).toBe('SUCCESSFUL');
    expect(payment.notified).toEqual(['payment.review', 'payment.succeeded']);
  });

  it('is asked about once more when it was shown as PENDING since, and the list leaves it out', () => {
    const payment = declined().listed({ ...second, status: 'PENDING' });
    expect(payment.listed().status).toBe('PENDING');
    expect(payment.asks('askStatus').transId).toBe('T2');
    expect(payment.found('FAILED').listed().phase('ended').status).toBe('FAILED');
    expect(payment.notified).toEqual(['payment.failed']);
  });

  it.each(['SUCCESSFUL', 'PENDING', 'CREATED'] as const)(
    'is put before a person when the list shows another that is %s',
    (status) => {
      const payment = declined().listed({ ...first, status }, failed);
      expect(payment.phase('review')).toMatchObject({
        number: 1,
        held: true,
        why: `T2 is FAILED, but the provider has another transaction for this payment: T1 (${status})`,
      });
      expect(payment.notified).toEqual(['payment.review']);
      expect(payment.todo).toEqual({ kind: 'wait', summary: 'Until something happens' });
      expect(payment.match('T1').found('SUCCESSFUL').phase('ended').transId).toBe('T1');
    },
  );

  it('is put before a person when another was shown before, though the list leaves it out', () => {
    const payment = unread();
    payment.payment = {
      ...payment.payment,
      others: [{ transId: first.transId, status: 'PENDING', decidedAs: 'PENDING' }],
    };
    expect(payment.listed(failed).phase('review').held).toBe(true);
  });

  it('ends when the others have failed as well, or are another payment’s', () => {
    const others = [
      { ...first, status: 'FAILED' },
      { ...first, transId: transId('T3'), externalId: 'pay_other' },
    ] as const;
    expect(
      declined()
        .listed(failed, ...others)
        .phase('ended').status,
    ).toBe('FAILED');
  });

  it('ends when the list leaves it out', () => {
    expect(declined().listed().phase('ended').status).toBe('FAILED');
  });

  it('waits for a list that is read a minute after the request, for the other may be shown late', () => {
    const payment = ambiguous(order).listed(second).found('FAILED');
    expect(payment.todo).toMatchObject({ kind: 'wait', until: START + MINUTE });
    payment.asks('lookUp');
    expect(payment.now).toBe(START + MINUTE);
  });

  it('waits so long when a notification or a refresh comes meanwhile, too', () => {
    const payment = ambiguous(order).listed(second).found('FAILED').hint('T1').answered(SILENT);
    expect(payment.todo).toMatchObject({ kind: 'wait', until: START + MINUTE });
    expect(payment.request('refresh').todo).toMatchObject({ kind: 'wait', until: START + MINUTE });
  });

  it('is SUCCESSFUL when that is what the list says of it by now', () => {
    const payment = declined().listed({ ...second, status: 'SUCCESSFUL' });
    expect(payment.notified).toEqual(['payment.succeeded']);
  });

  it('is put before a person when the list can’t be read for the grace period, and ends when it can', () => {
    const payment = declined();
    const since = payment.now;
    const times: number[] = [];
    while (payment.status === 'PENDING') {
      payment.asks('lookUp');
      times.push(payment.now - since);
      payment.listing(SILENT);
    }
    expect(times.slice(0, 4)).toEqual([0, 2_000, 6_000, 14_000]);
    expect(times.at(-1)).toBe(15 * MINUTE);
    expect(payment.phase('review')).toMatchObject({
      number: 1,
      held: false,
      why: "T2 is FAILED, and it couldn't be looked up whether the provider has another transaction for this payment",
    });
    expect(payment.todo).toMatchObject({ kind: 'wait', until: payment.now + HOUR });
    payment.listing(SILENT);
    expect(payment.phase('review').number).toBe(1);
    expect(payment.listed(failed).phase('ended').status).toBe('FAILED');
    expect(payment.notified).toEqual(['payment.review', 'payment.failed']);
  });

  it('is never sent again, whatever the list shows and the policy says', () => {
    const payment = declined({ ambiguousPolicy: 'resend' });
    while (payment.status === 'PENDING') payment.listing(SILENT);
    expect(payment.resend().reply).toMatchObject({ kind: 'refused', words: expect.stringContaining('T2') });
    expect(payment.listed().phase('ended').status).toBe('FAILED');
  });

  it('keeps the quiet that the provider asks for', () => {
    const payment = declined().listing(throttled(5 * MINUTE));
    expect(payment.todo).toMatchObject({ kind: 'wait', until: payment.now + 5 * MINUTE });
  });

  it('is put before a person when a notification names another that has moved money', () => {
    const payment = unread().hint('T1');
    expect(payment.asks('askStatus')).toMatchObject({ transId: 'T1', isClaim: true });
    expect(payment.found('SUCCESSFUL').phase('review')).toMatchObject({
      held: true,
      why: 'the provider has another transaction for this payment: T1 (SUCCESSFUL)',
    });
  });

  it('is asked about again when a notification contradicts its failure', () => {
    const payment = unread().hint('T2');
    expect(payment.asks('askStatus')).toMatchObject({ transId: 'T2', isClaim: true });
    expect(payment.found('SUCCESSFUL').phase('ended').status).toBe('SUCCESSFUL');
    expect(payment.notified).toEqual(['payment.succeeded']);
  });

  it('has failed whatever older status is heard of', () => {
    const payment = unread().hint('T2').found('PENDING');
    expect(payment.phase('verifying').outcome.status).toBe('FAILED');
    expect(unread().hint('T2', 'FAILED').payment.claims.open).toEqual([]);
  });

  it('goes on being asked about when the notification may be ahead of the provider’s records', () => {
    const payment = unread().hint('T2').found('FAILED');
    expect(payment.phase('verifying').outcome.status).toBe('FAILED');
    payment.listed(failed);
    expect(payment.status).toBe('FAILED');
    payment.listed(failed);
    expect(payment.found('SUCCESSFUL').phase('review').why).toContain('the payment ended as FAILED');
  });

  it('is looked up sooner for a merchant who refreshes it, and who is answered then', () => {
    const payment = unread();
    for (let looks = 0; looks < 6; looks++) payment.listing(SILENT);
    const lookedAt = payment.now;
    payment.later(1_000).request('refresh');
    expect(payment.reply).toBeUndefined();
    payment.asks('lookUp');
    expect(payment.now).toBe(lookedAt + 10_000);
    expect(payment.listed(failed).reply).toMatchObject({ kind: 'done' });
  });

  it('answers a refresh with the outcome when that is what it finds', () => {
    const payment = ambiguous(order).listed(second).found('PENDING').later(MINUTE).request('refresh');
    expect(payment.found('FAILED').reply).toBeUndefined();
    expect(payment.listed(failed).reply).toMatchObject({ kind: 'done' });
    expect(payment.status).toBe('FAILED');
  });

  it('can be failed by an operator who is asked', () => {
    const underReview = () => {
      const payment = declined();
      while (payment.status === 'PENDING') payment.listing(SILENT);
      return payment;
    };
    expect(underReview().fail().found('FAILED').listing(SILENT).reply?.kind).toBe('refused');
    const forced = underReview().fail({ force: true }).found('FAILED').listing(SILENT);
    expect(forced.phase('ended')).toMatchObject({ status: 'FAILED', failureCode: 'decided_by_operator' });
    expect(underReview().fail().found('FAILED').listed(failed).phase('ended').status).toBe('FAILED');
    const matched = underReview().match('T2').found('FAILED');
    expect(matched.payment.phase.kind).toBe('verifying');
    expect(matched.listed(failed).phase('ended')).toMatchObject({ failureCode: 'failed_at_provider' });
  });

  it('is verified under the review of a payment that nobody had decided for a day', () => {
    const payment = ambiguous(order).listed(second);
    while (payment.status !== 'REVIEW') payment.found('PENDING');
    expect(payment.found('FAILED').status).toBe('REVIEW');
    expect(payment.listing(SILENT).phase('review').number).toBe(2);
    expect(payment.listed(failed).phase('ended').status).toBe('FAILED');
    expect(payment.notified).toEqual(['payment.review', 'payment.failed']);
  });

  it('is verified by the run that takes over, too', () => {
    const payment = unread();
    payment.take({ kind: 'begin' });
    expect(payment.listed(failed).phase('ended').status).toBe('FAILED');
  });

  it('has its outcome checked afterwards, as if it had been paid', () => {
    for (const payment of [declined().listed(failed), ambiguous(order).listed(second).found('SUCCESSFUL')]) {
      expect(payment.phase('ended').checks).toHaveLength(3);
      payment.listed(second).listed({ ...first, status: 'SUCCESSFUL' });
      expect(payment.phase('review').why).toContain('T1 (SUCCESSFUL)');
    }
  });
});

describe('a link that was found in the list, and has expired', () => {
  const own = transactionOf(linkOrder);
  const expired = { ...own, status: 'EXPIRED' } as const;
  const found = (): Scenario => ambiguous(linkOrder).listed({ ...own, status: 'PENDING' });

  it('is EXPIRED when the list shows no other that can be paid', () => {
    const payment = found().found('FAILED').found('EXPIRED');
    expect(payment.status).toBe('FAILED');
    payment.listed(expired, { ...expired, transId: transId('T2') });
    expect(payment.phase('ended').status).toBe('EXPIRED');
    expect(payment.notified).toEqual(['payment.attempt_failed', 'payment.expired']);
  });

  // The merchant may have been given that one before the book was restored.
  it.each(['SUCCESSFUL', 'PENDING', 'CREATED'] as const)('is put before a person when another is %s', (status) => {
    const payment = found()
      .found('EXPIRED')
      .listed({ ...own, transId: transId('T2'), status });
    expect(payment.phase('review').why).toBe(
      `T1 is EXPIRED, but the provider has another transaction for this payment: T2 (${status})`,
    );
  });

  it('answers the merchant who has it expired when that is known', () => {
    const payment = found().found('CREATED').later(HOUR).request('expire').found('CREATED').expired();
    expect(payment.found('EXPIRED').reply).toBeUndefined();
    expect(payment.listing(SILENT).request('expire').reply).toBeUndefined();
    payment.listed(expired);
    expect(payment.replies).toEqual([
      { request: 1, kind: 'done' },
      { request: 2, kind: 'done' },
    ]);
    expect(payment.status).toBe('EXPIRED');
  });

  it('is not closed when its end comes meanwhile', () => {
    const payment = found().found('EXPIRED');
    while (payment.now < START + DAY) payment.listing(SILENT);
    expect(payment.phase('review').inquiry?.kind).toBe('verifying');
    expect(payment.listed(expired).phase('ended').status).toBe('EXPIRED');
  });
});

it('a payout that was held is not FAILED when a person matches a transaction that a hint named, and the list may lag', () => {
  const dated = { ...payoutOrder, sendAt: START + 3 * DAY };
  const failed = transactionOf(dated, { transId: transId('T2'), status: 'FAILED' });
  const payment = opened(dated, { listedAfterMs: HOUR }).hint('T2', 'FAILED').match('T2').found('FAILED');
  expect(payment.todo).toEqual(expect.objectContaining({ kind: 'wait', until: START + HOUR }));
  const other = transactionOf(dated, { status: 'SUCCESSFUL' });
  expect(payment.listed(failed, other).phase('review').why).toContain('T1');
  expect(payment.notified).toEqual(['payment.held', 'payment.review', 'payment.review']);
});
