import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { built } from '../support/built.js';

/** Logs a line for each piece that it reads, and ends with its input. */
const PROGRAM = `
import { createLogger } from '${new URL(`file://${built('lib/telemetry/logger.js')}`)}';
const logger = createLogger('worker', 'info');
process.stdin.on('data', (given) => logger.info(String(given)));
`;

describe('the log', () => {
  it('goes on at the standard error output, and says so, once nobody reads the standard output', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], { stdio: 'pipe' });
    const exit = once(child, 'exit');
    child.stdin.write('first');
    const [first] = await once(child.stdout, 'data');
    expect(JSON.parse(String(first))).toMatchObject({ part: 'worker', msg: 'first' });
    const errors = text(child.stderr);
    child.stdout.destroy();
    await once(child.stdout, 'close');
    const pieces = Array.from({ length: 20 }, (_, number) => `later ${number}`);
    for (const piece of pieces) {
      child.stdin.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    const lines = (await errors)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ level: 50, msg: expect.stringContaining('nobody reads') });
    expect(lines.at(-1)?.msg).toContain('later 19');
  });
});
