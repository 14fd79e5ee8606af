import { describe, expect, it } from '@jest/globals';
import { worldsOf } from '../../../lab/simulation/worlds.js';

const sizes = (payments: number, atOnce = 3) =>
  worldsOf({ payments, seed: 7 }, atOnce).map((world) => world.payments);

describe("a simulation's worlds", () => {
  it('have all the payments between them, and none too many', () => {
    for (const payments of [1, 249, 500, 1_000, 4_001, 10_000]) {
      expect(sizes(payments).reduce((sum, size) => sum + size)).toBe(payments);
      expect(Math.max(...sizes(payments))).toBeLessThanOrEqual(1_250);
    }
  });

  it('are one for a few payments, and as many as are played at once for more', () => {
    expect(sizes(60)).toEqual([60]);
    expect(sizes(499)).toEqual([499]);
    expect(sizes(1_000)).toEqual([334, 333, 333]);
    expect(sizes(10_000)).toHaveLength(9);
  });

  it('have seeds of their own, the same for the same seed', () => {
    const seeds = worldsOf({ payments: 2_000, seed: 7 }, 3).map(({ seed }) => seed);
    expect(seeds).toEqual(['7/0', '7/1', '7/2']);
  });
});
