import { describe, expect, it } from '@jest/globals';
import {
  collectedBy,
  contradictionOf,
  refundableOf,
  sentBy,
  standingOf,
} from '../../../src/payments/machine/refunds.js';
import { DAY, directOrder, HOUR, linkOrder, payoutOrder, START, transactionOf, transId } from '../../support/orders.js';
import {
  absent,
  ambiguous,
  backoff,
  MERCHANT,
  NOT_SENT,
  opened,
  paid,
  type Scenario,
  SILENT,
  THROTTLED_SEND,
  taken,
} from '../../support/scenario.js';

/** A direct collection of this many XAF that was paid. */
const collection = (amount: number) => paid({ ...directOrder, amount });

describe('what was or may have been sent', () => {
  const { amount } = payoutOrder;
  const order = { ...payoutOrder, orderedBy: 'ann' };
  const sent = ({ payment }: Scenario) => sentBy(payment);

  it('is the whole refund until it has certainly come to nothing', () => {
    for (const open of [
      opened(order),
      opened({ ...order, approval: true }),
      opened(order).sent(NOT_SENT),
      taken(order),
      ambiguous(order),
      absent(order),
      paid(order),
    ]) {
      expect(sent(open)).toBe(amount);
    }
  });

  it('is nothing once it was withdrawn, rejected, not approved, not sent or failed by the provider', () => {
    const held = () => opened({ ...order, approval: true });
    for (const over of [
      opened(order).sent(NOT_SENT).request('expire', MERCHANT),
      opened(order).sent({ kind: 'rejected', message: 'Insufficient balance', statusCode: 400 }),
      held().cancel(),
      held().rejectPayout('bob'),
      taken(order).hint('T1', 'FAILED').found('FAILED'),
    ]) {
      expect(over.phase('ended').status).toBe('FAILED');
      expect(sent(over)).toBe(0);
    }
  });

  it('is the whole refund until the checks of an operator’s decision are over', () => {
    const failed = absent(order).fail().listed();
    expect(failed.phase('ended')).toMatchObject({ failureCode: 'decided_by_operator' });
    expect(sent(failed)).toBe(amount);
    failed.listed().listed();
    expect(sent(failed)).toBe(amount);
    failed.listed();
    expect(failed.now - START).toBeGreaterThan(DAY);
    expect(sent(failed)).toBe(0);
  });

  it('is the whole refund again when the provider contradicts that it has failed', () => {
    const failed = taken(order).hint('T1', 'FAILED').found('FAILED');
    failed.later(HOUR).hint('T1').found('SUCCESSFUL');
    expect(failed.status).toBe('REVIEW');
    expect(sent(failed)).toBe(amount);
  });

  it('is the whole refund again when the end is checked again', () => {
    const failed = taken(order).hint('T1', 'FAILED').found('FAILED');
    const before = failed.payment;
    expect(sentBy(before)).toBe(0);
    failed.later(HOUR).hint('T2');
    while (sent(failed) === 0) failed.answered(SILENT);
    expect(sent(failed)).toBe(amount);
  });

  it('is each of two transactions that the provider shows', () => {
    const two = backoff(order);
    expect(sent(two)).toBe(2 * amount);
    two.match('T1', { force: true }).found('SUCCESSFUL');
    expect(two.phase('ended').status).toBe('SUCCESSFUL');
    expect(sent(two)).toBe(2 * amount);
  });

  it('is each request of one that was sent again, until it is checked that there is one transaction', () => {
    const resent = absent(order).resend().listed();
    expect(resent.todo.kind).toBe('send');
    expect(sent(resent)).toBe(2 * amount);
    resent.sent({ kind: 'accepted', transId: transId('T2') });
    resent.hint('T2').found('SUCCESSFUL');
    const own = { ...transactionOf(order, { transId: transId('T2') }), status: 'SUCCESSFUL' } as const;
    expect(sent(resent)).toBe(2 * amount);
    resent.listed(own).listed(own).listed(own);
    expect(sent(resent)).toBe(amount);
  });

  it('is each request where one was throttled, and an operator insists before the list shows whether it was taken', () => {
    const throttled = opened(order).sent(THROTTLED_SEND);
    while (throttled.status !== 'REVIEW') throttled.listing(SILENT);
    throttled.resend({ force: true }).listed();
    expect(sent(throttled)).toBe(2 * amount);
    throttled.sent({ kind: 'accepted', transId: transId('T2') });
    expect(sent(throttled)).toBe(2 * amount);
  });

  it('is the amount that moved, where that is more than was ordered', () => {
    const more = absent(order)
      .match('T1', { force: true })
      .found('SUCCESSFUL', { amount: amount + 1 });
    expect(more.phase('ended').status).toBe('SUCCESSFUL');
    for (let check = 0; check < 3; check++) {
      more.listed(transactionOf(order, { status: 'SUCCESSFUL', amount: amount + 1 }));
    }
    expect(sent(more)).toBe(amount + 1);
  });
});

describe('what was collected', () => {
  const collected = ({ payment }: Scenario) => collectedBy(payment);

  it('is known of a payment that is final and SUCCESSFUL', () => {
    expect(collected(paid(directOrder))).toBe(directOrder.amount);
    for (const open of [opened(linkOrder), taken(linkOrder), absent(directOrder), paid(payoutOrder)]) {
      expect(collected(open)).toBeUndefined();
    }
  });

  it('is what a link’s two transactions have moved, where the provider has given the amounts', () => {
    const twice = backoff(directOrder).match('T1', { force: true }).found('SUCCESSFUL');
    expect(twice.phase('ended').status).toBe('SUCCESSFUL');
    expect(collected(twice)).toBe(2 * directOrder.amount);
    const others = twice.payment.others.map(({ amount: _, ...other }) => other);
    expect(collectedBy({ ...twice.payment, others })).toBe(directOrder.amount);
  });

  it('is the amount that moved, and nothing where a match’s amount isn’t known', () => {
    const less = absent(directOrder).match('T1', { force: true }).found('SUCCESSFUL', { amount: 200 });
    expect(collected(less)).toBe(200);
    const { amountPaid: _, ...facts } = less.payment.facts;
    expect(collectedBy({ ...less.payment, facts })).toBe(200);
    expect(collectedBy({ ...less.payment, facts, differences: [] })).toBe(0);
  });
});

describe('what was collected by a match without an amount', () => {
  it('is what was ordered, though an operator had decided before that no money had moved', () => {
    const { id, amount } = directOrder;
    const bare = { transId: transId('T1'), status: 'SUCCESSFUL', externalId: id } as const;
    const matched = absent(directOrder).fail({ force: true }).listed();
    expect(matched.phase('ended').status).toBe('FAILED');
    matched.listed().hint('T1').answered({ kind: 'found', transaction: bare });
    matched.match('T1', { force: true }).answered({ kind: 'found', transaction: bare });
    expect(matched.phase('ended').status).toBe('SUCCESSFUL');
    expect(collectedBy(matched.payment)).toBe(amount);
  });
});

describe('what can still be refunded', () => {
  it('is the rest, or nothing when that is below the provider’s minimum', () => {
    expect(refundableOf(5_000, 1_000)).toBe(4_000);
    expect(refundableOf(5_000, 4_900)).toBe(100);
    expect(refundableOf(5_000, 4_901)).toBe(0);
    expect(refundableOf(5_000, 6_000)).toBe(0);
    expect(refundableOf(undefined, 0)).toBe(0);
  });
});

describe('the collection of a refund that is about to be sent', () => {
  const T1 = { transId: transId('T1'), amount: 1_000 };
  const found = (status: 'SUCCESSFUL' | 'FAILED' | 'EXPIRED' | 'PENDING' | 'CREATED', amount?: number) => ({
    status,
    amount,
  });

  it('stands while it is SUCCESSFUL, and has that much left beside the other refunds', () => {
    const { payment } = collection(1_000);
    expect(standingOf(payment, 600, 400)).toEqual({ kind: 'stands', paid: [T1], toSpare: 0 });
    expect(standingOf(payment, 600, 401)).toMatchObject({ kind: 'gone', why: expect.stringContaining('401 XAF') });
  });

  it('is gone when it has ended otherwise, and doubtful under review or before its end', () => {
    const failed = taken({ ...directOrder, amount: 1_000 }).found('FAILED');
    expect(standingOf(failed.payment, 100, 0)).toEqual({ kind: 'gone', why: 'the collection col_2 is FAILED' });
    expect(standingOf(taken(directOrder).payment, 100, 0)).toMatchObject({ kind: 'doubtful' });
    expect(standingOf(absent(directOrder).payment, 100, 0)).toEqual({
      kind: 'doubtful',
      why: 'the collection col_2 is REVIEW',
    });
    expect(standingOf(paid(payoutOrder).payment, 100, 0)).toMatchObject({ kind: 'gone' });
  });

  it.each([
    ['stands', found('SUCCESSFUL', 1_000), 0],
    ['stands', found('SUCCESSFUL'), 0],
    ['stands', found('SUCCESSFUL', 1_001), 0],
    ['gone', found('SUCCESSFUL', 999), 0],
    ['doubtful', found('SUCCESSFUL', 600), 400],
    ['gone', found('SUCCESSFUL', 600), 399],
    ['gone', found('FAILED', 1_000), 5_000],
    ['gone', found('EXPIRED'), 0],
    ['doubtful', found('PENDING'), 0],
    ['doubtful', found('CREATED'), 0],
  ] as const)('is %s when the provider shows %j, with %i XAF to spare', (kind, transaction, toSpare) => {
    expect(contradictionOf(T1, transaction, toSpare)?.kind ?? 'stands').toBe(kind);
  });
});
