import type { PaymentView } from '../payment-view.js';
import type { Refusal } from '../payments/tell-payment.js';
import { ApiError } from '../problem.js';

/**
 * The problem document for what a payment refuses to do, with the payment as it stands.
 *
 * @param words the payment's own, for those whose reason only it knows
 */
export function refusal(why: Refusal, payment: PaymentView, words = ''): ApiError {
  return new ApiError(why, details[why](payment, words), { payment });
}

const details: Readonly<Record<Refusal, (payment: PaymentView, words: string) => string>> = {
  not_a_link: () => 'Payment links alone can be expired, and this payment was sent to a phone.',
  not_expirable: ({ status }) => `The payment is ${status}: it can no longer be expired.`,
  not_under_review: ({ status }) => `The payment is ${status}: there is nothing to decide.`,
  resolution_refused: (_, words) => words,
  not_initiated: () => 'The provider has not confirmed the payment yet. Try again in a moment.',
};
