import { describe, expect, it } from '@jest/globals';
import { DELIVERY_PATIENCE_MS, triedAgainAt, webhookId } from '../../../src/payments/words/delivery.js';
import { HOUR, MINUTE, paymentId, START } from '../../support/orders.js';

describe('the next try of a notification', () => {
  /** Every try fails: the times of all of them, in ms from the first. */
  function triesFrom(firstTriedAt: number, random: number): readonly number[] {
    const times: number[] = [];
    for (let now: number | undefined = firstTriedAt; now !== undefined; ) {
      times.push(now - firstTriedAt);
      now = triedAgainAt({ tries: times.length, firstTriedAt }, 0, now, random);
    }
    return times;
  }

  it.each([0, 1])('comes after growing pauses for three days, the last when they are just over (%d)', (random) => {
    const times = triesFrom(START, random);
    const pauses = times.map((time, index) => time - (times[index - 1] ?? 0)).slice(1);
    const steps = [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];
    expect(pauses.slice(0, 6)).toEqual(steps.map((step) => Math.round(step * (1 + 0.2 * random))));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(12 * HOUR);
    expect(times.at(-1)).toBe(72 * HOUR);
    expect(DELIVERY_PATIENCE_MS).toBe(72 * HOUR);
  });

  it('is not before the merchant asks for it, nor sooner than it would have been, nor after its three days', () => {
    const after = (retryAfterMs: number) =>
      (triedAgainAt({ tries: 1, firstTriedAt: START }, retryAfterMs, START, 0) ?? 0) - START;
    expect([0, 1_000, HOUR, 100 * HOUR].map(after)).toEqual([5_000, 5_000, HOUR, 72 * HOUR]);
  });
});

describe('the webhook-id of a notification', () => {
  it('is one for each number, and another for each book that has forgotten what it told', () => {
    const id = paymentId('col_1');
    expect(webhookId(id, 'payment.attempt_failed', 1, 0)).toBe('evt_col_1_attempt_failed_1');
    expect(webhookId(id, 'payment.expired', 2, 0)).toBe('evt_col_1_expired_2');
    expect(webhookId(id, 'payment.expired', 2, 1)).toBe('evt_col_1_expired_2_1');
  });
});
