import type { z } from 'zod';
import type { mediumSchema, WireTransaction } from '../src/provider/schemas.js';

export type Medium = z.infer<typeof mediumSchema>;
export type Status = WireTransaction['status'];
/** A service at the provider either collects or pays out, never both. */
export type ServiceKind = 'collection' | 'payout';
/** The endpoint that created a transaction: initiate-pay, direct-pay or payout. */
export type Method = 'link' | 'direct' | 'payout';

/** A status and when it began, in ms of the sandbox's clock. */
export interface StatusChange {
  readonly status: Status;
  readonly at: number;
}

/** One attempt by a payer to pay or decline a link. */
export interface Attempt {
  readonly at: number;
  readonly action: 'pay' | 'decline';
  /** The last three digits of the number that was asked to pay. */
  readonly phoneEnding?: string | undefined;
  /** The payer withdrew the request while it was PENDING. */
  withdrawn?: true | undefined;
}

/** One notification, genuine or forged by a fault, with the response to each try. */
export interface Notification {
  readonly status: Status;
  readonly at: number;
  /** The faults that changed it, if any. */
  readonly faults: readonly string[];
  readonly tries: { readonly at: number; readonly answer: number | string }[];
  acknowledged: boolean;
}

/** A transaction at its creation. Phone numbers decide the outcome and are never stored in full. */
export interface Draft {
  readonly service: ServiceKind;
  readonly serviceName: string;
  readonly method: Method;
  /** XAF */
  readonly amount: number;
  readonly medium?: Medium | undefined;
  readonly email?: string | undefined;
  readonly payerName?: string | undefined;
  readonly redirectUrl?: string | undefined;
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  /** The merchant's description of the payment. */
  readonly message?: string | undefined;
  /** The service's webhook address. */
  readonly webhook?: string | undefined;
}

/** One transaction in the ledger. After changing an entry, call the ledger's `save`. */
export interface Entry extends Draft {
  /** Increases with each transaction: orders those created in the same ms. */
  readonly sequence: number;
  readonly transId: string;
  readonly createdAt: number;
  /** Links only: the unguessable last part of the address. */
  readonly linkToken?: string | undefined;
  /** Links only: the first ms at which the link can no longer be paid. */
  readonly expiresAt?: number | undefined;
  /** The time when the transaction starts to appear in lists and searches. */
  listedFrom: number;
  medium?: Medium | undefined;
  email?: string | undefined;
  status: Status;
  reason?: string | undefined;
  financialTransId?: string | undefined;
  confirmedAt?: number | undefined;
  /** The outcome of a PENDING transaction, and when it is due. */
  settlement?: { readonly at: number; readonly status: 'SUCCESSFUL' | 'FAILED' } | undefined;
  readonly history: StatusChange[];
  readonly attempts: Attempt[];
  readonly statusCalls: { answered: number; throttled: number; readonly recent: number[] };
  readonly notifications: Notification[];
  /** Faults applied, counted by kind. */
  readonly faults: Map<string, number>;
}

/**
 * Reports whether the status can no longer change. A failed attempt at a link can be repeated, so its FAILED isn't
 * final.
 */
export function isFinal({ status, method }: Pick<Entry, 'status' | 'method'>): boolean {
  return status === 'SUCCESSFUL' || status === 'EXPIRED' || (status === 'FAILED' && method !== 'link');
}

/** The service's fee: 2 % of the amount in XAF, rounded up. */
const feeOf = (amount: number): number => Math.ceil((amount * 2) / 100);

/** The UTC calendar date of a time in ms; the provider doesn't document its time zone. */
export const dateOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);

interface WireOptions {
  /** Shows this status instead of the current one. */
  readonly as?: Status | undefined;
  /** Added to the dates, in ms. */
  readonly skewMs?: number | undefined;
}

/**
 * An entry as the Transaction resource. The provider doesn't document which fields come in which state. Here `medium`
 * is present once known (for a link, from the first attempt), `revenue`, `financialTransId` and `dateConfirmed` when
 * SUCCESSFUL, `reason` when FAILED, and the rest as given.
 */
export function wireTransaction(entry: Entry, { as, skewMs = 0 }: WireOptions = {}): WireTransaction {
  const status = as ?? entry.status;
  const confirmedAt = status === 'SUCCESSFUL' ? entry.confirmedAt : undefined;
  const isPaid = confirmedAt !== undefined;
  return {
    transId: entry.transId,
    status,
    medium: entry.medium,
    serviceName: entry.serviceName,
    transType: entry.service === 'payout' ? 'Payout' : 'Collection',
    amount: entry.amount,
    revenue: isPaid ? entry.amount - feeOf(entry.amount) : undefined,
    payerName: entry.payerName,
    email: entry.email,
    redirectUrl: entry.redirectUrl,
    externalId: entry.externalId,
    userId: entry.userId,
    webhook: entry.webhook,
    reason: status === 'FAILED' ? entry.reason : undefined,
    financialTransId: isPaid ? entry.financialTransId : undefined,
    dateInitiated: dateOf(entry.createdAt + skewMs),
    dateConfirmed: isPaid ? dateOf(confirmedAt + skewMs) : undefined,
  };
}
