import type { GrowthFigures, GrowthPoint, GrowthSize } from '../../../bench/growth/figures.js';

const MIB = 2 ** 20;

/** A run with figures that can be told apart. */
export const point = (size: number, concurrency: number, perSecond = 25): GrowthPoint => ({
  size,
  concurrency,
  payments: 200,
  run: {
    ...{
      perSecond,
      startP50: 400,
      startP99: 900,
      outcomeP50: 300,
      outcomeP99: 700,
      totalP50: 800,
      totalP99: 1_700,
    },
    ...{ resent: 0, withoutLink: 3, repeated: 2, notifiedAgain: 1 },
    ...{ cpuByProcess: { api: 5, worker: 25 }, loadCpuMs: 2, otherCpu: 0.02, loadDelayP99: 1 },
    ...{ events: 17, bytes: 50_000 },
  },
  memory: { api: 150 * MIB, worker: 350 * MIB },
});

export const sizeOf = (size: number): GrowthSize => ({
  size,
  inReview: size / 20,
  bytes: 400 * MIB,
  memory: { api: 140 * MIB, worker: 300 * MIB },
  newest: { p50: 31, max: 45 },
  byReference: { p50: 6, max: 9 },
  review: { p50: 22, max: 33 },
  wholeReview: { payments: size / 20, ms: 210 },
  ...(size > 0 && { madePerSecond: 41.5, paid: { payments: 100, outcomeP50: 120, outcomeP99: 260 } }),
});

export const figures: GrowthFigures = {
  system: 'sanaga-postgres',
  runs: ['Measured on a machine.'],
  points: [point(0, 1, 10), point(0, 8), point(10_000, 1, 9), point(10_000, 8, 24.5)],
  sizes: [sizeOf(0), sizeOf(10_000)],
  failures: [{ size: 10_000, concurrency: 512, payments: 1_024, why: 'the merchant was told FAILED' }],
};
