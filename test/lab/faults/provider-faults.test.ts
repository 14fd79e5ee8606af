import { describe, expect, it } from '@jest/globals';
import { chaosFaultRules } from '../../../lab/faults/provider-faults.js';
import { faultRuleSchema } from '../../../sandbox/faults/fault-rule.js';

describe("a chaos run's faults", () => {
  it('are rules that the sandbox takes, each with a rate and draws of its own', () => {
    const rules = chaosFaultRules(1, 0).map((rule) => faultRuleSchema.parse(rule));
    expect(rules.every(({ rate }) => rate !== undefined && rate > 0)).toBe(true);
    expect(new Set(rules.map(({ seed }) => seed)).size).toBe(rules.length);
  });

  it('are drawn anew for each process that plays the provider', () => {
    const seeds = (life: number) => chaosFaultRules(1, life).map(({ seed }) => seed);
    expect(seeds(0)).toEqual(seeds(0));
    expect(new Set([...seeds(0), ...seeds(1)]).size).toBe(2 * seeds(0).length);
  });
});
