import type { SeenPayment } from './actors/api-client.js';
import type { Notice } from './actors/merchant-endpoint.js';
import type { Booked } from './audit/booked.js';
import type { PlannedPayment } from './plan/plan-payments.js';

/** A decision on a payment under review, as it was put to the API. */
export interface MadeDecision {
  /** Simulated time, in ms since the epoch. */
  readonly at: number;
  readonly action: 'resend' | 'fail' | 'match';
  /** The number of the review that it names. */
  readonly review: number;
  readonly forced: boolean;
  /** Whether it was carried out; `open` when the answer left that open. */
  readonly outcome: 'done' | 'refused' | 'open';
  /** The provider's books contradicted it when it was made. */
  readonly isWrong: boolean;
}

/** A final status that the API showed, and what the provider's books had at that moment. */
export interface ShownEnd {
  readonly at: number;
  readonly status: SeenPayment['status'];
  readonly truth: readonly Booked[];
}

/** What is known of one payment outside of Sanaga: what its merchant asked, was answered and was told. */
export interface PaymentRecord {
  readonly planned: PlannedPayment;
  /** The API has answered that it has the payment. */
  taken: boolean;
  /** The API has answered that it will not have it. */
  refused: boolean;
  /** Its workflow was terminated in Temporal's Web UI. */
  terminated: boolean;
  /** The checkout page's address, once it is known. */
  link?: string | undefined;
  /** What the merchant was told by notification, in order. */
  readonly notices: Notice[];
  /** Reviews that operators have looked at. */
  reviews: number;
  /** When an operator saw it under review, in ms since the epoch. */
  readonly reviewsSeen: number[];
  readonly decisions: MadeDecision[];
  readonly shownEnds: ShownEnd[];
  /** Answers that the API should not have given. */
  readonly wrongAnswers: string[];
}

export function recordOf(planned: PlannedPayment): PaymentRecord {
  return {
    planned,
    taken: false,
    refused: false,
    terminated: false,
    notices: [],
    reviews: 0,
    reviewsSeen: [],
    decisions: [],
    shownEnds: [],
    wrongAnswers: [],
  };
}

/** It was put before operators, or its merchant was told so. */
export function wasReviewed({ reviews, notices }: PaymentRecord): boolean {
  return reviews > 0 || notices.some(({ told }) => told.type === 'payment.review');
}

/** It was found to need a person at or after a time (ms since the epoch). */
export function wasReviewedSince({ notices, reviewsSeen }: PaymentRecord, time: number): boolean {
  return (
    reviewsSeen.some((at) => at >= time) ||
    notices.some(({ told }) => told.type === 'payment.review' && Date.parse(told.timestamp) >= time)
  );
}

/** Decisions that were carried out, or may have been. */
export function heeded({ decisions }: PaymentRecord): MadeDecision[] {
  return decisions.filter(({ outcome }) => outcome !== 'refused');
}
