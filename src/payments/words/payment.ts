import type { Decision, Objection } from './decision.js';
import type { CURRENCY } from './limits.js';
import type { CollectionMethod, HeldFor } from './order.js';
import type { PaymentId, PaymentKind, TransId } from './payment-id.js';
import type { Medium, ProviderStatus } from './transaction.js';

/** The provider's statuses, and REVIEW: a person must decide. */
export const PAYMENT_STATUSES = ['CREATED', 'PENDING', 'SUCCESSFUL', 'FAILED', 'EXPIRED', 'REVIEW'] as const;
export type PaymentStatus = ProviderStatus | 'REVIEW';

/** The types of merchants' notifications. */
export const PAYMENT_EVENT_TYPES = [
  'payment.succeeded',
  'payment.refunded',
  'payment.failed',
  'payment.expired',
  'payment.attempt_failed',
  'payment.review',
  'payment.held',
] as const;
export type PaymentEventType = (typeof PAYMENT_EVENT_TYPES)[number];

/**
 * Reasons for FAILED or EXPIRED, for programs. The provider's interface fixes no words for why a transaction failed, so
 * none of these is guessed from its texts.
 */
export const FAILURE_CODES = [
  /** The provider refused the order, and made no transaction. */
  'rejected_by_provider',
  /** The provider's transaction failed. Its reason, if it gave one, is in `reason`. */
  'failed_at_provider',
  /** The link ended without being paid. */
  'expired',
  /** It could not be sent in time. */
  'not_sent',
  /** It isn't known whether the provider made the link; nobody was given it. */
  'link_not_created',
  /** The merchant withdrew it before it was sent. */
  'withdrawn',
  /** A person has rejected it before it was sent, or nobody has approved it in time. */
  'not_approved',
  /** A refund was not sent: its collection doesn't stand any more, or has less left than the refund. */
  'not_refundable',
  /** An operator decided that no money has moved. */
  'decided_by_operator',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** The review that a payment is under; a decision has to name it. */
export interface PaymentReview {
  /** 1 for the payment's first; it grows whenever the evidence changes. */
  readonly number: number;
  /** Time since when a person has been needed. */
  readonly since: string;
  /** Time from which `resend` and `fail` are accepted without `force`. */
  readonly decideFrom: string;
  /** A decision takes two people. */
  readonly secondPerson?: true | undefined;
  /** A decision that waits for a second person. */
  readonly proposed?: ProposedDecision | undefined;
  /** The latest that was rejected or withdrawn. */
  readonly rejected?: RejectedDecision | undefined;
}

/** The fields that decisions have in common. */
interface DecisionFields {
  readonly action: Decision['action'];
  readonly transId?: TransId | undefined;
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

/** A decision, and the objections that it overrules. */
interface MadeDecision extends DecisionFields {
  /** It was made before its time, or against a hint, because the operator insisted. */
  readonly forced?: true | undefined;
  /** The objections that it overrules; missing when it overrules any. */
  readonly overruled?: readonly Objection[] | undefined;
}

/** One person's decision that takes two. Nothing has been done. */
export interface ProposedDecision extends MadeDecision {
  /** That transaction's amount, where the provider has shown it to differ from the order; XAF. */
  readonly transactionAmount?: number | undefined;
}

/** A decision that no second person has confirmed: `by` rejected it or, the same as `proposedBy`, withdrew it. */
export interface RejectedDecision extends DecisionFields {
  readonly proposedBy: string;
}

/** An operator's decision: who made it, and why. */
export interface PaymentResolution extends MadeDecision {
  /** The review that it was made in. */
  readonly review: number;
  /** A resend that waits to be sent: nothing has left yet, and it can be withdrawn. */
  readonly revocable?: true | undefined;
  /** The second person, if the decision took two. */
  readonly approval?: { readonly by: string; readonly why: string } | undefined;
}

/** A payout that waits before it is sent. */
export interface PaymentHold {
  /** What it still waits for; it is sent when the last is there. */
  readonly for: readonly HeldFor[];
  readonly since: string;
  /** End of the time for the approval, or else the payout's date. */
  readonly until: string;
  /** The payout's date, if it has one. */
  readonly sendAt?: string | undefined;
  /** The recipient's name, as it was ordered. */
  readonly name?: string | undefined;
  /** The recipient's e-mail address at the provider's platform, with most of it hidden. */
  readonly email?: string | undefined;
  readonly approvals: readonly { readonly by: string; readonly at: string }[];
  /** An approval has to repeat it. */
  readonly digest: string;
}

/** A payment as it stands, in the words of the merchant's API; times are ISO 8601 in UTC, amounts XAF. */
export interface Payment {
  readonly id: PaymentId;
  readonly object: 'payment';
  readonly kind: PaymentKind;
  readonly method?: CollectionMethod | undefined;
  readonly status: PaymentStatus;
  /** Nothing will change the status any more. A link's FAILED is a failed attempt, and not final. */
  readonly final: boolean;
  /** The amount that was ordered. */
  readonly amount: number;
  /**
   * The amount that moved, once the payment is SUCCESSFUL and the provider has given it. It differs from the order's
   * when an operator has matched a transaction of another amount.
   */
  readonly amountPaid?: number | undefined;
  readonly currency: typeof CURRENCY;
  readonly link?: string | undefined;
  readonly transId?: TransId | undefined;
  readonly medium?: Medium | undefined;
  readonly revenue?: number | undefined;
  /** The provider's fee: the amount that moved, less `revenue`. */
  readonly fee?: number | undefined;
  /** The reason why it failed or is under review, in words for the merchant. */
  readonly reason?: string | undefined;
  readonly failureCode?: FailureCode | undefined;
  readonly financialTransId?: string | undefined;
  /** Present while the payment is a payout that waits before it is sent. */
  readonly held?: PaymentHold | undefined;
  /** Present while the payment is under review. */
  readonly review?: PaymentReview | undefined;
  /** The operator's decision that ended the last review. */
  readonly resolution?: PaymentResolution | undefined;
  /** The phone's last three digits, such as `•••• 000`. */
  readonly phone?: string | undefined;
  /** The collection that the payment refunds. */
  readonly refundOf?: PaymentId | undefined;
  readonly refundReason?: string | undefined;
  /** The number that a link's refunds go to, as {@link phone}. */
  readonly refundTo?: string | undefined;
  readonly message?: string | undefined;
  readonly redirectUrl?: string | undefined;
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  /** The person who ordered it; payouts only. */
  readonly orderedBy?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt?: string | undefined;
}

/** A payment in a list. */
export type PaymentSummary = Pick<
  Payment,
  | 'id'
  | 'object'
  | 'kind'
  | 'method'
  | 'status'
  | 'final'
  | 'amount'
  | 'amountPaid'
  | 'currency'
  | 'transId'
  | 'externalId'
  | 'userId'
  | 'refundOf'
  | 'metadata'
  | 'createdAt'
  | 'fee'
  | 'revenue'
  | 'medium'
  | 'failureCode'
  | 'reason'
  | 'updatedAt'
>;
