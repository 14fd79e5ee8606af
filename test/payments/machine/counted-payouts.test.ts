import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type CountedPayout,
  countedAt,
  countPayouts,
  NO_PAYOUTS,
} from '../../../src/payments/machine/counted-payouts.js';
import type { PaymentId } from '../../../src/payments/words/payment-id.js';
import { DAY, payoutOrder, START } from '../../support/orders.js';

const payout = (number: number, amount: number) => ({ id: `pay_${number}` as PaymentId, amount });

/** Returns the payouts counted with this one; `undefined` when it was refused. */
function counting(before: typeof NO_PAYOUTS, one: CountedPayout, max: number) {
  const { counted, isAccepted } = countPayouts(before, [one], max);
  return isAccepted[0] ? counted : undefined;
}

describe('the payouts of a day', () => {
  it('has each on the first day on which it may be sent', () => {
    expect(countedAt(payoutOrder, START)).toBe(START);
    expect(countedAt({ ...payoutOrder, approval: true }, START)).toBe(START);
    expect(countedAt({ ...payoutOrder, sendAt: START + DAY }, START)).toBe(START + DAY);
    expect(countedAt({ ...payoutOrder, sendAt: START - DAY }, START)).toBe(START);
  });

  it('takes payouts up to the limit, and not one franc more', () => {
    const first = counting(NO_PAYOUTS, payout(1, 600), 1_000);
    expect(first?.total).toBe(600);
    expect(counting(first ?? NO_PAYOUTS, payout(2, 401), 1_000)).toBeUndefined();
    expect(counting(first ?? NO_PAYOUTS, payout(2, 400), 1_000)?.total).toBe(1_000);
  });

  it('counts a repeated payout once, also when the limit has been lowered since', () => {
    const counted = counting(NO_PAYOUTS, payout(1, 600), 1_000) ?? NO_PAYOUTS;
    expect(counting(counted, payout(1, 600), 1_000)?.total).toBe(600);
    expect(counting(counted, payout(1, 600), 100)?.total).toBe(600);
  });

  it('counts a payout that is repeated with another amount as the larger of the two', () => {
    const counted = counting(NO_PAYOUTS, payout(1, 600), 1_000) ?? NO_PAYOUTS;
    expect(counting(counted, payout(1, 200), 1_000)?.total).toBe(600);
    expect(counting(counted, payout(1, 900), 1_000)?.total).toBe(900);
    expect(counting(counted, payout(1, 1_001), 1_000)).toBeUndefined();
  });

  it('remembers the last thousand, and forgets no amount', () => {
    let counted = NO_PAYOUTS;
    for (let number = 0; number < 1_500; number++) {
      counted = counting(counted, payout(number, 100), 1_000_000) ?? counted;
    }
    expect(counted.total).toBe(150_000);
    expect(counted.latest).toHaveLength(1_000);
  });

  it('answers two amounts of one id, counted together, each by its place', () => {
    const [small, large] = [payout(1, 100), payout(1, 900_000)];
    expect(countPayouts(NO_PAYOUTS, [small, large], 1_000).isAccepted).toEqual([true, false]);
    expect(countPayouts(NO_PAYOUTS, [large, small], 1_000).isAccepted).toEqual([false, true]);
  });

  it('never accepts more than the limit, whatever is repeated, in whatever order and batches', () => {
    const max = 1_000;
    const ordered = fc.record({
      number: fc.integer({ min: 1, max: 6 }),
      amount: fc.integer({ min: 100, max: 1_100 }),
    });
    const batches = fc.array(fc.array(ordered, { maxLength: 8 }), { maxLength: 8 });
    const property = fc.property(batches, (all) => {
      let counted = NO_PAYOUTS;
      const paid = new Map<string, number>();
      for (const batch of all) {
        const payouts = batch.map(({ number, amount }) => payout(number, amount));
        const count = countPayouts(counted, payouts, max);
        counted = count.counted;
        // Any of those that were accepted under one id may be the one that is paid: the largest, at worst.
        payouts.forEach(({ id, amount }, place) => {
          if (count.isAccepted[place]) paid.set(id, Math.max(paid.get(id) ?? 0, amount));
        });
        expect([...paid.values()].reduce((sum, amount) => sum + amount, 0)).toBe(counted.total);
        expect(counted.total).toBeLessThanOrEqual(max);
        // What was accepted is accepted when it is repeated, and adds nothing.
        const again = countPayouts(
          counted,
          payouts.filter((_, place) => count.isAccepted[place]),
          max,
        );
        expect([again.counted.total, again.isAccepted.includes(false)]).toEqual([counted.total, false]);
      }
    });
    fc.assert(property, { numRuns: 2_000 });
  });
});
