import { describe, expect, it } from '@jest/globals';
import { median, medianRun, percentile, type RunFigures, ratios, totalCpu } from '../../bench/figures.js';
import { orderOf } from '../../bench/run-bench.js';

const run: RunFigures = {
  ...{
    perSecond: 30,
    startP50: 40,
    startP99: 90,
    outcomeP50: 20,
    outcomeP99: 50,
    totalP50: 100,
    totalP99: 200,
  },
  ...{
    resent: 0,
    withoutLink: 0,
    repeated: 0,
    notifiedAgain: 0,
    cpuByProcess: { api: 5, worker: 25 },
    loadCpuMs: 2,
    otherCpu: 0,
    loadDelayP99: 1,
    events: 17,
    bytes: 9_000,
  },
};

describe('a percentile', () => {
  it('is the value that so large a share of the values does not exceed', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 1)).toBe(100);
  });

  it('is always one of the values, however few there are', () => {
    expect(percentile([7], 0.99)).toBe(7);
    expect(percentile([10, 20, 30, 40], 0.5)).toBe(20);
    expect(percentile([10, 20, 30, 40], 0.99)).toBe(40);
  });

  it('compares numbers, not texts', () => expect(percentile([9, 10, 100], 0.5)).toBe(10));

  it('does not exist without values', () => expect(() => percentile([], 0.5)).toThrow(RangeError));
});

describe('a median', () => {
  it('is the middle value, or the mean of the two in the middle', () => {
    expect(median([3, 1, 100])).toBe(3);
    expect(median([4, 1, 3, 100])).toBe(3.5);
    expect(median([5])).toBe(5);
  });

  it('does not exist without values', () => expect(() => median([])).toThrow(RangeError));
});

describe('the medians of runs', () => {
  it('are taken of each figure by itself, and of the CPU time by process', () => {
    const medians = medianRun([
      run,
      { ...run, perSecond: 10, startP50: 60, cpuByProcess: { api: 7, worker: 20 } },
      { ...run, perSecond: 20, startP50: 50, cpuByProcess: { api: 6, worker: 90 } },
    ]);
    expect(medians).toMatchObject({ perSecond: 20, startP50: 50, events: 17 });
    expect(medians.cpuByProcess).toEqual({ api: 6, worker: 25 });
    expect(totalCpu(medians)).toBe(31);
  });
});

describe('ratios', () => {
  const at = (perSecond: number) => ({ ...run, perSecond });

  it("say how many times another system's payments a second Sanaga makes", () => {
    const figures = new Map([
      ['sanaga', at(30)],
      ['temporal-textbook', at(20)],
      ['dbos', at(60)],
      ['restate', at(40)],
    ]);
    expect(ratios(figures)).toEqual({
      'sanaga/temporal-textbook': 1.5,
      'sanaga/dbos': 0.5,
      'sanaga/restate': 0.75,
    });
  });

  it('are left out for systems that were not measured', () => {
    expect(ratios(new Map([['sanaga', at(30)]]))).toEqual({});
    expect(ratios(new Map([['dbos', at(30)]]))).toEqual({});
  });
});

describe('the order of systems', () => {
  it.each([
    [2, 2],
    [6, 6],
    [5, 10],
  ])('of %j has each after each other equally often in %j repeats', (count, repeats) => {
    const items = Array.from({ length: count }, (_, index) => index);
    const after = new Map<string, number>();
    for (let repeat = 0; repeat < repeats; repeat++) {
      const order = orderOf(items, repeat);
      expect([...order].sort()).toEqual(items);
      order.slice(1).forEach((item, index) => {
        const pair = `${order[index]} ${item}`;
        after.set(pair, (after.get(pair) ?? 0) + 1);
      });
    }
    expect(after.size).toBe(count * (count - 1));
    expect([...new Set(after.values())]).toEqual([repeats / count]);
  });
});
