import { describe, expect, it } from '@jest/globals';
import type { PaymentOrder } from '../../../src/payments/words/order.js';
import { isFinalPayment } from '../../../src/payments/words/payment-state.js';
import { HOUR, linkOrder, MINUTE, payoutOrder, START, transactionOf, transId } from '../../support/orders.js';
import { absent, ambiguous, NOT_SENT, opened, type Scenario, SILENT, UNKNOWN } from '../../support/scenario.js';

/**
 * A request that was doubted reports after all that the provider has taken it. The payment is told so as by a hint
 * without a status: whatever has become of it, it isn't sent again meanwhile, and the transaction is found.
 */
const late = (payment: Scenario, id = 'T1') => {
  payment.take({ kind: 'hint', transId: transId(id), status: undefined });
  return payment;
};

const own = transactionOf(payoutOrder);

/** Goes on, with what the provider says of the transaction, and a list that leaves it out. */
function goOn(payment: Scenario, status: 'PENDING' | 'SUCCESSFUL' | 'silent'): void {
  const { todo } = payment;
  if (todo.kind === 'wait' && todo.until !== undefined) payment.at(todo.until);
  else if (todo.kind === 'lookUp') payment.listed();
  else if (status === 'silent') payment.answered(SILENT);
  else payment.found(status);
}

const searched = (order: PaymentOrder) => ambiguous(order, { ambiguousPolicy: 'resend' });

/** Its end is near: it was withdrawn, or not approved, and the list is read for the last time. */
function ending(): Scenario {
  return opened({ ...payoutOrder, approval: true, orderedBy: 'ann' }).rejectPayout('bob', true);
}

describe('the late report of a request that was doubted', () => {
  it('has the transaction asked for and followed while the payment is looked for, though the list never shows it', () => {
    const payment = late(searched(payoutOrder));
    while (payment.payment.phase.kind === 'searching') goOn(payment, 'PENDING');
    expect(payment.phase('following').transId).toBe('T1');
    while (payment.todo.kind !== 'end') goOn(payment, 'SUCCESSFUL');
    expect(payment.phase('ended')).toMatchObject({ status: 'SUCCESSFUL', transId: 'T1' });
    expect(payment.notified).toEqual(['payment.succeeded']);
  });

  it('keeps the policy from sending it once more, however long the provider says nothing of it', () => {
    const payment = late(searched(payoutOrder));
    while (payment.status === 'CREATED') {
      expect(payment.todo.kind).not.toBe('send');
      goOn(payment, 'silent');
    }
    expect(payment.status).toBe('REVIEW');
  });

  it.each(['policy', 'operator'] as const)('calls off that it is sent once more (%s)', (cause) => {
    const payment = cause === 'operator' ? absent(payoutOrder).resend().listed() : searched(payoutOrder);
    while (payment.todo.kind !== 'send') payment.listed();
    late(payment);
    expect(payment.todo.kind).not.toBe('send');
    expect(payment.listed(own).phase('following').transId).toBe('T1');
  });

  it('has the list read at once while it waits to be sent once more', () => {
    const payment = late(absent(payoutOrder).resend().listed().sent(NOT_SENT));
    expect(payment.todo).toEqual({ kind: 'lookUp' });
    expect(payment.listed().status).toBe('REVIEW');
    goOn(payment, 'SUCCESSFUL');
    expect(payment.phase('ended')).toMatchObject({ status: 'SUCCESSFUL', transId: 'T1' });
  });

  it('keeps the payment from being called FAILED while it is withdrawn', () => {
    const payment = late(ending());
    while (payment.status === 'CREATED') {
      expect(payment.notified).toEqual(['payment.held']);
      goOn(payment, 'silent');
    }
    expect(payment.status).toBe('REVIEW');
    expect(late(ending()).listed(own).status).toBe('REVIEW');
  });

  it.each([
    ['withdrawn', () => opened(payoutOrder).sent(NOT_SENT).cancel()],
    ['not approved', () => ending().listed()],
    ['decided', () => absent(payoutOrder).fail().listed()],
  ])('brings one that was %s before a person when the provider has it', (_, ended) => {
    const payment = late(ended());
    while (payment.status === 'FAILED') goOn(payment, 'SUCCESSFUL');
    expect(payment.phase('review').why).toContain('T1 (SUCCESSFUL)');
    expect(isFinalPayment(payment.payment)).toBe(false);
  });

  it('brings a second transaction before a person, whatever became of the first', () => {
    const second = { ...own, transId: transId('T2') };
    for (const status of ['PENDING', 'SUCCESSFUL'] as const) {
      const payment = ambiguous(payoutOrder).listed(second).found(status);
      late(payment);
      while (payment.payment.phase.kind !== 'review') {
        const { todo } = payment;
        if (todo.kind === 'wait') payment.at(todo.until ?? 0);
        else if (todo.kind === 'askStatus' && todo.isClaim) payment.found('SUCCESSFUL');
        else if (todo.kind === 'lookUp') payment.listed(second);
        else payment.found(status);
      }
      expect(payment.phase('review')).toMatchObject({ held: true, why: expect.stringContaining('T1 (SUCCESSFUL)') });
    }
  });

  it('is told the operator of a review, whose earlier decision is void', () => {
    for (const payment of [absent(payoutOrder), absent(payoutOrder).fail()]) {
      const { reviews } = payment.payment;
      late(payment);
      if (payment.todo.kind === 'lookUp' && payment.payment.phase.kind === 'deciding') payment.listed();
      expect(payment.status).toBe('REVIEW');
      expect(payment.payment.reviews).toBeGreaterThan(reviews);
      expect(payment.later(HOUR).fail().reply).toMatchObject({ kind: 'refused' });
    }
  });

  it('changes nothing once the payment goes by that transaction', () => {
    const payment = ambiguous(payoutOrder).listed(own).found('SUCCESSFUL');
    while (payment.todo.kind !== 'end') goOn(payment, 'SUCCESSFUL');
    late(payment.later(MINUTE));
    while (payment.todo.kind !== 'end') goOn(payment, 'SUCCESSFUL');
    expect(payment.phase('ended').status).toBe('SUCCESSFUL');
    expect(payment.notified).toEqual(['payment.succeeded']);
  });

  it('is forgotten when the provider denies it for longer than it may lag', () => {
    const payment = late(ambiguous(payoutOrder));
    while (payment.payment.claims.open.length > 0) {
      if (payment.todo.kind === 'askStatus') payment.answered(UNKNOWN);
      else goOn(payment, 'silent');
    }
    expect(payment.status).toBe('REVIEW');
    expect(payment.now).toBeGreaterThan(START + 30 * MINUTE);
  });

  it('gives nobody the link: it is expired like any that nobody was given, and another is made', () => {
    const link = transactionOf(linkOrder);
    const payment = late(ambiguous(linkOrder)).listed(link);
    expect(payment.todo).toEqual({ kind: 'expire', transId: 'T1' });
    expect(payment.expired().todo).toEqual({ kind: 'send', cause: 'policy' });
  });
});
