import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ConfigError } from './config.js';
import {
  describeGaps,
  type SetupConnection,
  type SetupResult,
  setUpNamespace,
  setupCommands,
} from './temporal/namespace-setup.js';

export interface RequiredNamespace {
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
