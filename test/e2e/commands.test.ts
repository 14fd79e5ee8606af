import { accessSync, constants, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { makeSecrets, stackSettings } from '../../stack/processes/settings.js';
import { built, machine, runToEnd } from '../support/built.js';

const settings = { ...machine(), ...stackSettings({ api: 3000, sandbox: 4000, book: 5432 }, makeSecrets()) };

describe('the commands', () => {
  it('can be run by npx after every build', () => {
    expect(() => accessSync(built('build/cli/main.js'), constants.X_OK)).not.toThrow();
  });

  it('have a bundle of workflows that preloads its modules, so that a thread evaluates them once', () => {
    const bundle = readFileSync(built('lib/workflow-bundle.js'), 'utf8');
    expect(bundle).toMatch(/preloadModules = function preloadModules\(\) \{[^}]*"\.\/lib\/workflows\/index\.js"/);
  });

  it('help on stdout, with exit code 0', async () => {
    const { code, stdout, stderr } = await runToEnd('build/cli/main.js', ['demo', '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: sanaga demo [options]');
    expect(stdout).toMatch(/^ +--json .*\n +-h, --help /m);
  });

  it.each([
    [['pay'], "unknown command 'pay'"],
    [['demo', '--jsn'], "unknown option '--jsn'"],
    [[], 'which command?'],
  ])('end with exit code 2 for %j, and say what is wrong', async (args, message) => {
    const { code, stdout, stderr } = await runToEnd('build/cli/main.js', args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(`sanaga: ${message}\n`);
    expect(stderr).toContain('Usage: ');
  });
});

describe('a wrong setting', () => {
  const wrong = { ...settings, PROVIDER_COLLECTION_API_KEY: '', LOG_LEVEL: 'loud' };
  const lines = ['PROVIDER_COLLECTION_API_KEY is not set', expect.stringMatching(/^LOG_LEVEL /)];

  it.each([
    ['lib/server.js', []],
    ['lib/worker.js', []],
    ['build/sandbox/main.js', []],
    ['build/cli/main.js', ['server']],
    ['build/cli/main.js', ['worker']],
    ['build/cli/main.js', ['sandbox']],
  ])('ends %s %j with exit code 78 and one line for each mistake', async (program, args) => {
    const { code, stdout, stderr } = await runToEnd(program, args, wrong);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr.trimEnd().split('\n').sort()).toEqual([...lines].reverse());
  });
});
