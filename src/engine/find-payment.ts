import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { PaymentOrder } from '../payments/words/order.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { queryByIds } from '../records/index-queries.js';
import { type PaymentMemo, parseMemo } from '../records/read-run.js';
import { paymentSearchAttributes } from '../temporal/search-attributes.js';
import type { PaymentWorkflow } from '../workflows/messages.js';
import type { Descriptions } from './descriptions.js';
import { findRecorded, type RecordedPayment, type RecordsContext, UNCHECKED } from './recorded-payments.js';
import { callTemporal } from './temporal-calls.js';

/** Dependencies of reading payments. */
export interface ReadContext extends RecordsContext {
  readonly client: Client;
  readonly descriptions: Descriptions;
}

/** A payment that Temporal has. */
export interface PaymentInTemporal extends Omit<PaymentMemo, 'owner'> {
  readonly kind: 'inTemporal';
  readonly merchant: string;
  readonly id: PaymentId;
  /** The latest run while the payment runs; the run that ended, once it has ended. */
  readonly handle: WorkflowHandle<PaymentWorkflow>;
  readonly running: boolean;
  /** The latest run when the payment was found. */
  readonly runId: string;
  /** Time of the payment's creation, in ms since the epoch. */
  readonly createdAt: number;
  readonly description: WorkflowExecutionDescription;
  /** Time of the description, in ms since the epoch. */
  readonly describedAt: number;
}

/** A payment that exists, in Temporal or in the records. */
export type FoundPayment = PaymentInTemporal | RecordedPayment;

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

/**
 * Throws a refusal of an order, if there is one, unless its payment exists: a repeated request gets its payment.
 *
 * @throws {Unavailable | RecordsUnavailable} when that can't be told.
 */
export async function refuseUnlessStarted(
  context: ReadContext,
  { id }: Pick<PaymentOrder, 'id'>,
  refusal: Error | undefined,
): Promise<void> {
  if (refusal !== undefined && (await findPayment(context, id, UNCHECKED)) === undefined) throw refusal;
}

/** Finds a payment's workflow. @throws {Unavailable} */
export async function findInTemporal(context: ReadContext, id: PaymentId): Promise<PaymentInTemporal | undefined> {
  const found = await findWorkflow(context, id);
  return found === 'foreign' ? undefined : found;
}

/**
 * Finds the workflow under a payment's id: `foreign` when that isn't a payment. A workflow that was started by hand,
 * and has ended, doesn't hide the payment that ended before.
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
 * Returns the payment of a latest run; `undefined` when the API hasn't started it, or it ended at once because of its
 * input.
 */
function inTemporal(
  client: Client,
  id: PaymentId,
  description: WorkflowExecutionDescription,
): PaymentInTemporal | undefined {
  const memo = parseMemo(description.memo);
  // Nothing else makes a payment's workflow fail.
  if (memo === undefined || description.status.name === 'FAILED') return undefined;
  const { runId, startTime, typedSearchAttributes } = description;
  const running = description.status.name === 'RUNNING';
  const createdAt = typedSearchAttributes.get(paymentSearchAttributes.createdAt) ?? startTime.getTime();
  // An ended payment may be reopened at any moment, and the new run's result may take long.
  const handle = client.workflow.getHandle<PaymentWorkflow>(id, running ? undefined : runId);
  const { owner: merchant, ...rest } = memo;
  const found = { ...rest, merchant, id, handle, running, runId, createdAt, description, describedAt: Date.now() };
  return { kind: 'inTemporal', ...found };
}

/** Largest number of runs under one id that are searched for a payment's last. */
const MAX_EARLIER_RUNS = 20;

/** Finds the payment that ended before something else was started under its id. @throws {Unavailable} */
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

/** Events of a run in which a worker has done something: its start, and the three of its first task. */
const EVENTS_OF_FIRST_TASK = 4;

/**
 * Reports whether a payment's start is still delayed: it has a link that waits to be paid, and no worker has done
 * anything for it yet. It can't be queried then, and is in its initial state.
 */
export function isDelayedStart({ running, description }: PaymentInTemporal): boolean {
  const { historyLength, startTime, executionTime, raw } = description;
  if (!running || historyLength >= EVENTS_OF_FIRST_TASK) return false;
  // A message may have begun its first task, which doesn't send the payment.
  const isDelayed = executionTime !== undefined && executionTime > startTime;
  return isDelayed || !raw.pendingWorkflowTask;
}
