import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ConfigError } from '../settings/config-error.js';
import { type SetupConnection, type SetupResult, setUpNamespace } from '../temporal/namespace.js';
import { describeGaps, howToSetUp } from '../temporal/setup-gaps.js';
import { orStopped } from './run-process.js';

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
    ...howToSetUp(namespace, gaps),
  ].join('\n');
}
