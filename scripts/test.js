/*
 * Runs the tests, and says as its last line how they went: `N passed, N failed`. What it is given goes to jest: with
 * `--slow`, the slow suites alone; with `--installed`, those of `npm run test:installed`; with `--all`, every suite;
 * with the name of a suite or a folder, all that bear it; otherwise all but the slow ones (`--but-unit`: and but for
 * those of `npm run test:unit`).
 */
import './supported-node.js';

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import SLOW from '../test/support/slow-suites.cjs';

const { findTemporal } = await import('../build/stack/temporal/temporal-cli.js');
const { findTestServer } = await import('../build/stack/temporal/test-server.js');
const { default: UNIT } = await import('../jest.unit.config.js');
const jest = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));
const given = suitesOf(process.argv.slice(2));

/**
 * Suites wait for servers as much as they compute: two at once for each core keep these busy.
 */
const workers = given.some((word) => /^(-w|-i|--maxWorkers|--runInBand)/.test(word))
  ? []
  : [`--maxWorkers=${Math.min(2 * availableParallelism(), 8)}`];

/** Modules in jest are an experiment of Node's, about which every process of jest would warn. */
const quiet = process.allowedNodeEnvironmentFlags.has('--disable-warning')
  ? '--disable-warning=ExperimentalWarning'
  : '';
/**
 * Much is made and dropped at once in a test, and is cheapest dropped while it is young: it saves 5 % of the CPU time.
 */
const young = '--max-semi-space-size=64';
const options = `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules ${young} ${quiet}`.trim();

// The first use of Temporal's servers may take minutes to download or build them: longer than a test may wait.
const report = (line) => process.stderr.write(`${line}\n`);
await findTemporal({ report });
await findTestServer({ report });

const folder = await mkdtemp(join(tmpdir(), 'sanaga-results-'));
const file = join(folder, 'results.json');
try {
  const code = await runJest([...workers, '--json', `--outputFile=${file}`, ...given]);
  const results = await readResults();
  // A jest that ends without results, in its teardown for instance, has passed nothing.
  process.exitCode = code || (results === undefined ? 1 : 0);
  process.stdout.write(`${summary(results, process.exitCode)}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** @returns what jest is given to run the suites that are meant */
function suitesOf(words) {
  const rest = words.filter((word) => !['--all', '--slow', '--installed', '--but-unit'].includes(word));
  const is = (word) => words.includes(word);
  const meant = [
    ...(is('--all') ? ['**/*.test.ts'] : []),
    ...(is('--slow') ? SLOW.map((suite) => `**/test/${suite}.test.ts`) : []),
    ...(is('--all') || is('--installed') ? ['**/test/{docs,e2e}/*.check.ts'] : []),
  ];
  if (meant.length > 0) return [...rest, ...meant.map((suites) => `--testMatch=${suites}`)];
  if (rest.some((word) => !word.startsWith('-'))) return rest;
  const unit = is('--but-unit') ? UNIT.testMatch.map((suite) => `${suite.replace('<rootDir>', '')}$`) : [];
  const left = [...SLOW.map((suite) => `/test/${suite}\\.test\\.ts$`), ...unit];
  return [...rest, ...left.map((suite) => `--testPathIgnorePatterns=${suite}`)];
}

async function runJest(args) {
  const env = { ...process.env, NODE_OPTIONS: options };
  const child = spawn(process.execPath, [jest, ...args], { env, stdio: 'inherit' });
  // A terminal's Ctrl+C reaches jest by itself; one who stops us by our id means jest as well.
  const stop = (signal) => child.kill(signal);
  process.on('SIGTERM', stop).on('SIGINT', () => undefined);
  const [code] = await once(child, 'close');
  return code ?? 1;
}

/** Reads jest's results. Returns `undefined` when it didn't get that far, or ran no tests. */
async function readResults() {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** A suite that didn't run at all counts as one failure, and so does a run that failed without naming a test. */
function summary(results, code) {
  const counted = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  const failed = code === 0 ? counted : Math.max(counted, 1);
  const skipped = (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  const line = `${results?.numPassedTests ?? 0} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}
