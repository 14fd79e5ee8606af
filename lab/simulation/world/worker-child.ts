import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { WorkerHost } from './worker-host.js';
import type { WorkerSettings } from './worker-settings.js';

/** ms that a worker may take to stop before it is killed all the same. */
const STOP_LIMIT_MS = 5_000;

/**
 * The SDK takes a stack trace for each promise of a workflow, a tenth of all that a worker does; nobody reads them here.
 * More room for young objects saves the collector's time.
 */
const NODE_OPTIONS = ['--stack-trace-limit=1', '--max-semi-space-size=64'];

/**
 * A worker in a process of its own, which can be killed. It ends with this process, whose channel it watches.
 *
 * @param program the compiled worker process
 */
export function workerChild(settings: WorkerSettings, program: string): WorkerHost {
  let child: ChildProcess | undefined;
  let isReady = false;
  return {
    async start() {
      const started = fork(program, [JSON.stringify(settings)], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        execArgv: NODE_OPTIONS,
      });
      child = started;
      const exit = once(started, 'exit').then(([code]) => {
        throw new Error(`the worker ended with code ${code} before it was ready`);
      });
      await Promise.race([once(started, 'message'), exit.catch((error: unknown) => Promise.reject(error))]);
      exit.catch(() => undefined);
      isReady = true;
    },
    async stop() {
      if (child === undefined || hasEnded(child)) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      isReady = false;
      const stopping = child;
      const killing = setTimeout(() => stopping.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(killing);
      child = undefined;
    },
    async kill() {
      // One that isn't ready has taken nothing on yet, so that there is nothing in the middle of which to end it.
      if (child === undefined || !isReady || hasEnded(child)) return false;
      isReady = false;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      return true;
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
