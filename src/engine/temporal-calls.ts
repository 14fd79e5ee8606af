import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { grpcErrorOf } from '../temporal/connection.js';
import { DecryptionError } from '../temporal/encryption.js';
import { Unavailable } from './errors.js';
import { shareAnswers } from './shared-answers.js';

/** Time limit of a call that Temporal answers at once; it usually takes a few ms. */
const CALL_LIMIT_MS = 4_000;

/**
 * Makes a call that Temporal answers at once.
 *
 * @throws {Unavailable} when Temporal can't be reached.
 */
export async function callTemporal<T>(
  client: Client,
  call: () => Promise<T>,
  limitMs: number = CALL_LIMIT_MS,
): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + limitMs, call);
  } catch (error) {
    throw isTrouble(error) ? new Unavailable(undefined, error) : error;
  }
}

/** Tries of a message that a workflow's beginning or end has overtaken, and the pause between two, in ms. */
const MAX_OVERTAKEN_TRIES = 4;
const RETRY_PAUSE_MS = 20;

/**
 * Sends a message that starts its workflow unless it runs. If the workflow begins or ends in that very moment, the
 * server may refuse it as already started, or completed. It is then sent again, to that or a new one.
 *
 * @throws {Unavailable}
 */
export async function sendWithStart<T>(client: Client, message: () => Promise<T>): Promise<T> {
  return await callTemporal(client, async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await message();
      } catch (error) {
        const isOvertaken =
          error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
        if (!isOvertaken) throw error;
        if (tries === MAX_OVERTAKEN_TRIES) throw new Unavailable(undefined, error);
      }
      await pause(RETRY_PAUSE_MS);
    }
  });
}

/** Reports whether the call itself failed and may succeed later. Temporal's answers have types of their own. */
function isTrouble(error: unknown): boolean {
  // This process lacks a key, which an operator has to add.
  if (error instanceof DecryptionError) return true;
  // Not a ServiceError: the namespace is missing, or Temporal doesn't know it yet.
  if (error instanceof NamespaceNotFoundError) return true;
  // Even what Temporal calls invalid: for example, the namespace lacks a search attribute, which /readyz reports.
  return grpcErrorOf(error) !== undefined || error instanceof ServiceError;
}

/** An answer of Temporal is believed for this long, in ms. */
const BELIEVED_MS = 1_000;

/** Makes a check that Temporal answers, which all callers share. It throws {@link Unavailable} when it doesn't. */
export function temporalCheck(client: Client, namespace: string): () => Promise<void> {
  return shareAnswers(async () => {
    await callTemporal(client, () => client.workflowService.describeNamespace({ namespace }));
  }, BELIEVED_MS);
}
