import { describe, expect, it } from '@jest/globals';
import { type GrowthPoint, growthSchema, itemAt, withItem } from '../../../bench/growth/figures.js';
import { estimate, isWhole } from '../../../bench/growth/run-growth.js';
import { figures, point, sizeOf } from './example.js';

const nothing = { ...figures, points: [], sizes: [], failures: [] };
const plan = { sizes: [0, 10_000], loads: [1, 8].map((concurrency) => ({ concurrency, payments: 200 })) };

describe('the figures of growth', () => {
  it('are ordered by size and concurrency, and a new one replaces the old', () => {
    const points = [point(10_000, 1), point(0, 8), point(0, 1)].reduce<GrowthPoint[]>(withItem, []);
    expect(points.map(({ size, concurrency }) => [size, concurrency])).toEqual([
      [0, 1],
      [0, 8],
      [10_000, 1],
    ]);
    const again = withItem(points, point(0, 8, 99));
    expect(again).toHaveLength(3);
    expect(itemAt(again, { size: 0, concurrency: 8 })?.run.perSecond).toBe(99);
  });

  it('can be kept in a file, and read again', () => {
    expect(growthSchema.parse(JSON.parse(JSON.stringify(figures)))).toEqual(figures);
  });

  it('are whole when each size has its lists, its paid payments and a run at each concurrency', () => {
    expect(isWhole(plan, figures)).toBe(true);
    expect(isWhole(plan, { ...figures, points: figures.points.slice(1) })).toBe(false);
    expect(isWhole(plan, { ...figures, sizes: [sizeOf(0)] })).toBe(false);
    const { paid: _, ...unpaid } = sizeOf(10_000);
    expect(isWhole(plan, { ...figures, sizes: [sizeOf(0), unpaid] })).toBe(false);
    expect(isWhole(plan, nothing)).toBe(false);
  });
});

describe('the time that growth takes', () => {
  it('is told beforehand: open payments, the largest size alone, and all that are paid', () => {
    const told = estimate(plan, nothing);
    expect(told).toContain('10,000 open payments and 818 paid ones: about 7 minutes');
  });

  it('leaves out what was measured before', () => {
    expect(estimate({ ...plan, sizes: [0, 20_000] }, figures)).toContain('20,000 open payments and 409 paid ones');
  });
});
