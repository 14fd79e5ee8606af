import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countByInvariant, type Invariant, type Violation } from './audit/case.js';
import { digestOf } from './digest-of.js';
import { eachOf } from './each-of.js';
import { type Outcome, playWorld } from './play-world.js';
import type { SimulationOptions } from './simulation-options.js';
import { Tally } from './tally.js';
import { bundleWorkflows } from './world/bundle-workflows.js';
import { AT_ONCE, worldsOf } from './worlds.js';

/** What came of a simulation. */
export interface SimulationResult {
  readonly payments: number;
  readonly seed: string | number;
  /** How often each kind of fault struck. */
  readonly faults: Readonly<Record<string, number>>;
  readonly crashes: Readonly<Record<string, number>>;
  /** How often each was broken. */
  readonly invariants: Readonly<Record<Invariant, number>>;
  /** Payments that were put before operators. */
  readonly reviews: number;
  readonly seconds: number;
}

export interface SimulationReport {
  readonly result: SimulationResult;
  readonly violations: readonly Violation[];
  /** What people did, by kind, and how payments ended. */
  readonly doings: Readonly<Record<string, number>>;
  /** Digest of how the provider answered the first request for each payment: two runs of a seed agree in it. */
  readonly digest: string;
}

/** Runs one simulation from the first payment to the audit, in one world or several. */
export async function runSimulation(options: SimulationOptions): Promise<SimulationReport> {
  const began = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-simulation-'));
  try {
    const outcomes = await playAll(options, folder);
    return toReport(options, outcomes, (performance.now() - began) / 1_000);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What came of each world, in their order. */
async function playAll(options: SimulationOptions, folder: string): Promise<Outcome[]> {
  const workflowBundle = join(folder, 'workflows.js');
  await bundleWorkflows(workflowBundle);
  const worlds = worldsOf(options);
  const outcomes = new Map<number, Outcome>();
  await eachOf([...worlds.entries()], AT_ONCE, async ([index, world]) => {
    const report = (line: string) =>
      options.report?.(worlds.length === 1 ? line : `world ${index + 1} of ${worlds.length}: ${line}`);
    outcomes.set(index, await playWorld({ ...world, report }, workflowBundle));
  });
  return worlds.flatMap((_, index) => outcomes.get(index) ?? []);
}

function toReport(
  { payments, seed }: SimulationOptions,
  outcomes: readonly Outcome[],
  seconds: number,
): SimulationReport {
  const violations = outcomes.flatMap((outcome) => outcome.violations);
  return {
    result: {
      payments,
      seed,
      faults: sum(outcomes.map(({ faults }) => faults)),
      crashes: sum(outcomes.map(({ crashes }) => crashes)),
      invariants: countByInvariant(violations),
      reviews: outcomes.reduce((total, { reviews }) => total + reviews, 0),
      seconds: Math.round(seconds * 10) / 10,
    },
    violations,
    doings: sum(outcomes.map(({ doings }) => doings)),
    digest: digestOf(outcomes.map(({ digest }) => digest)),
  };
}

function sum(tallies: readonly Tally[]): Record<string, number> {
  const total = new Tally();
  for (const tally of tallies) total.addAll(tally);
  return total.toJSON();
}
