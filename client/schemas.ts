/* Made from docs/openapi.json by `npm run openapi`: change the schemas in src/schemas instead. */

/** A word of an answer: one of those, or one that a later version has added. */
export type Open<Known extends string> = Known | (string & {});

export type CollectionParams = LinkParams | DirectParams;

export interface LinkParams {
  readonly method: 'link';
  /** In XAF, which has no smaller unit */
  readonly amount: number;
  /** The address for the provider's receipt */
  readonly email?: string;
  /**
   * Your own identifier of the customer, returned with the payment. It can't be the customer's phone number,
   * name or e-mail address
   */
  readonly userId?: string;
  /**
   * Your own identifier of the payment, returned with it. It can't be the payer's phone number, name or e-mail
   * address
   */
  readonly externalId?: string;
  /** The purpose of the payment */
  readonly message?: string;
  /**
   * Your own data, returned with the payment: up to 50 strings, and 32000 bytes as JSON. The provider doesn't
   * get it
   */
  readonly metadata?: {
    readonly [key: string]: string;
  };
  /**
   * The address that the payer's browser goes to after paying. Coming back proves nothing: read the payment, or
   * wait for the notification
   */
  readonly redirectUrl?: string;
  /**
   * The lifetime of the link: from `10s` to `24h`, a whole number of `s`, `m` or `h`. By default 24 hours,
   * unless your operator has set another time
   */
  readonly expiresIn?: string;
  /**
   * The payer's mobile number, if you know it: refunds go there. The provider gives no number for a link, so a
   * refund to a number that isn't named here takes an approval
   */
  readonly refundTo?: string;
}

export interface DirectParams {
  readonly method: 'direct';
  /** In XAF, which has no smaller unit */
  readonly amount: number;
  /** The address for the provider's receipt */
  readonly email?: string;
  /**
   * Your own identifier of the customer, returned with the payment. It can't be the customer's phone number,
   * name or e-mail address
   */
  readonly userId?: string;
  /**
   * Your own identifier of the payment, returned with it. It can't be the payer's phone number, name or e-mail
   * address
   */
  readonly externalId?: string;
  /** The purpose of the payment */
  readonly message?: string;
  /**
   * Your own data, returned with the payment: up to 50 strings, and 32000 bytes as JSON. The provider doesn't
   * get it
   */
  readonly metadata?: {
    readonly [key: string]: string;
  };
  /** The payer's Cameroonian mobile number, with or without +237 */
  readonly phone: string;
  /**
   * By default, it follows from the number
   */
  readonly medium?: 'mobile money' | 'orange money';
  /** The payer's name */
  readonly name?: string;
}

/** A payment as it is now */
export interface Payment {
  /** The payment's id. It begins with `col_` for a collection and with `pay_` for a payout */
  readonly id: string;
  readonly object: 'payment';
  readonly kind: Open<'collection' | 'payout'>;
  /** The way that a collection reaches the payer */
  readonly method?: Open<'link' | 'direct'>;
  /**
   * - `CREATED`: the provider has not confirmed the payment yet, or nobody has tried to pay it
   * - `PENDING`: the payment is in progress
   * - `SUCCESSFUL`: the money has moved
   * - `FAILED`: no money has moved. The payer of a link can try again: rely on `final`
   * - `EXPIRED`: the link ended without being paid
   * - `REVIEW`: the outcome is not known, or is in doubt: an operator has to look into it. The money may have
   * moved
   */
  readonly status: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED' | 'REVIEW'>;
  /**
   * `true` when the outcome is certain. Do not pay by other means while it is `false`. It becomes `false` again
   * if an outcome is called into question; the status is then `REVIEW`
   */
  readonly final: boolean;
  /** The amount that you ordered, in XAF */
  readonly amount: number;
  /**
   * The amount that moved, in XAF, once the payment is `SUCCESSFUL` and the provider has given it. It differs
   * from `amount` when an operator has matched a transaction of another amount: compare the two before you
   * deliver
   */
  readonly amountPaid?: number;
  readonly currency: 'XAF';
  /** The page where the payer pays; collections by link only */
  readonly link?: string;
  /** The provider's transaction, once it is known */
  readonly transId?: string;
  /** The medium that moves the money, once the provider has given it */
  readonly medium?: Open<'mobile money' | 'orange money' | 'platform'>;
  /** The last three digits of the phone number: `•••• 205` */
  readonly phone?: string;
  /** The amount after the provider's fees, once the provider has given it, in XAF */
  readonly revenue?: number;
  /** The provider's fees: the amount that moved, less `revenue`, in XAF */
  readonly fee?: number;
  /** Why the payment failed or is in REVIEW, in words for people */
  readonly reason?: string;
  /** Why the payment is FAILED (a link's failed attempt included) or EXPIRED. Stable: let programs act on it */
  readonly failureCode?: Open<
    | 'rejected_by_provider'
    | 'failed_at_provider'
    | 'expired'
    | 'not_sent'
    | 'link_not_created'
    | 'withdrawn'
    | 'not_approved'
    | 'not_refundable'
    | 'decided_by_operator'
  >;
  /** The mobile operator's reference */
  readonly financialTransId?: string;
  readonly held?: Hold;
  readonly review?: PaymentReview;
  readonly resolution?: PaymentResolution;
  /** The collection that the payout refunds */
  readonly refundOf?: string;
  /** The reason for the refund, as you sent it */
  readonly refundReason?: string;
  /** The last three digits of the number that a link's refunds go to */
  readonly refundTo?: string;
  /**
   * The sum of the refunds that have arrived; in one payment read by its id, of a collection that is
   * `SUCCESSFUL` (or in `REVIEW`, if it has refunds); missing while it is not known, in XAF
   */
  readonly refunded?: number;
  /**
   * The sum of the refunds that were sent, may have been, or are to be; in one payment read by its id, of a
   * collection that is `SUCCESSFUL` (or in `REVIEW`, if it has refunds); missing while it is not known, in XAF
   */
  readonly refunding?: number;
  /**
   * What can still be refunded: 0 when the rest is less than 100 XAF; in one payment read by its id, of a
   * collection that is `SUCCESSFUL` (or in `REVIEW`, if it has refunds); missing while it is not known, in XAF
   */
  readonly refundable?: number;
  /** Your own identifier, as you sent it */
  readonly externalId?: string;
  /** Your own identifier of the customer, as you sent it */
  readonly userId?: string;
  /** The person whose key ordered it; payouts only */
  readonly orderedBy?: string;
  /** As you sent it */
  readonly message?: string;
  /** The address that the payer of a link returns to, as you sent it */
  readonly redirectUrl?: string;
  /** Your own data, as you sent it */
  readonly metadata: {
    readonly [key: string]: string;
  };
  readonly createdAt: string;
  /** The time of the last change of the payment */
  readonly updatedAt: string;
  /** The time when the link ends; collections by link only */
  readonly expiresAt?: string;
  /** For operators: whose payment it is */
  readonly merchant?: string;
  /** For operators: the payment's workflow in Temporal's Web UI */
  readonly temporalUrl?: string;
}

/** A payout that was not sent yet. It is sent when nothing is left that it waits for */
export interface Hold {
  /** What it still waits for: `approval`, by another person than the one who ordered it, or its `date` */
  readonly for: readonly Open<'approval' | 'date'>[];
  readonly since: string;
  /** The end of the time for the approval, or else the date */
  readonly until: string;
  /** Its date, if the order has one */
  readonly sendAt?: string;
  /** The recipient's name, as you sent it */
  readonly name?: string;
  /** The recipient's e-mail address, with most of it hidden */
  readonly email?: string;
  readonly approvals: readonly {
    /** Who has approved it */
    readonly by: string;
    readonly at: string;
  }[];
  /** The digest of amount, recipient and name. An approval has to repeat it */
  readonly digest: string;
}

/** The review that the payment is under */
export interface PaymentReview {
  /**
   * Grows with every new finding, and with every decision that is proposed or rejected; a decision has to name
   * it
   */
  readonly number: number;
  /** Since when an operator has been needed */
  readonly since: string;
  /**
   * The earliest time at which an operator can decide without `force` that no money has moved: until then, the
   * provider's records may be incomplete
   */
  readonly decideFrom: string;
  /**
   * A decision takes two people: the payout is above its merchant's limit
   */
  readonly secondPerson?: true;
  /** For operators: the decision that waits for a second person */
  readonly proposed?: ProposedDecision;
  /** For operators: the latest decision that was rejected or withdrawn, unless there has been another since */
  readonly rejected?: RejectedDecision;
}

/** The decision that one person proposes. Nothing is done until another person agrees */
export interface ProposedDecision {
  readonly action: Open<'resend' | 'fail' | 'match'>;
  /** The transaction that the payment is to be matched with */
  readonly transId?: string;
  /** The amount of that transaction, when it differs from the order's, in XAF */
  readonly transactionAmount?: number;
  /** The operator's name: the second person has another */
  readonly by: string;
  readonly why: string;
  /**
   * The operator overrules an objection, or decided before `decideFrom`. The second person has to, too
   */
  readonly forced?: true;
  /** The objections that the operator overruled; without it, `forced` is for whatever came up */
  readonly overruled?: readonly Open<
    | 'too_early'
    | 'reported_transaction'
    | 'missing_transaction'
    | 'no_answer'
    | 'different_transaction'
    | 'unassigned_transaction'
  >[];
  readonly at: string;
}

/** A decision that was rejected or withdrawn */
export interface RejectedDecision {
  readonly action: Open<'resend' | 'fail' | 'match'>;
  /** The transaction that the payment was to be matched with */
  readonly transId?: string;
  /** The operator who had decided so */
  readonly proposedBy: string;
  /** Who rejected it; the same operator, if it was withdrawn */
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

/** The operator's decision that ended the last review */
export interface PaymentResolution {
  readonly action: Open<'resend' | 'fail' | 'match'>;
  /** The transaction that the payment was matched with */
  readonly transId?: string;
  /** The number of the review that was decided on */
  readonly review: number;
  /** The operator's name */
  readonly by: string;
  readonly why: string;
  /**
   * The operator overruled an objection, or decided before `decideFrom`
   */
  readonly forced?: true;
  /** The objections that the operator overruled; without it, `forced` is for whatever came up */
  readonly overruled?: readonly Open<
    | 'too_early'
    | 'reported_transaction'
    | 'missing_transaction'
    | 'no_answer'
    | 'different_transaction'
    | 'unassigned_transaction'
  >[];
  readonly at: string;
  /**
   * A `resend` that waits to be sent: `reject` takes it back
   */
  readonly revocable?: true;
  /** The second person, where the decision took two */
  readonly approval?: {
    /** The second operator's name */
    readonly by: string;
    readonly why: string;
  };
}

/** A problem document (RFC 9457) */
export interface ProblemDocument {
  /** The address of the description of this kind of problem, relative to the address of the request */
  readonly type: string;
  readonly title: string;
  /** The HTTP status */
  readonly status: number;
  /** The error and its remedy, for people */
  readonly detail: string;
  /** Stable: let programs act on it */
  readonly code: Open<
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
    | 'same_person'
    | 'digest_mismatch'
    | 'not_held'
    | 'not_under_review'
    | 'resolution_refused'
    | 'not_refundable'
    | 'refundable_mismatch'
    | 'body_too_large'
    | 'unsupported_media_type'
    | 'rejected_by_provider'
    | 'daily_limit_reached'
    | 'more_than_refundable'
    | 'phone_required'
    | 'rate_limited'
    | 'too_many_attempts'
    | 'too_many_notifications'
    | 'internal_error'
    | 'record_unreadable'
    | 'provider_refused'
    | 'temporarily_unavailable'
    | 'provider_unavailable'
  >;
  /** The request's X-Request-Id: give it to your operator */
  readonly requestId: string;
  /** Each field or parameter that is wrong */
  readonly errors?: readonly FieldError[];
  /** The payment as it is now */
  readonly payment?: Payment;
  /** The payment that the request was about */
  readonly paymentId?: string;
  /** The `force` with which the decision is taken in spite of what stands against it in `detail` */
  readonly force?:
    | boolean
    | readonly Open<
        | 'too_early'
        | 'reported_transaction'
        | 'missing_transaction'
        | 'no_answer'
        | 'different_transaction'
        | 'unassigned_transaction'
      >[];
  /** The amount of the match's transaction, when it differs from the order's, in XAF */
  readonly transactionAmount?: number;
  /** What was collected; missing while the outcome is not known, in XAF */
  readonly collected?: number;
  /** The sum of the refunds that have arrived, in XAF */
  readonly refunded?: number;
  /** The sum of the refunds that were sent, may have been, or are to be, in XAF */
  readonly refunding?: number;
  /** What can still be refunded: 0 when the rest is less than 100 XAF, in XAF */
  readonly refundable?: number;
  /**
   * The statement isn't there yet, because it is being made
   */
  readonly beingMade?: true;
}

/** The error in one field. `field message` is a sentence */
export interface FieldError {
  /** A field by its path, such as `metadata.colour`, or a parameter by its name */
  readonly field: string;
  readonly message: string;
}

export interface PayoutParams {
  /** In XAF, which has no smaller unit */
  readonly amount: number;
  /** The recipient's Cameroonian mobile number, with or without +237. Required unless `medium` is `platform` */
  readonly phone?: string;
  /**
   * By default, it follows from the number. `platform` is an account at the provider itself: then `email` is
   * required, and `phone` is refused
   */
  readonly medium?: 'mobile money' | 'orange money' | 'platform';
  /** The recipient's name */
  readonly name?: string;
  /**
   * It waits until another person than the one whose key orders it approves, whatever its amount. Above the
   * limit of its merchant, it does so anyway
   */
  readonly approval?: true;
  /** It is not sent before this time, which is at most 90 days ahead */
  readonly sendAt?: string;
  /** The address for the provider's receipt */
  readonly email?: string;
  /**
   * Your own identifier of the customer, returned with the payment. It can't be the customer's phone number,
   * name or e-mail address
   */
  readonly userId?: string;
  /**
   * Your own identifier of the payment, returned with it. It can't be the payer's phone number, name or e-mail
   * address
   */
  readonly externalId?: string;
  /** The purpose of the payment */
  readonly message?: string;
  /**
   * Your own data, returned with the payment: up to 50 strings, and 32000 bytes as JSON. The provider doesn't
   * get it
   */
  readonly metadata?: {
    readonly [key: string]: string;
  };
}

export interface RefundParams {
  /** In XAF; by default all that can still be refunded */
  readonly amount?: number;
  /**
   * The number to send it to: by default the payer's of a direct collection, and a link's `refundTo`. A refund
   * to any other number waits for another person's approval
   */
  readonly phone?: string;
  /**
   * By default, it follows from the number
   */
  readonly medium?: 'mobile money' | 'orange money';
  /** Why the money goes back, returned with the refund */
  readonly reason: string;
  /** The `refundable` that you have seen: the refund is refused when it is another now. In XAF */
  readonly expectedRefundable?: number;
}

/** The refunds of a collection */
export interface Refunds {
  readonly object: 'refunds';
  /** The payment's id. It begins with `col_` for a collection and with `pay_` for a payout */
  readonly collection: string;
  /** What was collected; missing while the outcome is not known, in XAF */
  readonly collected?: number;
  /** The sum of the refunds that have arrived, in XAF */
  readonly refunded: number;
  /** The sum of the refunds that were sent, may have been, or are to be, in XAF */
  readonly refunding: number;
  /** What can still be refunded: 0 when the rest is less than 100 XAF, in XAF */
  readonly refundable: number;
  /** The refunds, oldest first */
  readonly data: readonly Payment[];
}

export interface PaymentPage {
  /** Newest first */
  readonly data: readonly PaymentSummary[];
  /** The payments of this page that can't be read at the moment. They may or may not have the `status` asked for */
  readonly unreadable: readonly UnreadablePayment[];
  /** Pass it as `cursor` for the next page; the last page has none */
  readonly nextCursor?: string;
  /** Of all payments that are selected, on all pages, if `totals` asks for them */
  readonly totals?: {
    readonly count: number;
    /** What was ordered, in XAF */
    readonly amount: number;
    /** What has moved of the SUCCESSFUL ones, in XAF */
    readonly amountPaid: number;
  };
}

/** A payment in a list */
export interface PaymentSummary {
  /** The payment's id. It begins with `col_` for a collection and with `pay_` for a payout */
  readonly id: string;
  readonly object: 'payment';
  readonly kind: Open<'collection' | 'payout'>;
  /** The way that a collection reaches the payer */
  readonly method?: Open<'link' | 'direct'>;
  /**
   * - `CREATED`: the provider has not confirmed the payment yet, or nobody has tried to pay it
   * - `PENDING`: the payment is in progress
   * - `SUCCESSFUL`: the money has moved
   * - `FAILED`: no money has moved. The payer of a link can try again: rely on `final`
   * - `EXPIRED`: the link ended without being paid
   * - `REVIEW`: the outcome is not known, or is in doubt: an operator has to look into it. The money may have
   * moved
   */
  readonly status: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED' | 'REVIEW'>;
  /**
   * `true` when the outcome is certain. Do not pay by other means while it is `false`. It becomes `false` again
   * if an outcome is called into question; the status is then `REVIEW`
   */
  readonly final: boolean;
  /** The amount that you ordered, in XAF */
  readonly amount: number;
  /**
   * The amount that moved, in XAF, once the payment is `SUCCESSFUL` and the provider has given it. It differs
   * from `amount` when an operator has matched a transaction of another amount: compare the two before you
   * deliver
   */
  readonly amountPaid?: number;
  readonly currency: 'XAF';
  /** The provider's transaction, once it is known */
  readonly transId?: string;
  /** The medium that moves the money, once the provider has given it */
  readonly medium?: Open<'mobile money' | 'orange money' | 'platform'>;
  /** The amount after the provider's fees, once the provider has given it, in XAF */
  readonly revenue?: number;
  /** The provider's fees: the amount that moved, less `revenue`, in XAF */
  readonly fee?: number;
  /** Why the payment failed or is in REVIEW, in words for people */
  readonly reason?: string;
  /** Why the payment is FAILED (a link's failed attempt included) or EXPIRED. Stable: let programs act on it */
  readonly failureCode?: Open<
    | 'rejected_by_provider'
    | 'failed_at_provider'
    | 'expired'
    | 'not_sent'
    | 'link_not_created'
    | 'withdrawn'
    | 'not_approved'
    | 'not_refundable'
    | 'decided_by_operator'
  >;
  /** Your own identifier, as you sent it */
  readonly externalId?: string;
  /** The collection that the payout refunds */
  readonly refundOf?: string;
  /** Your own identifier of the customer, as you sent it */
  readonly userId?: string;
  /** Your own data, as you sent it */
  readonly metadata: {
    readonly [key: string]: string;
  };
  readonly createdAt: string;
  /** The time of the last change of the payment */
  readonly updatedAt: string;
  /** For operators: whose payment it is */
  readonly merchant?: string;
  /** For operators: the payment's workflow in Temporal's Web UI */
  readonly temporalUrl?: string;
}

/** A payment that exists, but can't be read at the moment */
export interface UnreadablePayment {
  /** The payment's id. It begins with `col_` for a collection and with `pay_` for a payout */
  readonly id: string;
  /** For operators: whose payment it is */
  readonly merchant?: string;
  readonly temporalUrl?: string;
}

export interface ApprovalParams {
  /** `held.digest` of the payment */
  readonly digest: string;
}

export interface RejectionParams {
  /** Kept with the payment, and shown to its merchant */
  readonly why: string;
}

export interface ResendOrFailParams {
  readonly action: 'resend' | 'fail';
  /** The number of the review that you decide on: `review.number` of the payment */
  readonly review: number;
  /** Shown to the merchant */
  readonly why: string;
  readonly force?: Force;
}

/** The objections that a decision overrules; `true`: all, also those that you have not read */
export type Force =
  | boolean
  | readonly (
      | 'too_early'
      | 'reported_transaction'
      | 'missing_transaction'
      | 'no_answer'
      | 'different_transaction'
      | 'unassigned_transaction'
    )[];

export interface MatchParams {
  readonly action: 'match';
  /** The number of the review that you decide on: `review.number` of the payment */
  readonly review: number;
  /** Shown to the merchant */
  readonly why: string;
  readonly force?: Force;
  /** The transaction's id in the provider's records */
  readonly transId: string;
}

export interface RejectRequest {
  readonly action: 'reject';
  /** The number of the review that you decide on: `review.number` of the payment */
  readonly review: number;
  /** Shown to operators */
  readonly why: string;
}

export interface TimelineEntry {
  /** The time of the event, or of the first of several */
  readonly at: string;
  /** The time of the last of several */
  readonly lastAt?: string;
  /** The number of times, when there were several */
  readonly count?: number;
  readonly type: Open<
    | 'created'
    | 'held'
    | 'approved'
    | 'approval_refused'
    | 'withdrawal_requested'
    | 'sending'
    | 'accepted'
    | 'rejected'
    | 'send_failed'
    | 'unanswered'
    | 'looked_up'
    | 'asked'
    | 'provider_notification'
    | 'expiring'
    | 'expiry_answered'
    | 'refresh_requested'
    | 'recheck_requested'
    | 'review_opened'
    | 'decision_proposed'
    | 'decision_rejected'
    | 'decided'
    | 'status_changed'
    | 'merchant_notification'
    | 'notification_requested'
    | 'omitted'
    | 'stopped'
  >;
  /**
   * The event's origin. `notification`: it came in the provider's name, and proves nothing. `temporal`: somebody
   * asked for it with Temporal's own tools
   */
  readonly source: Open<'merchant' | 'provider' | 'timer' | 'operator' | 'system' | 'notification' | 'temporal'>;
  /** The event, for people */
  readonly summary: string;
  /** The payment's status from then on */
  readonly status?: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED' | 'REVIEW'>;
  readonly final?: true;
  /** The amount that moved, when it differs from the order's, in XAF */
  readonly amountPaid?: number;
  readonly reason?: string;
  readonly failureCode?: Open<
    | 'rejected_by_provider'
    | 'failed_at_provider'
    | 'expired'
    | 'not_sent'
    | 'link_not_created'
    | 'withdrawn'
    | 'not_approved'
    | 'not_refundable'
    | 'decided_by_operator'
  >;
  readonly transId?: string;
  /**
   * The person who decided or asked for it; a merchant's timeline names an operator only for a decision. Of
   * `sending`: `policy` or `operator`, if it is sent once more. Of a check, `statement`
   */
  readonly by?: string;
  /** What a held payout waits for */
  readonly for?: readonly Open<'approval' | 'date'>[];
  /** The second operator, where the decision took two */
  readonly approvedBy?: string;
  /** The operator whose decision was rejected */
  readonly proposedBy?: string;
  readonly cause?: Open<'credentials' | 'throttled' | 'connection' | 'unchecked'>;
  /** The provider's answer */
  readonly answer?: string;
  readonly transactions?: readonly {
    readonly transId: string;
    readonly status: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED'>;
  }[];
  /**
   * It is about a transaction that isn't the payment's, so far
   */
  readonly other?: true;
  readonly providerStatus?: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED'>;
  readonly review?: number;
  readonly action?: Open<'resend' | 'fail' | 'match'>;
  readonly forced?: true;
  /** The notification's number */
  readonly number?: number;
  readonly event?: Open<
    | 'payment.succeeded'
    | 'payment.refunded'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.attempt_failed'
    | 'payment.review'
    | 'payment.held'
  >;
  readonly delivery?: Open<'delivered' | 'failed' | 'abandoned' | 'no_address'>;
  /** The collection that the payment refunds */
  readonly refundOf?: string;
  /** The number of entries left out here */
  readonly entries?: number;
}

export interface EventPage {
  /** In the order of their places */
  readonly data: readonly PaymentEvent[];
  /** `true` when there are further events already */
  readonly hasMore: boolean;
  /** Pass it as `cursor` for what comes after this page, now or whenever you ask again */
  readonly nextCursor: string;
  /** All events that happened before this are in the feed */
  readonly completeUntil: string;
}

/** Something that you were to be notified of */
export interface PaymentEvent {
  /** The `webhook-id` of the notification: the same here and there */
  readonly id: string;
  readonly type: Open<
    | 'payment.succeeded'
    | 'payment.refunded'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.attempt_failed'
    | 'payment.review'
    | 'payment.held'
  >;
  /** The time of the event */
  readonly timestamp: string;
  /** For operators: whose it is */
  readonly merchant?: string;
  /** The payment's id. It begins with `col_` for a collection and with `pay_` for a payout */
  readonly paymentId: string;
  /**
   * The payment as it is now, which can be ahead of `type`: act on it. Missing when it can't be read at the
   * moment
   */
  readonly data?: Payment;
}

export interface Notification {
  /** 1 for the payment's first notification */
  readonly number: number;
  /** The `webhook-id`: the same for every attempt */
  readonly id: string;
  readonly type: Open<
    | 'payment.succeeded'
    | 'payment.refunded'
    | 'payment.failed'
    | 'payment.expired'
    | 'payment.attempt_failed'
    | 'payment.review'
    | 'payment.held'
  >;
  /** The time of the event */
  readonly at: string;
  readonly delivery: NotificationDelivery;
}

/** The progress of the delivery */
export interface NotificationDelivery {
  /**
   * - `due`: the next attempt is not before `at`
   * - `delivered`: you acknowledged it at `at`
   * - `no_address`: no webhook address was set when it was to be sent, at `at`
   * - `abandoned`: Sanaga gave up at `at`, after 72 hours
   */
  readonly status: Open<'due' | 'delivered' | 'no_address' | 'abandoned'>;
  readonly at: string;
  /** Attempts that have failed, while it is due */
  readonly tries?: number;
  /** The time of the last attempt, until it is delivered */
  readonly lastTriedAt?: string;
  /** Why the last attempt failed, unless it was delivered */
  readonly lastError?: string;
}

export interface Balance {
  readonly object: 'balance';
  readonly service: Open<'collection' | 'payout'>;
  /** The service's name at the provider */
  readonly serviceName: string;
  /** In `currency` */
  readonly balance: number;
  readonly currency: string;
  /** The time when the provider was asked */
  readonly asOf: string;
}

export interface StatementList {
  /** The newest day first */
  readonly data: readonly StatementSummary[];
  /** `true` when there are earlier ones */
  readonly hasMore: boolean;
}

export interface StatementSummary {
  /** The day in Douala */
  readonly date: string;
  /** Grows each time that the statement of the day is made */
  readonly version: number;
  readonly madeAt: string;
  /** `true` when the day was over, and the provider has answered every question and could show everything */
  readonly complete: boolean;
  /** For operators: how many payments it has */
  readonly payments?: number;
  /** For operators: how many differences it has */
  readonly differences?: number;
}

/** The statement of a day */
export interface Statement {
  readonly object: 'statement';
  /** The day in Douala */
  readonly date: string;
  /** Grows each time that the statement of the day is made */
  readonly version: number;
  readonly madeAt: string;
  /** `true` when the day was over, and the provider has answered every question and could show everything */
  readonly complete: boolean;
  readonly timeZone: 'Africa/Douala';
  /** The beginning of the day */
  readonly from: string;
  /** The end of the day or, when it was not over, of what is covered: later payments are missing */
  readonly to: string;
  readonly services: {
    readonly collection: ServiceStatement;
    readonly payout: ServiceStatement;
  };
  /** In the order of their creation */
  readonly payments: readonly StatementLine[];
  readonly differences: readonly StatementDifference[];
}

export interface ServiceStatement {
  readonly totals: StatementTotals;
  /** For operators: the balance at the beginning of the day. Missing when nobody could ask for it then */
  readonly opening?: MidnightBalance;
  /** For operators: the same at its end */
  readonly closing?: MidnightBalance;
  readonly change?: BalanceChange;
  readonly coverage: StatementCoverage;
}

export interface StatementTotals {
  /** The number of payments */
  readonly payments: number;
  readonly byStatus: {
    readonly CREATED: Sum;
    readonly PENDING: Sum;
    readonly SUCCESSFUL: Sum;
    readonly FAILED: Sum;
    readonly EXPIRED: Sum;
    readonly REVIEW: Sum;
  };
  /** The sum of SUCCESSFUL payments after the provider's fees, where these are known, in XAF */
  readonly revenue: number;
  /** The sum of these fees, in XAF */
  readonly fees: number;
  /** SUCCESSFUL payments whose fee the provider didn't tell */
  readonly withoutFee: number;
}

export interface Sum {
  readonly count: number;
  /** The sum of their amounts; for SUCCESSFUL payments, of the amounts moved, in XAF */
  readonly amount: number;
}

export interface MidnightBalance {
  /** The balance by the provider, in XAF */
  readonly balance: number;
  /** The time of that, within minutes of midnight in Douala */
  readonly asOf: string;
}

export interface BalanceChange {
  /** The closing balance less the opening one, in XAF */
  readonly balance: number;
  /** The sum of the day's SUCCESSFUL payments: positive for collections, negative for payouts, in XAF */
  readonly payments: number;
  /**
   * `balance` less `payments`: other days' payments, withdrawals, unknown fees, and movements that only the
   * provider knows, in XAF
   */
  readonly rest: number;
}

export interface StatementCoverage {
  readonly complete: boolean;
  /**
   * What is not covered, in words: the rest of a day that was not over and, for operators, what the provider's
   * search could not show
   */
  readonly gaps: readonly string[];
  /** Payments without data: the provider gave no answer about them, or there were too many to ask for one by one */
  readonly notCompared: number;
  /** `true` when there are more payments than a statement takes */
  readonly cutOff: boolean;
}

/** A payment. Its payer is not named */
export interface StatementLine {
  /** The payment's id. It begins with `col_` for a collection and with `pay_` for a payout */
  readonly id: string;
  readonly merchant: string;
  readonly kind: Open<'collection' | 'payout'>;
  /** At the time of the statement */
  readonly status: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED' | 'REVIEW'>;
  readonly final: boolean;
  /** The amount that you ordered, in XAF */
  readonly amount: number;
  /**
   * The amount that moved, in XAF, once the payment is `SUCCESSFUL` and the provider has given it. It differs
   * from `amount` when an operator has matched a transaction of another amount: compare the two before you
   * deliver
   */
  readonly amountPaid?: number;
  /** The amount after the provider's fee, in XAF */
  readonly revenue?: number;
  /** The amount that moved, less `revenue`; missing when the provider did not give it, in XAF */
  readonly fee?: number;
  readonly transId?: string;
  readonly financialTransId?: string;
  readonly medium?: Open<'mobile money' | 'orange money' | 'platform'>;
  readonly externalId?: string;
  /** The collection that the payout refunds */
  readonly refundOf?: string;
  readonly createdAt: string;
  readonly providerStatus?: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED'>;
  /** As the provider shows it, in XAF */
  readonly providerAmount?: number;
  /** `true` when the provider has answered for it */
  readonly compared: boolean;
}

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
  readonly service: Open<'collection' | 'payout'>;
  readonly paymentId?: string;
  readonly merchant?: string;
  readonly transId?: string;
  /** As the payment had it */
  readonly status?: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED' | 'REVIEW'>;
  /** The payment's amount: ordered, or moved, in XAF */
  readonly amount?: number;
  /** As the provider shows it */
  readonly providerStatus?: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED'>;
  /** As the provider shows it, in XAF */
  readonly providerAmount?: number;
  /** The order number on a transaction that belongs to no payment */
  readonly externalId?: string;
  /** The same in words */
  readonly text: string;
  /**
   * The handling: the payment was compared with the provider's records again (`checked`, with `statusAfter`) or
   * couldn't be (`not_checked`, with `problem`), a person has to decide it (`under_review`), or a transaction is
   * among the unmatched notifications (`unmatched`) or stands here alone (`noted`)
   */
  readonly handling: Open<'checked' | 'not_checked' | 'under_review' | 'unmatched' | 'noted'>;
  readonly statusAfter?: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED' | 'REVIEW'>;
  readonly problem?: string;
}

export interface StatementBeingMade {
  readonly object: 'statement_request';
  readonly date: string;
  /** The version that it will have */
  readonly version: number;
}

export interface UnmatchedNotification {
  readonly transId?: string;
  readonly status?: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED'>;
  readonly externalId?: string;
  /** The time when it was received, or found */
  readonly at: string;
  /** The beginning of one that can't be read, as it came */
  readonly unread?: string;
  /** The day whose statement has found it: it wasn't notified of, but shown by the provider */
  readonly statement?: string;
}

export interface UnacknowledgedPage {
  /** The oldest first, over all pages */
  readonly data: readonly UnacknowledgedNotification[];
  /** The number of such notifications, on all pages */
  readonly total: number;
  /** Pass it as `cursor` for the next page; the last page has none */
  readonly nextCursor?: string;
}

/** A notification that a merchant has not acknowledged */
export interface UnacknowledgedNotification {
  readonly payment: {
    /** The payment's id. It begins with `col_` for a collection and with `pay_` for a payout */
    readonly id: string;
    readonly merchant: string;
    readonly kind: Open<'collection' | 'payout'>;
    readonly status: Open<'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED' | 'REVIEW'>;
    /** The amount that you ordered, in XAF */
    readonly amount: number;
    /**
     * The amount that moved, in XAF, once the payment is `SUCCESSFUL` and the provider has given it. It differs
     * from `amount` when an operator has matched a transaction of another amount: compare the two before you
     * deliver
     */
    readonly amountPaid?: number;
    readonly currency: 'XAF';
  };
  readonly notification: Notification;
}
