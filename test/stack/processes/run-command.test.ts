import { describe, expect, it } from '@jest/globals';
import { lastLine, runCommand } from '../../../stack/processes/run-command.js';

const run = async (body: string, timeLimitMs = 120_000) =>
  await runCommand('/bin/sh', ['-c', body], { env: { PATH: '/usr/bin:/bin' }, timeLimitMs });

describe('a command', () => {
  it('has succeeded with what it wrote to both streams', async () => {
    expect(await run('echo out; echo err >&2')).toEqual({
      kind: 'succeeded',
      output: expect.stringMatching(/out\n[\s\S]*err\n|err\n[\s\S]*out\n/),
    });
  });

  it('has failed with its code', async () => {
    expect(await run('echo why; exit 7')).toEqual({
      kind: 'failed',
      reason: 'ended with code 7',
      output: 'why\n',
    });
  });

  it('has failed when it cannot be run', async () => {
    const outcome = await runCommand('/nowhere/tool', [], { env: {}, timeLimitMs: 1_000 });

    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringContaining('ENOENT') });
  });

  it('is killed at its time limit, even when a child of its own goes on', async () => {
    const startedAt = Date.now();

    expect(await run('sleep 400; true', 200)).toMatchObject({
      kind: 'failed',
      reason: 'did not end within 0.2 s',
    });
    expect(Date.now() - startedAt).toBeLessThan(300_000);
  });

  it('is quoted by the last line that says something', () => {
    expect(lastLine('first\n  last  \n\n')).toBe('last');
    expect(lastLine('')).toBe('');
  });
});
