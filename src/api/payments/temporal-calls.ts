import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError } from '@temporalio/common';
import { temporarilyUnavailable } from '../problem.js';

/** ms that a question to Temporal itself may take; it is answered in a few. */
const QUESTION_LIMIT_MS = 4_000;

/** ms between two tries of a request that the server dropped, or that was overtaken. */
const DROPPED_PAUSE_MS = 20;

/** ms by which a call may outlive the wait that it belongs to, before its own deadline ends it. */
const DEADLINE_MARGIN_MS = 500;

/**
 * Asks Temporal something that is answered at once.
 *
 * @throws {ApiError} `temporarily_unavailable` when Temporal, or a worker to answer a query, is away.
 */
export async function ask<T>(
  client: Client,
  question: () => Promise<T>,
  limitMs: number = QUESTION_LIMIT_MS,
): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + limitMs, question);
  } catch (error) {
    throw isTrouble(error) ? temporarilyUnavailable(undefined, { cause: error }) : error;
  }
}

/** Tries of a message that a workflow's beginning or end has overtaken. */
const OVERTAKEN_TRIES = 4;

/**
 * Sends a message that starts its workflow when it doesn't run. Should the workflow begin or end in that very moment, the
 * server may refuse it as started already, and it is sent again: then to the one that runs, or to a new one.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function deliver<T>(client: Client, message: () => Promise<T>): Promise<T> {
  return await ask(client, async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await message();
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        if (tries === OVERTAKEN_TRIES) throw temporarilyUnavailable(undefined, { cause: error });
      }
      await pause(DROPPED_PAUSE_MS);
    }
  });
}

/** The answer to a request that may take its time; `undefined` when the wait for it was over first. */
export type Waited<T> = { readonly value: T } | undefined;

/**
 * Waits for Temporal until the signal. What was asked for goes on without us.
 *
 * @throws {ApiError} `temporarily_unavailable` when Temporal is away.
 */
export async function waitFor<T>(
  client: Client,
  signal: AbortSignal,
  limitMs: number,
  request: () => Promise<T>,
): Promise<Waited<T>> {
  if (signal.aborted) return undefined;
  try {
    // The deadline covers a call that began just as the signal was given, which the SDK would not cancel any more.
    const deadline = Date.now() + limitMs + DEADLINE_MARGIN_MS;
    const repeated = () => repeatWhenDropped(request, signal);
    const value = await client.withDeadline(deadline, () => client.withAbortSignal(signal, repeated));
    return { value };
  } catch (error) {
    if (signal.aborted && isTrouble(error)) return undefined;
    throw isTrouble(error) ? temporarilyUnavailable(undefined, { cause: error }) : error;
  }
}

/**
 * Repeats a request that the server dropped, however often: it takes an update back when a signal comes in just as
 * the workflow's task, which was to end it, is reported. All our updates may be sent again.
 */
async function repeatWhenDropped<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (signal.aborted || !isDropped(error)) throw error;
    }
    await pause(DROPPED_PAUSE_MS);
  }
}

/** The type of the ApplicationFailure that an update was refused with; `undefined` for any other error. */
export function refusalOf(error: unknown): string | undefined {
  return failureOf(error)?.type ?? undefined;
}

/** What an update was refused with, in the workflow's own words. */
export function wordsOf(error: unknown): string {
  return failureOf(error)?.message ?? '';
}

function failureOf(error: unknown): ApplicationFailure | undefined {
  if (!(error instanceof WorkflowUpdateFailedError)) return undefined;
  return error.cause instanceof ApplicationFailure ? error.cause : undefined;
}

/** The type of the failure with which the server answers an update that the workflow's end overtook. */
export const ENDED_MEANWHILE = 'AcceptedUpdateCompletedWorkflow';

/** gRPC's code for a call that is wrong in itself, such as one that names an unregistered search attribute. */
const INVALID_ARGUMENT = 3;

/** gRPC's codes for an update that a failed workflow task took with it. */
const DROPPED: readonly number[] = [9, 10];

/** The type of the server's own refusal of an update that its workflow task was completed without. */
const UNPROCESSED = 'UnprocessedUpdate';

function isDropped(error: unknown): boolean {
  if (refusalOf(error) === UNPROCESSED) return true;
  const { cause } = error instanceof ServiceError ? error : { cause: error };
  return isGrpcServiceError(cause) && DROPPED.includes(cause.code) && cause.message.includes('workflow task');
}

/** Any error of the call itself that may pass, as against an answer: the SDK turns answers into types of their own. */
function isTrouble(error: unknown): boolean {
  // What every payment of ours can be asked can't be unknown to it: its worker could not make it answer.
  if (error instanceof QueryNotRegisteredError) return true;
  // Not a ServiceError: the namespace is missing, or Temporal has not come to know it yet.
  if (error instanceof NamespaceNotFoundError) return true;
  // Payments refuse with an ApplicationFailure. Anything else, such as a CancelledFailure, came between.
  if (error instanceof WorkflowUpdateFailedError) return failureOf(error) === undefined;
  const { cause } = error instanceof ServiceError ? error : { cause: error };
  if (isGrpcServiceError(cause)) return cause.code !== INVALID_ARGUMENT;
  return error instanceof ServiceError || error instanceof WorkflowUpdateRPCTimeoutOrCancelledError;
}
