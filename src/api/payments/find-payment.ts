import {
  isGrpcServiceError,
  ServiceError,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { PaymentId } from '../../payments/payment-id.js';
import { openPayment, type PaymentState } from '../../payments/payment-state.js';
import { toPayment } from '../../payments/to-payment.js';
import { paymentSearchAttributes } from '../../temporal/search-attributes.js';
import { type PaymentInput, type PaymentResult, paymentQuery } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { ApiError } from '../problem.js';
import { memoSchema, type PaymentMemo, type PaymentWorkflow } from './payment-workflow.js';
import { ask } from './temporal-calls.js';

/** A payment that exists. */
export interface Found extends PaymentMemo {
  readonly id: PaymentId;
  /** Of the payment whatever its run, while it runs; of the run that ended, once it has. */
  readonly handle: WorkflowHandle<PaymentWorkflow>;
  readonly running: boolean;
  /** The run that was the latest when the payment was found. */
  readonly runId: string;
  /** When it began, in ms since the epoch. */
  readonly createdAt: number;
  readonly description: WorkflowExecutionDescription;
  /** When that was given, in ms since the epoch. */
  readonly describedAt: number;
}

/**
 * ms that a payment may take to say how it stands. One that is asking the provider within its workflow task is deaf
 * for up to the 8 s after which the worker extends the task, however healthy everything is.
 */
const STATE_LIMIT_MS = 9_000;

/** ms that a query gets at the least, however long the wait for it was. */
const MIN_QUERY_LIMIT_MS = 500;

/** ms for which a description still says whether a payment has a workflow task before it. */
const FRESH_MS = 50;

/**
 * Finds a payment's workflow; `undefined` when there is none, or none that the API started.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function findPayment(
  { client, descriptions }: Pick<Api, 'client' | 'descriptions'>,
  id: PaymentId,
): Promise<Found | undefined> {
  try {
    const description = await descriptions.describe(id);
    const read = memoSchema.safeParse(description.memo);
    if (!read.success) return undefined;
    const { runId, startTime, typedSearchAttributes } = description;
    const running = description.status.name === 'RUNNING';
    const createdAt = typedSearchAttributes.get(paymentSearchAttributes.createdAt) ?? startTime.getTime();
    // An ended payment may be opened again at any moment, and the new run's result may be long in coming.
    const handle = client.workflow.getHandle<PaymentWorkflow>(id, running ? undefined : runId);
    return { ...read.data, id, handle, running, runId, createdAt, description, describedAt: Date.now() };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * The payment as it stands: a running one is asked, an ended one has left its result.
 *
 * @param limitMs how long it may take to answer, in ms
 * @throws {ApiError} `temporarily_unavailable`, also when no worker answers for a running one.
 */
export async function currentState(
  api: Pick<Api, 'client' | 'descriptions'>,
  found: Found,
  limitMs: number = STATE_LIMIT_MS,
): Promise<PaymentResult> {
  const { handle, running } = found;
  if (running) return await askRunning(api, found, () => handle.query(paymentQuery), limitMs);
  try {
    return await ask(api.client, () => handle.result());
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return orphaned(await lastState(api, found, limitMs));
  }
}

async function lastState(api: Pick<Api, 'client'>, found: Found, limitMs: number): Promise<PaymentResult> {
  try {
    return await ask(api.client, () => found.handle.query(paymentQuery), limitMs);
  } catch (error) {
    if (!wasNeverBegun(error)) throw error;
    return { payment: toPayment(await stateAtStart(api, found)) };
  }
}

/** gRPC's code for what can't be done to something in its state. */
const FAILED_PRECONDITION = 9;

/** Whether an ended workflow can't be queried because it was stopped before any worker had taken it. */
export function wasNeverBegun(error: unknown): boolean {
  const { cause } = error instanceof ApiError ? error : {};
  return (
    cause instanceof ServiceError &&
    isGrpcServiceError(cause.cause) &&
    cause.cause.code === FAILED_PRECONDITION
  );
}

/**
 * The state that a payment's run was started with.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function stateAtStart(
  { client }: Pick<Api, 'client'>,
  { handle, createdAt }: Pick<Found, 'handle' | 'createdAt'>,
): Promise<PaymentState> {
  const { events } = await ask(client, () => handle.fetchHistory());
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  const { order, terms, carried } = await decodeFromPayloadsAtIndex<PaymentInput>(
    client.options.loadedDataConverter,
    0,
    started?.input?.payloads,
  );
  return carried ?? openPayment(order, terms, createdAt);
}

/**
 * Queries a running payment once it has no workflow task before it. A query that finds one is answered within that
 * task, and with it the SDK (seen with 1.24) completes the task, even when a local activity has just ended whose effect
 * is still to come: a later replay then sees the effect in another task than it was recorded in, and may fail for good.
 *
 * @param limitMs how long it may take to answer, in ms
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function askRunning<T>(
  { client, descriptions }: Pick<Api, 'client' | 'descriptions'>,
  { id, description, describedAt }: Found,
  query: () => Promise<T>,
  limitMs: number = STATE_LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  const isFresh = Date.now() - describedAt <= FRESH_MS;
  await descriptions.untilIdle(id, deadline, isFresh ? description : undefined);
  return await ask(client, query, Math.max(deadline - Date.now(), MIN_QUERY_LIMIT_MS));
}

/** Nobody sees a payment through whose workflow was stopped: unless its outcome was known, a person must look. */
function orphaned(last: PaymentResult): PaymentResult {
  if (last.payment.final) return last;
  const reason = 'The payment was stopped before its outcome was known';
  return { ...last, payment: { ...last.payment, status: 'REVIEW', reason } };
}
