/* The frame of every process of ours: settings' mistakes said plainly, a signal stops it, its exit code tells the truth. */
import { ConfigError } from './config.js';

/**
 * Runs a process's main part until it ends by itself or SIGTERM or SIGINT asks it to, through the signal it is given.
 * A wrong setting, or a Temporal namespace that isn't set up, ends it with exit code 78 (EX_CONFIG) and what has to be
 * done; any other error with 1.
 */
export async function runProcess(main: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  // Kept until the end: a second signal, as npm sends one, must not end the process in the middle of its stop.
  process.on('SIGTERM', stop).on('SIGINT', stop);
  try {
    await main(stopping.signal);
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 78;
    } else {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    }
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop);
  }
}
