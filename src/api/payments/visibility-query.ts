import type { PaymentStatus } from '../../payments/payment.js';
import type { PaymentKind } from '../../payments/payment-id.js';
import { paymentSearchAttributes as attributes } from '../../temporal/search-attributes.js';
import { WORKFLOW_TYPES } from '../../workflows/messages.js';

/** Which payments to list; times in ms since the epoch. */
export interface PaymentFilter {
  /** The owner of an API key. Without it, everybody's. */
  readonly owner?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  readonly kind?: PaymentKind | undefined;
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdBefore?: number | undefined;
}

/** What Temporal's query language takes between quotes without any meaning of its own. */
const PLAIN = /^[A-Za-z0-9_.:/+=@~-]{1,200}$/;

/** Whether a value can be asked for. Ids can; of the provider's, whose form it doesn't tell, not every one might. */
export function isQueryable(value: string): boolean {
  return PLAIN.test(value);
}

/** How a payment whose workflow an operator stopped, or that could not go on, left its workflow. */
const STOPPED = `ExecutionStatus IN ("Terminated", "Canceled", "Failed", "TimedOut")`;

/** Runs of payments; of those that went on in another run, the last one alone. */
const PAYMENTS = `WorkflowType IN (${WORKFLOW_TYPES.map(quote).join(', ')}) AND ExecutionStatus != "ContinuedAsNew"`;

/**
 * The filter in Temporal's query language. It finds too much rather than too little: an earlier run of a payment that
 * was opened again is among its findings as it was then, so what it finds has to be looked at once more.
 *
 * @throws {Error} for a value that isn't an identifier: a query is never made of what could be read as a piece of one.
 */
export function visibilityQuery(filter: PaymentFilter): string {
  const { owner, status, kind, externalId, userId, createdFrom, createdBefore } = filter;
  const { merchant, createdAt } = attributes;
  return [
    PAYMENTS,
    ...equals(merchant.name, owner),
    ...(status === 'REVIEW'
      ? [`(${equals(attributes.status.name, status)[0]} OR ${STOPPED})`]
      : equals(attributes.status.name, status)),
    ...equals(attributes.kind.name, kind),
    ...equals(attributes.externalId.name, externalId),
    ...equals(attributes.userId.name, userId),
    ...(createdFrom === undefined ? [] : [`${createdAt.name} >= ${createdFrom}`]),
    ...(createdBefore === undefined ? [] : [`${createdAt.name} < ${createdBefore}`]),
  ].join(' AND ');
}

/** The runs of payments that have a transaction of the provider. @throws {Error} as {@link visibilityQuery}. */
export function queryByTransId(transId: string): string {
  return [PAYMENTS, ...equals(attributes.transId.name, transId)].join(' AND ');
}

function equals(attribute: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${attribute} = ${quote(value)}`];
}

function quote(value: string): string {
  if (!isQueryable(value)) throw new Error('a value that is no identifier can’t be asked for');
  return `"${value}"`;
}
