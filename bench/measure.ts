import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunFigures } from './figures.js';
import type { LoadProcess } from './load/load-process.js';
import type { LoadOrder, LoadResult, LoadTarget } from './load/messages.js';
import type { Load } from './options.js';
import { readCpuTimes, readMachineTime } from './servers/cpu-time.js';
import type { RunningSystem, System } from './systems/system.js';

/**
 * Payments made after each start before any is measured, for each process of the API: the first hundreds meet code that
 * isn't compiled yet, and two processes that share them would be half as warm as one.
 */
const WARM_UP: Load = { payments: 300, concurrency: 32 };
/** A small run needs no long warm-up: its figures mean nothing. */
const MAX_WARM_UP_SHARE = 5;
/** Times the concurrency: payments made before each run, with which connections and pools come to their size. */
const RAMP_UP = 1;

/**
 * Starts a system afresh, runs something on it, and stops it. Its logs are removed, unless something failed.
 *
 * @param report gets a line on what happens
 */
export async function whileRunning<Outcome>(
  system: System,
  process: LoadProcess,
  { report, stop }: { readonly report: (line: string) => void; readonly stop: AbortSignal },
  run: (running: RunningSystem, folder: string) => Promise<Outcome>,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-bench-'));
  let isDone = false;
  try {
    report(`${system.name}: starting`);
    const running = await system.start({ folder, report: () => undefined, ...process });
    try {
      const outcome = await run(running, folder);
      isDone = true;
      return outcome;
    } finally {
      await running.stop();
    }
  } finally {
    if (isDone || stop.aborted) await rm(folder, { recursive: true, force: true });
    else report(`${system.name}: its logs are kept in ${folder}`);
  }
}

type Result<Kind extends LoadResult['kind']> = Extract<LoadResult, { readonly kind: Kind }>;

/** Has the load process do something that ends in this way. @throws Error when a payment failed */
export async function load<Kind extends LoadResult['kind']>(
  process: LoadProcess,
  order: LoadOrder,
  kind: Kind,
): Promise<Result<Kind> & { readonly delayP99: number }> {
  const { result, delayP99 } = await process.run(order);
  if (result.kind === 'failed') throw new Error(result.why);
  if (!isOf(result, kind)) throw new Error(`the load process answered ${result.kind} in place of ${kind}`);
  return { ...result, delayP99 };
}

function isOf<Kind extends LoadResult['kind']>(result: LoadResult, kind: Kind): result is Result<Kind> {
  return result.kind === kind;
}

export interface MeasureOptions {
  /** Send POSTs again that are refused for the moment. Default: false. */
  readonly repeatsRefused?: boolean;
}

function paid(target: LoadTarget, name: string, { payments, concurrency }: Load, repeatsRefused = false): LoadOrder {
  return { kind: 'make', name, target, payments, pace: { concurrency }, payer: 'pays', repeatsRefused };
}

/**
 * Makes payments that don't count, before these loads are measured.
 *
 * @param name begins their names
 * @throws Error when a payment failed
 */
export async function warmUp(
  process: LoadProcess,
  target: LoadTarget,
  name: string,
  loads: readonly Load[],
  { repeatsRefused }: MeasureOptions = {},
): Promise<void> {
  const most = Math.max(...loads.map(({ payments }) => payments));
  const payments = Math.min(WARM_UP.payments, most * MAX_WARM_UP_SHARE) * target.apis.length;
  await load(process, paid(target, `${name}-warm`, { ...WARM_UP, payments }, repeatsRefused), 'done');
}

/**
 * Measures one system at one concurrency.
 *
 * @param name begins the payments' names, and so must be new for each system and repeat
 * @throws Error when a payment failed
 */
export async function measure(
  process: LoadProcess,
  running: RunningSystem,
  name: string,
  { payments, concurrency }: Load,
  { repeatsRefused }: MeasureOptions = {},
): Promise<RunFigures> {
  const { processes } = running;
  const make = (part: string, count: number) => {
    const order = { payments: count, concurrency };
    return load(process, paid(running.target, `${name}-c${concurrency}-${part}`, order, repeatsRefused), 'done');
  };
  const { ids: first } = await make('first', RAMP_UP * concurrency);
  await running.events(first);

  const bytesBefore = await running.bytes();
  const all = { ...processes, load: process.pid };
  const machineBefore = await readMachineTime();
  const cpuBefore = await readCpuTimes(all);
  const { ids, delayP99: loadDelayP99, kind: _, ...figures } = await make('paid', payments);
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
