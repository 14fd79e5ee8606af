import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { PaymentId } from '../../payments/payment-id.js';
import { paymentSearchAttributes } from '../../temporal/search-attributes.js';
import { type PaymentResult, paymentQuery } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { temporarilyUnavailable } from '../problem.js';
import { memoSchema, type PaymentMemo, type PaymentWorkflow } from './payment-workflow.js';
import { ask } from './temporal-calls.js';

/** A payment that exists. */
export interface Found extends PaymentMemo {
  readonly id: PaymentId;
  /** Of the payment whatever its run, while it runs; of the run that ended, once it has. */
  readonly handle: WorkflowHandle<PaymentWorkflow>;
  readonly running: boolean;
  /** When it began, in ms since the epoch. */
  readonly createdAt: number;
}

/**
 * ms that a payment may take to say how it stands. One that is asking the provider within its workflow task is deaf
 * for up to the 8 s after which the worker extends the task, however healthy everything is.
 */
const STATE_LIMIT = 9_000;

/** ms that a query gets at the least, however long the wait for it was. */
const LEAST_LIMIT = 500;

/** ms between two looks at whether a payment is at work. */
const BUSY_PAUSE = 25;

/**
 * Finds a payment's workflow; `undefined` when there is none, or none that the API started.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function findPayment(
  { client }: Pick<Api, 'client'>,
  id: PaymentId,
): Promise<Found | undefined> {
  const handle = client.workflow.getHandle<PaymentWorkflow>(id);
  try {
    const described = await ask(client, () => handle.describe());
    const read = memoSchema.safeParse(described.memo);
    if (!read.success) return undefined;
    const { runId, startTime, typedSearchAttributes } = described;
    const running = described.status.name === 'RUNNING';
    const createdAt = typedSearchAttributes.get(paymentSearchAttributes.createdAt) ?? startTime.getTime();
    // An ended payment may be opened again at any moment, and whoever waits for that run's result would wait long.
    const ended = () => client.workflow.getHandle<PaymentWorkflow>(id, runId);
    return { ...read.data, id, handle: running ? handle : ended(), running, createdAt };
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
  { client }: Pick<Api, 'client'>,
  { handle, running }: Found,
  limitMs: number = STATE_LIMIT,
): Promise<PaymentResult> {
  const deadline = Date.now() + limitMs;
  const query = () =>
    ask(client, () => handle.query(paymentQuery), Math.max(deadline - Date.now(), LEAST_LIMIT));
  if (running) {
    await untilIdle(client, handle, deadline);
    return await query();
  }
  try {
    return await ask(client, () => handle.result());
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return orphaned(await query());
  }
}

/**
 * Waits until the payment has no workflow task before it. A query that finds one is answered within that task, and
 * with it the SDK (seen with 1.24) completes the task, even when a local activity has just ended whose effect is still to
 * come: a later replay then sees the effect in another task than it was recorded in, and may fail for good.
 *
 * @throws {ApiError} `temporarily_unavailable` when the deadline (ms since the epoch) passes.
 */
async function untilIdle(
  client: Client,
  handle: WorkflowHandle<PaymentWorkflow>,
  deadline: number,
): Promise<void> {
  for (;;) {
    const { raw } = await ask(client, () => handle.describe());
    if (!raw.pendingWorkflowTask) return;
    if (Date.now() >= deadline) throw temporarilyUnavailable();
    await pause(BUSY_PAUSE);
  }
}

/** Nobody sees a payment through whose workflow was stopped: unless its outcome was known, a person must look. */
function orphaned(last: PaymentResult): PaymentResult {
  if (last.payment.final) return last;
  const reason = 'The payment was stopped before its outcome was known';
  return { ...last, payment: { ...last.payment, status: 'REVIEW', reason } };
}
