import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const peers = fileURLToPath(new URL('../../bench/peers', import.meta.url));
const filesOf = (pattern: string) => globSync(pattern, { cwd: peers, exclude: ['**/node_modules/**'] });
const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ optionalDependencies: z.record(z.string(), z.string()).default({}) })),
});
const read = (name: string) => readFileSync(join(peers, name), 'utf8');

describe("the benchmark's peers", () => {
  const sources = filesOf('**/*.ts');

  it('import nothing of ours: beside their packages only what they share with each other', () => {
    const imported = sources.flatMap((name) =>
      [...read(name).matchAll(/ from '(\.[^']*)'/g)].map(([, target = '']) => join(name, '..', target)),
    );
    expect(sources).toContain('dbos/app.ts');
    expect(imported).toContain('payment-services.ts');
    expect(imported.filter((target) => !sources.includes(target))).toEqual([]);
  });

  it("have Temporal's worker run with the settings that Sanaga's has by default", () => {
    const ours = ['settings/worker', 'worker/payment-worker'].map((name) =>
      readFileSync(join(peers, `../../src/${name}.ts`), 'utf8'),
    );
    const numberIn = (pattern: RegExp, sources: string) => pattern.exec(sources)?.[1] ?? `no ${pattern}`;
    const sanaga = (name: string) => numberIn(new RegExp(`\\b${name}(?: =|: count\\() ?(\\d+)`), ours.join());
    const temporal = (name: string) => numberIn(new RegExp(`\\b${name}: (\\d+)`), read('temporal/worker.ts'));
    const same = {
      maxCachedWorkflows: 'WORKER_MAX_CACHED_WORKFLOWS',
      maxConcurrentWorkflowTaskExecutions: 'WORKER_MAX_CONCURRENT_WORKFLOW_TASKS',
      maxConcurrentActivityTaskExecutions: 'WORKER_MAX_CONCURRENT_ACTIVITIES',
      maxConcurrentLocalActivityExecutions: 'WORKER_MAX_CONCURRENT_LOCAL_ACTIVITIES',
      minimum: 'MIN_POLLS',
      maximum: 'MAX_POLLS',
    };
    for (const [name, setting] of Object.entries(same)) {
      expect([setting, temporal(name)]).toEqual([setting, sanaga(setting)]);
    }
  });

  it('can each be installed by itself, in fixed versions, from whichever registry is set', () => {
    const locks = filesOf('*/package-lock.json').sort();
    expect(locks).toEqual(['dbos', 'restate'].map((name) => `${name}/package-lock.json`));
    for (const lock of locks) expect(read(lock)).not.toContain('"resolved"');
  });

  it('are locked with their packages for every platform, without which npm refuses the lock', () => {
    for (const lock of filesOf('*/package-lock.json')) {
      const { packages } = lockSchema.parse(JSON.parse(read(lock)));
      const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
      const named = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies));
      expect(named.filter((name) => !locked.has(name))).toEqual([]);
    }
  });
});
