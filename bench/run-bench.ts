import { medianRun, type RunFigures } from './figures.js';
import { type LoadProcess, startLoadProcess } from './load/load-process.js';
import { measure, warmUp, whileRunning } from './measure.js';
import type { BenchOptions, Load } from './options.js';
import { dbos } from './systems/dbos.js';
import { restate } from './systems/restate.js';
import { sanaga, sanagaPostgres } from './systems/sanaga.js';
import type { System, SystemName } from './systems/system.js';
import { temporalFloor, temporalTextbook } from './systems/temporal.js';

const SYSTEMS: Readonly<Record<SystemName, System>> = {
  sanaga: sanaga(),
  'sanaga-doubled': sanaga({ isDoubled: true }, 'sanaga-doubled'),
  'sanaga-postgres': sanagaPostgres(),
  'temporal-floor': temporalFloor,
  'temporal-textbook': temporalTextbook,
  dbos,
  restate,
  'sanaga-unencrypted': sanaga({ settings: { ENCRYPTION: 'off' } }, 'sanaga-unencrypted'),
  'sanaga-call-stacks': sanaga({ settings: { WORKER_CALL_STACKS: 'true' } }, 'sanaga-call-stacks'),
};

/** Figures at one concurrency. */
export interface LoadFigures extends Load {
  /** The medians of each system's runs. A system that was left out, or that failed, isn't in it. */
  readonly systems: ReadonlyMap<SystemName, RunFigures>;
}

export interface BenchResult {
  readonly figures: readonly LoadFigures[];
  /** Systems that this machine can't run, with what to do. */
  readonly leftOut: ReadonlyMap<SystemName, string>;
  /** Systems with a failed run, and the reasons: their figures don't count. */
  readonly failed: ReadonlyMap<SystemName, string>;
}

/** Measures each system in turn, each time started afresh, and that as often as it is to be repeated. */
export async function runBench(
  options: BenchOptions,
  report: (line: string) => void,
  stop: AbortSignal,
): Promise<BenchResult> {
  const { loads, repeats } = options;
  const { ready, leftOut } = await prepare(options.systems, report);
  const runs = new Map<System, RunFigures[][]>(ready.map((system) => [system, loads.map(() => [])]));
  const failed = new Map<SystemName, string>();
  const load = await startLoadProcess(stop);
  try {
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const system of orderOf(ready, repeat)) {
        stop.throwIfAborted();
        if (failed.has(system.name)) continue;
        try {
          const figures = await runSystem(system, loads, `r${repeat + 1}`, load, report, stop);
          for (const [index, one] of figures.entries()) runs.get(system)?.[index]?.push(one);
        } catch (error) {
          stop.throwIfAborted();
          const why = error instanceof Error ? error.message : String(error);
          failed.set(system.name, why.split('\n', 1)[0] ?? why);
          report(`${system.name}: FAILED: ${why}`);
        }
      }
    }
  } finally {
    load.stop();
  }
  const figures = loads.map((each, index) => ({
    ...each,
    systems: new Map(
      ready
        .filter(({ name }) => !failed.has(name))
        .map((system) => [system.name, medianRun(runs.get(system)?.[index] ?? [])] as const),
    ),
  }));
  return { figures, leftOut, failed };
}

/**
 * The order of a repeat: a row of Williams' Latin square. In as many repeats as there are systems (twice as many for an
 * odd number) each comes once after each other, so that none always inherits what a particular other leaves behind.
 */
export function orderOf<Item>(items: readonly Item[], repeat: number): Item[] {
  const count = items.length;
  const row = items.map((_, index) => {
    const zigzag = index % 2 === 0 ? index / 2 : count - (index + 1) / 2;
    return items[(zigzag + repeat) % count] as Item;
  });
  const isTurned = count % 2 === 1 && Math.floor(repeat / count) % 2 === 1;
  return isTurned ? row.reverse() : row;
}

async function prepare(names: readonly SystemName[], report: (line: string) => void) {
  const ready: System[] = [];
  const leftOut = new Map<SystemName, string>();
  for (const name of names) {
    const system = SYSTEMS[name];
    let missing = await system.missing();
    try {
      if (missing === undefined) await system.prepare(report);
    } catch (error) {
      missing = error instanceof Error ? error.message : String(error);
    }
    if (missing === undefined) ready.push(system);
    else {
      leftOut.set(name, missing);
      report(`${name}: left out: ${missing}`);
    }
  }
  return { ready, leftOut };
}

async function runSystem(
  system: System,
  loads: readonly Load[],
  round: string,
  load: LoadProcess,
  report: (line: string) => void,
  stop: AbortSignal,
): Promise<RunFigures[]> {
  return await whileRunning(system, load, { report, stop }, async (running) => {
    const figures: RunFigures[] = [];
    await warmUp(load, running.target, `${system.name}-${round}`, loads);
    for (const each of loads) {
      stop.throwIfAborted();
      const one = await measure(load, running, `${system.name}-${round}`, each);
      figures.push(one);
      report(
        `${system.name}: ${one.perSecond.toFixed(1)} payments/s (${each.payments} payments, concurrency ${each.concurrency}, ${round})`,
      );
    }
    return figures;
  });
}
