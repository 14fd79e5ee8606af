/*
 * What the API's and the worker's process have in common: a signal stops them, a wrong setting is said plainly, the
 * exit code tells the truth, the Temporal namespace is checked first, and the provider's two services are ready to call.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, ConfigError } from './config.js';
import type { Service } from './payments/order.js';
import { createProviderClient, type ProviderClient } from './provider/client.js';
import {
  describeGaps,
  type SetupConnection,
  type SetupResult,
  setUpNamespace,
  setupCommands,
} from './temporal/namespace.js';

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

interface RequiredNamespace {
  readonly connection: SetupConnection;
  readonly namespace: string;
  readonly logger: Logger;
}

/** Pause between two attempts to check the namespace while Temporal is away, in ms. */
const CHECK_AGAIN_MS = 2_000;

/**
 * Checks once that payments can live in the namespace, and sets up what it lacks as far as Temporal lets this process.
 *
 * @returns `false` when Temporal doesn't answer, so that nothing is known.
 * @throws {ConfigError} with the commands to run when the namespace isn't fit for payments.
 */
export async function isNamespaceReady(required: RequiredNamespace): Promise<boolean> {
  const { connection, namespace, logger } = required;
  let result: SetupResult;
  try {
    result = await setUpNamespace(connection, namespace);
  } catch (error) {
    logger.warn(
      { err: error, namespace },
      'the namespace could not be checked yet: Temporal does not answer',
    );
    return false;
  }
  if (result.gaps.length === 0) return true;
  throw new ConfigError(instructions(namespace, result));
}

/**
 * Checks the namespace as {@link isNamespaceReady} does, as soon as Temporal answers. Resolves when payments can live
 * in it, or when the process is told to stop.
 *
 * @throws {ConfigError} as {@link isNamespaceReady} does.
 */
export async function untilNamespaceIsReady(required: RequiredNamespace, stop: AbortSignal): Promise<void> {
  while (!stop.aborted && !(await isNamespaceReady(required))) {
    await pause(CHECK_AGAIN_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}

function instructions(namespace: string, { gaps, refusals }: SetupResult): string {
  return [
    describeGaps(namespace, gaps),
    ...(refusals.length === 0
      ? []
      : [`Temporal refused to let this process change it: ${refusals.join('; ')}.`]),
    "Set it up with Temporal's command line, against the same server, and start again:",
    ...setupCommands(namespace, gaps).map((command) => `  ${command}`),
  ].join('\n');
}

/** One client for each of the provider's services, as the settings say. `close` each when done. */
export function createProviderServices(
  config: Config<'api'> | Config<'worker'>,
): Readonly<Record<Service, ProviderClient>> {
  const timeoutMs = config.PROVIDER_TIMEOUT;
  return {
    collection: createProviderClient({
      service: 'collection',
      url: config.PROVIDER_COLLECTION_URL,
      apiUser: config.PROVIDER_COLLECTION_API_USER,
      apiKey: config.PROVIDER_COLLECTION_API_KEY,
      timeoutMs,
    }),
    payout: createProviderClient({
      service: 'payout',
      url: config.PROVIDER_PAYOUT_URL,
      apiUser: config.PROVIDER_PAYOUT_API_USER,
      apiKey: config.PROVIDER_PAYOUT_API_KEY,
      timeoutMs,
    }),
  };
}
