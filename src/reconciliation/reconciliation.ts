import { ownerOf, transTypeOf } from '../payments/machine/matching.js';
import { xaf } from '../payments/words/limits.js';
import type { Service } from '../payments/words/order.js';
import type { PaymentStatus } from '../payments/words/payment.js';
import type { PaymentId, PaymentKind, TransId } from '../payments/words/payment-id.js';
import { isoTime } from '../payments/words/time.js';
import type { Medium, ProviderStatus, SearchedTransaction, Transaction } from '../payments/words/transaction.js';

/**
 * Compares a day's payments with the provider's records. It decides nothing: a payment that differs is asked to compare
 * itself with the provider's records, by the rules for every late contradiction.
 */

/** A payment of the day, as it stands; amounts are in XAF. */
export interface DayPayment {
  readonly id: PaymentId;
  readonly merchant: string;
  readonly kind: PaymentKind;
  readonly status: PaymentStatus;
  readonly final: boolean;
  /** The amount that was ordered. */
  readonly amount: number;
  /** The amount that moved, if the payment is SUCCESSFUL and the provider has given it. */
  readonly amountPaid?: number | undefined;
  readonly transId?: TransId | undefined;
  readonly externalId?: string | undefined;
  /** The collection that it refunds. */
  readonly refundOf?: PaymentId | undefined;
  /** ms since the epoch. */
  readonly createdAt: number;
}

/** A transaction that no payment here knows. */
export interface UnknownTransaction {
  readonly service: Service;
  readonly transaction: SearchedTransaction;
}

/** The ways in which a payment and the provider's records can differ. */
export const DIFFERENCE_KINDS = [
  /** The provider has a transaction that no payment here knows. */
  'only_at_provider',
  /** The payment has a transaction that the provider doesn't show. */
  'missing_at_provider',
  /** More than one transaction of the payment has moved money, or may. */
  'several_transactions',
  'amount_differs',
  'kind_differs',
  'status_differs',
  /** A known case: a person has to decide it. */
  'in_review',
] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** A difference, before anything is done about it. */
export interface Finding {
  readonly kind: DifferenceKind;
  readonly service: Service;
  readonly paymentId?: PaymentId | undefined;
  readonly merchant?: string | undefined;
  /** The transaction that it is about. */
  readonly transId?: TransId | undefined;
  /** As the payment has it. */
  readonly status?: PaymentStatus | undefined;
  readonly amount?: number | undefined;
  /** As the provider shows it. */
  readonly providerStatus?: ProviderStatus | undefined;
  readonly providerAmount?: number | undefined;
  /** The identifier that an unknown transaction was made with. */
  readonly externalId?: string | undefined;
  /** The same in words. */
  readonly text: string;
}

/**
 * A payment in a statement. It names no person: the payment itself does, to those who may read it. Amounts are in XAF.
 */
export interface StatementLine extends Omit<DayPayment, 'createdAt'> {
  /** The amount after the provider's fee; missing when the provider doesn't tell it. */
  readonly revenue?: number | undefined;
  /** The provider's fee: the amount that has moved, less `revenue`. */
  readonly fee?: number | undefined;
  readonly financialTransId?: string | undefined;
  readonly medium?: Medium | undefined;
  /** ISO 8601, in UTC. */
  readonly createdAt: string;
  /** As the provider shows its transaction. */
  readonly providerStatus?: ProviderStatus | undefined;
  readonly providerAmount?: number | undefined;
  /** `true` when the provider has answered for the payment. */
  readonly compared: boolean;
}

/** A payment's transactions, as the provider shows them; `undefined` when no answer can be relied on. */
export type Shown = readonly Transaction[] | undefined;

/** A payment as a line of the statement, with its differences. */
export function compare(payment: DayPayment, shown: Shown): { line: StatementLine; findings: Finding[] } {
  const own = shown && transactionOf(payment, shown);
  return { line: toLine(payment, own, shown !== undefined), findings: findingsOf(payment, own, shown) };
}

/** The transactions of a payment among others. It was sent the payment's id as externalId and as userId. */
export function ofPayment({ id, transId }: DayPayment, transactions: readonly Transaction[]): Transaction[] {
  const own = transactions.filter((one) => one.transId === transId || ownerOf(id, one) === 'payment');
  return own.filter((one, index) => own.findIndex((other) => other.transId === one.transId) === index);
}

/** Chooses the transaction that the payment goes by or, if it has none, the one that moved money, or may. */
function transactionOf({ transId }: DayPayment, shown: readonly Transaction[]): Transaction | undefined {
  if (transId !== undefined) return shown.find((one) => one.transId === transId);
  return shown.find(({ status }) => status === 'SUCCESSFUL') ?? shown.find(mayMove) ?? shown[0];
}

function mayMove({ status }: Transaction): boolean {
  return status === 'SUCCESSFUL' || status === 'PENDING';
}

function findingsOf(payment: DayPayment, own: Transaction | undefined, shown: Shown): Finding[] {
  const { status, transId } = payment;
  const found = (kind: DifferenceKind, text: string, one?: Transaction) => findingAbout(payment, kind, text, one);
  const findings: Finding[] = [];
  if (shown !== undefined) {
    const movers = shown.filter(mayMove);
    if (movers.length > 1) {
      const ids = movers.map((one) => `${one.transId} (${one.status})`).join(', ');
      findings.push(found('several_transactions', `the provider has ${ids} for the one payment`, own));
    }
    if (own === undefined && (transId !== undefined || status === 'SUCCESSFUL')) {
      const others = shown.map((one) => `${one.transId} (${one.status})`).join(', ');
      const instead = others === '' ? 'none of the payment' : `${others} in its place`;
      findings.push(
        found('missing_at_provider', `the provider doesn't show ${transId ?? 'a transaction'}, but ${instead}`),
      );
    }
    if (own !== undefined) findings.push(...disagreements(payment, own).map(([kind, text]) => found(kind, text, own)));
  }
  if (status === 'REVIEW') findings.push(found('in_review', 'a person has to decide the payment', own));
  return findings;
}

function disagreements(payment: DayPayment, own: Transaction): [DifferenceKind, string][] {
  const { kind, status } = payment;
  const amount = movedBy(payment);
  const differences: [DifferenceKind, string][] = [];
  if (own.amount !== undefined && own.amount !== amount) {
    const text = `${own.transId} is of ${xaf(own.amount)}, and the payment of ${xaf(amount)}`;
    differences.push(['amount_differs', text]);
  }
  if (own.transType !== undefined && own.transType !== transTypeOf({ kind })) {
    differences.push(['kind_differs', `${own.transId} is a ${own.transType}, and the payment a ${kind}`]);
  }
  // A payment in REVIEW claims nothing that the provider could contradict.
  if (status !== 'REVIEW' && !agree(payment, own.status)) {
    differences.push([
      'status_differs',
      `the payment is ${status}, and the provider shows ${own.transId} as ${own.status}`,
    ]);
  }
  return differences;
}

/**
 * Reports whether the two statuses are compatible. FAILED and EXPIRED mean the same for money. A status that isn't
 * final may change on either side, and one side may be a moment ahead.
 */
function agree({ status, final }: DayPayment, shown: ProviderStatus): boolean {
  if (status === shown) return true;
  if (final) return status !== 'SUCCESSFUL' && hasEndedUnpaid(shown);
  return shown === 'CREATED' || shown === 'PENDING';
}

function hasEndedUnpaid(status: ProviderStatus): boolean {
  return status === 'FAILED' || status === 'EXPIRED';
}

/** Returns the amount that a payment has moved, or is to move; XAF. */
export function movedBy({ amount, amountPaid }: Pick<DayPayment, 'amount' | 'amountPaid'>): number {
  return amountPaid ?? amount;
}

function toLine(payment: DayPayment, own: Transaction | undefined, compared: boolean): StatementLine {
  const { id, merchant, kind, status, final, amount, externalId, refundOf, createdAt } = payment;
  const paid = own?.status === 'SUCCESSFUL' ? own : undefined;
  const amountPaid = status === 'SUCCESSFUL' ? (payment.amountPaid ?? paid?.amount) : undefined;
  const revenue = paid?.revenue;
  const moved = paid?.amount ?? amountPaid ?? amount;
  return {
    id,
    merchant,
    kind,
    status,
    final,
    amount,
    amountPaid,
    revenue,
    fee: revenue === undefined || revenue > moved ? undefined : moved - revenue,
    transId: payment.transId ?? own?.transId,
    financialTransId: own?.financialTransId,
    medium: own?.medium,
    externalId,
    refundOf,
    createdAt: isoTime(createdAt),
    providerStatus: own?.status,
    providerAmount: own?.amount,
    compared,
  };
}

/** Describes a difference of a payment, and the transaction that shows it, if one does. */
function findingAbout(payment: DayPayment, kind: DifferenceKind, text: string, one?: Transaction): Finding {
  const { id: paymentId, kind: service, merchant, status, transId } = payment;
  return {
    kind,
    service,
    paymentId,
    merchant,
    transId: one?.transId ?? transId,
    status,
    amount: movedBy(payment),
    providerStatus: one?.status,
    providerAmount: one?.amount,
    text,
  };
}

/** Describes a transaction that no payment here knows. */
export function findingOf({ service, transaction }: UnknownTransaction): Finding {
  const { transId, status, amount, externalId, dateInitiated } = transaction;
  const of = amount === undefined ? '' : ` of ${xaf(amount)}`;
  const made = externalId === undefined ? 'for nobody named' : `for ${externalId}`;
  const when = dateInitiated === undefined ? 'on a day that the provider does not say' : `on ${dateInitiated}`;
  return {
    kind: 'only_at_provider',
    service,
    transId,
    providerStatus: status,
    providerAmount: amount,
    externalId,
    text: `${transId}${of} is ${status}, and was initiated ${when} ${made}: no payment here knows it`,
  };
}
