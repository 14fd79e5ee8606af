import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** A script's output, and the commands of it that failed. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  /** Each as `command: exit code N`. */
  readonly failures: readonly string[];
}

/** A reader's terminal: a bash in which one script after another is run, with its variables and its folder kept. */
export class Shell {
  readonly #bash: ChildProcess;
  readonly #gone: Promise<never>;
  readonly #jobs: number[] = [];
  #count = 0;

  /** @param scratch a folder for what it writes, of its own */
  constructor(
    cwd: string,
    env: NodeJS.ProcessEnv,
    private readonly scratch: string,
  ) {
    this.#bash = spawn('bash', ['--noprofile', '--norc'], {
      cwd,
      env,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    });
    this.#gone = once(this.#bash, 'exit').then(() => Promise.reject(new Error('the shell has ended')));
    this.#gone.catch(() => undefined);
    // With `set -m`, each program in the background is a group of processes, which can be ended together.
    this.#send(`set -mE; trap 'echo "$BASH_COMMAND: exit code $?" >> "${scratch}/failures"' ERR`);
    // Should the test be killed, its input ends, and with it the shell.
    this.#send(`trap 'for job in $(jobs -p); do kill -- -$job; done 2>/dev/null' EXIT`);
  }

  /** Runs a script to its end. */
  async run(script: string): Promise<Printed> {
    const file = join(this.scratch, `${++this.#count}`);
    await writeFile(`${file}.sh`, script);
    await writeFile(join(this.scratch, 'failures'), '');
    const ended = this.#said();
    this.#send(`source "${file}.sh" > "${file}.out" 2> "${file}.err" < /dev/null; echo ended >&3`);
    await ended;
    const failed = await readFile(join(this.scratch, 'failures'), 'utf8');
    return {
      stdout: await readFile(`${file}.out`, 'utf8'),
      stderr: await readFile(`${file}.err`, 'utf8'),
      failures: failed.split('\n').filter((line) => line !== '' && !line.startsWith('source ')),
    };
  }

  /**
   * Starts a program that runs until it is stopped, as in a terminal of its own that has the variables and the folder
   * of this one.
   *
   * @returns what it has printed so far, once that matches `ready`.
   */
  async start(command: string, ready: RegExp): Promise<() => Promise<string>> {
    const file = join(this.scratch, `${++this.#count}.out`);
    const said = this.#said();
    this.#send(`{ ${command}; } > "${file}" 2>&1 < /dev/null 3>&- & echo $! >&3`);
    const job = Number(await said);
    this.#jobs.push(job);
    const printed = async () => (existsSync(file) ? readFile(file, 'utf8') : '');
    for (let tries = 0; tries < 1_800; tries++) {
      if (ready.test(await printed())) return printed;
      if (!isAlive(job)) break;
      await pause(100);
    }
    throw new Error(`${command} is not ready:\n${await printed()}`);
  }

  /** Presses Ctrl-C wherever something runs, and closes the terminal. */
  async close(): Promise<void> {
    for (const job of this.#jobs) signal(job, 'SIGINT');
    for (let tries = 0; tries < 600 && this.#jobs.some(isAlive); tries++) await pause(100);
    for (const job of this.#jobs) signal(job, 'SIGKILL');
    this.#bash.stdin?.end();
    if (this.#bash.exitCode === null) await once(this.#bash, 'exit');
  }

  #send(line: string): void {
    this.#bash.stdin?.write(`${line}\n`);
  }

  /** The next line that the shell itself says, on a channel apart from what programs print. */
  async #said(): Promise<string> {
    const channel = this.#bash.stdio[3];
    if (channel === null || channel === undefined || !('read' in channel)) throw new Error('no channel');
    const lines = createInterface({ input: channel });
    const [line] = await Promise.race([once(lines, 'line'), this.#gone]);
    lines.close();
    return String(line);
  }
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // It has ended.
  }
}

function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}
