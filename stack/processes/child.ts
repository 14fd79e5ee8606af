import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import { stopWithParent } from '../temporal/stop-with-parent.js';

/** One process of the stack. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  /** What it writes goes here. */
  readonly logFile: string;
  /** Resolves when it has ended, whatever the cause, with how it ended, such as "code 1" or "SIGKILL". */
  readonly ended: Promise<string>;
  /** The last lines of its log. */
  logTail(): Promise<string>;
  /** SIGTERM, and SIGKILL when that has not ended it within `graceMs`. Resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
  /** SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>;
}

export interface ChildOptions {
  readonly name: string;
  /** The compiled program, run by the Node that runs us. */
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  /** Goes on with a log file that is there already. */
  readonly appendLog?: boolean | undefined;
}

const TAIL_LINES = 20;

/**
 * Starts a process of the stack, outside the terminal's process group: Ctrl-C reaches this process alone, which stops
 * the parts in their order. It ends with this process at the latest, even when this one is killed. A log file that
 * is there already is kept beside the new one, unless it is to be gone on with.
 *
 * @throws Error when the log can't be written or the process can't be started.
 */
export async function startChild({ name, program, env, logFile, appendLog }: ChildOptions): Promise<Child> {
  if (!appendLog) await rename(logFile, `${logFile}.before`).catch(() => undefined);
  const log = await open(logFile, 'a', 0o600);
  const child = spawn(process.execPath, [program], {
    env,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  });
  try {
    await once(child, 'spawn');
  } finally {
    await log.close();
  }
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} has no process id`);
  const guard = stopWithParent(pid);
  void ended.then(() => guard.release());

  return {
    name,
    pid,
    logFile,
    ended,
    logTail: async () => tail(await readFile(logFile, 'utf8')),
    async stop(graceMs) {
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(killing);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function tail(text: string): string {
  return text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}
