import type { Decision } from '../words/decision.js';
import type { HeldFor } from '../words/order.js';
import type { FailureCode, PaymentEventType, PaymentStatus } from '../words/payment.js';
import type { TransId } from '../words/payment-id.js';
import type { SendCause } from '../words/phase.js';
import type { ProviderStatus } from '../words/transaction.js';

/**
 * The events of a payment, oldest first, without its creation. It is kept beside the payment's state: nothing is ever
 * decided by it. It holds no personal data.
 */
export interface Timeline {
  readonly entries: readonly TimelineEntry[];
  /** Number of entries dropped after the first {@link FIRST_KEPT}. */
  readonly omitted?: number | undefined;
}

/** Times in ms since the epoch. */
export type TimelineEntry = Occurrence & {
  readonly at: number;
  /** Number of times that it has happened, unless once, and the time of the last. */
  readonly count?: number | undefined;
  readonly lastAt?: number | undefined;
};

/** Origin of a change. `temporal`: somebody asked for it with Temporal's own tools, and isn't named. */
export type ChangeSource = Asker['source'] | 'provider' | 'timer' | 'system';

/** The actor of a request. `by`: the person. */
export interface Asker {
  readonly source: 'merchant' | 'operator' | 'temporal';
  readonly by?: string | undefined;
}

/** What came of asking the provider to expire a link. */
export type ExpiryWord = 'expired' | 'already_expired' | 'refused' | NoAnswerWord;

/** Reason why the provider gave no answer to a question. */
export type NoAnswerWord = 'throttled' | 'not_asked' | 'credentials_refused' | 'unavailable';

export type Occurrence =
  /** The payout waits before it is sent. */
  | { readonly type: 'held'; readonly for: readonly HeldFor[] }
  /** A person has approved the payout that another has ordered. */
  | { readonly type: 'approved'; readonly by: string }
  /** A person has rejected the payout, whatever it waited for: nothing is sent any more. The name is public. */
  | { readonly type: 'approval_refused'; readonly by: string; readonly reason: string }
  /** Nothing is sent any more. It ends once the provider's list shows that it was not sent before. */
  | ({ readonly type: 'withdrawal_requested' } & Asker)
  /** The request goes to the provider. `by`: it is sent once more, and on whose decision. */
  | { readonly type: 'sending'; readonly by?: Exclude<SendCause, 'order'> | undefined }
  /** The provider has the payment as this transaction. */
  | { readonly type: 'accepted'; readonly transId: TransId }
  | { readonly type: 'rejected' }
  /** Nothing was sent. `unchecked`: the provider's list, which is read before, could not be. */
  | {
      readonly type: 'send_failed';
      readonly cause: 'credentials' | 'throttled' | 'connection' | 'unchecked';
    }
  /** Nobody knows whether the provider accepted it. */
  | { readonly type: 'unanswered'; readonly reason: string }
  /** The provider's list was searched: what it shows for the payment. */
  | {
      readonly type: 'looked_up';
      readonly answer: 'listed' | 'refused' | NoAnswerWord;
      readonly transactions?: readonly ListedTransaction[] | undefined;
    }
  /** The provider was asked for the status. `other`: of a transaction that isn't the payment's, so far. */
  | {
      readonly type: 'asked';
      readonly answer: ProviderStatus | 'unknown' | NoAnswerWord;
      readonly other?: true | undefined;
      readonly transId?: TransId | undefined;
    }
  /** A notification came in the provider's name, which proves nothing. */
  | {
      readonly type: 'provider_notification';
      readonly providerStatus?: ProviderStatus | undefined;
      readonly other?: true | undefined;
      readonly transId?: TransId | undefined;
    }
  /** The link is to be ended. */
  | ({ readonly type: 'expiring' } & (Asker | { readonly source: 'timer' }))
  | {
      readonly type: 'expiry_answered';
      readonly answer: ExpiryWord;
    }
  | ({ readonly type: 'refresh_requested' } & Asker)
  | ({ readonly type: 'recheck_requested' } & (Asker | { readonly source: 'system'; readonly by: 'statement' }))
  | { readonly type: 'review_opened'; readonly review: number; readonly reason: string }
  | {
      readonly type: 'decided';
      readonly review: number;
      readonly action: Decision['action'];
      readonly transId?: TransId | undefined;
      readonly by: string;
      readonly forced?: true | undefined;
      /** The second person, where it took two. */
      readonly approvedBy?: string | undefined;
    }
  /** A decision waits for a second person. */
  | {
      readonly type: 'decision_proposed';
      readonly review: number;
      readonly action: Decision['action'];
      readonly transId?: TransId | undefined;
      readonly by: string;
      readonly forced?: true | undefined;
    }
  /** It was rejected by somebody, or withdrawn by the one who had made it. */
  | {
      readonly type: 'decision_rejected';
      readonly review: number;
      readonly action: Decision['action'];
      readonly proposedBy: string;
      readonly by: string;
    }
  | {
      readonly type: 'status_changed';
      readonly source: ChangeSource;
      /** The actor who decided or asked for it, and the second person. */
      readonly by?: string | undefined;
      readonly approvedBy?: string | undefined;
      readonly status: Exclude<PaymentStatus, 'REVIEW'>;
      readonly final?: true | undefined;
      /** The amount that moved, when it differs from the order's; XAF. */
      readonly amountPaid?: number | undefined;
      readonly reason?: string | undefined;
      readonly failureCode?: FailureCode | undefined;
    }
  | {
      readonly type: 'merchant_notification';
      readonly number: number;
      readonly event: PaymentEventType;
      readonly delivery: 'delivered' | 'failed' | 'abandoned' | 'no_address';
    }
  | ({ readonly type: 'notification_requested'; readonly number: number } & Asker);

export interface ListedTransaction {
  readonly transId: TransId;
  readonly status: ProviderStatus;
}

export const EMPTY_TIMELINE: Timeline = { entries: [] };
