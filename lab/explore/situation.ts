import type { PaymentEvent, RequestEvent } from '../../src/payments/machine/events.js';
import type { Step } from '../../src/payments/machine/machine.js';
import type { Todo } from '../../src/payments/machine/plan.js';
import type { Refusal } from '../../src/payments/machine/replies.js';
import type { SentIf } from '../../src/payments/machine/sending.js';
import type { PaymentOrder, PaymentTerms } from '../../src/payments/words/order.js';
import type { PaymentEventType, PaymentStatus } from '../../src/payments/words/payment.js';
import type { TransId } from '../../src/payments/words/payment-id.js';
import type { PaymentState } from '../../src/payments/words/payment-state.js';
import type { ProviderStatus } from '../../src/payments/words/transaction.js';
import type { Allowance, RequestKind } from './setting.js';

/** The machine that is explored: the product's, or a mutant of it. */
export interface Machine {
  readonly openPayment: (order: PaymentOrder, terms: PaymentTerms, now: number) => PaymentState;
  readonly step: (payment: PaymentState, event: PaymentEvent, now: number) => Step;
  readonly objectionTo: (payment: PaymentState, event: RequestEvent, now: number) => Refusal | undefined;
  readonly sentIf: (payment: PaymentState, now: number) => SentIf;
  /** What a payout counts for as a refund, in XAF. */
  readonly sentBy: (payment: PaymentState) => number;
  /** What a collection has collected, in XAF, once that is certain. */
  readonly collectedBy: (payment: PaymentState) => number | undefined;
}

/**
 * One moment of a story: the payment, its surroundings, and everything shown and promised so far. Times are ms since
 * the epoch.
 */
export interface Situation {
  readonly now: number;
  readonly payment: PaymentState;
  readonly todo: Todo;
  readonly provider: Provider;
  readonly book: Book;
  readonly left: Allowance;
}

/** The truth at the provider, which nothing but its own moves changes. */
export interface Provider {
  readonly transactions: readonly OwnTransaction[];
  readonly silent: 'no' | 'status' | 'all';
  /** Status questions within the last minute, as the provider counts them. */
  readonly asked: readonly { readonly transId: TransId; readonly at: number }[];
  /** Requests that left, or may have left, and were not refused. */
  readonly requests: number;
  /** Decisions to send: the order's, the policy's, and each operator's that was answered as done. */
  readonly decisionsToSend: number;
}

/** A transaction that was made for the payment. */
export interface OwnTransaction {
  readonly transId: TransId;
  readonly status: ProviderStatus;
  /** The status before, which a late answer may still say. */
  readonly before?: ProviderStatus | undefined;
  readonly madeAt: number;
  /** Time from which the list shows it. */
  readonly listedFrom: number;
  /** The list has shown it. */
  readonly isListed: boolean;
  readonly isWrong: boolean;
  /** The provider has made it by itself, after the payment had ended. */
  readonly isLater: boolean;
  /** The merchant has its link. */
  readonly isGiven: boolean;
  /** It was given in a time that the book has lost. */
  readonly isEarlier?: true | undefined;
  /** Its final status has changed, against the provider's own rules. */
  readonly hasTurned: boolean;
  /** A notification of its present status came after the payment had ended. */
  readonly isNotified: boolean;
  /** The request that made it was doubted, and may still report. */
  readonly isDoubted?: true | undefined;
}

/** Book of what was shown, said and promised. */
export interface Book {
  readonly status: PaymentStatus;
  readonly final: boolean;
  readonly notifications: number;
  /** What the merchant was told last. */
  readonly told?: PaymentEventType | undefined;
  readonly requests: number;
  readonly open: readonly OpenRequest[];
  /**
   * Time of the last reading of the provider's list, just before a request. `isNamed`: a notification has named a
   * transaction since.
   */
  readonly lookedAt?: number | undefined;
  readonly isNamed: boolean;
  /** The provider has throttled an attempt to send the request. */
  readonly isThrottled?: true | undefined;
  /** Transactions that notifications have named since the list was read, and that the provider has not shown. */
  readonly named: readonly TransId[];
  /**
   * One has named the payment alone; the provider has shown no transaction of it since, and nobody has decided. Once it
   * has ended, the list was not read since.
   */
  readonly isUnnamed?: true | undefined;
  /** Transactions shown with the payment's id and another. `isDisputed`: one was shown since the last decision. */
  readonly disputed: readonly TransId[];
  readonly isDisputed?: true | undefined;
  /**
   * The payment's transactions that a notification has called SUCCESSFUL and the provider hasn't shown as such yet,
   * with the time of the first notification.
   */
  readonly reportedPaid: readonly { readonly transId: TransId; readonly at: number }[];
  /** The list was read since the last request that may have been taken. */
  readonly isSearched: boolean;
  /** The payment's transactions, as the provider has shown them. */
  readonly shown: readonly Shown[];
  /** The provider has asked not to be called until then. */
  readonly quietUntil: number;
  /**
   * The decision that an operator has insisted on, and taken the consequences of: `fail` once is more than `resend`.
   */
  readonly insisted?: 'resend' | 'fail' | undefined;
  /** The latest decision that was carried out is that no money has moved. */
  readonly isFailed: boolean;
  /** It was found that the book went back: before a link was asked for anew, or after that. */
  readonly gap?: 'before' | 'after' | undefined;
  /** One person's decision that takes two, and its review; nobody has rejected it or decided otherwise since. */
  readonly proposed?: { readonly what: string; readonly review: number; readonly by: string } | undefined;
  /** Another person than the clerk has approved the held payout, as it is sent. */
  readonly isApproved?: true | undefined;
  /** Time of the approval, in ms since the epoch. */
  readonly approvedAt?: number | undefined;
  /** Somebody has rejected or withdrawn the held payout, or the time for its approval is over. */
  readonly isStopped?: 'rejected' | 'withdrawn' | 'late' | undefined;
  readonly expiresAt?: number | undefined;
  /**
   * Time since when nothing could be sent for another reason than the credentials (`unsentSince`), or for any
   * (`refusedSince`).
   */
  readonly unsentSince?: number | undefined;
  readonly refusedSince?: number | undefined;
  /** Links that a search has shown, given to nobody, and not expired yet. */
  readonly unissued: readonly TransId[];
  /** Questions about a transaction that were answered "unknown", or not at all, since a genuine notification of it. */
  readonly unconfirmed: number;
  /** The transaction that a notification contradicts the outcome by, and since when nobody has asked about it. */
  readonly toAsk?: { readonly transId: TransId; readonly since: number } | undefined;
  /**
   * The provider's list was read since somebody asked for it, and the provider has spoken of the payment's own
   * transaction.
   */
  readonly isRechecked: boolean;
  /** The provider has answered about the payment's own transaction since then. */
  readonly isOwnHeard: boolean;
}

export interface OpenRequest {
  readonly request: number;
  readonly kind: RequestKind | 'approve' | 'rejectPayout' | 'resend' | 'fail' | 'match' | 'reject';
  readonly isInsisted: boolean;
  /** The review that it was made on is the present one. */
  readonly isCurrent: boolean;
  /** Transactions shown before it was made. */
  readonly view: readonly Shown[];
  /** The whole of a decision, and who made it on which review. */
  readonly made?: NonNullable<Book['proposed']> | undefined;
}

/** The provider's word on one of the payment's transactions. */
export interface Shown {
  readonly transId: TransId;
  readonly status: ProviderStatus;
  /** It was shown as SUCCESSFUL, and has not been shown since to have moved no money for good. */
  readonly isPaid?: true | undefined;
  /** Its amount has been shown, and is wrong. */
  readonly isWrong: boolean;
  /** It was shown last while a decision was looked into, or a decision left it: the payment keeps no status of it. */
  readonly isAside: boolean;
  /** It was shown with a status in which it can still move money, after a decision that none has moved. */
  readonly isOpen: boolean;
  /** The latest list left it out, and the provider has said nothing else of it since the list before. */
  readonly isLeftOut?: true | undefined;
  /** The provider has answered a question about it since the latest list. */
  readonly isHeard?: true | undefined;
  /** Its status when the latest decision was made that was carried out. */
  readonly decided?: ProviderStatus | undefined;
}

/**
 * Reports whether a transaction with this status can still move money. Of a payment's links, only its own was given to
 * anybody.
 */
export function isUnsettled({ kind }: Pick<PaymentOrder, 'kind'>, isOwn: boolean, status: ProviderStatus): boolean {
  if (kind !== 'link') return status !== 'FAILED';
  return isOwn ? status !== 'EXPIRED' : status === 'PENDING' || status === 'SUCCESSFUL';
}

/** Returns the truth about one transaction. */
export function transactionOf({ transactions }: Provider, transId: TransId): OwnTransaction | undefined {
  return transactions.find((one) => one.transId === transId);
}

/** Changes one transaction of the provider's. */
export function withTransaction(provider: Provider, transId: TransId, change: Partial<OwnTransaction>): Provider {
  return {
    ...provider,
    transactions: provider.transactions.map((one) => (one.transId === transId ? { ...one, ...change } : one)),
  };
}
