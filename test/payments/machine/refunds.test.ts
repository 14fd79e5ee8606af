import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type CountedRefund,
  collectedBy,
  contradictionOf,
  RESERVED_FOR_MS,
  type RefundReading,
  refundableOf,
  reserveRefund,
  START_WITHIN_MS,
  sentBy,
  standingOf,
  sumOf,
} from '../../../src/payments/machine/refunds.js';
import {
  DAY,
  directOrder,
  HOUR,
  linkOrder,
  paymentId,
  payoutOrder,
  START,
  transactionOf,
  transId,
} from '../../support/orders.js';
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
  taken,
} from '../../support/scenario.js';

/** A direct collection of this many XAF that was paid. */
const collection = (amount: number) => paid({ ...directOrder, amount });

const refund = (number: number) => paymentId(`pay_${number}`);
const known = (number: number, amount: number, asOf = START) =>
  ({ kind: 'known', id: refund(number), amount, asOf }) as const;
const none = (number: number) => ({ kind: 'none', id: refund(number) }) as const;

/** Asks for room in a collection of 100 XAF. */
function reserve(
  before: readonly CountedRefund[],
  number: number,
  amount: number,
  readings: readonly RefundReading[] = [],
  now = START,
  readAt = now,
) {
  return reserveRefund(before, { id: refund(number), amount, collected: 100, readings, readAt }, now);
}

/** Returns the refunds after these were reserved, of which there is no payment yet. */
const reserved = (...amounts: readonly number[]) =>
  amounts.reduce<readonly CountedRefund[]>((before, amount, index) => reserve(before, index, amount).refunds, []);

describe('the room of a collection', () => {
  it('is given to refunds up to what was collected, and not one franc more', () => {
    const first = reserved(60);
    expect(reserve(first, 1, 41)).toEqual({ refunds: first, answer: { kind: 'noRoom', counted: 60 } });
    expect(reserve(first, 1, 40).answer).toEqual({ kind: 'reserved' });
    expect(reserve(reserve(first, 1, 40).refunds, 2, 1).answer).toEqual({ kind: 'noRoom', counted: 100 });
  });

  it('is given once to a repeated request, for the greater of its amounts', () => {
    const first = reserved(60);
    expect(sumOf(reserve(first, 0, 60).refunds)).toBe(60);
    expect(sumOf(reserve(first, 0, 20).refunds)).toBe(60);
    expect(sumOf(reserve(first, 0, 100).refunds)).toBe(100);
    expect(reserve(first, 0, 101).answer).toEqual({ kind: 'noRoom', counted: 0 });
  });

  it('counts a payment as it was last read, and not by an older reading', () => {
    const failed = reserve(reserved(60), 1, 100, [known(0, 0, START + 2)]);
    expect(failed.answer.kind).toBe('reserved');
    const contradicted = reserve(reserved(60), 1, 41, [known(0, 0, START + 1), known(0, 60, START + 2)]);
    expect(contradicted.answer).toEqual({ kind: 'noRoom', counted: 60 });
    expect(reserve(contradicted.refunds, 1, 41, [known(0, 0, START + 1)]).answer.kind).toBe('noRoom');
  });

  it('comes back when the checks are over, which gives the payment no new time', () => {
    const checked = [known(0, 60), known(0, 0)];
    expect(reserve(reserved(60), 1, 100, checked).answer.kind).toBe('reserved');
    expect(reserve(reserved(60), 1, 100, checked.toReversed()).answer.kind).toBe('reserved');
  });

  it('is taken by refunds that only the readings know', () => {
    expect(reserve([], 1, 41, [known(0, 60)])).toEqual({
      refunds: [known(0, 60)],
      answer: { kind: 'noRoom', counted: 60 },
    });
  });

  it('starts nothing under the id of a payment that there is, or was', () => {
    const before = reserve(reserved(60), 1, 100, [known(0, 0)]).refunds;
    expect(reserve(before, 0, 60).answer).toEqual({ kind: 'known' });
    expect(reserve(before, 0, 60, [none(0)]).answer).toEqual({ kind: 'known' });
    expect(reserve([], 0, 60, [known(0, 0)]).answer).toEqual({ kind: 'known' });
  });

  it('may be overdrawn by what the readings tell, and is then given to nobody', () => {
    expect(reserve([], 1, 1, [known(0, 120)]).answer).toEqual({ kind: 'noRoom', counted: 120 });
  });
});

describe('a reservation without a payment', () => {
  const read = (ms: number, readings: readonly RefundReading[]) => reserve(reserved(60), 1, 41, readings, START + ms);

  it('keeps its room for an hour, and gives it back when there is surely no payment', () => {
    expect(read(RESERVED_FOR_MS - 1, [none(0)]).answer.kind).toBe('noRoom');
    expect(read(RESERVED_FOR_MS, [none(0)]).answer.kind).toBe('reserved');
    expect(read(RESERVED_FOR_MS, [none(0)]).refunds.map(({ id }) => id)).toEqual([refund(1)]);
  });

  it('keeps it when a worker takes a request an hour late: it was looked for before', () => {
    expect(reserve(reserved(60), 1, 41, [none(0)], START + RESERVED_FOR_MS, START).answer.kind).toBe('noRoom');
  });

  it('keeps it for as long as nobody has looked', () => {
    expect(read(365 * DAY, []).answer.kind).toBe('noRoom');
  });

  it('keeps it for an hour more when its request is repeated', () => {
    const repeated = reserve(reserved(60), 0, 60, [], START + RESERVED_FOR_MS - 1).refunds;
    expect(reserve(repeated, 1, 41, [none(0)], START + RESERVED_FOR_MS).answer.kind).toBe('noRoom');
  });

  it('is over long after the last moment at which its payment may start', () => {
    expect(RESERVED_FOR_MS).toBeGreaterThanOrEqual(10 * START_WITHIN_MS);
  });

  it('is no payment that was seen once, though Temporal has forgotten that', () => {
    const seen = reserve(reserved(60), 1, 41, [known(0, 60)]).refunds;
    expect(reserve(seen, 1, 41, [none(0)], START + 365 * DAY).answer.kind).toBe('noRoom');
  });
});

/** Refunds as they really are, of which some readings are late; amounts in XAF. */
class World {
  refunds: readonly CountedRefund[] = [];
  now = START;
  /** The latest reservations that were answered, and when they were asked for. */
  readonly answered = new Map<number, { readonly amount: number; readonly at: number }>();
  /** Each payment's states, the latest at the end. */
  readonly payments = new Map<number, RefundReading[]>();

  ask(number: number, amount: number, late: number): void {
    const at = this.now;
    const readings = [0, 1, 2].map((one) => this.payments.get(one)?.at(-1 - late) ?? none(one));
    // Whoever has a payment is told so before anything is reserved.
    if (this.payments.has(number) && late === 0) return;
    this.now += late * RESERVED_FOR_MS;
    const { refunds, answer } = reserve(this.refunds, number, amount, readings, this.now, at);
    this.refunds = refunds;
    if (answer.kind === 'reserved') this.answered.set(number, { amount, at });
  }

  start(number: number): void {
    const { amount, at } = this.answered.get(number) ?? { amount: 0, at: Number.NEGATIVE_INFINITY };
    if (this.payments.has(number) || this.now > at + START_WITHIN_MS) return;
    this.payments.set(number, [known(number, amount, this.now)]);
  }

  fail(number: number): void {
    this.payments.get(number)?.push(known(number, 0, ++this.now));
  }

  /** The sum of all that was sent or may have been. */
  get sent(): number {
    const amounts = [...this.payments.values()].map((states) => states.at(-1));
    return sumOf(amounts.filter((one) => one?.kind === 'known'));
  }
}

it('never has more sent than was collected, in whatever order requests, starts and readings come', () => {
  const number = fc.integer({ min: 0, max: 2 });
  const move = fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      number,
      amount: fc.constantFrom(40, 60, 100),
      late: fc.integer({ min: 0, max: 1 }),
    }),
    fc.record({ kind: fc.constantFrom('start' as const, 'start' as const, 'fail' as const), number }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(START_WITHIN_MS, RESERVED_FOR_MS) }),
  );
  fc.assert(
    fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
      const world = new World();
      for (const one of moves) {
        if (one.kind === 'ask') world.ask(one.number, one.amount, one.late);
        else if (one.kind === 'wait') world.now += one.ms;
        else world[one.kind](one.number);
        expect(world.sent).toBeLessThanOrEqual(100);
      }
    }),
    { numRuns: 2_000 },
  );
});

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

  it('is the whole refund again, with a new time, when the end is checked again', () => {
    const failed = taken(order).hint('T1', 'FAILED').found('FAILED');
    const before = failed.payment;
    expect(sentBy(before)).toBe(0);
    failed.later(HOUR).hint('T2');
    while (sent(failed) === 0) failed.answered(SILENT);
    expect(sent(failed)).toBe(amount);
    expect(failed.payment.updatedAt).toBeGreaterThan(before.updatedAt);
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
