/*
 * What all processes share: signals stop them, wrong settings are reported, the exit code shows how they
 * ended, the Temporal namespace is checked first, and the clients of the provider's two services are made.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Service } from '../payments/words/order.js';
import { createProviderClient, type ProviderClient, type ProviderClientOptions } from '../provider/client.js';
import { Records } from '../records/records.js';
import { type Config, ConfigError } from '../settings/read-settings.js';
import { type Tracing, traceProviderCalls } from '../telemetry/tracing.js';
import type { Encryption } from '../temporal/encryption.js';
import {
  describeGaps,
  type SetupConnection,
  type SetupResult,
  setUpNamespace,
  setupCommands,
} from '../temporal/namespace.js';

/** How long a process may take to end by itself once its main function has ended, in ms. */
const EXIT_LIMIT_MS = 250;

/**
 * Runs a process's main function until it ends by itself, or until SIGTERM or SIGINT aborts the signal that it is
 * given. A wrong setting, or a Temporal namespace that isn't set up, ends the process with exit code 78 (EX_CONFIG) and
 * a message that says what to do; any other error with 1. What the function leaves behind doesn't keep the process:
 * Temporal's native library tries to connect for half a minute, and nothing can make it give up.
 */
export async function runProcess(main: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  // Kept until the end: a second signal, which npm sends, must not kill the process while it stops.
  process.on('SIGTERM', stop).on('SIGINT', stop);
  // It asks for settings to be read again. A process that has none to read goes on: without a listener, it would end.
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
 * What comes of something that can't be given up, or `undefined` when `stop` is aborted before; what it comes to later
 * is dropped.
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

interface RequiredNamespace {
  readonly connection: SetupConnection;
  readonly namespace: string;
  readonly logger: Logger;
}

/** Pause between two attempts to check the namespace while Temporal is away, in ms. */
const CHECK_AGAIN_MS = 2_000;

/**
 * Checks once that the namespace has what payments need, and adds what it lacks as far as Temporal lets this process.
 *
 * @returns `false` when Temporal doesn't answer, so that nothing is known.
 * @throws {ConfigError} with the commands to run when something is still missing.
 */
export async function isNamespaceReady(required: RequiredNamespace): Promise<boolean> {
  const { connection, namespace, logger } = required;
  let result: SetupResult;
  try {
    result = await setUpNamespace(connection, namespace);
  } catch (error) {
    logger.warn({ err: error, namespace }, 'the namespace could not be checked yet: Temporal does not answer');
    return false;
  }
  if (result.gaps.length === 0) return true;
  throw new ConfigError(instructions(namespace, result));
}

/**
 * Repeats {@link isNamespaceReady} until Temporal answers. Resolves when the namespace has what payments need, or when
 * `stop` is aborted.
 *
 * @throws {ConfigError} as {@link isNamespaceReady} does.
 */
export async function untilNamespaceIsReady(required: RequiredNamespace, stop: AbortSignal): Promise<void> {
  while (!stop.aborted && !(await orStopped(isNamespaceReady(required), stop))) {
    await pause(CHECK_AGAIN_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}

function instructions(namespace: string, { gaps, refusals }: SetupResult): string {
  return [
    describeGaps(namespace, gaps),
    ...(refusals.length === 0 ? [] : [`Temporal refused to let this process change it: ${refusals.join('; ')}.`]),
    "Set it up with Temporal's command line, against the same server, and start again:",
    ...setupCommands(namespace, gaps).map((command) => `  ${command}`),
  ].join('\n');
}

/**
 * Opens the records, if the settings name their database, and warns if they don't: it is a choice, but an important
 * one. Call `close` when done.
 */
export function openRecords(
  { RECORDS_URL }: Config<'api'> | Config<'worker'> | Config<'records'>,
  encryption: Encryption,
  logger: Logger,
): Records | undefined {
  if (RECORDS_URL !== undefined) return Records.open(RECORDS_URL, encryption, logger);
  logger.warn(
    'RECORDS_URL is not set: payments, and their Idempotency-Keys, are forgotten when Temporal deletes them, after the retention of its namespace',
  );
  return undefined;
}

/**
 * Makes a client for each of the provider's services from the settings. Call `close` on each when done.
 *
 * @param options `onCall` is told of each call to the provider, and `orderSlots` are those of the process
 * @param tracing traces the calls that are made for a payment
 */
export function createProviderServices(
  config: Config<'api'> | Config<'worker'>,
  options: Pick<ProviderClientOptions, 'onCall' | 'orderSlots'>,
  tracing: Tracing | undefined,
): Readonly<Record<Service, ProviderClient>> {
  const shared = {
    ...options,
    timeoutMs: config.PROVIDER_TIMEOUT,
    traceCall: tracing && traceProviderCalls(tracing),
  };
  return {
    collection: createProviderClient({
      ...shared,
      service: 'collection',
      url: config.PROVIDER_COLLECTION_URL,
      apiUser: config.PROVIDER_COLLECTION_API_USER,
      apiKey: config.PROVIDER_COLLECTION_API_KEY,
    }),
    payout: createProviderClient({
      ...shared,
      service: 'payout',
      url: config.PROVIDER_PAYOUT_URL,
      apiUser: config.PROVIDER_PAYOUT_API_USER,
      apiKey: config.PROVIDER_PAYOUT_API_KEY,
    }),
  };
}
