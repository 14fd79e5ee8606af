import type { Polling } from '../machine/polling.js';
import type { Proposal, Rejected, Resolution } from './decision.js';
import type { HeldFor } from './order.js';
import type { FailureCode } from './payment.js';
import type { TransId } from './payment-id.js';
import type { ProviderStatus, Transaction } from './transaction.js';

export type Phase = Held | Sending | Waiting | Searching | Following | Closing | Verifying | Review | Deciding | Ended;

/** Nothing was sent: the payout waits until nothing is left that it waits for. */
export interface Held {
  readonly kind: 'held';
  readonly for: NonEmpty<HeldFor>;
  readonly since: number;
}

/** The decision behind sending money: the merchant's order, the policy for ambiguous requests, or an operator's. */
export type SendCause = 'order' | 'policy' | 'operator';

/** A request that the provider may or may not have accepted. */
export interface Ambiguity {
  readonly reason: string;
  /** The beginning of its grace period. */
  readonly since: number;
  /** The payment's outcome, once its list shows no transaction and no hint names one. Nothing is sent any more. */
  readonly otherwise?: Failed | undefined;
  /** Time from which the list is believed to show no transaction; a minute after the beginning when absent. */
  readonly listedBy?: number | undefined;
  /** The attempts to be continued once the transaction that a hint named has come to nothing. */
  readonly unsent?: Unsent | undefined;
}

/** Attempts that sent nothing, or that the provider throttled. */
export interface Unsent {
  readonly tries: number;
  readonly reason: string;
  /**
   * Reason why the last attempt sent nothing: the provider refused our credentials, throttled us, could not be reached
   * (or it hung, so that the request was held back, or no worker took it), or its list could not be read.
   */
  readonly hold: 'credentials' | 'throttled' | 'connection' | 'unread';
  /** The provider has throttled one of them: the list is read before the next, whatever came after it. */
  readonly wasThrottled?: true | undefined;
  /** Time of the first one's failure. */
  readonly begunAt: number;
  /** Time of the first failure since which all have had the same patience: minutes, or until it is too late. */
  readonly since: number;
}

/**
 * The request is on its way, or is just about to be. Only its outcome leads out of here, unless it repeats another and
 * a hint comes before it leaves.
 */
export interface Sending {
  readonly kind: 'sending';
  readonly cause: SendCause;
  /** An earlier request that is still ambiguous: this one is a resend. */
  readonly ambiguity?: Ambiguity | undefined;
  readonly unsent?: Unsent | undefined;
}

/** Waits to be sent (again). With `ambiguity` or `wasThrottled`, an earlier request may have been taken. */
export interface Waiting {
  readonly kind: 'waiting';
  readonly cause: SendCause;
  readonly ambiguity?: Ambiguity | undefined;
  readonly unsent: Unsent;
  readonly until: number;
}

/** A request's transaction is looked for in the provider's list. */
export interface Searching {
  readonly kind: 'searching';
  readonly ambiguity: Ambiguity;
  readonly lookUps: number;
  readonly lastAt?: number | undefined;
  readonly nextAt: number;
  /** Links that were made and given to nobody, to be expired before the payment goes on. */
  readonly clearing?: { readonly unissued: NonEmpty<TransId>; readonly next: 'send' | 'fail' } | undefined;
}

/** The provider has the payment's transaction; its status is asked for until it is final. */
export interface Following {
  readonly kind: 'following';
  readonly transId: TransId;
  /** Time when the provider accepted it. */
  readonly since: number;
  /** Its status when last asked. FAILED is a link's failed attempt. */
  readonly status: Extract<ProviderStatus, 'CREATED' | 'PENDING' | 'FAILED'>;
  readonly polling: Polling;
  /** Time to have the link expired, and the number of tries so far. Only links have an end. */
  readonly end?: { readonly at: number; readonly tries: number } | undefined;
}

/**
 * A link is being ended: its status is asked for before and after it is expired, so that a payment of the last second
 * isn't lost.
 */
export interface Closing {
  readonly kind: 'closing';
  readonly of: Following;
  readonly next: 'look' | 'expire' | 'confirm';
}

/**
 * The provider says that the payment's transaction has moved no money and never will. The outcome is in doubt, because
 * the same request may have made another: the list is read first.
 */
export interface Verifying {
  readonly kind: 'verifying';
  /** The transaction, with the status that it has come to, unless it has EXPIRED. */
  readonly of: Following;
  /** The payment's status until its outcome is known. */
  readonly interimStatus: Following['status'];
  /** The payment's outcome, unless the list shows another transaction. */
  readonly outcome: Failed | Expired;
  /** A person is asked when the list can't be read for the grace period from this time on. */
  readonly since: number;
  readonly lookUps: number;
  readonly lastAt?: number | undefined;
  readonly nextAt: number;
}

/** Questions to the provider that go on without a person. */
export type Inquiry = Searching | Following | Closing | Verifying;

/** A person must look. Nothing is sent until one has decided. */
export interface Review {
  readonly kind: 'review';
  readonly number: number;
  readonly why: string;
  readonly since: number;
  /** Only a decision ends it: the provider's answers about the payment's own transaction don't settle it. */
  readonly held: boolean;
  /** The inquiry that goes on meanwhile, or pauses while the review is held. */
  readonly inquiry?: Inquiry | undefined;
  /** A decision that waits for a second person. */
  readonly proposed?: Proposal | undefined;
  /** The latest decision that was rejected or withdrawn, until there is another. Nothing depends on it. */
  readonly rejected?: Rejected | undefined;
}

/** An operator's decision is being checked with the provider. */
export interface Deciding {
  readonly kind: 'deciding';
  readonly review: Review;
  readonly resolution: Resolution;
  readonly request: number;
  readonly step: DecisionStep;
  /** The transactions that the provider has shown for this decision, and that could move money then. */
  readonly moving: readonly TransId[];
  /** Number of times that links were expired for it. */
  readonly rounds: number;
  /** Transactions that hints had named by then: an operator who insists has taken them into account. */
  readonly inView: readonly TransactionMention[];
  /** The known difference of the transaction that it names. */
  readonly before?: string | undefined;
}

/** The next question to the provider about a decision. */
export type DecisionStep =
  /** The status of the transaction that the decision names, or of the payment's own. */
  | { readonly kind: 'status'; readonly transId: TransId }
  | {
      readonly kind: 'list';
      /** The payment's own link, if it can still be paid. */
      readonly alive?: TransId | undefined;
      /** The provider gave no answer about the payment's own transaction, and the operator insists. */
      readonly isUnanswered?: true | undefined;
    }
  /** To expire links before the payment can be called FAILED. */
  | { readonly kind: 'expire'; readonly alive: NonEmpty<TransId> }
  /**
   * The statuses of others, before a match with a transaction that has moved no money: when last seen, they could still
   * move it.
   */
  | {
      readonly kind: 'others';
      /** The matched one, as the provider has shown it for this decision. */
      readonly transaction: Transaction;
      /** The others still to be asked about. */
      readonly open: NonEmpty<TransId>;
      /** The provider's answers about the others. */
      readonly heard: readonly Transaction[];
    };

export type NonEmpty<T> = readonly [T, ...T[]];

export function isNonEmpty<T>(list: readonly T[]): list is NonEmpty<T> {
  return list.length > 0;
}

/** The outcome of a payment. */
export type Outcome = Succeeded | Failed | Expired;

interface Succeeded {
  readonly status: 'SUCCESSFUL';
  readonly reason?: string | undefined;
}

export interface Failed {
  readonly status: 'FAILED';
  readonly failureCode: Exclude<FailureCode, 'expired'>;
  /** Missing when the provider gives none. */
  readonly reason?: string | undefined;
}

interface Expired {
  readonly status: 'EXPIRED';
  readonly failureCode: 'expired';
  readonly reason?: string | undefined;
}

/** The outcome is final, unless a check finds that the provider contradicts it. */
export type Ended = Outcome & EndedFields;

interface EndedFields {
  readonly kind: 'ended';
  /** Unless no transaction of the provider's was ever known. */
  readonly transId?: TransId | undefined;
  /** Times at which the outcome is compared with the provider's records once more, the next one first. */
  readonly checks: readonly Check[];
  /**
   * Transactions that the provider has yet to answer about: they could still move money by its last answer when an
   * operator called the payment FAILED, or it gave no answer about a hint that names them. A check that leaves
   * one of them open is repeated.
   */
  readonly outstanding?: readonly TransId[] | undefined;
  /** An operator called the payment FAILED although the provider refused to list it: a refusal says nothing new. */
  readonly isUnlisted?: true | undefined;
}

export interface Check {
  readonly at: number;
  readonly tries: number;
  /** An operator has asked for the check: it needs an answer about the payment's own transaction, whatever is known. */
  readonly isRecheck?: true | undefined;
  /** Transactions whose status this try has asked for. */
  readonly asked?: readonly TransId[] | undefined;
  /** The ones of `asked` that the provider has answered about, including that it doesn't know one. */
  readonly heard?: readonly TransId[] | undefined;
}

/** A transaction in a hint, or the mention of one without its id. */
export type TransactionMention = TransId | typeof UNNAMED;

export const UNNAMED = 'a transaction without its id' as const;

/** Returns the inquiry at the provider, with or without a person. */
export function inquiryOf(phase: Phase): Inquiry | undefined {
  switch (phase.kind) {
    case 'searching':
    case 'following':
    case 'closing':
    case 'verifying':
      return phase;
    case 'review':
      return phase.inquiry;
    case 'deciding':
      return phase.review.inquiry;
    default:
      return undefined;
  }
}

/** Returns the transaction that an inquiry follows; a search has none yet. */
export function followedBy(inquiry: Inquiry | undefined): Following | undefined {
  if (inquiry?.kind === 'closing' || inquiry?.kind === 'verifying') return inquiry.of;
  return inquiry?.kind === 'following' ? inquiry : undefined;
}

/** Returns the transaction whose status is asked for without anybody's decision. */
export function polledTransaction(phase: Phase): Following | undefined {
  // While a decision is checked, the inquiry is only put off.
  const inquiry = activeInquiry(phase.kind === 'deciding' ? phase.review : phase);
  return inquiry?.kind === 'verifying' ? undefined : followedBy(inquiry);
}

/** Returns the inquiry that goes on by itself; none does while a review is held. */
export function activeInquiry(phase: Phase): Inquiry | undefined {
  if (phase.kind === 'review') return phase.held ? undefined : phase.inquiry;
  return phase.kind === 'deciding' ? undefined : inquiryOf(phase);
}

/** Returns the transaction that is followed, in any phase. */
export function followedTransaction({ phase }: { readonly phase: Phase }): Following | undefined {
  return followedBy(inquiryOf(phase));
}
