import type { Client } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import proto from '@temporalio/proto';
import type { PaymentStatus } from '../payments/words/payment.js';
import { type PaymentId, type PaymentKind, parsePaymentId, type TransId } from '../payments/words/payment-id.js';
import { endingWith, grpcErrorOf, isTooLarge } from '../temporal/connection.js';
import { paymentSearchAttributes as attributes, fromTransIdKeyword } from '../temporal/search-attributes.js';
import type { PaymentRun } from './payment-record.js';

/** The runs of payments in Temporal's index. */

const { WorkflowExecutionStatus: Status } = proto.temporal.api.enums.v1;

/** Runs that one call to Temporal gives: with the largest memos, some 8 MB. */
export const RUNS_PER_CALL = 250;

/** Time limit of a call, in ms. A query may have to wait for a worker that replays the payment. */
const CALL_LIMIT_MS = 10_000;

type RunInfo = proto.temporal.api.workflow.v1.IWorkflowExecutionInfo;
type Listed = proto.temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse;

/** A run of a payment's workflow, with what was stored beside it, as it is stored. */
export interface ListedRun extends PaymentRun {
  readonly memo: RunInfo['memo'];
}

/** Runs of payments, up to the number in one call. */
export interface RunPage {
  readonly runs: readonly ListedRun[];
  readonly isLast: boolean;
}

/** Makes a call to Temporal within a time limit. */
export type MakeCall = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * Lists the runs that a query finds, a call's worth at a time. A page that is too large to be sent or received is asked
 * for again with half as many, down to one; so are those after it.
 *
 * @param call makes each call to Temporal; by default it may take ten seconds
 */
export async function* listRuns(
  client: Client,
  query: string,
  call: MakeCall = (list) => callUntil(client, undefined, list),
  pageSize = RUNS_PER_CALL,
): AsyncGenerator<RunPage> {
  const { namespace } = client.options;
  let size = pageSize;
  let page: Listed | undefined;
  do {
    const request: object = { namespace, query, pageSize: size, nextPageToken: page?.nextPageToken };
    try {
      page = await call(() => client.workflowService.listWorkflowExecutions(request));
    } catch (error) {
      if (!wasTooLarge(error) || size === 1) throw error;
      size = Math.ceil(size / 2);
      continue;
    }
    const runs = page.executions.map(toRun).filter((run) => run !== undefined);
    yield { runs, isLast: page.nextPageToken.length === 0 };
  } while (page === undefined || page.nextPageToken.length > 0);
}

/** @param error of gRPC, or caused by one */
function wasTooLarge(error: unknown): boolean {
  const failed = grpcErrorOf(error) ?? (error instanceof Error ? grpcErrorOf(error.cause) : undefined);
  return failed !== undefined && isTooLarge(failed);
}

/** Keeps a run if it counts among those of its payment: the one that is open, and otherwise the one that began last. */
export function keepLatest<Run extends Pick<PaymentRun, 'id' | 'startedAt' | 'closedAt'>>(
  latest: Map<PaymentId, Run>,
  run: Run,
): void {
  const other = latest.get(run.id);
  const isNewer =
    other === undefined ||
    run.closedAt === undefined ||
    (other.closedAt !== undefined && run.startedAt > other.startedAt);
  if (isNewer) latest.set(run.id, run);
}

/** Reads a run in Temporal's own form; `undefined` for a workflow that the API hasn't started. */
export function toRun(info: RunInfo): ListedRun | undefined {
  const id = parsePaymentId(info.execution?.workflowId);
  const runId = info.execution?.runId;
  const indexed = decodeTypedSearchAttributes(info.searchAttributes?.indexedFields);
  const [merchant, amount] = [indexed.get(attributes.merchant), indexed.get(attributes.amount)];
  const createdAt = indexed.get(attributes.createdAt);
  if (id === undefined || !runId || merchant === undefined) return undefined;
  if (amount === undefined || createdAt === undefined) return undefined;
  const { isOpen, stopped, status, final, amountPaid } = outcomeOf(info, indexed);
  const transId = indexed.get(attributes.transId);
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
      transId: transId === undefined ? undefined : (fromTransIdKeyword(transId) as TransId),
      externalId: indexed.get(attributes.externalId),
      userId: indexed.get(attributes.userId),
      refundOf: parsePaymentId(indexed.get(attributes.refundOf)),
      createdAt,
      releasedAt: indexed.get(attributes.releasedAt)?.getTime(),
    },
    memo: info.memo,
  };
}

/** Returns a run's outcome by the index. A payment whose workflow was stopped without an outcome needs a person. */
function outcomeOf(info: RunInfo, indexed: TypedSearchAttributes) {
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

/** Makes a call that ends with the signal, and after ten seconds at the latest. */
export async function callUntil<T>(client: Client, stop: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  const limited = () => client.withDeadline(Date.now() + CALL_LIMIT_MS, call);
  return await (stop === undefined ? limited() : endingWith(client, stop, limited));
}
