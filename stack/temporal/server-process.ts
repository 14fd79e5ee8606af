import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { stopWithParent } from './stop-with-parent.js';

/** A server that runs as our child, outside the terminal's process group: this process alone decides when it stops. */
export interface ServerProcess {
  readonly pid: number;
  /** Resolves when the process has ended, whatever the cause, with how it ended, such as "code 1" or "SIGKILL". */
  readonly ended: Promise<string>;
  /** The last of what it wrote. */
  log(): string;
  /** SIGTERM, and SIGKILL when that has not ended it within `grace` ms. Resolves when it has ended. */
  stop(grace?: number): Promise<void>;
  /** SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>;
}

const STOP_GRACE = 5_000;
const LOG_KEPT = 8_000;

/**
 * Starts a server. It keeps neither the event loop alive nor itself: when this process ends, so does the server.
 *
 * @throws Error when the file cannot be run.
 */
export async function startServerProcess(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ServerProcess> {
  const child = spawn(file, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-LOG_KEPT);
    });
    unref(stream);
  }
  const ended = new Promise<string>((resolve) => {
    child.on('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  });
  const pid = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('spawn', () => resolve(child.pid ?? 0));
  });
  child.unref();

  const guard = stopWithParent(pid);
  void ended.then(() => guard.release());

  return {
    pid,
    ended,
    log: () => log.trim(),
    async stop(grace = STOP_GRACE) {
      child.ref();
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), grace);
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

function unref(stream: Readable): void {
  if (stream instanceof Socket) stream.unref();
}
