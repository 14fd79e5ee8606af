import { status as grpc } from '@grpc/grpc-js';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { z } from 'zod';
import { toPayment } from '../payments/views/to-payment.js';
import { grpcErrorOf } from '../temporal/connection.js';
import { inputOfRun } from '../temporal/run-start.js';
import { type EndedPayment, OF_ENDED, type PaymentInput, recordQuery, startState } from '../workflows/messages.js';
import { endedPayment, mustRead, paymentInput } from '../workflows/schemas.js';
import { called, type ListedRun } from './list-runs.js';
import { inReviewUnlessFinal, type RecordContent } from './payment-record.js';

/** Reading what payments' runs have left, for the recorder. */

const memoSchema = z.object({ fingerprint: z.string(), requestId: z.string() });

/**
 * The payment as its run has left it, or as it is now. `undefined` for an open run that has something to do at this
 * moment, or has just ended: it is read later.
 *
 * @throws Error when it can't be read.
 */
export async function readRun(client: Client, run: ListedRun, stop?: AbortSignal): Promise<RecordContent | undefined> {
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
      payment: run.stopped ? inReviewUnlessFinal(ended.payment) : ended.payment,
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
    if (!run.stopped) return mustRead(endedPayment, await called(client, stop, () => handle.result()));
    return await queried(client, stop, () => handle.query(recordQuery, OF_ENDED));
  } catch (error) {
    if (error instanceof WorkflowNotFoundError && run.closedAt === undefined) return undefined;
    // It was stopped before any worker had taken it.
    if (run.stopped && grpcErrorOf(error)?.code === grpc.FAILED_PRECONDITION) return await readStart(client, run, stop);
    throw error;
  }
}

async function readStart(
  client: Client,
  { id, runId, indexed, startedAt }: ListedRun,
  stop: AbortSignal | undefined,
): Promise<EndedPayment> {
  const given = await called(client, stop, () => inputOfRun(client, { workflowId: id, runId }));
  const input = mustRead(paymentInput, given);
  const { state, timeline } = startState(input, input.requested === undefined ? indexed.createdAt : startedAt);
  return { v: 1, payment: toPayment(state), state, timeline };
}

/**
 * A query of a payment. It waits for a worker that replays this one payment, and may never be answered, for want of a
 * key, say: a query that takes too long doesn't show that Temporal is away.
 */
async function queried<T>(client: Client, stop: AbortSignal | undefined, query: () => Promise<T>): Promise<T> {
  try {
    return await called(client, stop, query);
  } catch (error) {
    if (grpcErrorOf(error)?.code !== grpc.DEADLINE_EXCEEDED) throw error;
    throw new Error('no worker has answered for the payment in time', { cause: error });
  }
}

/**
 * Codes of a Temporal that is away, or too slow. The others may be its answer to one payment that it can't read, for
 * good.
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
