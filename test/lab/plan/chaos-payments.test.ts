import { describe, expect, it } from '@jest/globals';
import { planChaosPayments } from '../../../lab/plan/chaos-payments.js';
import { outcomeOfNumber } from '../../../sandbox/test-outcome.js';

const LENGTH = 150_000;
const payments = planChaosPayments(400, LENGTH, 1);

describe("a chaos run's payments", () => {
  it('are the same for the same seed, and others for another', () => {
    expect(planChaosPayments(50, LENGTH, 1)).toEqual(planChaosPayments(50, LENGTH, 1));
    expect(planChaosPayments(50, LENGTH, 1)).not.toEqual(planChaosPayments(50, LENGTH, 2));
  });

  it('are of every kind, and each has an id of its own', () => {
    expect(new Set(payments.map(({ way }) => way))).toEqual(new Set(['link', 'direct', 'payout']));
    expect(new Set(payments.map(({ id }) => id)).size).toBe(400);
  });

  it('arrive in order, all over the time that there is', () => {
    const times = payments.map(({ arrivesAt }) => arrivesAt);
    expect(times).toEqual([...times].sort((one, other) => one - other));
    expect(times.at(0)).toBeLessThan(LENGTH / 20);
    expect(times.at(-1)).toBeLessThanOrEqual(LENGTH);
    expect(times.at(-1)).toBeGreaterThan(LENGTH * 0.95);
  });

  it('go to numbers that come to an end within half a minute', () => {
    const numbers = payments.flatMap(({ body, visits }) => [
      ...(typeof body.phone === 'string' ? [body.phone] : []),
      ...visits.flatMap((visit) => (visit.action === 'pay' ? [visit.phone] : [])),
    ]);
    for (const number of numbers) {
      expect(number).toMatch(/^6[79]\d{7}$/);
      const outcome = outcomeOfNumber(number);
      const after = outcome.kind === 'settles' ? outcome.after : Number.POSITIVE_INFINITY;
      expect(after === 'atOnce' ? 0 : after).toBeLessThanOrEqual(30_000);
    }
    expect(numbers.length).toBeGreaterThan(300);
  });
});
