/** What the API takes and returns. Times are ISO 8601 in UTC, amounts whole numbers of XAF. */

/** A word of an answer: one of those, or one that a later version has added. */
export type Open<Known extends string> = Known | (string & {});

export type PaymentKind = 'collection' | 'payout';

/** How the payer is reached: by a link to a checkout page, or by a request on their phone. */
export type CollectionMethod = 'link' | 'direct';

/** REVIEW: the outcome isn't known, or is in doubt, and an operator has to look into it. */
export type PaymentStatus = 'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED' | 'REVIEW';

export type PhoneMedium = 'mobile money' | 'orange money';

/** Why a final payment is not SUCCESSFUL. */
export type FailureCode =
  | 'rejected_by_provider'
  | 'failed_at_provider'
  | 'expired'
  | 'not_sent'
  | 'link_not_created'
  | 'withdrawn'
  | 'decided_by_operator';

/** `platform` is an account at the provider itself, for payouts alone. */
export type Medium = PhoneMedium | 'platform';

export interface Payment {
  /** `col_…` or `pay_…` */
  readonly id: string;
  readonly object: 'payment';
  readonly kind: Open<PaymentKind>;
  readonly method?: Open<CollectionMethod>;
  readonly status: Open<PaymentStatus>;
  /**
   * Whether the status is the outcome. Rely on this, and not on the status alone: the payer of a link that FAILED can
   * try again. Do not pay by other means while it is `false`.
   */
  readonly final: boolean;
  /** What you ordered. */
  readonly amount: number;
  /**
   * What has moved, once it is SUCCESSFUL and the provider has said how much. It differs from `amount` where an
   * operator has matched a transaction of another amount.
   */
  readonly amountPaid?: number;
  readonly currency: 'XAF';
  /** Where the payer can pay. */
  readonly link?: string;
  /** The provider's id of the transaction. */
  readonly transId?: string;
  readonly medium?: Open<Medium>;
  /** The last three digits of the phone number: `•••• 205`. */
  readonly phone?: string;
  /** What is left after the provider's fees. */
  readonly revenue?: number;
  /** The provider's fees, once the money has moved. */
  readonly fee?: number;
  /** Why it failed or is in REVIEW, for people. */
  readonly reason?: string;
  /** Why it is FAILED, a link's failed attempt included, or EXPIRED; for programs. */
  readonly failureCode?: Open<FailureCode>;
  /** The mobile operator's reference. */
  readonly financialTransId?: string;
  /** Only while the payment is in REVIEW. */
  readonly review?: PaymentReview;
  /** The operator's decision that ended the last review. */
  readonly resolution?: PaymentResolution;
  /** Your own identifiers, as you gave them. */
  readonly externalId?: string;
  readonly userId?: string;
  readonly message?: string;
  readonly redirectUrl?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When a link can no longer be paid. */
  readonly expiresAt?: string;
  /** Whose payment it is, for operators. */
  readonly merchant?: string;
  /** The payment's workflow in Temporal's Web UI, for operators. */
  readonly temporalUrl?: string;
}

/**
 * What a list shows of a payment. `medium`, `revenue`, `fee`, `reason`, `failureCode` and `updatedAt` come from the
 * records: they are missing until the payment is recorded as it stands, about a minute after its end, and where there
 * are no records.
 */
export type PaymentSummary = Omit<
  Payment,
  | 'link'
  | 'phone'
  | 'financialTransId'
  | 'review'
  | 'resolution'
  | 'message'
  | 'redirectUrl'
  | 'expiresAt'
  | 'updatedAt'
> &
  Partial<Pick<Payment, 'updatedAt'>>;

/** A payment that was created or, with the same Idempotency-Key, found. */
export interface CreatedPayment extends Payment {
  /** The Idempotency-Key of the request: yours, or the one that the client made. */
  readonly idempotencyKey: string;
  /** An earlier request with this key created the payment. */
  readonly replayed: boolean;
}

export interface PaymentReview {
  /** What a decision has to name. It grows whenever the evidence changes. */
  readonly number: number;
  /** When the review began. */
  readonly since: string;
  /** From when on `resend` and `fail` are accepted without `force`. */
  readonly decideFrom: string;
  /** A decision takes two people: the payout is above its merchant's limit. */
  readonly secondPerson?: true;
  /** For operators: a decision that waits for a second person. */
  readonly proposed?: ProposedDecision;
  /** For operators: the latest that was rejected or withdrawn. */
  readonly rejected?: RejectedDecision;
}

/** What one person has decided where it takes two. Nothing has been done. */
export interface ProposedDecision {
  readonly action: Open<'resend' | 'fail' | 'match'>;
  readonly transId?: string;
  /** What that transaction is of, where it differs from the order. */
  readonly transactionAmount?: number;
  readonly by: string;
  readonly why: string;
  readonly forced?: true;
  /** What it overrules; without it, `forced` is for whatever comes up. */
  readonly overruled?: readonly Open<Objection>[];
  readonly at: string;
}

export interface RejectedDecision {
  readonly action: Open<'resend' | 'fail' | 'match'>;
  readonly transId?: string;
  readonly proposedBy: string;
  /** The same name as `proposedBy` when it was withdrawn. */
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

export interface PaymentResolution {
  readonly action: Open<'resend' | 'fail' | 'match'>;
  readonly transId?: string;
  /** The number of the review that it was made on. */
  readonly review: number;
  readonly by: string;
  readonly why: string;
  /** The operator overruled an objection, or decided before `decideFrom`. */
  readonly forced?: true;
  /** What was overruled; without it, `forced` is for whatever came up. */
  readonly overruled?: readonly Open<Objection>[];
  readonly at: string;
  /** A `resend` that waits to be sent, and can be taken back. */
  readonly revocable?: true;
  /** The second person, where the decision took two. */
  readonly approval?: { readonly by: string; readonly why: string };
}

interface OrderParams {
  /** A whole number of XAF, at least 100. */
  readonly amount: number;
  readonly email?: string;
  /** Your own identifiers: 1 to 100 characters of a-z, A-Z, 0-9, `-`, `_`. */
  readonly externalId?: string;
  readonly userId?: string;
  /** What the payment is for. */
  readonly message?: string;
  /** Your own data, returned with the payment. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface LinkParams extends OrderParams {
  readonly method: 'link';
  /** Where the payer's browser goes after paying. */
  readonly redirectUrl?: string;
  /** How long the link can be paid: `10s` to `24h`. */
  readonly expiresIn?: string;
}

export interface DirectParams extends OrderParams {
  readonly method: 'direct';
  /** A Cameroonian mobile number. */
  readonly phone: string;
  readonly medium?: PhoneMedium;
  readonly name?: string;
}

export type CollectionParams = LinkParams | DirectParams;

export interface PayoutParams extends OrderParams {
  /** Required, unless the medium is `platform`; then `email` is. */
  readonly phone?: string;
  readonly medium?: Medium;
  readonly name?: string;
}

export interface RetrieveParams {
  /** Seconds to wait for the payment to become final: 0 to 60. */
  readonly wait?: number;
}

export interface ListParams {
  readonly status?: PaymentStatus;
  /** Whether the outcome is certain. `false`: all that is still open, a link's FAILED included. */
  readonly final?: boolean;
  readonly kind?: PaymentKind;
  readonly externalId?: string;
  readonly userId?: string;
  /** The provider's id of the transaction. */
  readonly transId?: string;
  /**
   * The mobile operator's reference. A payment is found about a minute after its end, and only where there are records.
   */
  readonly financialTransId?: string;
  /** For operators: the payments of this merchant alone. */
  readonly merchant?: string;
  /** Created at or after `gte`, and before `lt`. */
  readonly created?: { readonly gte?: string | Date; readonly lt?: string | Date };
  /** Payments per page: 1 to 100; 20 by default. */
  readonly limit?: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** One page of payments, newest first. */
export interface PaymentPage {
  readonly data: readonly PaymentSummary[];
  /**
   * Payments of this page that can't be read at the moment. They exist, and may or may not have the status asked for.
   */
  readonly unreadable: readonly UnreadablePayment[];
  /** Missing on the last page. */
  readonly nextCursor?: string;
  /** The records can't be read at the moment: payments that ended long ago may be missing. */
  readonly incomplete?: true;
}

export interface UnreadablePayment {
  readonly id: string;
  readonly merchant?: string;
  readonly temporalUrl?: string;
}

/** What can stand against an operator's decision, and be overruled. */
export type Objection =
  | 'too_early'
  | 'reported_transaction'
  | 'missing_transaction'
  | 'no_answer'
  | 'different_transaction'
  | 'unassigned_transaction';

/** What a decision overrules; `true`: whatever comes up. */
export type Force = boolean | readonly Objection[];

/** An operator's decision on a payment in REVIEW. */
export type ResolveParams = {
  /** The number of the review that you decide on. If it has changed, the decision is refused. */
  readonly review: number;
  readonly why: string;
  /**
   * The objections to overrule, as an `ApiError` has them in `force` after a refusal. `true` overrules whatever comes
   * up, also what you have not read.
   */
  readonly force?: Force;
} & (
  | { readonly action: 'resend' | 'fail' }
  | {
      readonly action: 'match';
      /** The provider's transaction that is this payment's. */
      readonly transId: string;
    }
);

/** Voids the decision that waits for a second person. */
export interface RejectParams {
  readonly review: number;
  readonly why: string;
}

/** A step of a payment's life. */
export interface TimelineEntry {
  readonly at: string;
  readonly type: string;
  /** On whose word: the merchant's, the provider's, an operator's… */
  readonly source: string;
  readonly summary: string;
  /** What else there is to say about it, by type. */
  readonly [detail: string]: unknown;
}

export type NotificationType =
  | 'payment.succeeded'
  | 'payment.failed'
  | 'payment.expired'
  | 'payment.attempt_failed'
  | 'payment.review';

/** A notification of a payment, and how far its delivery has come. */
export interface Notification {
  /** 1 for the payment's first. */
  readonly number: number;
  /** Its `webhook-id`. */
  readonly id: string;
  readonly type: Open<NotificationType>;
  /** When it happened. */
  readonly at: string;
  readonly delivery: NotificationDelivery;
}

export interface NotificationDelivery {
  /** `due`: it is sent at `at`. `abandoned`: `at` is when Sanaga gave up. */
  readonly status: Open<'due' | 'delivered' | 'no_address' | 'abandoned'>;
  readonly at: string;
  /** How many attempts have failed, while it is due. */
  readonly tries?: number;
  readonly lastTriedAt?: string;
  /** Why the last attempt failed. */
  readonly lastError?: string;
}

/** A notification that its merchant has not acknowledged, with its payment as lists show it. */
export interface UnacknowledgedNotification {
  readonly payment: Pick<PaymentSummary, 'id' | 'kind' | 'status' | 'amount' | 'amountPaid' | 'currency'> & {
    readonly merchant: string;
  };
  readonly notification: Notification;
}

export interface UnacknowledgedParams {
  /** Payments to ask: 1 to 100; 100 by default. */
  readonly limit?: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** The notifications of some of the payments that may have one. */
export interface UnacknowledgedPage {
  /** Those of the payment that was created first at the beginning, over all pages. */
  readonly data: readonly UnacknowledgedNotification[];
  /** Payments that may have one, on all pages. */
  readonly total: number;
  /** Payments that were asked for this page. */
  readonly checked: number;
  /** Those of them that could not answer in time: their notifications are missing. */
  readonly unread: number;
  /** Missing on the last page. */
  readonly nextCursor?: string;
}

/** A notification as it arrives at your webhook address. */
export interface WebhookEvent {
  /** The header `webhook-id`: the same each time that this notification is sent. */
  readonly id: string;
  readonly type: Open<NotificationType>;
  /** When it happened. */
  readonly timestamp: string;
  /** The payment at the time of sending. Act on this, and not on the type: it can be ahead of it. */
  readonly data: Payment;
}

/** Something that you were to be notified of, whether or not you were. */
export interface PaymentEvent {
  /** The `webhook-id` of the notification: the same here and there. */
  readonly id: string;
  readonly type: Open<NotificationType>;
  /** When it happened. */
  readonly timestamp: string;
  readonly paymentId: string;
  /** The payment as it was recorded last. Act on this, and not on the type. Missing when its record can't be read. */
  readonly data?: Payment;
  /** Whose it is, for operators. */
  readonly merchant?: string;
}

export interface EventListParams {
  readonly type?: NotificationType;
  /** Only what happened at or after this time. */
  readonly since?: string | Date;
  /** For operators: the events of this merchant alone. */
  readonly merchant?: string;
  /** Events per page: 1 to 100; 100 by default. */
  readonly limit?: number;
  /** The `nextCursor` of an earlier page: what was recorded after it. */
  readonly cursor?: string;
}

/** One page of events, in the order in which they were recorded. */
export interface EventPage {
  readonly data: readonly PaymentEvent[];
  /** Whether further events are recorded already. */
  readonly hasMore: boolean;
  /** Store it, and begin with it the next time: you miss nothing, and get nothing twice. */
  readonly nextCursor: string;
  /** All events of payments that ended before this are there. */
  readonly completeUntil?: string;
}

export interface Balance {
  readonly object: 'balance';
  readonly service: Open<PaymentKind>;
  /** The provider's name for the service. */
  readonly serviceName: string;
  readonly balance: number;
  readonly currency: string;
  /** When the provider said so. */
  readonly asOf: string;
}

/** Which statements to list. */
export interface StatementListParams {
  /** Only days before this one, such as `2026-11-21`. */
  readonly before?: string;
  /** 31 by default, and 100 at most. */
  readonly limit?: number;
}

export interface StatementList {
  readonly data: readonly StatementSummary[];
  /** Whether there are earlier ones. */
  readonly hasMore: boolean;
}

/** A statement in a list. */
export interface StatementSummary {
  /** The day in Douala. */
  readonly date: string;
  readonly version: number;
  readonly madeAt: string;
  readonly complete: boolean;
  /** For operators: how many payments and differences it has. */
  readonly payments?: number;
  readonly differences?: number;
}

/** What happened on a day, beside what the provider shows of it. Amounts are in XAF. */
export interface Statement {
  readonly object: 'statement';
  readonly date: string;
  readonly version: number;
  readonly madeAt: string;
  readonly timeZone: string;
  readonly from: string;
  readonly to: string;
  /** Whether the provider has answered everything that had to be asked, and could show all of it. */
  readonly complete: boolean;
  readonly services: Readonly<Record<PaymentKind, ServiceStatement>>;
  readonly payments: readonly StatementLine[];
  readonly differences: readonly StatementDifference[];
}

/**
 * One of the provider's services on that day. Balances are for operators, and missing when nobody could ask for them.
 */
export interface ServiceStatement {
  readonly totals: {
    readonly payments: number;
    /** Of SUCCESSFUL payments, the amount is what has moved. */
    readonly byStatus: Readonly<Record<PaymentStatus, { readonly count: number; readonly amount: number }>>;
    readonly revenue: number;
    readonly fees: number;
    readonly withoutFee: number;
  };
  readonly opening?: MidnightBalance;
  readonly closing?: MidnightBalance;
  readonly change?: { readonly balance: number; readonly payments: number; readonly rest: number };
  readonly coverage: {
    readonly complete: boolean;
    readonly gaps: readonly string[];
    readonly notCompared: number;
    readonly cutOff: boolean;
  };
}

export interface MidnightBalance {
  readonly balance: number;
  readonly asOf: string;
}

/** A payment in a statement. */
export interface StatementLine {
  readonly id: string;
  readonly merchant: string;
  readonly kind: Open<PaymentKind>;
  readonly status: Open<PaymentStatus>;
  readonly final: boolean;
  readonly amount: number;
  /** What has moved. */
  readonly amountPaid?: number;
  readonly revenue?: number;
  /** Missing when the provider didn't tell it. */
  readonly fee?: number;
  readonly transId?: string;
  readonly financialTransId?: string;
  readonly medium?: Open<Medium>;
  readonly externalId?: string;
  readonly createdAt: string;
  readonly providerStatus?: string;
  readonly providerAmount?: number;
  readonly compared: boolean;
}

/** What doesn't agree, or a person has to know of. */
export interface StatementDifference {
  readonly kind: Open<
    | 'only_at_provider'
    | 'missing_at_provider'
    | 'several_transactions'
    | 'amount_differs'
    | 'kind_differs'
    | 'status_differs'
    | 'in_review'
  >;
  readonly service: Open<PaymentKind>;
  readonly paymentId?: string;
  readonly merchant?: string;
  readonly transId?: string;
  readonly status?: Open<PaymentStatus>;
  readonly amount?: number;
  readonly providerStatus?: string;
  readonly providerAmount?: number;
  readonly externalId?: string;
  readonly text: string;
  readonly handling: Open<'checked' | 'not_checked' | 'under_review' | 'unmatched' | 'noted'>;
  readonly statusAfter?: Open<PaymentStatus>;
  readonly problem?: string;
}

/** A statement that was asked for. */
export interface StatementBeingMade {
  readonly object: 'statement_request';
  readonly date: string;
  readonly version: number;
}

/** The `code` of an error document. */
export type ErrorCode =
  | 'invalid_request'
  | 'malformed_json'
  | 'idempotency_key_required'
  | 'invalid_idempotency_key'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'no_such_notification'
  | 'method_not_allowed'
  | 'idempotency_key_reused'
  | 'not_a_link'
  | 'not_expirable'
  | 'not_initiated'
  | 'not_cancelable'
  | 'not_under_review'
  | 'resolution_refused'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'rejected_by_provider'
  | 'daily_limit_reached'
  | 'rate_limited'
  | 'too_many_attempts'
  | 'too_many_requests'
  | 'too_many_notifications'
  | 'internal_error'
  | 'provider_refused'
  | 'no_records'
  | 'records_unavailable'
  | 'record_unreadable'
  | 'temporarily_unavailable'
  | 'provider_unavailable';

/** What is wrong with one field: `${field} ${message}` is a sentence. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/**
 * A notification of the provider's that matches no payment of Sanaga's or can't be read, or a transaction that none
 * knows.
 */
export interface UnmatchedNotification {
  readonly transId?: string;
  readonly status?: string;
  readonly externalId?: string;
  readonly at: string;
  /** The beginning of one that can't be read, as it came. */
  readonly unread?: string;
  /** The day whose statement has found it: it wasn't notified of, but shown by the provider. */
  readonly statement?: string;
}
