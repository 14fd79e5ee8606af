import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ConfigError } from '../settings/config-error.js';

/*
 * Behaviour of every process: signals stop it or have it read settings again, wrong settings are reported, and the
 * exit code shows how it ended.
 */

/** Time that a process has to end by itself once its main function has ended, in ms. */
const EXIT_LIMIT_MS = 250;

/**
 * Runs a process's main function until it ends by itself, or until SIGTERM or SIGINT aborts its signal. A wrong
 * setting, or a Temporal namespace that isn't set up, ends the process with exit code 78 (EX_CONFIG) and a message that
 * says what to do; any other error with 1. Nothing that the function leaves open keeps the process alive: Temporal's
 * native library tries to connect for half a minute, and can't be stopped.
 */
export async function runProcess(main: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  // Kept until the end: a second signal, which npm sends, must not kill the process while it stops.
  process.on('SIGTERM', stop).on('SIGINT', stop);
  // SIGHUP asks for settings to be read again. A process without any continues: without a listener, it would end.
  process.on('SIGHUP', goOn);
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
    process.off('SIGHUP', goOn);
    setTimeout(() => process.exit(), EXIT_LIMIT_MS).unref();
  }
}

const goOn = (): void => undefined;

/**
 * Waits for the result of work that can't be cancelled, or returns `undefined` when `stop` is aborted first; a later
 * result is dropped.
 *
 * @param graceMs how long it may still take once `stop` is aborted, in ms
 * @throws what the promise rejects with
 */
export async function orStopped<T>(promise: Promise<T>, stop: AbortSignal, graceMs = 0): Promise<T | undefined> {
  const over = new AbortController();
  const { signal } = over;
  const stopped = async (): Promise<undefined> => {
    try {
      if (!stop.aborted) await once(stop, 'abort', { signal });
      await pause(graceMs, undefined, { signal });
    } catch {
      // The promise has settled first.
    }
  };
  try {
    return await Promise.race([promise, stopped()]);
  } finally {
    over.abort();
    promise.catch(() => undefined);
  }
}

/** Closes each of these, one after the other, whatever becomes of the others. */
export async function closeAll(logger: Logger, closings: readonly (() => unknown)[]): Promise<void> {
  for (const close of closings) {
    try {
      await close();
    } catch (error) {
      logger.error({ err: error }, 'something could not be closed');
    }
  }
}

/**
 * Reads settings again on every SIGHUP. If they are wrong, nothing changes, and the log has a line for each mistake.
 *
 * @param read reads the settings; throws {@link ConfigError}
 * @param use puts them into use
 */
export function reloadOnHangUp<Settings>(
  logger: Logger,
  read: () => Settings,
  use: (settings: Settings) => void,
): void {
  process.on('SIGHUP', () => {
    try {
      use(read());
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const mistake of error.message.split('\n')) {
        logger.error({ mistake }, 'the merchants were not read again, and nothing has changed');
      }
    }
  });
}
