/** What the API takes and returns. Times are ISO 8601 in UTC, amounts whole numbers of XAF. */

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
  readonly kind: PaymentKind;
  readonly method?: CollectionMethod;
  readonly status: PaymentStatus;
  /**
   * Whether the status is the outcome. Rely on this, and not on the status alone: the payer of a link that FAILED can
   * try again. Do not pay by other means while it is `false`.
   */
  readonly final: boolean;
  readonly amount: number;
  readonly currency: 'XAF';
  /** Where the payer can pay. */
  readonly link?: string;
  /** The provider's id of the transaction. */
  readonly transId?: string;
  readonly medium?: Medium;
  /** The last three digits of the phone number: `•••• 205`. */
  readonly phone?: string;
  /** The amount less the provider's fees. */
  readonly revenue?: number;
  /** The provider's fees, once the money has moved. */
  readonly fee?: number;
  /** Why it failed or is in REVIEW, for people. */
  readonly reason?: string;
  /** Why it is FAILED, a link's failed attempt included, or EXPIRED; for programs. */
  readonly failureCode?: FailureCode;
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
  readonly action: 'resend' | 'fail' | 'match';
  readonly transId?: string;
  readonly by: string;
  readonly why: string;
  readonly forced?: true;
  readonly at: string;
}

export interface RejectedDecision {
  readonly action: 'resend' | 'fail' | 'match';
  readonly transId?: string;
  readonly proposedBy: string;
  /** The same name as `proposedBy` when it was withdrawn. */
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

export interface PaymentResolution {
  readonly action: 'resend' | 'fail' | 'match';
  readonly transId?: string;
  /** The number of the review that it was made on. */
  readonly review: number;
  readonly by: string;
  readonly why: string;
  /** The operator overruled an objection, or decided before `decideFrom`. */
  readonly forced?: true;
  readonly at: string;
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
  readonly kind?: PaymentKind;
  readonly externalId?: string;
  readonly userId?: string;
  /** The provider's id of the transaction. */
  readonly transId?: string;
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
  readonly data: readonly Payment[];
  /** Payments of this page that can't be read at the moment. They exist, and may or may not have the status asked for. */
  readonly unreadable: readonly UnreadablePayment[];
  /** Missing on the last page. */
  readonly nextCursor?: string;
}

export interface UnreadablePayment {
  readonly id: string;
  readonly merchant?: string;
  readonly temporalUrl?: string;
}

/** An operator's decision on a payment in REVIEW. */
export type ResolveParams = {
  /** The number of the review that you decide on. If it has changed, the decision is refused. */
  readonly review: number;
  readonly why: string;
  /** Decide before `decideFrom`, or over an objection. */
  readonly force?: boolean;
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
  readonly type: NotificationType;
  /** When it happened. */
  readonly at: string;
  readonly delivery: NotificationDelivery;
}

export type NotificationDelivery =
  /** The next attempt is at `at`; `tries` have failed. */
  | { readonly status: 'due'; readonly at: string; readonly tries: number; readonly lastError?: string }
  | { readonly status: 'delivered'; readonly at: string }
  | { readonly status: 'no_address'; readonly at: string }
  | { readonly status: 'abandoned'; readonly at: string; readonly lastError?: string };

/** A notification as it arrives at your webhook address. */
export interface WebhookEvent {
  /** The header `webhook-id`: the same each time that this notification is sent. */
  readonly id: string;
  readonly type: NotificationType;
  /** When it happened. */
  readonly timestamp: string;
  /** The payment at the time of sending. Act on this, and not on the type: it can be ahead of it. */
  readonly data: Payment;
}

export interface Balance {
  readonly object: 'balance';
  readonly service: PaymentKind;
  /** The provider's name for the service. */
  readonly serviceName: string;
  readonly balance: number;
  readonly currency: string;
  /** When the provider said so. */
  readonly asOf: string;
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
  | 'temporarily_unavailable'
  | 'provider_unavailable';

/** What is wrong with one field: `${field} ${message}` is a sentence. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** A notification of the provider's that matches no payment of Sanaga's. */
export interface UnmatchedNotification {
  readonly transId: string;
  readonly status: string;
  readonly externalId?: string;
  readonly at: string;
}
