import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import got from 'got';

/** A long-running process that this one has started. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  /** File with its output, unless it is in memory. */
  readonly logFile: string | undefined;
  /** Resolves when it has ended, for whatever reason, with how: "code 1", say, or "SIGKILL". */
  readonly ended: Promise<string>;
  /** The last lines that it wrote. */
  logTail(): Promise<string>;
  /** Sends its stop signal, then SIGKILL if it still runs after `graceMs`. Resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
  /** Sends SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>;
}

export interface ChildOptions {
  /** Its name in messages. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env: NodeJS.ProcessEnv;
  /**
   * File for its output. Without one, the end of the output is kept in memory, and the child doesn't keep this process
   * alive.
   */
  readonly logFile?: string | undefined;
  /** Append to an existing log file; otherwise that one is renamed to `*.before`. */
  readonly appendLog?: boolean | undefined;
  /** Asks it to end; by default, SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
}

const TAIL_LINES = 20;
const MAX_LOG_CHARS = 8_000;
const TRY_EVERY_MS = 50;
const READY_LIMIT_MS = 60_000;

/** A child lives no longer than this after its parent was killed, in ms: see {@link WATCHER}. */
export const OUTLIVES_MS = 7_000;

/**
 * Starts a process outside the terminal's process group: Ctrl-C reaches this process alone, which decides in which
 * order its children stop. A child never outlives this process, even if this one is killed.
 *
 * @throws Error when the log can't be written or the process can't be started.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, file, args, env, logFile, appendLog, stopSignal = 'SIGTERM' } = options;
  if (logFile !== undefined && !appendLog) await rename(logFile, `${logFile}.before`).catch(() => undefined);
  const log = logFile === undefined ? undefined : await open(logFile, 'a', 0o600);
  const output = log?.fd ?? 'pipe';
  const child = spawn(file, args, { env, detached: true, stdio: ['ignore', output, output] });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  });
  const readLog = logFile === undefined ? keepLog(child) : () => readFile(logFile, 'utf8');
  try {
    await once(child, 'spawn');
  } finally {
    await log?.close();
  }
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} has no process id`);
  const guard = stopWithParent(pid, stopSignal);
  void ended.then(() => guard.release());

  return {
    name,
    pid,
    logFile,
    ended,
    logTail: async () => (await readLog()).trim().split('\n').slice(-TAIL_LINES).join('\n'),
    async stop(graceMs) {
      child.ref();
      child.kill(stopSignal);
      const killing = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(killing);
    },
    async kill() {
      child.ref();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Keeps the end of a child's output in memory, and neither the child nor its pipes keep this process alive. */
function keepLog(child: ChildProcess): () => Promise<string> {
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-MAX_LOG_CHARS);
    });
    if (stream instanceof Socket) stream.unref();
  }
  child.unref();
  return async () => log;
}

/**
 * A shell script that waits at a pipe from this process. A line on it means that the child has ended; the end of the
 * pipe means that this process is gone, and then the script stops the child, gently at first.
 */
const WATCHER = `
read -r _ && exit 0
kill -"$2" "$1" 2>/dev/null || exit 0
for _ in 1 2 3 4 5; do
  sleep 1
  kill -0 "$1" 2>/dev/null || exit 0
done
kill -KILL "$1" 2>/dev/null
`;

/**
 * Stops a child process when this one has ended, even by SIGKILL. The shell that does it is in a session of its own, as
 * the child is, so that Ctrl-C in the terminal reaches neither. Call `release` as soon as the child has ended: its
 * process id may be given to another process later.
 */
function stopWithParent(pid: number, stopSignal: NodeJS.Signals): { release: () => void } {
  if (process.platform === 'win32') return { release: () => undefined };

  const watcher = spawn('/bin/sh', ['-c', WATCHER, 'stop-with-parent', String(pid), stopSignal.replace('SIG', '')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell, the child may outlive this process; nothing else depends on the watcher.
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
  return { release: () => watcher.stdin.end('done\n') };
}

/**
 * Waits until a process that was just started is ready: until `probe` gives `true`. It may reject or give `false`
 * until then.
 *
 * @throws Error with the end of the process's log when it has ended, or isn't ready within `limitMs`.
 */
export async function untilReady(
  child: Pick<Child, 'name' | 'ended' | 'logTail'>,
  probe: () => Promise<boolean>,
  limitMs = READY_LIMIT_MS,
): Promise<void> {
  let end: string | undefined;
  void child.ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + limitMs;
  for (;;) {
    let failure: unknown;
    const ready = await probe().catch((error: unknown) => {
      failure = error;
      return false;
    });
    // Checked first: if it has ended, the answer was another process's.
    if (end !== undefined) throw new Error(`${child.name}: ended with ${end}\n${await child.logTail()}`);
    if (ready) return;
    if (Date.now() > deadline) {
      const message = `${child.name}: not ready after ${limitMs / 1_000} s\n${await child.logTail()}`;
      throw new Error(message, { cause: failure });
    }
    await pause(TRY_EVERY_MS);
  }
}

/** Time limit for an answer, in ms. */
const ANSWER_LIMIT_MS = 5_000;

/** Reports whether a GET of this URL is answered with a 2xx. */
export async function answers(url: string): Promise<boolean> {
  const { ok } = await got(url, {
    retry: { limit: 0 },
    throwHttpErrors: false,
    timeout: { request: ANSWER_LIMIT_MS },
  });
  return ok;
}
