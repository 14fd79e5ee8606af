import type { Client } from '@temporalio/client';
import type { PaymentStatus } from '../payments/words/payment.js';
import { type PaymentId, type PaymentKind, parsePaymentId } from '../payments/words/payment-id.js';
import { paymentSearchAttributes as attributes } from '../temporal/search-attributes.js';
import { WORKFLOW_TYPES } from '../workflows/messages.js';
import { askRecords, type RecordsContext } from './recorded-payments.js';
import { callTemporal } from './temporal-calls.js';

/** Which payments to list; times in ms since the epoch. */
export interface PaymentFilter {
  /** The owner of an API key. Without it, everybody's payments. */
  readonly owner?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  /** Whether the outcome is certain. */
  readonly final?: boolean | undefined;
  readonly kind?: PaymentKind | undefined;
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  /** The provider's transaction. */
  readonly transId?: string | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdBefore?: number | undefined;
}

/** Payments of one transaction that are read at once. */
const MAX_HOLDERS = 10;

/** What has no meaning of its own between quotes in Temporal's query language. */
const PLAIN = /^[A-Za-z0-9_.:/+=@~-]{1,200}$/;

/** Whether a value can be part of a query. Our ids can; the provider's have a form of its own. */
export function isQueryable(value: string): boolean {
  return PLAIN.test(value);
}

/** Payments whose workflow an operator stopped, or that failed: without an outcome, they are in REVIEW. */
const STOPPED = `ExecutionStatus IN ("Terminated", "Canceled", "Failed", "TimedOut")`;

/** By whether the status is final: the attribute is absent as long as it never was. */
const FINAL = {
  true: `${attributes.final.name} = true`,
  false: `(${attributes.final.name} IS NULL OR ${attributes.final.name} = false)`,
} as const;

/** Runs of payments; of those that continued as new, the last run alone. */
const PAYMENTS = `WorkflowType IN (${WORKFLOW_TYPES.map(quote).join(', ')}) AND ExecutionStatus != "ContinuedAsNew"`;

/** Payments under review that a person can decide: those that were stopped are out of anybody's reach. */
export const OPEN_REVIEWS = `${PAYMENTS} AND ${equals(attributes.status.name, 'REVIEW')[0]} AND ExecutionStatus = "Running"`;

/** Payments that were created before a time (ms since the epoch), have no final status, and need no person. */
export function unfinishedQuery(before: number): string {
  const { final, status, createdAt } = attributes;
  return `${PAYMENTS} AND ExecutionStatus = "Running" AND ${createdAt.name} < ${before} AND (${final.name} IS NULL OR ${final.name} = false) AND ${status.name} != "REVIEW"`;
}

/**
 * The filter in Temporal's query language. It finds too much rather than too little, such as an earlier run
 * of a reopened payment as it was then: each payment must be checked again.
 *
 * @throws {Error} for a value that isn't an identifier, and so could be read as a piece of the query.
 */
export function visibilityQuery(filter: PaymentFilter): string {
  const { owner, status, kind, externalId, userId, transId, createdFrom, createdBefore } = filter;
  const { merchant, createdAt } = attributes;
  return [
    PAYMENTS,
    ...equals(merchant.name, owner),
    ...(status === 'REVIEW'
      ? [`(${equals(attributes.status.name, status)[0]} OR (${STOPPED} AND ${FINAL.false}))`]
      : equals(attributes.status.name, status)),
    ...(filter.final === undefined ? [] : [FINAL[`${filter.final}`]]),
    ...equals(attributes.kind.name, kind),
    ...equals(attributes.externalId.name, externalId),
    ...equals(attributes.userId.name, userId),
    ...equals(attributes.transId.name, transId),
    ...(createdFrom === undefined ? [] : [`${createdAt.name} >= ${createdFrom}`]),
    ...(createdBefore === undefined ? [] : [`${createdAt.name} < ${createdBefore}`]),
  ].join(' AND ');
}

/** All runs of some payments. */
export function queryByIds(ids: readonly PaymentId[]): string {
  return `${PAYMENTS} AND WorkflowId IN (${ids.map(quote).join(', ')})`;
}

function equals(attribute: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${attribute} = ${quote(value)}`];
}

function quote(value: string): string {
  if (!isQueryable(value)) throw new Error('only an identifier can be part of a query');
  return `"${value}"`;
}

/** What looking for a transaction needs. */
type TransactionContext = { readonly client: Client } & RecordsContext;

/**
 * The payments that have a transaction of the provider; there should be at most one. A payment is found some
 * moments after it got its transaction.
 *
 * @throws {Unavailable | RecordsUnavailable}
 */
export async function findByTransId(context: TransactionContext, transId: string): Promise<PaymentId[]> {
  const recorded = await recordedWith(context, transId);
  return [...new Set([...recorded, ...(await indexedWith(context, transId))])];
}

/**
 * The payments that a hint about a transaction may be for: those that Temporal has or, only when it has none, those of
 * the records. A hint proves nothing, so it needn't wait for records that are away when Temporal has its payment.
 *
 * @throws {Unavailable | RecordsUnavailable}
 */
export async function findForHint(context: TransactionContext, transId: string): Promise<PaymentId[]> {
  const indexed = await indexedWith(context, transId);
  return indexed.length > 0 ? indexed : await recordedWith(context, transId);
}

async function recordedWith({ records }: TransactionContext, transId: string): Promise<PaymentId[]> {
  if (!isQueryable(transId)) return [];
  const recorded = await askRecords(
    () => records?.list({ transId }, MAX_HOLDERS),
    "It can't be checked at the moment which payment has this transaction. Try again shortly.",
  );
  return (recorded ?? []).map(({ id }) => id);
}

async function indexedWith({ client }: TransactionContext, transId: string): Promise<PaymentId[]> {
  if (!isQueryable(transId)) return [];
  return await callTemporal(client, async () => {
    const ids = new Set<PaymentId>();
    const request = { query: visibilityQuery({ transId }), pageSize: MAX_HOLDERS };
    for await (const { workflowId } of client.workflow.list(request)) {
      const id = parsePaymentId(workflowId);
      if (id !== undefined) ids.add(id);
    }
    return [...ids];
  });
}
