/*
 * Brings docker-compose.yml up as README says, has jest check what runs, and takes it down again. It is given jest's
 * words, and writes down how many steps passed and failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, Steps } from './run.js';

const { CONTAINERS_TREE: tree, CONTAINERS_RESULTS: results } = process.env;
const compose = (...args) => run('docker-compose', args, { cwd: tree });

const steps = new Steps();
if (await steps.take('docker-compose up -d', () => compose('up', '-d'))) await check();
else process.stdout.write(await compose('logs', '--tail', '20').catch(({ message }) => message));
await steps.take('docker-compose down --volumes', () => compose('down', '--volumes', '--timeout', '1'));
await writeFile(results, JSON.stringify({ passed: steps.passed, failed: steps.failed }));

async function check() {
  const file = join(tree, '..', 'jest.json');
  await writeFile(file, '{}');
  const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const config = [
    '--config',
    'jest.containers.config.js',
    '--runInBand',
    '--verbose',
    '--json',
    `--outputFile=${file}`,
  ];
  const child = spawn(process.execPath, [...jest, ...config, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill('SIGTERM'));
  const [code] = await once(child, 'exit');
  const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = JSON.parse(await readFile(file));
  steps.passed += numPassedTests;
  steps.failed += Math.max(numFailedTests + numRuntimeErrorTestSuites, code === 0 ? 0 : 1);
}
