/** Figures of the benchmark: pure functions on lists of numbers. */
import type { LoadFigures } from './load/messages.js';

/**
 * The value below or at which `share` of the values lie, by the nearest-rank method: it is always one of the values.
 *
 * @param share from 0 (exclusive) to 1
 * @throws RangeError when there are no values
 * @example percentile([10, 20, 30, 40], 0.5) // 20
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('there is no percentile of no values');
  return value;
}

/**
 * The middle value, or the mean of the two in the middle.
 *
 * @throws RangeError when there are no values
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('there is no median of no values');
  return (lower + upper) / 2;
}

/** Figures of one run of one system at one concurrency. */
export interface RunFigures extends LoadFigures {
  /** CPU time a payment of each process of the system, its children included, in ms. */
  readonly cpuByProcess: Readonly<Record<string, number>>;
  /** CPU time a payment of the provider's stub, the merchant and the load generator, in ms. */
  readonly loadCpuMs: number;
  /** Share of the machine's CPU time that went to anything else meanwhile, from 0 to 1. */
  readonly otherCpu: number;
  /** 99th percentile of how long the load generator's event loop was held up, in ms. */
  readonly loadDelayP99: number;
  /** Records that the engine keeps of a payment. */
  readonly events: number;
  /** Bytes by which the engine's store grew, a payment. */
  readonly bytes: number;
}

/** The medians of several runs, each figure by itself. */
export function medianRun(runs: readonly RunFigures[]): RunFigures {
  const of = (pick: (run: RunFigures) => number) => median(runs.map(pick));
  const processes = new Set(runs.flatMap(({ cpuByProcess }) => Object.keys(cpuByProcess)));
  return {
    perSecond: of((run) => run.perSecond),
    startP50: of((run) => run.startP50),
    startP99: of((run) => run.startP99),
    outcomeP50: of((run) => run.outcomeP50),
    outcomeP99: of((run) => run.outcomeP99),
    totalP50: of((run) => run.totalP50),
    totalP99: of((run) => run.totalP99),
    resent: of((run) => run.resent),
    withoutLink: of((run) => run.withoutLink),
    repeated: of((run) => run.repeated),
    notifiedAgain: of((run) => run.notifiedAgain),
    cpuByProcess: Object.fromEntries(
      [...processes].map((name) => [name, of(({ cpuByProcess }) => cpuByProcess[name] ?? 0)]),
    ),
    loadCpuMs: of((run) => run.loadCpuMs),
    otherCpu: of((run) => run.otherCpu),
    loadDelayP99: of((run) => run.loadDelayP99),
    events: of((run) => run.events),
    bytes: of((run) => run.bytes),
  };
}

/** CPU time a payment of all processes of a system together, in ms. */
export function totalCpu({ cpuByProcess }: RunFigures): number {
  return Object.values(cpuByProcess).reduce((sum, ms) => sum + ms, 0);
}

/** Systems that are compared: how many times the second's figure the first's is. */
const COMPARED = [
  ['sanaga', 'temporal-floor'],
  ['sanaga', 'temporal-textbook'],
  ['sanaga', 'dbos'],
  ['sanaga', 'restate'],
  ['sanaga-doubled', 'sanaga'],
  ['sanaga-unencrypted', 'sanaga'],
  ['sanaga-call-stacks', 'sanaga'],
] as const;

/** Ratios of a figure, such as payments a second, as `one/other`, without those of systems that weren't measured. */
export function ratios(
  figures: ReadonlyMap<string, RunFigures>,
  of = ({ perSecond }: RunFigures) => perSecond,
): Record<string, number> {
  return Object.fromEntries(
    COMPARED.flatMap(([one, other]) => {
      const [first, second] = [figures.get(one), figures.get(other)];
      if (first === undefined || second === undefined) return [];
      return [[`${one}/${other}`, of(first) / of(second)]];
    }),
  );
}
