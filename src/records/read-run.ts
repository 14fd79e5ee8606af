import { status as grpc } from '@grpc/grpc-js';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { z } from 'zod';
import type { PaymentStatus } from '../payments/payment.js';
import { type PaymentId, type PaymentKind, parsePaymentId, type TransId } from '../payments/payment-id.js';
import { toPayment } from '../payments/to-payment.js';
import { endingWith, grpcErrorOf } from '../temporal/connection.js';
import { pagesOf } from '../temporal/list-workflows.js';
import { inputOfRun } from '../temporal/run-start.js';
import { paymentSearchAttributes as attributes } from '../temporal/search-attributes.js';
import {
  type EndedPayment,
  OF_ENDED,
  type PaymentInput,
  recordQuery,
  startState,
  WORKFLOW_TYPES,
} from '../workflows/messages.js';
import { orphaned, type PaymentRun, type RecordContent } from './payment-record.js';

/** Reading payments' runs from Temporal, for the recorder. */

const { WorkflowExecutionStatus: Status } = proto.temporal.api.enums.v1;

/** Runs that one call to Temporal gives: with the largest memos, some 8 MB. */
const RUNS_PER_CALL = 250;

/** How long a call may take, in ms. A query may have to wait for a worker that replays the payment. */
const CALL_LIMIT_MS = 10_000;

type RunInfo = proto.temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** A run of a payment's workflow, with what was stored beside it, as it is stored. */
export interface ListedRun extends PaymentRun {
  readonly memo: RunInfo['memo'];
}

const memoSchema = z.object({ fingerprint: z.string(), requestId: z.string() });

const PAYMENTS = `WorkflowType IN (${WORKFLOW_TYPES.map((type) => `"${type}"`).join(', ')})`;

/** Runs that ended at or after `from` and before `to` (ms since the epoch); of those that continued as new, the last alone. */
export function endedBetween(from: number, to: number): string {
  return (
    `${PAYMENTS} AND ExecutionStatus != "Running" AND ExecutionStatus != "ContinuedAsNew" ` +
    `AND CloseTime >= "${new Date(from).toISOString()}" AND CloseTime < "${new Date(to).toISOString()}"`
  );
}

/** Runs of payments that were created at or after `from` and before `before` (ms since the epoch). */
export function createdBetween(from: number, before: number): string {
  const { name } = attributes.createdAt;
  return `${PAYMENTS} AND ExecutionStatus != "ContinuedAsNew" AND ${name} >= ${from} AND ${name} < ${before}`;
}

/** Runs of these payments. */
export function runsOf(ids: readonly PaymentId[]): string {
  const quoted = ids.map((id) => `"${id}"`).join(', ');
  return `${PAYMENTS} AND ExecutionStatus != "ContinuedAsNew" AND WorkflowId IN (${quoted})`;
}

/**
 * Open runs of whose payments merchants were to be notified of something: the first time gives each a {@link attributes.final}, if need
 * be false, which it keeps, whatever its status becomes. The index doesn't know what has yet to be delivered.
 */
export const TOLD_PAYMENTS = `${PAYMENTS} AND ExecutionStatus = "Running" AND ${attributes.final.name} IS NOT NULL`;

/** The runs that a query finds, a call's worth at a time. */
export async function* listRuns(
  client: Client,
  query: string,
  stop?: AbortSignal,
): AsyncGenerator<readonly ListedRun[]> {
  const pages = pagesOf(client, { query, pageSize: RUNS_PER_CALL }, (list) => called(client, stop, list));
  for await (const { executions } of pages) yield executions.map(toRun).filter((run) => run !== undefined);
}

/** A run in Temporal's own form; `undefined` for a workflow that the API hasn't started. */
export function toRun(info: RunInfo): ListedRun | undefined {
  const id = parsePaymentId(info.execution?.workflowId);
  const runId = info.execution?.runId;
  const indexed = decodeTypedSearchAttributes(info.searchAttributes?.indexedFields);
  const [merchant, amount] = [indexed.get(attributes.merchant), indexed.get(attributes.amount)];
  const createdAt = indexed.get(attributes.createdAt);
  if (id === undefined || !runId || merchant === undefined) return undefined;
  if (amount === undefined || createdAt === undefined) return undefined;
  const { isOpen, stopped, status, final, amountPaid } = outcomeOf(info, indexed);
  return {
    id,
    merchant,
    runId,
    startedAt: toMs(info.startTime),
    closedAt: isOpen ? undefined : toMs(info.closeTime),
    stopped,
    indexed: {
      kind: indexed.get(attributes.kind) as PaymentKind,
      status,
      final,
      amount,
      amountPaid,
      transId: indexed.get(attributes.transId) as TransId | undefined,
      externalId: indexed.get(attributes.externalId),
      userId: indexed.get(attributes.userId),
      createdAt,
    },
    memo: info.memo,
  };
}

/** How a run stands, by the index. Without an outcome, a person must look at a payment whose workflow was stopped. */
export function outcomeOf(info: RunInfo, indexed: TypedSearchAttributes) {
  const isOpen = info.status === Status.WORKFLOW_EXECUTION_STATUS_RUNNING;
  const stopped = !isOpen && info.status !== Status.WORKFLOW_EXECUTION_STATUS_COMPLETED;
  const final = indexed.get(attributes.final) ?? false;
  const status = stopped && !final ? 'REVIEW' : (indexed.get(attributes.status) as PaymentStatus);
  const amountPaid = status === 'SUCCESSFUL' ? indexed.get(attributes.amountPaid) : undefined;
  return { isOpen, stopped, status, final, amountPaid };
}

function toMs(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + Math.floor((time?.nanos ?? 0) / 1e6);
}

/**
 * The payment as its run has left it, or as it is now. `undefined` for an open run that has something to do at this moment, or
 * has just ended: it is read later.
 *
 * @throws Error when it can't be read.
 */
export async function readRun(
  client: Client,
  run: ListedRun,
  stop?: AbortSignal,
): Promise<RecordContent | undefined> {
  const { namespace, loadedDataConverter } = client.options;
  const context = { type: 'workflow', namespace, workflowId: run.id } as const;
  const memo = await decodeMapFromPayloads(loadedDataConverter, run.memo?.fields, context);
  const { requestId, fingerprint } = memoSchema.parse(memo);
  const ended = await readEnded(client, run, stop);
  return (
    ended && {
      ...ended,
      requestId,
      fingerprint,
      payment: run.stopped ? orphaned(ended.payment) : ended.payment,
    }
  );
}

async function readEnded(
  client: Client,
  run: ListedRun,
  stop: AbortSignal | undefined,
): Promise<EndedPayment | undefined> {
  const handle = client.workflow.getHandle<(input: PaymentInput) => Promise<EndedPayment>>(run.id, run.runId);
  try {
    if (run.closedAt === undefined) {
      const { raw, status } = await called(client, stop, () => handle.describe());
      if (status.name !== 'RUNNING' || raw.pendingWorkflowTask) return undefined;
      return await queried(client, stop, () => handle.query(recordQuery));
    }
    if (!run.stopped) return await called(client, stop, () => handle.result());
    return await queried(client, stop, () => handle.query(recordQuery, OF_ENDED));
  } catch (error) {
    if (error instanceof WorkflowNotFoundError && run.closedAt === undefined) return undefined;
    // It was stopped before any worker had taken it.
    if (run.stopped && grpcErrorOf(error)?.code === grpc.FAILED_PRECONDITION)
      return await readStart(client, run, stop);
    throw error;
  }
}

async function readStart(
  client: Client,
  { id, runId, indexed, startedAt }: ListedRun,
  stop: AbortSignal | undefined,
): Promise<EndedPayment> {
  const input = await called(client, stop, () => inputOfRun<PaymentInput>(client, { workflowId: id, runId }));
  const { state, timeline } = startState(
    input,
    input.requested === undefined ? indexed.createdAt : startedAt,
  );
  return { payment: toPayment(state), state, timeline };
}

async function called<T>(client: Client, stop: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  const limited = () => client.withDeadline(Date.now() + CALL_LIMIT_MS, call);
  return await (stop === undefined ? limited() : endingWith(client, stop, limited));
}

/**
 * A query of a payment. It waits for a worker that replays this one payment, and may never be answered, for want of a key, say: a
 * query that takes too long doesn't show that Temporal is away.
 */
async function queried<T>(
  client: Client,
  stop: AbortSignal | undefined,
  query: () => Promise<T>,
): Promise<T> {
  try {
    return await called(client, stop, query);
  } catch (error) {
    if (grpcErrorOf(error)?.code !== grpc.DEADLINE_EXCEEDED) throw error;
    throw new Error('no worker has answered for the payment in time', { cause: error });
  }
}

/** Codes of a Temporal that is away, or too slow. The others may be its answer to one payment that it can't read, for good. */
const AWAY: ReadonlySet<grpc> = new Set([
  grpc.UNAVAILABLE,
  grpc.CANCELLED,
  grpc.RESOURCE_EXHAUSTED,
  grpc.DEADLINE_EXCEEDED,
]);

/** Whether Temporal as a whole can't be reached, rather than one payment not be read. */
export function isTemporalAway(error: unknown): boolean {
  const code = grpcErrorOf(error)?.code;
  return code !== undefined && AWAY.has(code);
}
