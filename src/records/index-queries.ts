import type { HeldFor } from '../payments/words/order.js';
import type { PaymentStatus } from '../payments/words/payment.js';
import type { PaymentId, PaymentKind } from '../payments/words/payment-id.js';
import { endOfDay, isoTime, startOf } from '../payments/words/time.js';
import { paymentSearchAttributes as attributes, toTransIdKeyword } from '../temporal/search-attributes.js';
import { WORKFLOW_TYPES } from '../workflows/messages.js';

/** Queries of Temporal's index of payments, in Temporal's query language. */

/** Selects payments of a list; times in ms since the epoch. */
export interface PaymentFilter {
  /** Without it, every merchant's payments. */
  readonly merchant?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  /** Selects by whether the outcome is certain. */
  readonly final?: boolean | undefined;
  /** Selects payouts that are held for this. Temporal alone knows them. */
  readonly held?: HeldFor | undefined;
  readonly kind?: PaymentKind | undefined;
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  /** The provider's transaction. */
  readonly transId?: string | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdBefore?: number | undefined;
}

/** Text without special meaning between quotes in Temporal's query language. */
const PLAIN = /^[A-Za-z0-9_.:/+=@~%-]{1,200}$/;

/** Says whether a value can be part of a query. Our ids can; the provider's have a form of its own. */
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
export const OPEN_REVIEWS = `${PAYMENTS} AND ${equals('status', 'REVIEW')} AND ExecutionStatus = "Running"`;

/**
 * Asks for payments that were created before a time, wait for nobody, and aren't final; times in ms since the epoch. A
 * payout that is still held for its date, and the date was before `datedBefore`, is stuck. One that waits for its
 * approval alone isn't, whatever its date was.
 */
export function unfinishedQuery(createdBefore: number, datedBefore: number): string {
  const { status, createdAt, heldFor, sendAt } = attributes;
  const isOld = `${createdAt.name} < ${createdBefore} AND ${FINAL.false} AND ${status.name} != "REVIEW"`;
  const isStuck = `${heldFor.name} = "date" AND ${sendAt.name} < "${isoTime(datedBefore)}"`;
  return `${PAYMENTS} AND ExecutionStatus = "Running" AND ${isOld} AND (${heldFor.name} IS NULL OR (${isStuck}))`;
}

/** Asks for payouts that are held for an approval, or for a date. One that was stopped is in REVIEW. */
export function heldQuery(waitsFor: HeldFor): string {
  return `${PAYMENTS} AND ${isHeldFor(waitsFor)}`;
}

/**
 * Asks for the payments that a filter wants, and rather for too many than too few, such as an earlier run of a reopened
 * payment as it was then: each payment must be checked again.
 *
 * @throws {Error} for a value that isn't an identifier, and so could be read as a piece of the query.
 */
export function visibilityQuery(filter: PaymentFilter): string {
  const { merchant, status, final, held, kind, externalId, userId, transId, createdFrom, createdBefore } = filter;
  const withStatus = equals('status', status);
  return [
    PAYMENTS,
    equals('merchant', merchant),
    status === 'REVIEW' ? `(${withStatus} OR (${STOPPED} AND ${FINAL.false}))` : withStatus,
    final === undefined ? undefined : FINAL[`${final}`],
    held === undefined ? undefined : isHeldFor(held),
    equals('kind', kind),
    equals('externalId', externalId),
    equals('userId', userId),
    equals('transId', transId && toTransIdKeyword(transId)),
    createdFrom === undefined ? undefined : `${attributes.createdAt.name} >= ${createdFrom}`,
    createdBefore === undefined ? undefined : `${attributes.createdAt.name} < ${createdBefore}`,
  ]
    .filter((condition) => condition !== undefined)
    .join(' AND ');
}

/** Asks for all runs of some payments. */
export function queryByIds(ids: readonly PaymentId[]): string {
  return `${PAYMENTS} AND WorkflowId IN (${ids.map(quote).join(', ')})`;
}

/** Asks for all runs of a collection's refunds. */
export function refundsQuery(collection: PaymentId): string {
  return `${PAYMENTS} AND ${equals('refundOf', collection)}`;
}

/** Asks for runs that ended at or after `from` and before `to` (ms since the epoch). */
export function endedBetween(from: number, to: number): string {
  const [begin, end] = [isoTime(from), isoTime(to)];
  return `${PAYMENTS} AND ExecutionStatus != "Running" AND CloseTime >= "${begin}" AND CloseTime < "${end}"`;
}

/** Asks for held payouts that were released at or after `from` and before `to` (ms since the epoch). */
export function releasedBetween(from: number, to: number): string {
  const { name } = attributes.releasedAt;
  return `${PAYMENTS} AND ${name} >= "${isoTime(from)}" AND ${name} < "${isoTime(to)}"`;
}

/**
 * Asks for runs of a merchant's payouts that count on a day, but for those that were opened again: ordered on it, and
 * not dated to a later one, or dated to it.
 */
export function payoutsOfDay(merchant: string, day: string): string {
  const begin = startOf(day);
  const end = endOfDay(begin);
  const { merchant: owner, createdAt, sendAt } = attributes;
  const [from, to] = [`"${isoTime(begin)}"`, `"${isoTime(end)}"`];
  const isOrdered = `${createdAt.name} >= ${begin} AND ${createdAt.name} < ${end} AND (${sendAt.name} IS NULL OR ${sendAt.name} < ${to})`;
  const isDated = `${sendAt.name} >= ${from} AND ${sendAt.name} < ${to}`;
  return `WorkflowType = "payOut" AND ${owner.name} = "${merchant}" AND ((${isOrdered}) OR (${isDated}))`;
}

/**
 * Open runs of payments with notifications: the first notification gives each payment a {@link attributes.final},
 * `false` if need be, which it keeps whatever its status. A held payout has one only while a notification is due; of
 * the others, the index doesn't know the pending deliveries.
 */
export const NOTIFIABLE_PAYMENTS = `${PAYMENTS} AND ExecutionStatus = "Running" AND ${attributes.final.name} IS NOT NULL`;

/** Open runs of payments that the recorder reads: those, and held payouts, whether or not a notification is due. */
export const OPEN_PAYMENTS_TO_RECORD = `${PAYMENTS} AND ExecutionStatus = "Running" AND (${attributes.final.name} IS NOT NULL OR ${attributes.heldFor.name} IS NOT NULL)`;

/**
 * Runs of payments with a notification that nobody sends any more: it was given up, or its payment's workflow was
 * stopped. An earlier run of a payment that was opened again says what was so then.
 */
export const UNDELIVERED_PAYMENTS = `${PAYMENTS} AND (${attributes.givenUp.name} = true OR (${STOPPED} AND ${attributes.final.name} IS NOT NULL))`;

function isHeldFor(waitsFor: HeldFor): string {
  return `ExecutionStatus = "Running" AND ${attributes.heldFor.name} = "${waitsFor}"`;
}

function equals(attribute: keyof typeof attributes, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${attributes[attribute].name} = ${quote(value)}`;
}

function quote(value: string): string {
  if (!isQueryable(value)) throw new Error('only an identifier can be part of a query');
  return `"${value}"`;
}
