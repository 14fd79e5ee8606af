import type {
  Force,
  Hold,
  MatchParams,
  Notification,
  Open,
  Payment,
  ProblemDocument,
  RejectRequest,
  ResendOrFailParams,
} from './schemas.js';

/*
 * Types of the API's requests and responses: its schemas, and the client's own types of them. Times are ISO 8601 in
 * UTC, amounts whole numbers of XAF.
 */
export type * from './schemas.js';

/** The words of a field that are known so far, without the strings that a later version may add. */
type Known<Word> = Word extends string ? (string extends Word ? never : Word) : never;

export type PaymentKind = Known<Payment['kind']>;

/** Way to reach the payer: a link to a checkout page, or a request on their phone. */
export type CollectionMethod = Known<Payment['method']>;

/** REVIEW: the outcome isn't known, or is in doubt, and an operator has to look into it. */
export type PaymentStatus = Known<Payment['status']>;

/** `platform` is an account at the provider itself, for payouts alone. */
export type Medium = Known<Payment['medium']>;

export type PhoneMedium = Exclude<Medium, 'platform'>;

/** What a payout waits for before it is sent: another person's approval, or its date. */
export type HeldFor = Known<Hold['for'][number]>;

/** Reason why a final payment is not SUCCESSFUL. */
export type FailureCode = Known<Payment['failureCode']>;

export type NotificationType = Known<Notification['type']>;

/** The `code` of an error document. */
export type ErrorCode = Known<ProblemDocument['code']>;

/** An objection to an operator's decision that `force` can overrule. */
export type Objection = Extract<Force, readonly unknown[]>[number];

/** A payment that was created or, with the same Idempotency-Key, found. */
export interface CreatedPayment extends Payment {
  /** The Idempotency-Key of the request: yours, or the one that the client made. */
  readonly idempotencyKey: string;
  /** An earlier request with this key created the payment. */
  readonly replayed: boolean;
}

export interface RetrieveParams {
  /** Seconds to wait for the payment to become final: 0 to 60. */
  readonly wait?: number;
}

export interface ListParams {
  readonly status?: PaymentStatus;
  /** Selects by whether the outcome is certain. `false`: all that is still open, a link's FAILED included. */
  readonly final?: boolean;
  /** Payouts that were not sent yet, and wait for this: those that wait for both are in both lists. */
  readonly held?: HeldFor;
  readonly kind?: PaymentKind;
  readonly externalId?: string;
  readonly userId?: string;
  /** The provider's id of the transaction. */
  readonly transId?: string;
  /** The mobile operator's reference. */
  readonly financialTransId?: string;
  /** Any identifier of a payment, or the beginning of its `externalId`. */
  readonly reference?: string;
  /** Collections by the way that they reach the payer. */
  readonly method?: 'link' | 'direct';
  /** Ordered for at least `gte` and at most `lte`; XAF. */
  readonly amount?: { readonly gte?: number; readonly lte?: number };
  /** For operators: only the payments of this merchant. */
  readonly merchant?: string;
  /** Created at or after `gte`, and before `lt`. */
  readonly created?: { readonly gte?: string | Date; readonly lt?: string | Date };
  /** Created on this day in Douala, such as `2026-11-20`. */
  readonly day?: string;
  /** Also count and sum up all payments that are selected: the page has `totals` then. */
  readonly totals?: boolean;
  /** Payments per page: 1 to 100; 20 by default. */
  readonly limit?: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** An operator's decision on a payment in REVIEW. */
export type ResolveParams = ResendOrFailParams | MatchParams;

/** Voids the decision that waits for a second person. */
export type RejectParams = Omit<RejectRequest, 'action'>;

export interface UnacknowledgedParams {
  /** Notifications per page: 1 to 100; 100 by default. */
  readonly limit?: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** A notification as it arrives at your webhook address. */
export interface WebhookEvent {
  /** The header `webhook-id`: the same each time that this notification is sent. */
  readonly id: string;
  readonly type: Open<NotificationType>;
  /** Time of the event. */
  readonly timestamp: string;
  /** The payment at the time of sending. Act on this, and not on the type: it can be ahead of it. */
  readonly data: Payment;
}

export interface EventListParams {
  readonly type?: NotificationType;
  /** Only what happened at or after this time. */
  readonly since?: string | Date;
  /** For operators: only the events of this merchant. */
  readonly merchant?: string;
  /** Events per page: 1 to 100; 100 by default. */
  readonly limit?: number;
  /** The `nextCursor` of an earlier page: only events recorded after it. */
  readonly cursor?: string;
}

/** Selects statements of a list. */
export interface StatementListParams {
  /** Only days before this one, such as `2026-11-21`. */
  readonly before?: string;
  /** 31 by default, and 100 at most. */
  readonly limit?: number;
}
