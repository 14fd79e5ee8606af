import { describe, expect, it } from '@jest/globals';
import { planKills, planOutages } from '../../../lab/plan/server-faults.js';

const MINUTE = 60_000;

describe('planned kills', () => {
  it('are the same for the same seed, and others for another', () => {
    expect(planKills(30, MINUTE, 1)).toEqual(planKills(30, MINUTE, 1));
    expect(planKills(30, MINUTE, 1)).not.toEqual(planKills(30, MINUTE, 2));
  });

  it('are as many as were asked for, spread over the whole time', () => {
    const kills = planKills(30, 30 * MINUTE, 5);
    expect(kills.map(({ at }) => Math.floor(at / MINUTE))).toEqual(Array.from({ length: 30 }, (_, n) => n));
  });

  it.each([1, 2, 3, 4, 5])('strike every process within the first four (seed %i)', (seed) => {
    const first = planKills(4, MINUTE, seed).map(({ target }) => target);
    expect(first.sort()).toEqual(['api', 'sandbox', 'temporal', 'worker']);
  });

  it('leave a process away for three seconds at most', () => {
    const downs = planKills(200, MINUTE, 1).map(({ downMs }) => downMs);
    expect(Math.min(...downs)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...downs)).toBeLessThanOrEqual(3_000);
    expect(new Set(downs).size).toBeGreaterThan(100);
  });
});

describe('planned outages of the records', () => {
  it.each([1, 2, 3, 4, 5])('are one of each kind, one in either half of the time (seed %i)', (seed) => {
    const outages = planOutages(MINUTE, seed);
    expect(outages.map(({ kind }) => kind).sort()).toEqual(['recordsAway', 'recordsHang']);
    expect(outages.map(({ at }) => Math.floor(at / (MINUTE / 2))).sort()).toEqual([0, 1]);
    expect(planOutages(MINUTE, seed)).toEqual(outages);
  });
});
