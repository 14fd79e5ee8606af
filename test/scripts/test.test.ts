import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const SLOW: string[] = createRequire(import.meta.url)('../support/slow-suites.cjs');
const script = fileURLToPath(new URL('../../scripts/test.js', import.meta.url));

describe('npm test', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-suites-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const suite = (name: string, body: string) => writeFile(join(folder, `${name}.test.js`), body);

  async function run(...args: string[]) {
    return await runWith({}, ...args);
  }

  async function runWith(settings: object, ...args: string[]) {
    const config = JSON.stringify({ rootDir: folder, transform: {}, testEnvironment: 'node', ...settings });
    const child = spawn(process.execPath, [script, `--config=${config}`, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, , [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { lastLine: output.trimEnd().split('\n').at(-1), code };
  }

  it('closes with how many tests passed', async () => {
    await suite('good', "test('one', () => {}); test('two', () => {});");
    expect(await run()).toEqual({ lastLine: '2 passed, 0 failed', code: 0 });
  });

  it('counts failed and skipped tests, and exits with 1', async () => {
    await suite('mixed', "test('a', () => {}); test('b', () => { throw new Error(); }); test.skip('c', () => {});");
    expect(await run()).toEqual({ lastLine: '1 passed, 1 failed, 1 skipped', code: 1 });
  });

  it('counts a suite that does not run as a failure', async () => {
    await suite('good', "test('one', () => {});");
    await suite('broken', "throw new Error('not to be loaded');");
    expect(await run()).toEqual({ lastLine: '1 passed, 1 failed', code: 1 });
  });

  it('fails when jest ends without results, whatever its exit code', async () => {
    await suite('good', "test('one', () => {});");
    const globalTeardown = join(folder, 'tear-down.js');
    await writeFile(globalTeardown, 'module.exports = () => process.exit(0);');
    expect(await runWith({ globalTeardown })).toEqual({ lastLine: '0 passed, 1 failed', code: 1 });
  });

  it('fails when there is no test to run', async () => {
    expect(await run('no-such-suite')).toEqual({ lastLine: '0 passed, 1 failed', code: 1 });
  });

  it('leaves the slow suites to test:slow, unless one is named, or all are meant', async () => {
    const [slow] = SLOW;
    await mkdir(join(folder, 'test', dirname(String(slow))), { recursive: true });
    await suite('good', "test('one', () => {}); test('two', () => {});");
    await writeFile(join(folder, `test/${slow}.test.ts`), "test('three', () => {});");
    await mkdir(join(folder, 'test/docs'), { recursive: true });
    await writeFile(join(folder, 'test/docs/one.check.ts'), "test('four', () => {}); test('five', () => {});");
    const all = await Promise.all([
      run(),
      run('--slow'),
      run(String(slow)),
      run('--slow', '--installed'),
      run('--all'),
    ]);
    expect(all.map(({ lastLine }) => lastLine)).toEqual([
      '2 passed, 0 failed',
      '1 passed, 0 failed',
      '1 passed, 0 failed',
      '3 passed, 0 failed',
      '3 passed, 0 failed',
    ]);
  });

  it('passes on what it is given', async () => {
    await suite('good', "test('one', () => {}); test('two', () => {});");
    expect(await run('-t', 'two')).toEqual({ lastLine: '1 passed, 0 failed, 1 skipped', code: 0 });
  });
});
