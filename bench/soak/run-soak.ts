import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { GrowthSystem } from '../growth/options.js';
import { type LoadProcess, startLoadProcess } from '../load/load-process.js';
import { load, measure, warmUp, whileRunning } from '../measure.js';
import { readMemory } from '../servers/memory.js';
import { type SanagaOptions, sanaga, sanagaPostgres } from '../systems/sanaga.js';
import type { RunningSystem, System } from '../systems/system.js';
import type { Sample, SoakedProcess, SoakFigures } from './figures.js';
import type { SoakOptions } from './options.js';

/** Load that measures the system's highest rate. */
const LIMIT_LOAD = { payments: 600, concurrency: 32 };
/** The load is this share of it. */
const RATE_SHARE = 0.7;
/** Payments are told by the minute, and memory is read more often. */
const PERIOD_MS = 60_000;
const READ_EVERY_MS = 5_000;
/** Interval of collecting garbage and reading the heap, in ms: each time, the process stops for a moment. */
const HEAP_EVERY_MS = 15_000;
const HEAP_LOG = 'heaps.jsonl';
const HEAP_PROBE = fileURLToPath(new URL('./heap-probe.js', import.meta.url));

const SYSTEMS: Readonly<Record<GrowthSystem, (options: SanagaOptions) => System>> = {
  sanaga,
  'sanaga-postgres': sanagaPostgres,
};

export interface SoakContext {
  readonly report: (line: string) => void;
  readonly stop: AbortSignal;
  /** Called with everything so far, after each minute. */
  readonly keep: (figures: SoakFigures) => Promise<void>;
}

/**
 * Takes payments at a constant rate, and reads each process's memory. It ends when a payment fails.
 *
 * @throws Error when the system doesn't start
 */
export async function runSoak(options: SoakOptions, machine: string, context: SoakContext): Promise<SoakFigures> {
  const { report, stop } = context;
  const nodeOptions = ['--expose-gc', '--import', HEAP_PROBE];
  const plain = SYSTEMS[options.system]({});
  const missing = await plain.missing();
  if (missing !== undefined) throw new Error(`${plain.name} can't run here: ${missing}`);
  await plain.prepare(report);
  const system: System = {
    ...plain,
    start(start) {
      const settings = { HEAP_LOG: join(start.folder, HEAP_LOG), HEAP_EVERY_MS: String(HEAP_EVERY_MS) };
      return SYSTEMS[options.system]({ nodeOptions, settings }).start(start);
    },
  };
  const process = await startLoadProcess(stop);
  try {
    return await whileRunning(system, process, context, (running, folder) =>
      soak({ process, running, folder, options, machine, context }),
    );
  } finally {
    process.stop();
  }
}

interface Soak {
  readonly process: LoadProcess;
  readonly running: RunningSystem;
  readonly folder: string;
  readonly options: SoakOptions;
  readonly machine: string;
  readonly context: SoakContext;
}

async function soak({ process, running, folder, options, machine, context }: Soak): Promise<SoakFigures> {
  const { report, stop, keep } = context;
  const { minutes } = options;
  const { rate, limit } = await rateOf(process, running, options);
  const most = limit === undefined ? '' : ` of ${limit.toFixed(1)} at most`;
  report(`${rate.toFixed(1)} payments a second${most}, for ${minutes} minutes from now`);

  const startedAt = Date.now();
  const resident = new Map<string, Sample[]>(Object.keys(running.processes).map((name) => [name, []]));
  const reading = new AbortController();
  const readings = readEvery(READ_EVERY_MS, AbortSignal.any([reading.signal, stop]), async () => {
    const memory = await readMemory(running.processes);
    for (const [name, samples] of resident) {
      samples.push({ atMs: Date.now() - startedAt, bytes: memory[name] ?? 0 });
    }
  });
  const figures = async (periods: SoakFigures['periods']): Promise<SoakFigures> => {
    const heaps = await readHeaps(join(folder, HEAP_LOG), startedAt);
    const processes: SoakedProcess[] = [...resident].map(([name, samples]) => ({
      name,
      resident: samples,
      heap: heaps.get(running.processes[name] ?? 0) ?? [],
    }));
    const { system } = options;
    return { system, machine, rate, ...(limit !== undefined && { limit }), periods, processes };
  };
  const periods: SoakFigures['periods'] = [];
  let failed: string | undefined;
  try {
    const endAt = startedAt + minutes * 60_000;
    while (Date.now() < endAt) {
      const atMs = Date.now() - startedAt;
      const payments = Math.max(1, Math.round((Math.min(PERIOD_MS, endAt - Date.now()) / 1_000) * rate));
      const { target } = running;
      const order = { kind: 'make', name: `soak-${periods.length}`, target, payments, payer: 'pays' } as const;
      const paced = { ...order, pace: { perSecond: rate }, repeatsRefused: true };
      const done = await load(process, paced, 'done').catch((error: unknown) => {
        stop.throwIfAborted();
        failed = error instanceof Error ? error.message : String(error);
      });
      if (done === undefined) break;
      const { perSecond, startP50, startP99, outcomeP50, outcomeP99, withoutLink, repeated, notifiedAgain } = done;
      periods.push({
        ...{ atMs, payments, perSecond, startP50, startP99, outcomeP50, outcomeP99 },
        ...{ withoutLink, repeated, notifiedAgain },
      });
      await keep(await figures(periods));
      report(
        `${((Date.now() - startedAt) / 60_000).toFixed(1)} of ${minutes} minutes: ${perSecond.toFixed(1)} payments/s, webhook to merchant ${outcomeP99.toFixed(0)} ms at p99`,
      );
    }
  } finally {
    reading.abort();
    await readings;
  }
  const whole = await figures(periods);
  if (failed === undefined) return whole;
  report(`FAILED after ${periods.length} minutes: ${failed}`);
  await keep({ ...whole, failed });
  return { ...whole, failed };
}

/**
 * Warms the system up. @returns the payments a second to make: those asked for, or a share of the most, measured here
 */
async function rateOf(process: LoadProcess, running: RunningSystem, { rate, minutes }: SoakOptions) {
  const payments = rate === undefined ? LIMIT_LOAD.payments : Math.ceil(rate * minutes * 60);
  await warmUp(process, running.target, 'soak', [{ ...LIMIT_LOAD, payments }], { repeatsRefused: true });
  if (rate !== undefined) return { rate, limit: undefined };
  const { perSecond: limit } = await measure(process, running, 'soak', LIMIT_LOAD);
  return { rate: limit * RATE_SHARE, limit };
}

/** Does something at once, and again and again until it is told to stop. What fails is left out. */
async function readEvery(everyMs: number, stop: AbortSignal, read: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    await read().catch(() => undefined);
    await pause(everyMs, undefined, { signal: stop }).catch(() => undefined);
  }
}

const heapSchema = z.object({ at: z.number(), pid: z.number(), thread: z.number(), bytes: z.number() });

/** Reads the heaps by process: the sum over its threads, each time that one of them was read. */
async function readHeaps(file: string, startedAt: number): Promise<Map<number, Sample[]>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  // The last line may be half written.
  const lines = text.split('\n').slice(0, -1);
  return heapsByProcess(
    lines.map((line) => heapSchema.parse(JSON.parse(line))),
    startedAt,
  );
}

type HeapLine = z.infer<typeof heapSchema>;

/**
 * The heaps of processes since the load began. A process is left out until each of its threads was read once.
 *
 * @param startedAt ms since the epoch
 */
export function heapsByProcess(lines: readonly HeapLine[], startedAt: number): Map<number, Sample[]> {
  const threads = new Map<number, Set<number>>();
  for (const { pid, thread } of lines) threads.set(pid, (threads.get(pid) ?? new Set()).add(thread));
  const latest = new Map<string, number>();
  const heaps = new Map<number, Sample[]>();
  for (const { at, pid, thread, bytes } of lines) {
    latest.set(`${pid} ${thread}`, bytes);
    const parts = [...(threads.get(pid) ?? [])].map((one) => latest.get(`${pid} ${one}`));
    if (at < startedAt || parts.includes(undefined)) continue;
    const sum = parts.reduce<number>((total, part) => total + (part ?? 0), 0);
    heaps.set(pid, [...(heaps.get(pid) ?? []), { atMs: at - startedAt, bytes: sum }]);
  }
  return heaps;
}
