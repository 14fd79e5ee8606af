import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { built } from '../support/built.js';

/** Runs one of the lab's programs, which may take 100 ms to end after its last statement. */
function run(body: string) {
  const program = `
    import { runProgram, SIMULATE } from ${JSON.stringify(built('build/lab/command-line.js'))};
    await runProgram(SIMULATE, async () => { ${body} }, 100);`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  return { status, stderr };
}

describe("one of the lab's programs", () => {
  it('ends with the code that it returns', () => {
    expect(run('return 3;')).toEqual({ status: 3, stderr: '' });
  });

  it('fails, and says what is still open, when that keeps it alive', () => {
    expect(run('setInterval(() => undefined, 10); return 0;')).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        /^after 0\.1 s, with \d+\.\d s of CPU time, these keep the process alive: \{.*"Timeout":1.*\}\n$/,
      ),
    });
  });
});
