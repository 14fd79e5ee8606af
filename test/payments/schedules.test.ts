import { describe, expect, it } from '@jest/globals';
import { DELIVERY_PATIENCE_MS, deliverAgainDelay } from '../../src/payments/delivery-schedule.js';
import { sendAgainDelay } from '../../src/payments/initiation.js';
import { observed, underReview } from '../../src/payments/payment-state.js';
import { undecided } from '../../src/payments/undecided.js';
import {
  begun,
  DAY,
  directOrder,
  HOUR,
  linkOrder,
  MINUTE,
  payoutOrder,
  START,
  transactionOf,
} from './orders.js';

describe('sending a request that was never taken', () => {
  it('backs off from a second to a minute', () => {
    expect([1, 2, 3, 7, 50].map((tries) => sendAgainDelay(tries))).toEqual([
      1_000,
      2_000,
      4_000,
      MINUTE,
      MINUTE,
    ]);
  });

  it('waits as long as the provider asked', () => {
    expect(sendAgainDelay(1, 42_000)).toBe(42_000);
  });
});

describe('delivering a notification', () => {
  it('goes on for three days, with growing pauses', () => {
    const pauses: number[] = [];
    let now = START;
    for (let tries = 1; ; tries++) {
      const pause = deliverAgainDelay(tries, START, now);
      if (pause === undefined) break;
      pauses.push(pause);
      now += pause;
    }
    expect(pauses.slice(0, 6)).toEqual([5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR]);
    expect(now - START).toBeLessThanOrEqual(DELIVERY_PATIENCE_MS);
    expect(now - START).toBeGreaterThan(DELIVERY_PATIENCE_MS - 10 * HOUR);
  });
});

describe('an undecided payment', () => {
  it.each([directOrder, payoutOrder])('is put before a person a day after it began ($kind)', (order) => {
    expect(undecided(begun(order), START + DAY - 1)).toBeUndefined();
    expect(undecided(begun(order), START + DAY)).toContain('no outcome for a day');
  });

  it('is a link only a day after it should have ended', () => {
    expect(undecided(begun(linkOrder), START + DAY)).toBeUndefined();
    expect(undecided(begun(linkOrder), START + 2 * DAY)).toContain('should have ended a day ago');
  });

  it('is nobody’s business when it is final or under review already', () => {
    const review = underReview(begun(payoutOrder), 'x', START).state;
    expect(undecided(review, START + 9 * DAY)).toBeUndefined();
    const paid = observed(
      begun(payoutOrder),
      transactionOf(payoutOrder, { status: 'SUCCESSFUL' }),
      START,
    ).state;
    expect(undecided(paid, START + 9 * DAY)).toBeUndefined();
  });
});
