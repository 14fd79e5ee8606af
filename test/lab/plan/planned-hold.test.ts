import { describe, expect, it } from '@jest/globals';
import { planChaosPayments } from '../../../lab/plan/chaos-payments.js';
import type { PlannedPayment } from '../../../lab/plan/planned-payment.js';
import { planPayments } from '../../../lab/plan/simulation-payments.js';

const plans: readonly (readonly [string, readonly PlannedPayment[]])[] = [
  ['the simulation', planPayments(2_000, 1).payments],
  ['a chaos run', planChaosPayments(2_000, 100_000, 1)],
];

describe.each(plans)('the payouts of %s', (_, payments) => {
  const payouts = payments.filter(({ way }) => way === 'payout');
  const held = payouts.flatMap(({ hold }) => hold ?? []);

  it('wait, one in five', () => {
    expect(held.length / payouts.length).toBeGreaterThan(0.15);
    expect(held.length / payouts.length).toBeLessThan(0.27);
  });

  it('wait for an approval, a date or both, as the order says or the amount', () => {
    const kinds = held.map(({ needsApproval, sendAfterMs }) => `${needsApproval} ${sendAfterMs !== undefined}`);
    expect(new Set(kinds)).toEqual(new Set(['true false', 'true true', 'false true']));
    const ordered = payouts.filter(({ hold }) => hold?.needsApproval).map(({ body }) => body.approval === true);
    expect(new Set(ordered)).toEqual(new Set([true, false]));
  });

  it('have people who decide in every way, alone, twice and against each other', () => {
    const verdicts = held.flatMap((hold) => hold.verdicts.map(({ by, action }) => `${by} ${action}`));
    for (const one of ['accountant approve', 'accountant reject', 'owner reject', 'owner approve', 'clerk cancel']) {
      expect(verdicts).toContain(one);
    }
    for (const one of ['clerk approve', 'clerkAgain approve', 'stranger approve']) expect(verdicts).toContain(one);
    expect(held.some((hold) => hold.verdicts.some(({ isOther }) => isOther))).toBe(true);
  });
});
