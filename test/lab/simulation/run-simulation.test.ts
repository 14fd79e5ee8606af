import { describe, expect, it } from '@jest/globals';
import { runSimulation, type SimulationReport, worldsOf } from '../../../lab/simulation/run-simulation.js';
import { useSimulationBundle } from './simulation-bundle.js';

const bundle = useSimulationBundle();

async function simulate(seed: number, payments: number) {
  return await runSimulation({ payments, seed, workflowBundle: bundle.path });
}

const broken = ({ result, violations }: SimulationReport) => ({
  ...Object.fromEntries(Object.entries(result.invariants).filter(([, count]) => count > 0)),
  first: violations[0],
});

describe('a simulation', () => {
  it('keeps every invariant, whatever the provider, the network and people do', async () => {
    const report = await simulate(3, 60);
    expect(broken(report)).toEqual({ first: undefined });
    expect(report.result).toMatchObject({ payments: 60, seed: 3 });
    expect(Object.keys(report.result.faults).length).toBeGreaterThan(15);
    for (const crash of ['workerRestarted', 'bookCut', 'bookKilled']) {
      expect(report.result.crashes[crash]).toBeGreaterThan(0);
    }
    // Somebody has approved a payout, and somebody has refunded a collection.
    for (const act of ['accountant: approve 200', 'refunder: plans']) expect(report.actions).toHaveProperty([act]);
  });

  it('meets the same faults with the same seed', async () => {
    const [one, other] = [await simulate(5, 8), await simulate(5, 8)];
    expect(other.digest).toBe(one.digest);
    expect((await simulate(6, 8)).digest).not.toBe(one.digest);
  });
});

const sizes = (payments: number, atOnce = 3) => worldsOf({ payments, seed: 7 }, atOnce).map((world) => world.payments);

describe("a simulation's worlds", () => {
  it('have all the payments between them, and none too many', () => {
    for (const payments of [1, 249, 500, 1_000, 4_001, 10_000]) {
      expect(sizes(payments).reduce((sum, size) => sum + size)).toBe(payments);
      expect(Math.max(...sizes(payments))).toBeLessThanOrEqual(1_250);
    }
  });

  it('are one for a few payments, and as many as are played at once for more', () => {
    expect(sizes(60)).toEqual([60]);
    expect(sizes(499)).toEqual([499]);
    expect(sizes(1_000)).toEqual([334, 333, 333]);
    expect(sizes(10_000)).toHaveLength(9);
  });

  it('have seeds of their own, the same for the same seed', () => {
    const seeds = worldsOf({ payments: 2_000, seed: 7 }, 3).map(({ seed }) => seed);
    expect(seeds).toEqual(['7/0', '7/1', '7/2']);
  });
});
