import { afterAll, describe, expect, it } from '@jest/globals';
import { exploreRefunds, type RefundModule } from '../../../lab/explore/refund-room.js';
import { reserveRefund, START_WITHIN_MS, standingOf } from '../../../src/payments/machine/refunds.js';
import { mutantModule, removeMutants } from './mutant.js';
import { ROOM_MUTANTS } from './refund-mutants.js';

const BOUNDS = { states: 20_000, walks: 5_000 };

afterAll(removeMutants);

describe('the refunds of a collection, asked for by two processes', () => {
  it('break no rule', () => {
    const { states, walks, broken } = exploreRefunds({ reserveRefund, START_WITHIN_MS, standingOf }, BOUNDS);
    expect(broken).toEqual([]);
    expect(states).toBeGreaterThan(50_000);
    expect(walks).toBe(5_000);
  });

  it.each(ROOM_MUTANTS.map((mutant) => [mutant.rule, mutant] as const))('break one without: %s', async (_, mutant) => {
    const { broken } = exploreRefunds(await mutantModule<RefundModule>(mutant), BOUNDS);
    expect(broken).toContainEqual({ rule: expect.stringContaining(mutant.breaks), story: expect.any(Array) });
  });
});
