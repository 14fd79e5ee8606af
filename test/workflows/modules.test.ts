import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = globSync('src/{payments,workflows}/**/*.ts', { cwd: root });

/**
 * A variable of a module that can change: one that can be set again, or a collection that isn't read-only by its type.
 */
const STATE = /^(export )?(let|var) .*|^(export )?const \w+(: [^=]+)? = (new (Weak)?(Map|Set)\b|\[\];|\{\};).*/gm;

describe('the modules of workflows, which a worker evaluates once for all payments,', () => {
  it('hold no state', () => {
    const state = files.flatMap((file) => readFileSync(`${root}/${file}`, 'utf8').match(STATE) ?? []);
    expect(files.length).toBeGreaterThan(20);
    expect(state).toEqual([]);
  });

  it.each(['let count = 0;', 'export const seen = new Map<string, number>();', 'const log: string[] = [];'])(
    'would be found out by %s',
    (line) => {
      expect(`import a from 'b';\n${line}\n`.match(STATE)).toEqual([line]);
    },
  );
});
