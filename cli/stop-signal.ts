import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';

/** Why a command is to stop before its end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(readonly by: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'a closed output') {
    super(`stopped by ${by}`);
  }

  /** The exit code that shells give to a process ended by this signal. */
  get exitCode(): number {
    return this.by === 'a closed output' ? 1 : 128 + constants.signals[this.by];
  }
}

/**
 * A signal that is aborted, with an {@link Interrupted}, when this process is asked to stop. Further requests are not
 * heeded, for what follows takes a bounded time, and Ctrl-C reaches a process more than once under npm: from the
 * terminal, and again from npm.
 */
export function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  // Whatever waits for anything listens to it, any number at a time.
  setMaxListeners(0, stopping.signal);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => stopping.abort(new Interrupted(name)));
  }
  process.stdout.on('error', () => stopping.abort(new Interrupted('a closed output')));
  return stopping.signal;
}
