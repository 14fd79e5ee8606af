import type { PlannedPayment } from '../plan/planned-payment.js';
import type { BookedStatus } from '../world/provider-books.js';
import type { SeenPayment } from './api-client.js';
import type { ReceivedNotification } from './merchant-endpoint.js';

/** A decision on a payment under review, as it was put to the API. */
export interface MadeDecision {
  /** ms since the epoch. */
  readonly at: number;
  readonly action: 'resend' | 'fail' | 'match';
  /** The number of the review that it names. */
  readonly review: number;
  readonly forced: boolean;
  /** `open` when the answer doesn't say. */
  readonly outcome: 'done' | 'refused' | 'open';
  /** The provider's books contradicted it when it was made. */
  readonly isWrong: boolean;
}

/** A verdict on a held payout, as it was put to the API. */
export interface MadeVerdict {
  /** ms since the epoch; before the request. */
  readonly at: number;
  readonly action: 'approve' | 'reject' | 'cancel';
  /** It is an approval of the payout as it is, by another person than the clerk. */
  readonly mayApprove: boolean;
  /** `open` when the answer doesn't say. */
  readonly outcome: 'done' | 'refused' | 'open';
}

/** A final status that the API showed, with the provider's books at that moment. */
export interface ShownEnd {
  /** ms since the epoch. */
  readonly at: number;
  readonly status: SeenPayment['status'];
  readonly truth: readonly BookedStatus[];
}

/** A payment as people outside Sanaga know it: its merchant's requests, their answers and the notifications. */
export interface ObservedPayment {
  readonly planned: PlannedPayment;
  /** The API has answered that it has the payment. */
  taken: boolean;
  /** The API has answered that it will not have it. */
  refused: boolean;
  /** Time of the first request for it, and of the first answer that has it, in ms since the epoch. */
  firstAskedAt?: number | undefined;
  takenAt?: number | undefined;
  /** The code of the latest problem for which a refund was refused. */
  refusal?: string | undefined;
  /** The date that it is ordered for, in ms since the epoch. */
  sendAt?: number | undefined;
  /** Once it was seen to be held: the end of its wait, in ms since the epoch, and its digest. */
  heldUntil?: number | undefined;
  digest?: string | undefined;
  /** The last time at which it was held, in ms since the epoch. */
  heldAt?: number | undefined;
  readonly verdicts: MadeVerdict[];
  /** The address of the checkout page, once it is known. */
  link?: string | undefined;
  /** The notifications that the merchant has received, in order. */
  readonly notifications: ReceivedNotification[];
  /** Operators' reviews so far. */
  reviews: number;
  /** Times at which an operator saw it under review, in ms since the epoch. */
  readonly reviewsSeen: number[];
  readonly decisions: MadeDecision[];
  readonly shownEnds: ShownEnd[];
  /** Answers that the API should not have given. */
  readonly wrongAnswers: string[];
}

export function observedOf(planned: PlannedPayment): ObservedPayment {
  return {
    planned,
    taken: false,
    refused: false,
    verdicts: [],
    notifications: [],
    reviews: 0,
    reviewsSeen: [],
    decisions: [],
    shownEnds: [],
    wrongAnswers: [],
  };
}

/** Reports whether operators have reviewed it, or its merchant was notified of a review. */
export function wasReviewed({ reviews, notifications }: ObservedPayment): boolean {
  return reviews > 0 || notifications.some(({ content }) => content.type === 'payment.review');
}

/** Reports whether it was seen under review at or after a time (ms since the epoch). */
export function wasReviewedSince({ notifications, reviewsSeen }: ObservedPayment, time: number): boolean {
  return (
    reviewsSeen.some((at) => at >= time) ||
    notifications.some(({ content }) => content.type === 'payment.review' && Date.parse(content.timestamp) >= time)
  );
}

/** Reports whether the last notification that the merchant acknowledged says that the payment has ended. */
export function isEndAcknowledged({ notifications }: ObservedPayment): boolean {
  return notifications.findLast(({ acknowledged }) => acknowledged)?.content.data.final === true;
}

/** Decisions that were carried out, or may have been. */
export function effectiveDecisions({ decisions }: ObservedPayment): MadeDecision[] {
  return decisions.filter(({ outcome }) => outcome !== 'refused');
}
