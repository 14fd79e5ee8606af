import type { z } from 'zod';
import type { mediumSchema, WireTransaction } from '../src/provider/schemas.js';

export type Medium = z.infer<typeof mediumSchema>;
export type Status = WireTransaction['status'];
export type ServiceKind = 'collection' | 'payout';
/** How a transaction came to be: initiate-pay, direct-pay or payout. */
export type Method = 'link' | 'direct' | 'payout';

/** A status and since when (ms, the sandbox's clock). */
export interface StatusChange {
  readonly status: Status;
  readonly at: number;
}

/** One go of a payer at a link. */
export interface Attempt {
  readonly at: number;
  readonly action: 'pay' | 'decline';
}

/** One notification, true or made up by a fault, and how each of its tries was answered. */
export interface Notification {
  readonly status: Status;
  readonly at: number;
  /** The faults that changed it, if any. */
  readonly faults: readonly string[];
  readonly tries: { readonly at: number; readonly answer: number | string }[];
  acknowledged: boolean;
}

/** What is known of a transaction at its creation. Phone numbers are read for their outcome and never kept. */
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
  /** What the payment is for, as the merchant put it. */
  readonly message?: string | undefined;
  /** The service's webhook address. */
  readonly webhook?: string | undefined;
}

/** One transaction in the ledger. Only the ledger and those who record what they did to it write to it. */
export interface Entry extends Draft {
  /** Grows with each transaction: orders those of the same ms. */
  readonly sequence: number;
  readonly transId: string;
  readonly createdAt: number;
  /** Links only: the unguessable last part of the link. */
  readonly linkToken?: string | undefined;
  /** Links only: the first ms at which it can't be paid any more. */
  readonly expiresAt?: number | undefined;
  /** From when on it shows in lists and searches. */
  listedFrom: number;
  medium?: Medium | undefined;
  email?: string | undefined;
  status: Status;
  reason?: string | undefined;
  financialTransId?: string | undefined;
  confirmedAt?: number | undefined;
  /** What a PENDING transaction is going to come to, and when. */
  settlement?: { readonly at: number; readonly status: 'SUCCESSFUL' | 'FAILED' } | undefined;
  readonly history: StatusChange[];
  readonly attempts: Attempt[];
  readonly statusCalls: { answered: number; throttled: number; readonly recent: number[] };
  readonly notifications: Notification[];
  readonly faults: Map<string, number>;
}

/** Whether nothing can come after its status. A link's FAILED is an attempt that failed: it can be tried again. */
export function isFinal(entry: Pick<Entry, 'status' | 'method'>): boolean {
  if (entry.status === 'SUCCESSFUL' || entry.status === 'EXPIRED') return true;
  return entry.status === 'FAILED' && entry.method !== 'link';
}
