import type { Client } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import proto from '@temporalio/proto';
import type { PaymentStatus } from '../payments/words/payment.js';
import { type PaymentId, type PaymentKind, parsePaymentId, type TransId } from '../payments/words/payment-id.js';
import { endOfDay, startOf } from '../payments/words/time.js';
import { endingWith } from '../temporal/connection.js';
import { pagesOf } from '../temporal/list-workflows.js';
import { paymentSearchAttributes as attributes } from '../temporal/search-attributes.js';
import { WORKFLOW_TYPES } from '../workflows/messages.js';
import type { PaymentRun } from './payment-record.js';

/** The runs of payments in Temporal's index. */

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

/** Runs of payments, as many as one call gives. */
export interface RunPage {
  readonly runs: readonly ListedRun[];
  readonly isLast: boolean;
}

/** Makes a call to Temporal, within the time that it may take. */
type MakeCall = <T>(call: () => Promise<T>) => Promise<T>;

const PAYMENTS = `WorkflowType IN (${WORKFLOW_TYPES.map((type) => `"${type}"`).join(', ')})`;

/**
 * Runs that ended at or after `from` and before `to` (ms since the epoch); of those that continued as new, the last
 * alone.
 */
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

/** Runs of payouts that a merchant ordered on a day, but for those that were opened again. */
export function payoutsOfDay(merchant: string, day: string): string {
  const begin = startOf(day);
  const { merchant: owner, createdAt } = attributes;
  return `WorkflowType = "payOut" AND ${owner.name} = "${merchant}" AND ${createdAt.name} >= ${begin} AND ${createdAt.name} < ${endOfDay(begin)}`;
}

/** Runs of these payments. */
export function runsOf(ids: readonly PaymentId[]): string {
  const quoted = ids.map((id) => `"${id}"`).join(', ');
  return `${PAYMENTS} AND ExecutionStatus != "ContinuedAsNew" AND WorkflowId IN (${quoted})`;
}

/**
 * Open runs of whose payments merchants were to be notified of something: the first time gives each a {@link
 * attributes.final}, if need be false, which it keeps, whatever its status becomes. The index doesn't know what has yet
 * to be delivered.
 */
export const TOLD_PAYMENTS = `${PAYMENTS} AND ExecutionStatus = "Running" AND ${attributes.final.name} IS NOT NULL`;

/**
 * Runs of payments with a notification that nobody sends any more: it was given up, or its payment's workflow was
 * stopped. An earlier run of a payment that was opened again says what was so then.
 */
export const UNDELIVERED_PAYMENTS =
  `${PAYMENTS} AND ExecutionStatus != "ContinuedAsNew" AND (${attributes.givenUp.name} = true OR ` +
  `(ExecutionStatus IN ("Terminated", "Canceled", "Failed", "TimedOut") AND ${attributes.final.name} IS NOT NULL))`;

/**
 * The runs that a query finds, a call's worth at a time.
 *
 * @param call makes each call to Temporal; by default it may take ten seconds
 */
export async function* listRuns(
  client: Client,
  query: string,
  call: MakeCall = (list) => called(client, undefined, list),
  pageSize = RUNS_PER_CALL,
): AsyncGenerator<RunPage> {
  for await (const { executions, isLast } of pagesOf(client, { query, pageSize }, call))
    yield { runs: executions.map(toRun).filter((run) => run !== undefined), isLast };
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
export async function called<T>(client: Client, stop: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  const limited = () => client.withDeadline(Date.now() + CALL_LIMIT_MS, call);
  return await (stop === undefined ? limited() : endingWith(client, stop, limited));
}
