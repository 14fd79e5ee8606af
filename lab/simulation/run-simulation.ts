import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import Table from 'cli-table3';
import { countByInvariant, type Invariant, type Violation } from '../audit/case.js';
import { Counts } from '../counts.js';
import { eachOf } from '../each-of.js';
import { digestOf } from '../world/provider-traffic.js';
import { bundleWorkflows } from '../world/worker.js';
import { runWorld, type WorldResult } from './run-world.js';
import type { SimulationOptions } from './set-up.js';

/** The result of a simulation: its last line of output. */
export interface SimulationResult {
  readonly payments: number;
  readonly seed: string | number;
  /** Faults that struck, counted by kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly crashes: Readonly<Record<string, number>>;
  /** Violations of each invariant. */
  readonly invariants: Readonly<Record<Invariant, number>>;
  /** Payments that were put before operators. */
  readonly reviews: number;
  readonly seconds: number;
}

export interface SimulationReport {
  readonly result: SimulationResult;
  readonly violations: readonly Violation[];
  /** People's actions and payments' ends, counted by kind. */
  readonly actions: Readonly<Record<string, number>>;
  /** Digest of how the provider answered the first request for each payment: two runs of a seed agree in it. */
  readonly digest: string;
}

/**
 * Payments in one world. The time-skipping server keeps a list of everything that ever held up its time, and searches
 * it each time: its work grows with the square of the payments.
 */
const MAX_PAYMENTS_PER_WORLD = 1_250;
/** Payments for which another world is worth its servers. */
const MIN_PAYMENTS_PER_WORLD = 250;
/** All worlds have their people and their provider in this one process. */
const MAX_WORLDS_AT_ONCE = 4;

/** Worlds that run at the same time: one more than there are cores, as each waits for a third of its time. */
const WORLDS_AT_ONCE = Math.min(availableParallelism() + 1, MAX_WORLDS_AT_ONCE);

/** Runs one simulation from the first payment to the audit, in one world or several. */
export async function runSimulation(options: SimulationOptions): Promise<SimulationReport> {
  const startedAt = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-simulation-'));
  try {
    const results = await runWorlds(options, folder);
    return toReport(options, results, (performance.now() - startedAt) / 1_000);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Divides the payments among worlds, each with servers, faults and crashes of its own, drawn from the seed.
 *
 * @param atOnce worlds that run at the same time
 */
export function worldsOf(options: SimulationOptions, atOnce = WORLDS_AT_ONCE): SimulationOptions[] {
  const { payments, seed } = options;
  const rounds = Math.ceil(payments / MAX_PAYMENTS_PER_WORLD / atOnce);
  const count = Math.max(1, Math.min(rounds * atOnce, Math.floor(payments / MIN_PAYMENTS_PER_WORLD)));
  return Array.from({ length: count }, (_, index) => ({
    ...options,
    payments: Math.floor(payments / count) + (index < payments % count ? 1 : 0),
    seed: `${seed}/${index}`,
  }));
}

/** The results of all worlds, in their order. */
async function runWorlds(options: SimulationOptions, folder: string): Promise<WorldResult[]> {
  const workflowBundle = options.workflowBundle ?? (await bundleWorkflows(join(folder, 'workflows.js')));
  const worlds = worldsOf(options);
  const results = new Map<number, WorldResult>();
  await eachOf([...worlds.entries()], WORLDS_AT_ONCE, async ([index, world]) => {
    const report = (line: string) =>
      options.report?.(worlds.length === 1 ? line : `world ${index + 1} of ${worlds.length}: ${line}`);
    results.set(index, await runWorld({ ...world, report }, workflowBundle));
  });
  return worlds.flatMap((_, index) => results.get(index) ?? []);
}

function toReport(
  { payments, seed }: SimulationOptions,
  results: readonly WorldResult[],
  seconds: number,
): SimulationReport {
  const violations = results.flatMap((result) => result.violations);
  return {
    result: {
      payments,
      seed,
      faults: sum(results.map(({ faults }) => faults)),
      crashes: sum(results.map(({ crashes }) => crashes)),
      invariants: countByInvariant(violations),
      reviews: results.reduce((total, { reviews }) => total + reviews, 0),
      seconds: Math.round(seconds * 10) / 10,
    },
    violations,
    actions: sum(results.map(({ actions }) => actions)),
    digest: digestOf(results.map(({ digest }) => digest)),
  };
}

function sum(all: readonly Counts[]): Record<string, number> {
  const total = new Counts();
  for (const counts of all) total.addAll(counts);
  return total.toJSON();
}

/** Formats a report as tables for a terminal. */
export function describeReport({ result, actions, digest }: SimulationReport): string {
  const { faults, crashes, invariants } = result;
  return [
    table('What people did, and how payments ended', actions),
    table('Faults', faults),
    table('Crashes', crashes),
    table('Broken invariants', invariants),
    `Digest of the faults: ${digest}`,
  ].join('\n\n');
}

function table(title: string, counts: Readonly<Record<string, number>>): string {
  const rows = new Table({
    head: [title, ''],
    colAligns: ['left', 'right'],
    style: { head: [], border: [], compact: true },
  });
  rows.push(...Object.entries(counts).map(([name, count]) => [name, count.toLocaleString('en')]));
  return rows.toString();
}
