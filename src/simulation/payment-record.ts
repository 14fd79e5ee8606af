import type { Notice } from './actors/merchant-endpoint.js';
import type { PlannedPayment } from './plan/plan-payments.js';

/** What is known of one payment outside of Sanaga: what its merchant asked, was answered and was told. */
export interface PaymentRecord {
  readonly planned: PlannedPayment;
  /** The API has answered that it has the payment. */
  taken: boolean;
  /** The API has answered that it will not have it. */
  refused: boolean;
  /** The checkout page's address, once it is known. */
  link?: string | undefined;
  /** What the merchant was told by notification, in order. */
  readonly notices: Notice[];
  /** Reviews that operators have looked at. */
  reviews: number;
  /** Answers that the API should not have given. */
  readonly wrongAnswers: string[];
}

export function recordOf(planned: PlannedPayment): PaymentRecord {
  return { planned, taken: false, refused: false, notices: [], reviews: 0, wrongAnswers: [] };
}

/** It was put before operators, or its merchant was told so. */
export function wasReviewed({ reviews, notices }: PaymentRecord): boolean {
  return reviews > 0 || notices.some(({ told }) => told.type === 'payment.review');
}
