import { status as grpc } from '@grpc/grpc-js';
import { type Client, WorkflowFailedError, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { z } from 'zod';
import { toPayment } from '../payments/views/to-payment.js';
import { rejectionOf } from '../payments/words/payment-state.js';
import { grpcErrorOf } from '../temporal/connection.js';
import { inputOfRun } from '../temporal/run-start.js';
import {
  ENDED_RUN,
  type EndedPayment,
  type PaymentInput,
  type PaymentWorkflow,
  paymentQuery,
  startState,
} from '../workflows/messages.js';
import { endedPayment, mustRead, paymentInput } from '../workflows/schemas.js';
import { callUntil, type ListedRun, type MakeCall } from './list-runs.js';
import { inReviewUnlessFinal, type RecordContent } from './payment-record.js';

/*
 * Reading what payments' runs have left, for the recorder and for the engine.
 */

const memoSchema = z.object({
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

/** Parses a decoded memo; `undefined` when it isn't a payment's. */
export function parseMemo(memo: unknown): PaymentMemo | undefined {
  return memoSchema.safeParse(memo).data;
}

/** Reads the memo of a listed run. @throws Error when it can't be decoded, or isn't a payment's. */
export async function readMemo(client: Client, { id, memo }: Pick<ListedRun, 'id' | 'memo'>): Promise<PaymentMemo> {
  const { namespace, loadedDataConverter } = client.options;
  const context = { type: 'workflow', namespace, workflowId: id } as const;
  return memoSchema.parse(await decodeMapFromPayloads(loadedDataConverter, memo?.fields, context));
}

/** A run of a payment, or its latest; times in ms since the epoch. */
export interface RunToRead {
  readonly id: string;
  readonly runId?: string | undefined;
  readonly createdAt: number;
  readonly startedAt: number;
}

/** Reads the input of a run. */
export async function readInput(client: Client, { id, runId }: RunToRead, call: MakeCall): Promise<PaymentInput> {
  return mustRead(paymentInput, await call(() => inputOfRun(client, { workflowId: id, runId })));
}

/** Reads a payment as its run was started, for one that no worker has taken. */
export async function readStart(client: Client, run: RunToRead, call: MakeCall): Promise<EndedPayment> {
  const input = await readInput(client, run, call);
  const { state, timeline } = startState(input, input.requested === undefined ? run.createdAt : run.startedAt);
  return { v: 1, payment: toPayment(state), rejection: rejectionOf(state), state, timeline };
}

/** Reads the payment from the result of a run; `undefined` when it was stopped, and could leave none. */
export async function readEnd(
  handle: WorkflowHandle<PaymentWorkflow>,
  call: MakeCall,
): Promise<EndedPayment | undefined> {
  try {
    return mustRead(endedPayment, await call(() => handle.result()));
  } catch (error) {
    if (error instanceof WorkflowFailedError) return undefined;
    throw error;
  }
}

/**
 * Reads a payment as it was when its run was stopped, by a worker, or in its initial state when none had taken it.
 *
 * @param query makes the call that a worker has to answer
 */
export async function readStopped(
  client: Client,
  run: RunToRead,
  call: MakeCall,
  query: MakeCall,
): Promise<EndedPayment> {
  const handle = client.workflow.getHandle(run.id, run.runId);
  try {
    return await query(() => handle.query(paymentQuery, ENDED_RUN));
  } catch (error) {
    // The engine's calls wrap the errors of gRPC.
    const failed = grpcErrorOf(error) ?? (error instanceof Error ? grpcErrorOf(error.cause) : undefined);
    if (failed?.code !== grpc.FAILED_PRECONDITION) throw error;
    return await readStart(client, run, call);
  }
}

/**
 * Reads the payment from its run's result, or in its current state. Returns `undefined` for an open run that has
 * something to do at this moment, or has just ended: it is read later.
 *
 * @throws Error when it can't be read.
 */
export async function readRun(client: Client, run: ListedRun, stop?: AbortSignal): Promise<RecordContent | undefined> {
  const { requestId, fingerprint } = await readMemo(client, run);
  const read = await (run.closedAt === undefined ? readOpen(client, run, stop) : readClosed(client, run, stop));
  return (
    read && {
      ...read,
      requestId,
      fingerprint,
      payment: run.stopped ? inReviewUnlessFinal(read.payment) : read.payment,
    }
  );
}

async function readOpen(
  client: Client,
  { id, runId }: ListedRun,
  stop: AbortSignal | undefined,
): Promise<EndedPayment | undefined> {
  const handle = client.workflow.getHandle(id, runId);
  try {
    const { raw, status } = await callUntil(client, stop, () => handle.describe());
    if (status.name !== 'RUNNING' || raw.pendingWorkflowTask) return undefined;
    return await queryUntil(client, stop, () => handle.query(paymentQuery));
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

async function readClosed(
  client: Client,
  { id, runId, startedAt, indexed: { createdAt }, stopped }: ListedRun,
  stop: AbortSignal | undefined,
): Promise<EndedPayment | undefined> {
  const call: MakeCall = (ask) => callUntil(client, stop, ask);
  if (!stopped) return mustRead(endedPayment, await call(() => client.workflow.getHandle(id, runId).result()));
  return await readStopped(client, { id, runId, createdAt, startedAt }, call, (ask) => queryUntil(client, stop, ask));
}

/**
 * Queries a payment. The query waits for a worker that replays this one payment, and may never be answered, for example
 * because a key is missing: a query that takes too long doesn't show that Temporal is away.
 */
async function queryUntil<T>(client: Client, stop: AbortSignal | undefined, query: () => Promise<T>): Promise<T> {
  try {
    return await callUntil(client, stop, query);
  } catch (error) {
    if (grpcErrorOf(error)?.code !== grpc.DEADLINE_EXCEEDED) throw error;
    throw new Error('no worker has answered for the payment in time', { cause: error });
  }
}

/**
 * Codes of a Temporal that is away, or too slow. Other codes may be its lasting answer to one payment that it can't
 * read.
 */
const AWAY: ReadonlySet<grpc> = new Set([
  grpc.UNAVAILABLE,
  grpc.CANCELLED,
  grpc.RESOURCE_EXHAUSTED,
  grpc.DEADLINE_EXCEEDED,
]);

/** Reports whether Temporal as a whole is unreachable, rather than one payment unreadable. */
export function isTemporalAway(error: unknown): boolean {
  const code = grpcErrorOf(error)?.code;
  return code !== undefined && AWAY.has(code);
}
