import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';

/** Reason for a command to stop early. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(readonly by: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'a closed output') {
    super(`stopped by ${by}`);
  }

  /** The exit code that a shell gives to a process that this signal has ended; for a reader who has gone, SIGPIPE. */
  get exitCode(): number {
    return 128 + constants.signals[this.by === 'a closed output' ? 'SIGPIPE' : this.by];
  }
}

/**
 * An AbortSignal that is aborted, with an {@link Interrupted}, when this process is asked to stop. Further requests are
 * ignored: stopping takes a bounded time, and under npm, Ctrl-C reaches a process twice, from the terminal and from
 * npm.
 */
export function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  // Everything that waits listens to it, so there is no useful limit.
  setMaxListeners(0, stopping.signal);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => stopping.abort(new Interrupted(name)));
  }
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', () => stopping.abort(new Interrupted('a closed output')));
  }
  return stopping.signal;
}
