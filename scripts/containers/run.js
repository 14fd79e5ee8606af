import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { text } from 'node:stream/consumers';

/** Steps that pass or fail, and how many of them did. */
export class Steps {
  passed = 0;
  failed = 0;

  /**
   * Does one of them, and says how it went.
   *
   * @param {string} name
   * @param {() => unknown} act
   * @returns {Promise<boolean>} whether it passed
   */
  async take(name, act) {
    const startedAt = performance.now();
    try {
      await act();
      this.passed += 1;
      say(`ok      ${name} (${seconds(startedAt)} s)`);
      return true;
    } catch (error) {
      this.failed += 1;
      say(`FAILED  ${name} (${seconds(startedAt)} s)\n${error.message}`);
      return false;
    }
  }
}

const seconds = (since) => ((performance.now() - since) / 1_000).toFixed(1);

export function say(line) {
  process.stdout.write(`${line}\n`);
}

/**
 * Runs a command to its end.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, log?: string, stdin?: string }} [options] `log`: a file for what it
 * prints
 * @returns {Promise<string>} what it has printed
 * @throws {Error} with the end of what it has printed, when it fails
 */
export async function run(file, args, { env = process.env, cwd, log, stdin } = {}) {
  const child = spawn(file, args, { env, cwd, stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
  child.stdin?.end(stdin);
  if (log !== undefined) {
    const written = createWriteStream(log);
    child.stdout.pipe(written, { end: false });
    child.stderr.pipe(written, { end: false });
  }
  const [printed, complained, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close').catch((error) => Promise.reject(new Error(`${file} can't be run: ${error.message}`))),
  ]);
  if (code === 0) return printed;
  const end = `${printed}${complained}`.trim().split('\n').slice(-15).join('\n');
  throw new Error(`${file} ${args.join(' ')} ended with ${code}:\n${end}`);
}

/** @returns {Promise<boolean>} whether a command runs, and ends well */
export async function succeeds(file, args, options) {
  try {
    await run(file, args, options);
    return true;
  } catch {
    return false;
  }
}
