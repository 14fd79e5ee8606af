import { availableParallelism } from 'node:os';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { machine, runToEnd } from '../e2e/built.js';

/** Installing a peer and the first start of everything take their time. */
const LIMIT_MS = 15 * 60_000;

const figure = z.number().positive();
const figuresSchema = z.strictObject({
  perSecond: figure,
  startP50: figure,
  startP99: figure,
  outcomeP50: figure,
  outcomeP99: figure,
  cpuMs: figure,
  events: figure,
  bytes: figure,
});
const resultSchema = z.strictObject({
  payments: z.number(),
  concurrency: z.number(),
  systems: z.strictObject({ sanaga: figuresSchema, 'temporal-textbook': figuresSchema }),
  ratios: z.strictObject({ 'sanaga/temporal-textbook': figure }),
});

describe('the benchmark, in small', () => {
  let stdout: string;
  let result: z.infer<typeof resultSchema>;
  beforeAll(async () => {
    const systems = ['--systems', 'sanaga,temporal-textbook'];
    const args = ['--payments', '8', '--concurrency', '2', '--repeats', '1', ...systems, '--json'];
    const ended = await runToEnd('build/bench/main.js', args, machine());
    if (ended.code !== 0) throw new Error(`the benchmark ended with ${ended.code}\n${ended.stderr}`);
    stdout = ended.stdout;
    result = resultSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  }, LIMIT_MS);

  it('prints its result alone, as one line of JSON', () => {
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(result).toMatchObject({ payments: 8, concurrency: 2 });
  });

  it.each(['sanaga', 'temporal-textbook'] as const)(
    'has figures of %s that agree with each other',
    (name) => {
      const { perSecond, startP50, startP99, outcomeP50, outcomeP99, cpuMs } = result.systems[name];
      expect(startP99).toBeGreaterThanOrEqual(startP50);
      expect(outcomeP99).toBeGreaterThanOrEqual(outcomeP50);
      // Two at a time, each of which waits 30 ms for its payer at least.
      expect(perSecond).toBeLessThan(2 / 0.03);
      // No more CPU time than the machine has, with the half second that it is measured for after the last payment.
      expect(cpuMs).toBeLessThan(availableParallelism() * (1_000 / perSecond + 2_000 / 8));
    },
  );

  it('compares the two by their payments a second', () => {
    const { sanaga, 'temporal-textbook': textbook } = result.systems;
    expect(result.ratios['sanaga/temporal-textbook']).toBeCloseTo(sanaga.perSecond / textbook.perSecond, 1);
  });

  it("counts the events of the payments' histories", () => {
    expect(result.systems.sanaga.events).toBeGreaterThanOrEqual(17);
    expect(result.systems.sanaga.events).toBeLessThan(result.systems['temporal-textbook'].events);
  });
});
