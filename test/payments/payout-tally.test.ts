import { describe, expect, it } from '@jest/globals';
import type { PaymentId } from '../../src/payments/payment-id.js';
import { EMPTY_TALLY, withPayout } from '../../src/payments/payout-tally.js';

const payout = (number: number, amount: number) => ({ id: `pay_${number}` as PaymentId, amount });

describe('the tally of a day', () => {
  it('takes payouts up to the limit, and not one franc more', () => {
    const first = withPayout(EMPTY_TALLY, payout(1, 600), 1_000);
    expect(first?.total).toBe(600);
    expect(withPayout(first ?? EMPTY_TALLY, payout(2, 401), 1_000)).toBeUndefined();
    expect(withPayout(first ?? EMPTY_TALLY, payout(2, 400), 1_000)?.total).toBe(1_000);
  });

  it('counts a repeated payout once, also when the limit has been lowered since', () => {
    const tally = withPayout(EMPTY_TALLY, payout(1, 600), 1_000) ?? EMPTY_TALLY;
    expect(withPayout(tally, payout(1, 600), 1_000)?.total).toBe(600);
    expect(withPayout(tally, payout(1, 600), 100)?.total).toBe(600);
  });

  it('counts a payout that is repeated with another amount as the larger of the two', () => {
    const tally = withPayout(EMPTY_TALLY, payout(1, 600), 1_000) ?? EMPTY_TALLY;
    expect(withPayout(tally, payout(1, 200), 1_000)?.total).toBe(600);
    expect(withPayout(tally, payout(1, 900), 1_000)?.total).toBe(900);
    expect(withPayout(tally, payout(1, 1_001), 1_000)).toBeUndefined();
  });

  it('remembers the last thousand, and forgets no amount', () => {
    let tally = EMPTY_TALLY;
    for (let number = 0; number < 1_500; number++) {
      tally = withPayout(tally, payout(number, 100), 1_000_000) ?? tally;
    }
    expect(tally.total).toBe(150_000);
    expect(tally.latest).toHaveLength(1_000);
  });
});
