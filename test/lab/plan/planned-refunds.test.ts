import { describe, expect, it } from '@jest/globals';
import { planChaosPayments, planChaosRefunds } from '../../../lab/plan/chaos-payments.js';
import type { PlannedPayment } from '../../../lab/plan/planned-payment.js';
import { planPayments, planSimulatedRefunds } from '../../../lab/plan/simulation-payments.js';

const plans = [
  ['the simulation', planPayments(2_000, 1).payments, (one: PlannedPayment) => planSimulatedRefunds(one, 1)],
  ['a chaos run', planChaosPayments(2_000, 100_000, 1), (one: PlannedPayment) => planChaosRefunds(one, 1)],
] as const;

describe.each(plans)('the refunds of %s', (_, payments, plan) => {
  const collections = payments.filter(({ way }) => way !== 'payout');
  const groups = collections.map((collection) => ({ collection, refunds: plan(collection) }));
  const refunded = groups.filter(({ refunds }) => refunds.length > 0);

  it('are of one collection in four, and of no payout', () => {
    expect(refunded.length / collections.length).toBeGreaterThan(0.2);
    expect(refunded.length / collections.length).toBeLessThan(0.3);
    for (const payout of payments.filter(({ way }) => way === 'payout')) expect(plan(payout)).toEqual([]);
  });

  it('are the same for the same seed, each with an id of its own', () => {
    const all = groups.flatMap(({ refunds }) => refunds);
    expect(groups.flatMap(({ collection }) => plan(collection))).toEqual(all);
    expect(new Set([...payments, ...all].map(({ id }) => id)).size).toBe(payments.length + all.length);
  });

  it('are several at once, more than there is, of all that is left, and to other numbers', () => {
    const isAtOnce = refunded.some(({ refunds }) => refunds.length > 1 && new Set(refunds.map(at)).size === 1);
    expect(isAtOnce).toBe(true);
    const sums = refunded.map(({ collection, refunds }) => ({
      of: Number(collection.body.amount),
      sum: refunds.reduce((sum, { body }) => sum + Number(body.amount ?? 0), 0),
    }));
    expect(sums.some(({ of, sum }) => sum > of)).toBe(true);
    expect(sums.some(({ of, sum }) => sum > 0 && sum <= of)).toBe(true);
    const all = refunded.flatMap(({ refunds }) => refunds);
    expect(all.some(({ body }) => body.amount === undefined)).toBe(true);
    const elsewhere = all.filter(({ body }) => body.phone !== undefined);
    expect(elsewhere.length).toBeGreaterThan(0);
    expect(elsewhere.every(({ hold }) => hold?.needsApproval)).toBe(true);
    expect(all.some(({ invalid }) => invalid)).toBe(true);
  });
});

const at = ({ arrivesAt }: PlannedPayment) => arrivesAt;
