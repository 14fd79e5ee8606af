import type { PaymentId, TransId } from './payment-id.js';

/** Every status that the provider gives a transaction. */
export const PROVIDER_STATUSES = ['CREATED', 'PENDING', 'SUCCESSFUL', 'FAILED', 'EXPIRED'] as const;
export type ProviderStatus = (typeof PROVIDER_STATUSES)[number];

/** Every way money travels at the provider; `platform` is an account of the provider's own. */
export const MEDIUMS = ['mobile money', 'orange money', 'platform'] as const;
export type Medium = (typeof MEDIUMS)[number];

/** Mediums that a payer's phone can have; `platform` is for payouts alone. */
export const PHONE_MEDIUMS = ['mobile money', 'orange money'] as const;
export type PhoneMedium = (typeof PHONE_MEDIUMS)[number];

/** The provider's words for the two directions. */
export type TransType = 'Collection' | 'Payout';

/**
 * The provider's data on one transaction, without what names a person (payer's name, e-mail), which has no business in
 * a workflow's history. The provider doesn't document which fields come in which state, so only the id and the status
 * are certain.
 */
export interface Transaction {
  readonly transId: TransId;
  readonly status: ProviderStatus;
  readonly transType?: TransType | undefined;
  /** XAF */
  readonly amount?: number | undefined;
  readonly medium?: Medium | undefined;
  /** XAF: what is left for the merchant after the provider's fees. */
  readonly revenue?: number | undefined;
  readonly reason?: string | undefined;
  readonly financialTransId?: string | undefined;
  /** The id of the payment this transaction was made for, when Sanaga made it. */
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  /** Another payment that goes by it, as the book has it: the provider says nothing of that. */
  readonly takenBy?: PaymentId | undefined;
}

/** A transaction of the provider's search, with its date. */
export interface SearchedTransaction extends Transaction {
  /** Date of initiation in the provider's form, such as `2026-11-21`, in a time zone that it doesn't name. */
  readonly dateInitiated?: string | undefined;
}

/**
 * A notification of the provider's that matches no payment or can't be read, or a transaction that no payment knows;
 * `at` is when it arrived or was found, ISO 8601.
 */
export interface Unmatched {
  readonly at: string;
  readonly transId?: TransId | undefined;
  readonly status?: ProviderStatus | undefined;
  readonly externalId?: string | undefined;
  /** The beginning of one that can't be read, as it came. */
  readonly unread?: string | undefined;
  /** The day whose statement has found it. It wasn't notified of, but shown by the provider itself. */
  readonly statement?: string | undefined;
}
