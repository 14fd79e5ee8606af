import { describe, expect, it } from '@jest/globals';
import { makeSecrets } from '../../src/cli/stack/secrets.js';
import { stackSettings } from '../../src/cli/stack/settings.js';
import { machine, runToEnd } from './built.js';

const settings = { ...machine(), ...stackSettings({ api: 3000, sandbox: 4000 }, makeSecrets()) };

describe('the commands', () => {
  it('help on stdout, with exit code 0', async () => {
    const { code, stdout, stderr } = await runToEnd('cli.js', ['demo', '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: sanaga demo [--json] [--help]');
  });

  it.each([
    [['pay'], 'unknown command pay'],
    [['demo', '--jsn'], 'unknown option --jsn'],
    [[], 'which command?'],
  ])('end with exit code 2 for %j, and say what is wrong', async (args, message) => {
    const { code, stdout, stderr } = await runToEnd('cli.js', args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(`sanaga: ${message}\n`);
    expect(stderr).toContain('Usage: ');
  });
});

describe('a wrong setting', () => {
  const wrong = { ...settings, PROVIDER_COLLECTION_API_KEY: '', LOG_LEVEL: 'loud' };
  const lines = ['PROVIDER_COLLECTION_API_KEY is not set', expect.stringMatching(/^LOG_LEVEL /)];

  it.each([
    ['server.js', []],
    ['worker.js', []],
    ['sandbox/main.js', []],
    ['cli.js', ['server']],
    ['cli.js', ['worker']],
    ['cli.js', ['sandbox']],
  ])(
    'ends %s %j with exit code 78 and one line for each mistake',
    async (program, args) => {
      const { code, stdout, stderr } = await runToEnd(program, args, wrong);
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr.trimEnd().split('\n').sort()).toEqual([...lines].reverse());
    },
    30_000,
  );
});
