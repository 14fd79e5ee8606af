import { describe, expect, it } from '@jest/globals';
import { NO_PAYOUTS, withPayout } from '../../src/payments/counted-payouts.js';
import type { PaymentId } from '../../src/payments/payment-id.js';

const payout = (number: number, amount: number) => ({ id: `pay_${number}` as PaymentId, amount });

describe('the payouts of a day', () => {
  it('takes payouts up to the limit, and not one franc more', () => {
    const first = withPayout(NO_PAYOUTS, payout(1, 600), 1_000);
    expect(first?.total).toBe(600);
    expect(withPayout(first ?? NO_PAYOUTS, payout(2, 401), 1_000)).toBeUndefined();
    expect(withPayout(first ?? NO_PAYOUTS, payout(2, 400), 1_000)?.total).toBe(1_000);
  });

  it('counts a repeated payout once, also when the limit has been lowered since', () => {
    const counted = withPayout(NO_PAYOUTS, payout(1, 600), 1_000) ?? NO_PAYOUTS;
    expect(withPayout(counted, payout(1, 600), 1_000)?.total).toBe(600);
    expect(withPayout(counted, payout(1, 600), 100)?.total).toBe(600);
  });

  it('counts a payout that is repeated with another amount as the larger of the two', () => {
    const counted = withPayout(NO_PAYOUTS, payout(1, 600), 1_000) ?? NO_PAYOUTS;
    expect(withPayout(counted, payout(1, 200), 1_000)?.total).toBe(600);
    expect(withPayout(counted, payout(1, 900), 1_000)?.total).toBe(900);
    expect(withPayout(counted, payout(1, 1_001), 1_000)).toBeUndefined();
  });

  it('remembers the last thousand, and forgets no amount', () => {
    let counted = NO_PAYOUTS;
    for (let number = 0; number < 1_500; number++) {
      counted = withPayout(counted, payout(number, 100), 1_000_000) ?? counted;
    }
    expect(counted.total).toBe(150_000);
    expect(counted.latest).toHaveLength(1_000);
  });
});
