import { z } from 'zod';
import { median } from '../figures.js';
import { GROWTH_SYSTEMS } from '../growth/options.js';

/** Figures of a soak test. They are saved to a file as they come, and read from one, so zod describes them. */

/** Bytes at a moment, in ms since the load began. */
const sampleSchema = z.object({ atMs: z.number(), bytes: z.number() });
export type Sample = z.infer<typeof sampleSchema>;

const processSchema = z.object({
  name: z.string(),
  /** Resident memory. */
  resident: z.array(sampleSchema),
  /** Heap of all its threads after garbage collection; empty for a process that isn't Node's. */
  heap: z.array(sampleSchema),
});
export type SoakedProcess = z.infer<typeof processSchema>;

/** Payments of one minute or less; times in ms. */
const periodSchema = z.object({
  atMs: z.number(),
  payments: z.number(),
  perSecond: z.number(),
  ...{ startP50: z.number(), startP99: z.number(), outcomeP50: z.number(), outcomeP99: z.number() },
  ...{ withoutLink: z.number(), repeated: z.number(), notifiedAgain: z.number() },
});

export const soakSchema = z.object({
  system: z.enum(GROWTH_SYSTEMS),
  /** On what, and with which command, it was measured. */
  machine: z.string(),
  /** Payments begun a second. */
  rate: z.number(),
  /** Highest rate measured before, in payments a second. */
  limit: z.number().optional(),
  periods: z.array(periodSchema),
  processes: z.array(processSchema),
  /** Error that ended the run, in the minute after these. */
  failed: z.string().optional(),
});
export type SoakFigures = z.infer<typeof soakSchema>;

/** Verdict on memory. `unknown`: the run was too short to tell. */
export type Judgement = 'flat' | 'growing' | 'unknown';

/** Change of memory over time. */
export interface Trend {
  /** Median of the first and the last quarter of the samples, in bytes. */
  readonly first: number;
  readonly last: number;
  /** Bytes by which it grows with each payment; negative when it shrinks. */
  readonly perPayment: number;
  readonly judgement: Judgement;
}

/** Memory in this first share of the time doesn't count: caches fill, and code is compiled. */
const WARM_UP_SHARE = 0.25;
/** With fewer payments after that, the growth of a leak can't be told from the memory's ups and downs. */
const MIN_PAYMENTS = 10_000;

/**
 * Growth in bytes a payment above which memory is judged as growing. Resident memory goes up and down by some MiB for
 * reasons of its own, such as the allocator's reserves. The heap doesn't: a leak of one short string a payment shows.
 */
export const MAX_GROWTH = { resident: 1_000, heap: 100 } as const;

/**
 * The trend of memory under a constant load, after the warm-up.
 *
 * @param rate payments a second
 * @param max growth that is still flat, in bytes a payment
 * @returns `undefined` when there are too few samples to say anything
 */
export function trendOf(samples: readonly Sample[], rate: number, max: number): Trend | undefined {
  const end = Math.max(0, ...samples.map(({ atMs }) => atMs));
  const counted = samples.filter(({ atMs }) => atMs >= end * WARM_UP_SHARE);
  const [from] = counted;
  if (from === undefined || counted.length < 4) return undefined;
  const quarter = Math.ceil(counted.length / 4);
  const payments = ((end - from.atMs) / 1_000) * rate;
  const perPayment = (slope(counted) * 1_000) / rate;
  return {
    first: median(counted.slice(0, quarter).map(({ bytes }) => bytes)),
    last: median(counted.slice(-quarter).map(({ bytes }) => bytes)),
    perPayment,
    judgement: payments < MIN_PAYMENTS ? 'unknown' : perPayment > max ? 'growing' : 'flat',
  };
}

/**
 * Bytes a ms, by Theil and Sen: the median of the slopes between all pairs of samples, which a few that stand out don't
 * move. Of many samples, some hundred are taken.
 */
function slope(samples: readonly Sample[]): number {
  const step = Math.ceil(samples.length / 200);
  const some = samples.filter((_, index) => index % step === 0);
  const slopes = some.flatMap((one, index) =>
    some
      .slice(index + 1)
      .filter(({ atMs }) => atMs > one.atMs)
      .map((other) => (other.bytes - one.bytes) / (other.atMs - one.atMs)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}
