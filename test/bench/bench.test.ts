import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { machine, runToEnd } from '../support/built.js';
import { readBudgets } from './cost-tables.js';

const figure = z.number().positive();
const resultSchema = z.strictObject({
  payments: z.number(),
  concurrency: z.number(),
  systems: z.strictObject({
    sanaga: z.strictObject({
      perSecond: figure,
      startP50: figure,
      startP99: figure,
      outcomeP50: figure,
      outcomeP99: figure,
      cpuMs: figure,
      events: figure,
      bytes: figure,
    }),
  }),
  ratios: z.strictObject({}),
});

/** Sanaga alone: the others would have to be installed first, which takes minutes. */
const ARGS = ['--payments', '4', '--concurrency', '2', '--repeats', '1', '--systems', 'sanaga', '--json'];

describe('the benchmark, in small', () => {
  let stdout: string;
  let stderr: string;
  let result: z.infer<typeof resultSchema>;
  beforeAll(async () => {
    const ended = await runToEnd('build/bench/main.js', ARGS, machine());
    if (ended.code !== 0) throw new Error(`the benchmark ended with ${ended.code}\n${ended.stderr}`);
    ({ stdout, stderr } = ended);
    result = resultSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  });

  it('prints its result alone, as one line of JSON, and how it goes beside it', () => {
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(result).toMatchObject({ payments: 4, concurrency: 2 });
    expect(stderr).toMatch(/^sanaga: starting$/m);
    expect(stderr).toMatch(/^sanaga: [\d.]+ payments\/s \(4 payments, concurrency 2, r1\)$/m);
  });

  it('has figures that agree with each other', () => {
    const { perSecond, startP50, startP99, outcomeP50, outcomeP99, cpuMs } = result.systems.sanaga;
    expect(startP99).toBeGreaterThanOrEqual(startP50);
    expect(outcomeP99).toBeGreaterThanOrEqual(outcomeP50);
    // Two at a time, each of which waits 30 ms for its payer at least.
    expect(perSecond).toBeLessThan(2 / 0.03);
    // No more CPU time than the machine has, with the half second that it is measured for after the last payment.
    expect(cpuMs).toBeLessThan(availableParallelism() * (1_000 / perSecond + 2_000 / 4));
  });

  it("counts the events of the payments' histories", () => {
    const budget = readBudgets(readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8'));
    const { events = Number.NaN } = budget.get('link, paid') ?? {};
    expect(result.systems.sanaga.events).toBeGreaterThanOrEqual(events);
  });
});
