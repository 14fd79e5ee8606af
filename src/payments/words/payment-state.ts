import type { RecentQuestions } from '../machine/polling.js';
import type { Resolved } from './decision.js';
import { type HeldFor, needsApproval, type PaymentOrder, type PaymentTerms, sendAtOf } from './order.js';
import type { FailureCode, PaymentStatus } from './payment.js';
import type { TransId } from './payment-id.js';
import {
  followedBy,
  inquiryOf,
  isNonEmpty,
  type Phase,
  type Review,
  type TransactionMention,
  UNNAMED,
} from './phase.js';
import type { Medium, ProviderStatus } from './transaction.js';

/**
 * All that is known of a payment: plain data, which its row in the book keeps. The phase alone decides what may happen
 * next; the regions beside it (claims, notifications, the status budget) never end or decide it. All times are ms since
 * the epoch.
 */
export interface PaymentState {
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly phase: Phase;
  /** The release of a payout that is held, or was. */
  readonly release?: Release | undefined;
  readonly facts: Facts;
  readonly sends: Sends;
  /** Reviews so far: the number of the latest. */
  readonly reviews: number;
  /** The decision that ended the last review. */
  readonly resolved?: Resolved | undefined;
  /**
   * The transaction's difference from the order, in the words in which an operator insisted on accepting or failing it.
   */
  readonly acceptedDifference?: string | undefined;
  /** Differences from the order that the provider has shown, the latest of each transaction. */
  readonly differences?: readonly KnownDifference[] | undefined;
  /** The payment's own transaction as the provider has last shown it, under review or not. */
  readonly lastShown?: ShownTransaction | undefined;
  readonly claims: Claims;
  /** Further transactions that the provider has confirmed for this payment, beside the one that it goes by. */
  readonly others: readonly OtherTransaction[];
  readonly recentQuestions: RecentQuestions;
  /** The provider has asked for no requests until then (`Retry-After`); ms since the epoch. */
  readonly quietUntil?: number | undefined;
  /** Notifications of the merchant so far: the number of the latest. */
  readonly notified: number;
  /** Requests that are answered when what they wait for has happened. */
  readonly pendingRequests: readonly PendingRequest[];
}

/** The release of a held payout. Without it, nothing is sent, whoever decides so. */
export interface Release {
  readonly approvals: readonly PayoutApproval[];
  /** Time of the release; missing until then, and for good where somebody has stopped the payout. */
  readonly at?: number | undefined;
}

/** A person's approval of a payout that somebody else has ordered, and its time. */
export interface PayoutApproval {
  readonly by: string;
  readonly at: number;
}

/** The provider's word on the transaction, besides its status. */
export interface Facts {
  readonly link?: { readonly url: string; readonly transId: TransId } | undefined;
  /** The end of the link, as shown to the merchant; ms since the epoch. */
  readonly expiresAt?: number | undefined;
  readonly medium?: Medium | undefined;
  /** The amount of the SUCCESSFUL transaction; XAF. */
  readonly amountPaid?: number | undefined;
  /** XAF */
  readonly revenue?: number | undefined;
  /** The reason why the last attempt to pay failed. */
  readonly reason?: string | undefined;
  readonly financialTransId?: string | undefined;
}

/** Requests that the provider took, or may have taken. */
export interface Sends {
  readonly count: number;
  /**
   * Time of the latest answer, including one that the provider throttled; for a request that may yet leave, the time
   * from which it can't any more.
   */
  readonly lastAt?: number | undefined;
  /** The policy allows no further resend: it has made its one, or an operator has decided on one. */
  readonly policySpent: boolean;
  /**
   * The provider may have accepted the payment twice: it was sent again after an ambiguous request, called FAILED by a
   * person, has a second transaction, or one that the answer to its request didn't name. An outcome without money is
   * verified, and any is checked again afterwards.
   */
  readonly mayBeDouble: boolean;
  /** The provider has throttled the latest request that was answered: it isn't counted, and may have been taken. */
  readonly isThrottled?: true | undefined;
  /** When the book was found to have gone back, so that it may lack a link which was made, given and paid. */
  readonly gap?: Gap | undefined;
}

export interface Gap {
  /** ms since the epoch */
  readonly at: number;
  /** The list was read since, and what it showed was expired. */
  readonly isRead?: true | undefined;
}

/** Transactions that hints named and that the provider hasn't explained yet. */
export interface Claims {
  readonly open: readonly Claim[];
  /** Earliest time of the next question about one of them. */
  readonly notBefore: number;
  /** The latest about which the provider gave no answer, despite repeated questions. */
  readonly unconfirmed: readonly TransId[];
  /**
   * A hint says that the payment has a transaction, but not which one. Set until the provider shows one, or a
   * person decides.
   */
  readonly isNamed?: true | undefined;
  /** Hints that called a transaction SUCCESSFUL before the provider did. */
  readonly paid?: readonly PaidHint[] | undefined;
}

/** A hint that has called a transaction SUCCESSFUL. */
export interface PaidHint {
  readonly transId: TransId;
  /** Time of the hint, in ms since the epoch. Another counts once this one can't be confirmed any more. */
  readonly at: number;
  /** Number of hints that counted. */
  readonly times: number;
}

export interface Claim {
  readonly transId: TransId;
  readonly nextAt: number;
  /** Questions without an answer. */
  readonly unanswered: number;
  /** Answers that the provider doesn't know it, or doesn't say whose it is. */
  readonly unknown: number;
  /** The provider has shown the transaction, without saying whose it is. */
  readonly isShown?: true | undefined;
}

/** A transaction as the provider has shown it. `wasPaid`: it was SUCCESSFUL once, whatever came after. */
export interface ShownTransaction {
  readonly transId: TransId;
  readonly status: ProviderStatus;
  readonly wasPaid?: true | undefined;
}

/** A difference from the order that the provider has shown: the field, and words for a person. */
export interface KnownDifference {
  readonly transId: TransId;
  readonly field: 'externalId' | 'names' | 'taken' | 'amount' | 'transType' | 'status';
  readonly words: string;
  /** The transaction's amount, where that differs; XAF. */
  readonly amount?: number | undefined;
}

export interface OtherTransaction {
  readonly transId: TransId;
  readonly status: ProviderStatus;
  /** XAF, once the provider has given it. */
  readonly amount?: number | undefined;
  /**
   * Status that the latest decision to leave it assumed. The merchant may have been given the address of a link that
   * was left.
   */
  readonly decidedAs?: ProviderStatus | undefined;
}

/** A request to a payment that is answered later; `request` is its caller's number. */
export interface PendingRequest {
  readonly request: number;
  readonly for: 'poll' | 'closing' | 'ending' | 'check';
}

/** Opens a payment that has sent nothing yet. */
export function openPayment(order: PaymentOrder, terms: PaymentTerms, now: number): PaymentState {
  const waitsFor: HeldFor[] = [];
  if (needsApproval(order, terms)) waitsFor.push('approval');
  if ((sendAtOf(order) ?? now) > now) waitsFor.push('date');
  return {
    order,
    terms,
    createdAt: now,
    updatedAt: now,
    ...(isNonEmpty(waitsFor)
      ? { phase: { kind: 'held', for: waitsFor, since: now }, release: { approvals: [] } }
      : { phase: { kind: 'sending', cause: 'order' } }),
    facts: {},
    sends: { count: 0, policySpent: false, mayBeDouble: false },
    reviews: 0,
    claims: { open: [], notBefore: now, unconfirmed: [] },
    others: [],
    recentQuestions: [],
    notified: 0,
    pendingRequests: [],
  };
}

/** Returns the payment's status in the words of the API. */
export function statusOf({ phase }: Pick<PaymentState, 'phase'>): PaymentStatus {
  switch (phase.kind) {
    case 'held':
    case 'sending':
    case 'waiting':
    case 'searching':
      return 'CREATED';
    case 'following':
      return phase.status;
    case 'closing':
      return phase.of.status;
    case 'verifying':
      return phase.interimStatus;
    case 'review':
    case 'deciding':
      return 'REVIEW';
    case 'ended':
      return phase.status;
  }
}

/** Reports whether only a contradiction by the provider could still change the status. */
export function isFinalPayment({ phase }: Pick<PaymentState, 'phase'>): boolean {
  return phase.kind === 'ended';
}

/** Reports whether the payment is a payout that was held, and that nobody and nothing has released. */
export function isUnreleased({ release }: Pick<PaymentState, 'release'>): boolean {
  return release !== undefined && release.at === undefined;
}

/** Tells the merchant why the payment is FAILED or EXPIRED, or why it is under review. */
export function reasonOf(payment: PaymentState): string | undefined {
  const { phase, facts } = payment;
  return reviewOf(payment)?.why ?? (phase.kind === 'ended' ? phase.reason : facts.reason);
}

/** Tells programs why the payment is FAILED or EXPIRED. */
export function failureCodeOf(payment: PaymentState): FailureCode | undefined {
  const { phase } = payment;
  if (phase.kind === 'ended') return phase.status === 'SUCCESSFUL' ? undefined : phase.failureCode;
  return statusOf(payment) === 'FAILED' ? 'failed_at_provider' : undefined;
}

/** Returns the provider's words when it has rejected the payment. */
export function rejectionOf(payment: PaymentState): string | undefined {
  return failureCodeOf(payment) === 'rejected_by_provider' ? reasonOf(payment) : undefined;
}

/** Returns the transaction that the payment goes by. */
export function transIdOf({ phase }: Pick<PaymentState, 'phase'>): TransId | undefined {
  return phase.kind === 'ended' ? phase.transId : followedBy(inquiryOf(phase))?.transId;
}

/** Returns a transaction's amount, in XAF, where the provider has shown it to differ from the order. */
export function otherAmountOf({ differences }: PaymentState, transId: TransId | undefined): number | undefined {
  return differences?.find((one) => one.transId === transId)?.amount;
}

/**
 * Reports whether it is the transaction that the payment goes by, or another one that the provider has shown for it.
 */
export function isKnownTransaction(payment: Pick<PaymentState, 'phase' | 'others'>, transId: TransId): boolean {
  return transId === transIdOf(payment) || payment.others.some((other) => other.transId === transId);
}

/**
 * Lists the transactions that hints name and that the provider hasn't explained. While there is any, nothing is
 * sent again, and the merchant is told nothing final unless the provider says it or a person decides.
 */
export function namedIn({ claims }: Pick<PaymentState, 'claims'>): readonly TransactionMention[] {
  const { open, unconfirmed, isNamed } = claims;
  return [...open.map(({ transId }) => transId), ...unconfirmed, ...(isNamed ? [UNNAMED] : [])];
}

/** Returns the review that the payment is under. */
export function reviewOf({ phase }: Pick<PaymentState, 'phase'>): Review | undefined {
  if (phase.kind === 'deciding') return phase.review;
  return phase.kind === 'review' ? phase : undefined;
}

/**
 * Returns the time from which `resend` and `fail` are accepted without force. Where the book was restored from before a
 * held payout was sent, that was long after its order, and before its review at the latest.
 */
export function decideFrom(payment: PaymentState): number {
  const { sends, terms, createdAt, release } = payment;
  const latest = release === undefined ? createdAt : (reviewOf(payment)?.since ?? release.at ?? createdAt);
  return (sends.lastAt ?? latest) + terms.resolveAfterMs;
}
