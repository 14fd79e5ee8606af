import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const require = createRequire(import.meta.url);
const SLOW: string[] = require('../support/slow-suites.cjs');
const Sequencer = require('../support/slow-first.cjs');

const root = fileURLToPath(new URL('..', import.meta.url));
const suites = globSync('**/*.{test,check}.ts', { cwd: root }).map((path) => path.replace(/\.(test|check)\.ts$/, ''));

describe('the slow suites', () => {
  it('are suites that there are, each once, as are those that come after them', () => {
    const order: readonly string[] = Sequencer.ORDER;
    expect(order.filter((name) => !suites.includes(name))).toEqual([]);
    expect(new Set(order).size).toBe(order.length);
    expect(order.slice(0, SLOW.length)).toEqual(SLOW);
  });

  it('come in their order, in parts that have each of them once', () => {
    const context = { config: { id: 'none', cacheDirectory: tmpdir() }, hasteFS: { getSize: () => 1 } };
    const tests = SLOW.toReversed().map((name) => ({ path: `${root}${name}.test.ts`, context }));
    const parts = [1, 2, 3, 4, 5, 6, 7].map((shardIndex): readonly { path: string }[] =>
      new Sequencer({}).shard(tests, { shardIndex, shardCount: 7 }),
    );
    expect(parts.flat().map(({ path }) => path.slice(root.length, -'.test.ts'.length))).toEqual(SLOW);
    const lengths = parts.map(({ length }) => length);
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
  });
});
