import { setTimeout as pause } from 'node:timers/promises';
import { status as grpc } from '@grpc/grpc-js';
import {
  type Client,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError } from '@temporalio/common';
import { grpcErrorOf } from '../temporal/connection.js';
import { DecryptionError } from '../temporal/encryption.js';
import { PaymentTooLarge, Unavailable } from './errors.js';

/** Time limit of a call that Temporal answers at once; it usually takes a few ms. */
const CALL_LIMIT_MS = 4_000;

/** Pause between two tries of a request that the server dropped, or that was overtaken. */
const RETRY_PAUSE_MS = 20;

/** Shortest time that a query gets, however long the wait for it was. */
const MIN_QUERY_LIMIT_MS = 500;

/** Pause between a refused query and the next. */
const ASK_AGAIN_MS = 50;

/** A call may outlive its wait by this long, before its own deadline ends it. */
const DEADLINE_MARGIN_MS = 500;

/** Tries of a message that a workflow's beginning or end has overtaken. */
const MAX_OVERTAKEN_TRIES = 4;

/**
 * Makes a call that Temporal answers at once.
 *
 * @throws {Unavailable} when Temporal, or a worker for a query, can't be reached.
 */
export async function callTemporal<T>(
  client: Client,
  call: () => Promise<T>,
  limitMs: number = CALL_LIMIT_MS,
): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + limitMs, call);
  } catch (error) {
    throw toEngineError(error);
  }
}

/**
 * Queries a running workflow. Repeats the query when the workflow's guard refuses it because it came together with news
 * ([query-guard.ts](../../workflows/query-guard.ts)).
 *
 * @param deadline ms since the epoch
 * @param untilReady waited for before each query
 * @throws {Unavailable}
 */
export async function queryTemporal<T>(
  client: Client,
  query: () => Promise<T>,
  deadline: number,
  untilReady: () => Promise<void> = async () => undefined,
): Promise<T> {
  for (;;) {
    await untilReady();
    try {
      return await callTemporal(client, query, Math.max(deadline - Date.now(), MIN_QUERY_LIMIT_MS));
    } catch (error) {
      if (!wasRefused(error) || Date.now() + ASK_AGAIN_MS >= deadline) throw error;
      await pause(ASK_AGAIN_MS);
    }
  }
}

/** A workflow's guard has refused to answer. */
function wasRefused(error: unknown): boolean {
  return error instanceof Unavailable && error.cause instanceof QueryNotRegisteredError;
}

/**
 * Sends a message that starts its workflow unless it runs. If the workflow begins or ends in that very
 * moment, the server may refuse it as already started. It is then sent again, to that or a new one.
 *
 * @throws {Unavailable}
 */
export async function sendWithStart<T>(client: Client, message: () => Promise<T>): Promise<T> {
  return await callTemporal(client, async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await message();
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        if (tries === MAX_OVERTAKEN_TRIES) throw new Unavailable(undefined, error);
      }
      await pause(RETRY_PAUSE_MS);
    }
  });
}

/** The answer to a request; `undefined` when the wait for it was over first. */
export type WaitResult<T> = { readonly value: T } | undefined;

/**
 * Waits for Temporal's answer until the signal. The request continues without us.
 *
 * @param limitMs after which the signal is given, in ms
 * @throws {Unavailable} when Temporal can't be reached.
 */
export async function waitForAnswer<T>(
  client: Client,
  signal: AbortSignal,
  limitMs: number,
  request: () => Promise<T>,
): Promise<WaitResult<T>> {
  if (signal.aborted) return undefined;
  const end = Date.now() + limitMs;
  try {
    // The SDK doesn't cancel a call that begins just as the signal is given; the deadline ends that one.
    const deadline = end + DEADLINE_MARGIN_MS;
    const repeated = () => repeatWhenDropped(request, signal);
    const value = await client.withDeadline(deadline, () => client.withAbortSignal(signal, repeated));
    return { value };
  } catch (error) {
    // In a busy process, the deadline may end before its own timer gives the signal.
    const isOver = signal.aborted || Date.now() >= end;
    if (isOver && isTrouble(error)) return undefined;
    throw toEngineError(error);
  }
}

/**
 * Repeats a request as long as the server drops it: the server drops an update when a signal arrives just as the
 * workflow task that was to end the update is reported. All our updates may be sent again.
 */
async function repeatWhenDropped<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (signal.aborted || !isDropped(error)) throw error;
    }
    await pause(RETRY_PAUSE_MS);
  }
}

/** Returns the type of the ApplicationFailure with which a workflow refused an update, if the error is one. */
export function failureTypeOf(error: unknown): string | undefined {
  return failureOf(error)?.type ?? undefined;
}

/** Returns the workflow's reason for refusing an update. */
export function failureMessageOf(error: unknown): string {
  return failureOf(error)?.message ?? '';
}

/** Returns the details of the workflow's refusal of an update, beside its reason. */
export function failureDetailsOf(error: unknown): unknown {
  return failureOf(error)?.details?.[0];
}

function failureOf(error: unknown): ApplicationFailure | undefined {
  if (!(error instanceof WorkflowUpdateFailedError)) return undefined;
  return error.cause instanceof ApplicationFailure ? error.cause : undefined;
}

/** Failure type of the server for an update that the workflow's end overtook. */
const ENDED_MEANWHILE = 'AcceptedUpdateCompletedWorkflow';

/** Failure type of the server for an update that its workflow task didn't process. */
const UNPROCESSED = 'UnprocessedUpdate';

/** Reports that the workflow doesn't run, or ended before it could answer. */
export function hasEnded(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || failureTypeOf(error) === ENDED_MEANWHILE;
}

/** Reports that the workflow's run ended, or another one began, at the moment of the call. */
export function wasOvertaken(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || hasEnded(error);
}

/** Reports whether a failed workflow task took the update with it. */
function isDropped(error: unknown): boolean {
  if (failureTypeOf(error) === UNPROCESSED) return true;
  const failed = grpcErrorOf(error);
  if (failed?.code !== grpc.FAILED_PRECONDITION && failed?.code !== grpc.ABORTED) return false;
  return failed.message.includes('workflow task');
}

/** Matches Temporal's message when a limit of the namespace is below ours. */
const BEYOND_LIMIT = /[a-z ]{1,80} exceeds [a-z ]{0,80}limit/i;

/** Turns a failed call into an error of the engine; any other error stays. */
function toEngineError(error: unknown): unknown {
  const { code, message = '' } = grpcErrorOf(error) ?? {};
  const [limit] = BEYOND_LIMIT.exec(message) ?? [];
  if (code === grpc.INVALID_ARGUMENT && limit !== undefined) return new PaymentTooLarge(limit.trim(), error);
  return isTrouble(error) ? new Unavailable(undefined, error) : error;
}

/** Reports whether the call itself failed and may succeed later. Temporal's answers have types of their own. */
function isTrouble(error: unknown): boolean {
  // Every payment knows our queries: its worker could not run it, or its guard has refused to answer.
  if (error instanceof QueryNotRegisteredError) return true;
  // This process lacks a key, which an operator has to add.
  if (error instanceof DecryptionError) return true;
  // Not a ServiceError: the namespace is missing, or Temporal doesn't know it yet.
  if (error instanceof NamespaceNotFoundError) return true;
  // Payments refuse with an ApplicationFailure. A CancelledFailure, say, isn't their answer.
  if (error instanceof WorkflowUpdateFailedError) return failureOf(error) === undefined;
  const grpcError = grpcErrorOf(error);
  // Even what Temporal calls invalid: for example, the namespace lacks a search attribute, which /readyz reports.
  if (grpcError) return true;
  return error instanceof ServiceError || error instanceof WorkflowUpdateRPCTimeoutOrCancelledError;
}
