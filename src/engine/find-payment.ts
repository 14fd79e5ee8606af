import { setTimeout as pause } from 'node:timers/promises';
import { status as grpc } from '@grpc/grpc-js';
import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { z } from 'zod';
import { toPayment } from '../payments/views/to-payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { Shutdown } from '../process/shutdown.js';
import { queryByIds } from '../records/index-queries.js';
import { inReviewUnlessFinal } from '../records/payment-record.js';
import { grpcErrorOf } from '../temporal/connection.js';
import { inputOfRun, isUntakenRun } from '../temporal/run-start.js';
import { paymentSearchAttributes } from '../temporal/search-attributes.js';
import {
  type EndedPayment,
  type EndedState,
  OF_ENDED,
  outcomeUpdate,
  type PaymentInput,
  type PaymentResult,
  paymentQuery,
  startState,
} from '../workflows/messages.js';
import { mustRead, paymentInput } from '../workflows/schemas.js';
import type { Descriptions } from './descriptions.js';
import { Unavailable } from './errors.js';
import { findRecorded, type RecordedPayment, type RecordsContext, recordedContent } from './recorded-payments.js';
import { callTemporal, hasEnded, queryTemporal, waitFor } from './temporal-calls.js';

/** Dependencies of reading payments. */
export interface ReadContext extends RecordsContext {
  readonly client: Client;
  readonly descriptions: Descriptions;
}

/** A payment's workflow, whatever its type. */
export type PaymentWorkflow = (input: PaymentInput) => Promise<EndedPayment>;

export const memoSchema = z.object({
  owner: z.string(),
  fingerprint: z.string(),
  /** The request that started the payment. Unique, even when an X-Request-Id is sent twice. */
  requestId: z.string(),
  /** The order's fields that a list shows, beside the search attributes. */
  method: z.enum(['link', 'direct']).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});

/** The memo of a payment's workflow, stored when it starts and readable without a worker. */
export type PaymentMemo = z.infer<typeof memoSchema>;

/** A payment that Temporal has. */
export interface PaymentInTemporal extends PaymentMemo {
  readonly kind: 'inTemporal';
  readonly id: PaymentId;
  /** While the payment runs, of whichever run is the latest; once it has ended, of the run that ended. */
  readonly handle: WorkflowHandle<PaymentWorkflow>;
  readonly running: boolean;
  /** The latest run when the payment was found. */
  readonly runId: string;
  /** When the payment was created, in ms since the epoch. */
  readonly createdAt: number;
  readonly description: WorkflowExecutionDescription;
  /** When the description was read, in ms since the epoch. */
  readonly describedAt: number;
}

/** A payment that exists: one that Temporal has, or has forgotten. */
export type FoundPayment = PaymentInTemporal | RecordedPayment;

/**
 * How long a payment may take to say how it stands. While it asks the provider within its workflow task it
 * can't answer, for up to the 8 s after which the worker extends the task.
 */
const STATE_LIMIT_MS = 9_000;

/** The same, once the time for the response to a request is over. */
export const LAST_LOOK_MS = 1_000;

/** How long a description says reliably whether a payment has a pending workflow task. */
const FRESH_MS = 50;

/** All who wait for the outcome share this update, and so cost the workflow's history as much as one. */
const OUTCOME_UPDATE_ID = 'outcome';

/** Between two waits of which the first ended early: time for a new run to begin. */
const NEXT_RUN_PAUSE_MS = 100;

/** Between two looks at a payment that was final and has been reopened in the same run. */
const REOPENED_PAUSE_MS = 1_000;

/**
 * Finds a payment, in Temporal or, when that has forgotten it, in the records; `undefined` when there is none, or none
 * that the API started.
 *
 * @param unread what to say when the records can't be read
 * @throws {Unavailable | RecordsUnavailable}
 */
export async function findPayment(
  context: ReadContext,
  id: PaymentId,
  unread?: string,
): Promise<FoundPayment | undefined> {
  return (await findInTemporal(context, id)) ?? (await findRecorded(context, id, unread));
}

/** Finds a payment's workflow. @throws {Unavailable} */
export async function findInTemporal(context: ReadContext, id: PaymentId): Promise<PaymentInTemporal | undefined> {
  const found = await findWorkflow(context, id);
  return found === 'foreign' ? undefined : found;
}

/**
 * Finds what Temporal has under a payment's id: `foreign` when that isn't a payment. One that was started by hand, and
 * has ended, doesn't hide the payment that had ended before.
 *
 * @throws {Unavailable}
 */
export async function findWorkflow(
  { client, descriptions }: ReadContext,
  id: PaymentId,
): Promise<PaymentInTemporal | 'foreign' | undefined> {
  try {
    const latest = await descriptions.describe(id);
    const found = inTemporal(client, id, latest);
    if (found !== undefined) return found;
    const isOver = latest.status.name !== 'RUNNING';
    return (isOver ? await findEarlierRun(client, id) : undefined) ?? 'foreign';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * The payment whose latest run it is; `undefined` when the API hasn't started it, or it ended at once for its input.
 */
function inTemporal(
  client: Client,
  id: PaymentId,
  description: WorkflowExecutionDescription,
): PaymentInTemporal | undefined {
  const memo = memoSchema.safeParse(description.memo);
  // Nothing else makes a payment's workflow fail.
  if (!memo.success || description.status.name === 'FAILED') return undefined;
  const { runId, startTime, typedSearchAttributes } = description;
  const running = description.status.name === 'RUNNING';
  const createdAt = typedSearchAttributes.get(paymentSearchAttributes.createdAt) ?? startTime.getTime();
  // An ended payment may be reopened at any moment, and the new run's result may be long in coming.
  const handle = client.workflow.getHandle<PaymentWorkflow>(id, running ? undefined : runId);
  const found = { ...memo.data, id, handle, running, runId, createdAt, description, describedAt: Date.now() };
  return { kind: 'inTemporal', ...found };
}

/** Runs under one id that are looked through for a payment's last. */
const MAX_EARLIER_RUNS = 20;

/** The payment that has ended before something else was started under its id. @throws {Unavailable} */
async function findEarlierRun(client: Client, id: PaymentId): Promise<PaymentInTemporal | undefined> {
  return await callTemporal(client, async () => {
    const listed = client.workflow.list({ query: queryByIds([id]), pageSize: MAX_EARLIER_RUNS });
    const runs: { readonly runId: string; readonly startTime: Date }[] = [];
    for await (const run of listed) if (runs.push(run) === MAX_EARLIER_RUNS) break;
    runs.sort((one, other) => other.startTime.getTime() - one.startTime.getTime());
    for (const { runId } of runs) {
      const found = inTemporal(client, id, await client.workflow.getHandle(id, runId).describe());
      if (found?.running === false) return found;
    }
    return undefined;
  });
}

/**
 * The payment as it stands: a running one is queried, an ended one has left its result.
 *
 * @param limitMs how long it may take to answer
 * @throws {Unavailable | RecordUnreadable} `Unavailable` also when no worker answers for a running one.
 */
export async function currentState(
  context: ReadContext,
  found: FoundPayment,
  limitMs: number = STATE_LIMIT_MS,
): Promise<PaymentResult> {
  if (found.kind === 'recorded') return recordedContent(found);
  const { handle, running } = found;
  if (isDormant(found)) return { payment: toPayment((await stateAtStart(context, found)).state) };
  if (running) return await askRunning(context, found, () => handle.query(paymentQuery), limitMs);
  try {
    return await callTemporal(context.client, () => handle.result());
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const last = await lastState(context, found, limitMs);
    return { ...last, payment: inReviewUnlessFinal(last.payment) };
  }
}

/**
 * {@link currentState} for a reader. A payment that waits for its first turn at a worker is as it was created, so that
 * its merchant needn't wait for that, too.
 *
 * @throws {Unavailable}
 */
export async function readPayment(context: ReadContext, found: FoundPayment): Promise<PaymentResult> {
  try {
    return await currentState(context, found);
  } catch (error) {
    if (!found.running || !(error instanceof Unavailable) || !(await isUntaken(context, found))) throw error;
    return { payment: toPayment((await stateAtStart(context, found)).state) };
  }
}

/**
 * Events that a run has at least once a worker has done something for it: its start, and the three of its first task.
 */
const EVENTS_OF_FIRST_TASK = 4;

/**
 * Whether a payment was started with a link that waits to be paid, and no worker has done anything for it since. It
 * can't be queried then, and is as it was started.
 */
export function isDormant({ running, description }: PaymentInTemporal): boolean {
  const { historyLength, startTime, executionTime, raw } = description;
  if (!running || historyLength >= EVENTS_OF_FIRST_TASK) return false;
  // A message may have begun its first task, which is no payment's sending.
  const isDelayed = executionTime !== undefined && executionTime > startTime;
  return isDelayed || !raw.pendingWorkflowTask;
}

/** Whether no worker has done anything for the payment's run yet. @throws {Unavailable} */
export async function isUntaken({ client }: ReadContext, found: PaymentInTemporal): Promise<boolean> {
  return await callTemporal(client, () => isUntakenRun(client, readRunOf(found)));
}

/** {@link currentState} of the latest run, which may have begun or ended since the payment was found. */
export async function latestState(context: ReadContext, found: FoundPayment, limitMs?: number): Promise<PaymentResult> {
  return await currentState(context, (await findPayment(context, found.id)) ?? found, limitMs);
}

async function lastState(context: ReadContext, found: PaymentInTemporal, limitMs: number): Promise<PaymentResult> {
  try {
    return await callTemporal(context.client, () => found.handle.query(paymentQuery, OF_ENDED), limitMs);
  } catch (error) {
    if (!wasNeverBegun(error)) throw error;
    return { payment: toPayment((await stateAtStart(context, found)).state) };
  }
}

/** Whether an ended workflow can't be queried because it was stopped before any worker had taken it. */
export function wasNeverBegun(error: unknown): boolean {
  return error instanceof Unavailable && grpcErrorOf(error.cause)?.code === grpc.FAILED_PRECONDITION;
}

/**
 * The state that a payment's run was started with, and what had happened to it by then.
 *
 * @throws {Unavailable}
 */
export async function stateAtStart(context: ReadContext, found: PaymentInTemporal): Promise<EndedState> {
  const { createdAt, description } = found;
  const input = await inputOf(context, found);
  return startState(input, input.requested === undefined ? createdAt : description.startTime.getTime());
}

/** Reads the input of a payment's run. @throws {Unavailable} */
export async function inputOf({ client }: ReadContext, found: PaymentInTemporal): Promise<PaymentInput> {
  return mustRead(paymentInput, await callTemporal(client, () => inputOfRun(client, readRunOf(found))));
}

/** While the payment runs, whichever run is the latest. */
function readRunOf({ id, running, runId }: PaymentInTemporal) {
  return { workflowId: id, runId: running ? undefined : runId };
}

/**
 * Queries a running payment once it has no pending workflow task, in which it couldn't answer.
 *
 * @param limitMs how long it may take to answer
 * @throws {Unavailable}
 */
export async function askRunning<T>(
  { client, descriptions }: ReadContext,
  { id, description, describedAt }: PaymentInTemporal,
  query: () => Promise<T>,
  limitMs: number = STATE_LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  let fresh = Date.now() - describedAt <= FRESH_MS ? description : undefined;
  const untilIdle = async () => {
    await descriptions.untilIdle(id, deadline, fresh);
    fresh = undefined;
  };
  return await queryTemporal(client, query, deadline, untilIdle);
}

/**
 * The payment once it is final, or as it stands when `waitMs` have passed, the caller hangs up or the process
 * is to stop.
 *
 * @throws {Unavailable}
 */
export async function waitUntilFinal(
  context: ReadContext & { readonly shutdown: Shutdown },
  found: PaymentInTemporal,
  waitMs: number,
  hangUp: AbortSignal,
): Promise<PaymentResult> {
  const outcome = await context.shutdown.reads.within(
    waitMs,
    (signal) => awaitOutcome(context, found, waitMs, signal),
    hangUp,
  );
  return outcome ?? (await readPayment(context, (await findPayment(context, found.id)) ?? found));
}

/** A look that may be repeated: a query that comes just as its workflow ends can be lost. */
async function unlessUnavailable(look: Promise<PaymentResult>): Promise<PaymentResult | undefined> {
  return await look.catch((error: unknown) => {
    if (error instanceof Unavailable) return undefined;
    throw error;
  });
}

async function awaitOutcome(
  context: ReadContext,
  found: PaymentInTemporal,
  limitMs: number,
  signal: AbortSignal,
): Promise<PaymentResult | undefined> {
  while (!signal.aborted) {
    try {
      const answer = await waitFor(context.client, signal, limitMs, () =>
        found.handle.executeUpdate(outcomeUpdate, { updateId: OUTCOME_UPDATE_ID }),
      );
      if (answer === undefined) return undefined;
      // The one who sends the update gets the answer that it was completed with, which may be out of date.
      const now = await unlessUnavailable(latestState(context, found));
      if (now?.payment.final) return now;
      const pauseMs = answer.value.payment.final ? REOPENED_PAUSE_MS : NEXT_RUN_PAUSE_MS;
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    } catch (error) {
      if (hasEnded(error)) return undefined;
      throw error;
    }
  }
  return undefined;
}
