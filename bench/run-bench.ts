import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { medianRun, type RunFigures } from './figures.js';
import { type LoadProcess, startLoadProcess } from './load/load-process.js';
import type { BenchOptions, Load } from './options.js';
import { readCpuTimes, readMachineTime } from './servers/cpu-time.js';
import { dbos } from './systems/dbos.js';
import { restate } from './systems/restate.js';
import { sanaga, sanagaPostgres } from './systems/sanaga.js';
import type { RunningSystem, System, SystemName } from './systems/system.js';
import { temporalTextbook } from './systems/temporal-textbook.js';

const SYSTEMS: Readonly<Record<SystemName, System>> = {
  sanaga,
  'sanaga-postgres': sanagaPostgres,
  'temporal-textbook': temporalTextbook,
  dbos,
  restate,
};

/** What was measured at one concurrency. */
export interface LoadFigures extends Load {
  /** The medians of each system's runs. A system that was left out, or that failed, isn't in it. */
  readonly systems: ReadonlyMap<SystemName, RunFigures>;
}

export interface BenchResult {
  readonly figures: readonly LoadFigures[];
  /** Systems that this machine can't run, with what to do. */
  readonly leftOut: ReadonlyMap<SystemName, string>;
  /** Systems of which a run failed, with why: no figure of theirs counts. */
  readonly failed: ReadonlyMap<SystemName, string>;
}

/** Payments made after each start before any is measured: the first hundreds meet code that isn't compiled yet. */
const WARM_UP: Load = { payments: 300, concurrency: 32 };
/** A small run needs no long warm-up: its figures mean nothing. */
const MAX_WARM_UP_SHARE = 5;
/** Times the concurrency: payments made before each run, with which connections and pools come to their size. */
const RAMP_UP = 1;
/** After a run, the engine still writes what the merchant no longer waits for. Its CPU time counts. */
const SETTLE_MS = 500;

/**
 * Measures each system in turn, each time started afresh, and that as often as it is to be repeated. The order turns by one
 * from repeat to repeat, so that no system is always the one after a particular other.
 */
export async function runBench(
  options: BenchOptions,
  report: (line: string) => void,
  stop: AbortSignal,
): Promise<BenchResult> {
  const { loads, repeats } = options;
  const { ready, leftOut } = await prepare(options.systems, report);
  const runs = new Map<System, RunFigures[][]>(ready.map((system) => [system, loads.map(() => [])]));
  const failed = new Map<SystemName, string>();
  const load = await startLoadProcess();
  try {
    for (let repeat = 0; repeat < repeats; repeat++) {
      const turn = repeat % Math.max(1, ready.length);
      for (const system of [...ready.slice(turn), ...ready.slice(0, turn)]) {
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
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-bench-'));
  let isDone = false;
  try {
    report(`${system.name}: starting`);
    const running = await system.start({ folder, report: () => undefined, ...load });
    try {
      const figures: RunFigures[] = [];
      const most = Math.max(...loads.map(({ payments }) => payments));
      const payments = Math.min(WARM_UP.payments, most * MAX_WARM_UP_SHARE);
      await makePayments(system.name, running, { ...WARM_UP, payments }, `${round}-warm`, load);
      for (const each of loads) {
        stop.throwIfAborted();
        const one = await measure(system.name, running, each, round, load);
        figures.push(one);
        report(
          `${system.name}: ${one.perSecond.toFixed(1)} payments/s (${each.payments} payments, concurrency ${each.concurrency}, ${round})`,
        );
      }
      isDone = true;
      return figures;
    } finally {
      await running.stop();
    }
  } finally {
    if (isDone || stop.aborted) await rm(folder, { recursive: true, force: true });
    else report(`${system.name}: its logs are kept in ${folder}`);
  }
}

/** @throws Error when a payment failed */
async function makePayments(
  system: SystemName,
  { target }: RunningSystem,
  { payments, concurrency }: Load,
  name: string,
  load: LoadProcess,
) {
  const order = { name: `${system}-${name}`, target, payments, concurrency };
  const { result, delayP99 } = await load.run(order);
  if (result.kind === 'failed') throw new Error(result.why);
  return { ...result, delayP99 };
}

async function measure(
  system: SystemName,
  running: RunningSystem,
  { payments, concurrency }: Load,
  round: string,
  load: LoadProcess,
): Promise<RunFigures> {
  const { processes } = running;
  const make = (name: string, count: number) =>
    makePayments(system, running, { payments: count, concurrency }, `${round}-c${concurrency}-${name}`, load);
  const { ids: first } = await make('first', RAMP_UP * concurrency);
  await running.events(first);

  const bytesBefore = await running.bytes();
  const all = { ...processes, load: load.pid };
  const machineBefore = await readMachineTime();
  const cpuBefore = await readCpuTimes(all);
  const { ids, delayP99: loadDelayP99, kind: _, ...figures } = await make('paid', payments);
  await pause(SETTLE_MS);
  const cpuAfter = await readCpuTimes(all);
  const machineAfter = await readMachineTime();
  const events = await running.events(ids);
  const bytes = (await running.bytes()) - bytesBefore;

  const used = (name: string) => ((cpuAfter[name] ?? 0) - (cpuBefore[name] ?? 0)) / payments;
  const ours = Object.keys(all).reduce((sum, name) => sum + used(name) * payments, 0);
  const others = machineAfter.used - machineBefore.used - ours;
  return {
    ...figures,
    cpuByProcess: Object.fromEntries(Object.keys(processes).map((name) => [name, used(name)])),
    loadCpuMs: used('load'),
    otherCpu: Math.max(0, others / (machineAfter.there - machineBefore.there)),
    loadDelayP99,
    events: events / payments,
    bytes: bytes / payments,
  };
}
