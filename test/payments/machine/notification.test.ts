import { describe, expect, it } from '@jest/globals';
import {
  afterTry,
  DELIVERY_PATIENCE_MS,
  type Delivery,
  type Due,
  newDelivery,
  nextDue,
  notificationId,
  type PaymentNotification,
  withDelivery,
  withNextTries,
  withNotification,
} from '../../../src/payments/machine/notification.js';
import type { PaymentId } from '../../../src/payments/words/payment-id.js';
import { HOUR, linkOrder, MINUTE, paymentId, payoutOrder, START } from '../../support/orders.js';
import { paid, type Scenario, SILENT, taken } from '../../support/scenario.js';

const delivered = { kind: 'delivered', at: START } as const;

describe('a payment’s notifications', () => {
  it('are numbered from 1, and go out in order', () => {
    let notified: readonly PaymentNotification[] = withNotification([], 'payment.attempt_failed', START);
    notified = withNotification(notified, 'payment.succeeded', START + 5);
    expect(notified.map(({ number, type }) => [number, type])).toEqual([
      [1, 'payment.attempt_failed'],
      [2, 'payment.succeeded'],
    ]);
    expect(nextDue(notified)?.number).toBe(1);
    notified = withDelivery(notified, 1, { ...newDelivery(START), at: START + 60_000, tries: 1 }) ?? [];
    expect(nextDue(notified)?.number).toBe(1);
    notified = withDelivery(notified, 1, delivered) ?? [];
    expect(nextDue(notified)?.number).toBe(2);
  });

  it('have an id of their own for each number and type', () => {
    const id = (number: number, type: PaymentNotification['type']) =>
      notificationId(paymentId('col_1'), { number, type });
    expect(id(1, 'payment.attempt_failed')).toBe('evt_col_1_attempt_failed_1');
    expect(id(1, 'payment.expired')).toBe('evt_col_1_expired_1');
    expect(id(2, 'payment.expired')).toBe('evt_col_1_expired_2');
  });

  it('can be sent again under the same number', () => {
    const notified = withDelivery(withNotification([], 'payment.succeeded', START), 1, delivered) ?? [];
    expect(nextDue(notified)).toBeUndefined();
    expect(nextDue(withDelivery(notified, 1, newDelivery(START + 9)) ?? [])?.number).toBe(1);
    expect(withDelivery(notified, 2, newDelivery(START))).toBeUndefined();
  });

  it('are remembered up to a bound, and no number comes twice', () => {
    let notified: readonly PaymentNotification[] = [];
    for (let attempt = 0; attempt < 300; attempt++) {
      notified = withNotification(notified, 'payment.attempt_failed', START);
      notified = withDelivery(notified, notified.at(-1)?.number ?? 0, delivered) ?? [];
    }
    expect(notified.length).toBeLessThanOrEqual(51);
    expect(notified.at(-1)?.number).toBe(300);
  });

  it('are not forgotten before they were delivered', () => {
    let notified = withNotification([], 'payment.review', START);
    for (let attempt = 0; attempt < 300; attempt++)
      notified = withNotification(notified, 'payment.attempt_failed', START);
    expect(nextDue(notified)?.number).toBe(1);
  });
});

const FAILED = { kind: 'failed', reason: 'the merchant answered 503' } as const;
const id = paymentId('col_1');

describe('the delivery of a notification', () => {
  /** Every try fails: the times of all of them, in ms from the first. */
  function triesOf(first: Due, firstAt: number): { times: number[]; last: Delivery } {
    const times: number[] = [];
    let delivery: Delivery = first;
    for (let now = firstAt; delivery.kind === 'due'; now = delivery.kind === 'due' ? delivery.at : now) {
      times.push(now - firstAt);
      delivery = afterTry(delivery, FAILED, id, now);
    }
    return { times, last: delivery };
  }

  it('is tried for three days with growing pauses, the last time when they are just over', () => {
    const { times, last } = triesOf(newDelivery(START), START);
    const pauses = times.map((time, index) => time - (times[index - 1] ?? 0));
    const steps = [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];
    for (const [index, step] of steps.entries()) {
      expect(pauses[index + 1]).toBeGreaterThanOrEqual(step);
      expect(pauses[index + 1]).toBeLessThanOrEqual(1.2 * step);
    }
    expect(Math.max(...pauses)).toBeLessThanOrEqual(12 * HOUR);
    expect(times.at(-1)).toBe(72 * HOUR);
    expect(DELIVERY_PATIENCE_MS).toBe(72 * HOUR);
    const at = START + 72 * HOUR;
    expect(last).toEqual({ kind: 'abandoned', at, lastTriedAt: at, lastError: FAILED.reason });
  });

  it('has its three days from its own first try, however late that is', () => {
    expect(triesOf(newDelivery(START), START + 70 * HOUR).times).toEqual(triesOf(newDelivery(START), START).times);
  });

  it('is not abandoned before three days, however slow the tries are', () => {
    const second = afterTry(newDelivery(START), FAILED, id, START + MINUTE);
    expect(second).toEqual({
      kind: 'due',
      at: expect.any(Number),
      tries: 1,
      since: START + MINUTE,
      lastTriedAt: START + MINUTE,
      lastError: FAILED.reason,
    });
  });

  it('is tried again at another moment than those of other payments that have failed with it', () => {
    const ids = Array.from({ length: 100 }, (_, index) => paymentId(`col_${index}`));
    const second = (one: PaymentId) => afterTry(newDelivery(START), FAILED, one, START).at;
    expect(new Set(ids.map(second)).size).toBeGreaterThan(50);
    expect(ids.map(second)).toEqual(ids.map(second));
  });

  it('is not tried again before the merchant asks for it, nor sooner than it would have been, nor after its three days', () => {
    const dueAfter = (retryAfterMs: number) =>
      afterTry(newDelivery(START), { ...FAILED, retryAfterMs }, id, START).at - START;
    const own = dueAfter(0);
    expect(dueAfter(HOUR)).toBe(HOUR);
    expect(dueAfter(1_000)).toBe(own);
    expect(dueAfter(100 * HOUR)).toBe(72 * HOUR);
  });

  it('is due at once when no try was begun, which is none', () => {
    const due = afterTry(newDelivery(START), FAILED, id, START) as Due;
    expect(afterTry(due, { kind: 'notSent' }, id, START + HOUR)).toEqual({ ...due, at: START + HOUR });
  });

  it('is over with the first try that succeeds', () => {
    expect(afterTry(newDelivery(START), { kind: 'delivered' }, id, START + 5)).toEqual({
      kind: 'delivered',
      at: START + 5,
    });
  });

  it('is not called delivered when there was no address', () => {
    expect(afterTry(newDelivery(START), { kind: 'noAddress' }, id, START + 5)).toEqual({
      kind: 'noAddress',
      at: START + 5,
    });
  });
});

describe('a payment that notifies its merchant', () => {
  const deliveryOf = ({ payment }: Scenario, number: number) =>
    payment.notifications.find((one) => one.number === number)?.delivery;

  /** Its first notification is being delivered, beside everything else. */
  function delivering(): Scenario {
    const payment = taken(linkOrder).found('FAILED');
    payment.asks('deliver');
    return payment;
  }

  it('has told everybody before it ends', () => {
    const payment = paid(payoutOrder);
    expect(payment.todo).toEqual({ kind: 'deliver', number: 1, at: payment.now, tries: 0 });
    expect(payment.delivered().todo).toEqual({ kind: 'end' });
    expect(deliveryOf(payment, 1)).toEqual({ kind: 'delivered', at: payment.now });
  });

  it('ends when there is no address to notify, and says so', () => {
    const payment = paid(payoutOrder).delivered({ kind: 'noAddress' });
    expect(payment.todo).toEqual({ kind: 'end' });
    expect(deliveryOf(payment, 1)?.kind).toBe('noAddress');
  });

  it('gives each of two events its three days', () => {
    const payment = taken(linkOrder).found('FAILED').hint('T1').found('SUCCESSFUL').delivered(FAILED);
    const firstTries = new Map<number, number>([[1, payment.now]]);
    const lastTries = new Map<number, number>();
    while (payment.todo.kind !== 'end') {
      const { todo } = payment;
      if (todo.kind === 'wait' && todo.until !== undefined) {
        payment.at(todo.until);
      } else if (todo.kind === 'deliver') {
        const { number, at } = todo;
        if (!firstTries.has(number)) firstTries.set(number, payment.now);
        lastTries.set(number, payment.now);
        payment.take({ kind: 'delivered', number, at, outcome: FAILED });
      } else {
        payment.asks('end');
      }
    }
    for (const number of [1, 2]) {
      expect((lastTries.get(number) ?? 0) - (firstTries.get(number) ?? 0)).toBe(72 * HOUR);
      expect(deliveryOf(payment, number)?.kind).toBe('abandoned');
    }
  });

  it('delivers beside everything else, one at a time', () => {
    const payment = delivering();
    expect(payment.payment.delivering).toMatchObject({ number: 1 });
    expect(payment.after(0).todo.kind).toBe('wait');
    payment.hint('T1').found('SUCCESSFUL');
    expect(payment.notified).toEqual(['payment.attempt_failed', 'payment.succeeded']);
    expect(payment.todo).toEqual({ kind: 'wait', summary: 'Until something happens' });
  });

  it('goes on with the next when the first is over', () => {
    const payment = delivering();
    const { number, at } = payment.payment.delivering ?? { number: 0, at: 0 };
    payment.hint('T1').found('SUCCESSFUL');
    payment.take({ kind: 'delivered', number, at, outcome: { kind: 'delivered' } });
    expect(payment.todo).toMatchObject({ kind: 'deliver', number: 2 });
    expect(payment.payment.delivering).toEqual({ number: 2, at: expect.any(Number) });
  });

  it('ignores the outcome of a try when the delivery was begun anew meanwhile', () => {
    const payment = delivering();
    const { number, at } = payment.payment.delivering ?? { number: 0, at: 0 };
    payment.later(1_000).resendNotification(1);
    expect(payment.reply?.kind).toBe('done');
    const begunAt = payment.now;
    payment.later(1_000).take({ kind: 'delivered', number, at, outcome: FAILED });
    expect(deliveryOf(payment, 1)).toEqual(newDelivery(begunAt));
    expect(payment.todo).toEqual({ kind: 'deliver', number: 1, at: begunAt, tries: 0 });
  });

  it.each([{ kind: 'delivered' }, { kind: 'noAddress' }] as const)(
    'delivers one again by hand ($kind), with its whole patience before it',
    (outcome) => {
      const payment = paid(payoutOrder).delivered(outcome).later(HOUR).resendNotification(1);
      expect(payment.reply?.kind).toBe('done');
      expect(payment.todo).toEqual({ kind: 'deliver', number: 1, at: payment.now, tries: 0 });
    },
  );

  it('refuses to deliver one that there is not', () => {
    expect(paid(payoutOrder).delivered().resendNotification(2).reply).toMatchObject({
      kind: 'refused',
      type: 'NoSuchNotification',
    });
  });

  it('asks the provider before it notifies, when both are due', () => {
    const payment = taken(linkOrder).found('FAILED').delivered(FAILED).later(10_000).hint('T1');
    expect(payment.todo.kind).toBe('askStatus');
    expect(payment.answered(SILENT).todo.kind).toBe('deliver');
  });
});

describe('the next try of a notification', () => {
  const due = (number: number, at: number): PaymentNotification => ({
    number,
    type: 'payment.review',
    at: START,
    delivery: { kind: 'due', at, tries: 0 },
  });
  const at = (...given: readonly PaymentNotification[]) =>
    withNextTries(given, START).map(({ delivery }) => delivery.at - START);

  it('is not before that of the one before it, which it waits for', () => {
    expect(at(due(1, START + HOUR), due(2, START - MINUTE))).toEqual([HOUR, HOUR]);
    expect(at(due(1, START + MINUTE), due(2, START + HOUR))).toEqual([MINUTE, HOUR]);
  });

  it('is never in the past, nor does what has ended hold it up', () => {
    const delivered = { ...due(1, START), delivery: { kind: 'delivered', at: START + HOUR } } as const;
    expect(at(delivered, due(2, START - HOUR))).toEqual([HOUR, 0]);
  });
});
