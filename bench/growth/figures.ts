import { z } from 'zod';
import { GROWTH_SYSTEMS } from './options.js';

/** Figures of Sanaga as it grows. They are saved to a file as they come, and read from one, so zod describes them. */

const byProcess = z.record(z.string(), z.number());

/** Bytes by process, the most while something was measured. */
const memorySchema = byProcess;

const runSchema = z.object({
  ...{ perSecond: z.number(), startP50: z.number(), startP99: z.number() },
  ...{ outcomeP50: z.number(), outcomeP99: z.number(), totalP50: z.number(), totalP99: z.number() },
  ...{ resent: z.number(), withoutLink: z.number(), repeated: z.number(), notifiedAgain: z.number() },
  ...{ cpuByProcess: byProcess, loadCpuMs: z.number(), otherCpu: z.number(), loadDelayP99: z.number() },
  ...{ events: z.number(), bytes: z.number() },
});

const loadSchema = z.object({ size: z.number(), concurrency: z.number(), payments: z.number() });

/** One run: payments at one concurrency, while so many others were open. */
const pointSchema = loadSchema.extend({ run: runSchema, memory: memorySchema });
export type GrowthPoint = z.infer<typeof pointSchema>;

/** A run that has no figures. */
const failureSchema = loadSchema.extend({ why: z.string() });

const timesSchema = z.object({ p50: z.number(), max: z.number() });

/** Figures at a number of open payments; times in ms. */
const sizeSchema = z.object({
  size: z.number(),
  /** Number of them under review. */
  inReview: z.number(),
  /** Open payments made a second; `undefined` when none were. */
  madePerSecond: z.number().optional(),
  /** Errors of payments that had to be replaced. */
  unmade: z.array(z.string()).optional(),
  /** Bytes of the store. */
  bytes: z.number(),
  /** While nothing happens. */
  memory: memorySchema,
  /** The newest 100 payments of a merchant. */
  newest: timesSchema,
  /** One payment, found by its externalId. */
  byReference: timesSchema,
  /** The first 100 payments under review, as an operator lists them. */
  review: timesSchema,
  /** All payments under review, page by page. */
  wholeReview: z.object({ payments: z.number(), ms: z.number() }),
  /** Payments whose payer paid after they had waited. */
  paid: z.object({ payments: z.number(), outcomeP50: z.number(), outcomeP99: z.number() }).optional(),
});
export type GrowthSize = z.infer<typeof sizeSchema>;

export const growthSchema = z.object({
  system: z.enum(GROWTH_SYSTEMS),
  /** On what, and with which commands, it was measured. */
  runs: z.array(z.string()),
  sizes: z.array(sizeSchema),
  points: z.array(pointSchema),
  failures: z.array(failureSchema),
});
export type GrowthFigures = z.infer<typeof growthSchema>;

interface Place {
  readonly size: number;
  readonly concurrency?: number;
}

const isAt = (one: Place, other: Place) => one.size === other.size && one.concurrency === other.concurrency;

const inOrder = <Item extends Place>(items: readonly Item[]): Item[] =>
  items.toSorted((one, other) => one.size - other.size || (one.concurrency ?? 0) - (other.concurrency ?? 0));

/** Returns the list with an item in its place, instead of an earlier one of the same size and concurrency. */
export function withItem<Item extends Place>(items: readonly Item[], item: Item): Item[] {
  return inOrder([...items.filter((other) => !isAt(item, other)), item]);
}

/** Returns the item of a size and concurrency. */
export function itemAt<Item extends Place>(items: readonly Item[], place: Place): Item | undefined {
  return items.find((item) => isAt(place, item));
}
