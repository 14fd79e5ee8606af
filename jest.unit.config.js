import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import config from './jest.config.js';
import SLOW from './test/support/slow-suites.cjs';

/**
 * The suites of `npm run test:unit`: those that start no process, no server and no Temporal, need no database, and
 * aren't slow. A suite may do so when it imports, itself or through files of ours, what can. Nobody has to list a new
 * suite.
 */
const STARTERS =
  /\bcreateServer\b.* from|from '(node:child_process|express|@temporalio\/(testing|worker)|playwright-core|\S+\/support\/books\.js)'/s;

const isSlow = (path) => SLOW.some((suite) => path === `test/${suite}.test.ts`);

/** Imports of values: those of types are gone when the suite runs. */
const IMPORT = /^(?:import|export)(?! type\b)[^'";]*?\bfrom '([^']+)'/gm;

function startsSomething(path, seen = new Set()) {
  seen.add(path);
  return readFileSync(path, 'utf8')
    .matchAll(IMPORT)
    .some(([statement, name]) => {
      if (STARTERS.test(statement)) return true;
      const file = name.startsWith('.') ? join(dirname(path), name.replace(/\.js$/, '.ts')) : undefined;
      return file !== undefined && !seen.has(file) && existsSync(file) && startsSomething(file, seen);
    });
}

const { globalSetup: _setup, globalTeardown: _teardown, ...rest } = config;

/** @type {import('jest').Config} */
export default {
  ...rest,
  // They wait for nothing, so that each core can have one.
  maxWorkers: '100%',
  // Per cent of src that these suites run: raise it as they do. `npm run test:coverage` fails below it.
  coverageThreshold: { global: { lines: 84, branches: 95, functions: 68 } },
  testMatch: globSync('test/**/*.test.ts', { cwd: import.meta.dirname })
    .filter((suite) => !isSlow(suite) && !startsSomething(suite))
    .map((suite) => `<rootDir>/${suite}`),
};
