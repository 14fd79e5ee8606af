import { describe, expect, it } from '@jest/globals';
import { planKills, planOutages, planRestores } from '../../../lab/plan/server-faults.js';

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

  it.each([1, 2, 3, 4, 5])('strike every process within the first five (seed %i)', (seed) => {
    const first = planKills(5, MINUTE, seed).map(({ target }) => target);
    expect(first.sort()).toEqual(['api', 'book', 'sandbox', 'temporal', 'worker']);
  });

  it('leave a process away for three seconds at most', () => {
    const downs = planKills(200, MINUTE, 1).map(({ downMs }) => downMs);
    expect(Math.min(...downs)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...downs)).toBeLessThanOrEqual(3_000);
    expect(new Set(downs).size).toBeGreaterThan(100);
  });
});

describe('planned outages of the book', () => {
  it.each([1, 2, 3, 4, 5])('are one of each kind, one in either half of the time (seed %i)', (seed) => {
    const outages = planOutages(MINUTE, seed);
    expect(outages.map(({ kind }) => kind).sort()).toEqual(['bookAway', 'bookHangs']);
    expect(outages.map(({ at }) => Math.floor(at / (MINUTE / 2))).sort()).toEqual([0, 1]);
    expect(planOutages(MINUTE, seed)).toEqual(outages);
  });
});

describe('planned returns of stores to older copies', () => {
  it('are one of each store, with a beat of the book between', () => {
    const [temporal, book] = planRestores(150 * 1_000);
    expect([temporal?.store, book?.store]).toEqual(['temporal', 'book']);
    for (const { copiedAt, restoredAt } of planRestores(150 * 1_000)) expect(restoredAt).toBeGreaterThan(copiedAt);
    // Temporal is told of a beat each half minute: of one after its own return, and after the book's copy.
    const known = Math.max(temporal?.restoredAt ?? 0, book?.copiedAt ?? 0);
    expect((book?.restoredAt ?? 0) - known).toBeGreaterThan(MINUTE / 2);
  });

  it('are none in a run that is too short for them', () => {
    expect(planRestores(MINUTE)).toEqual([]);
  });
});
