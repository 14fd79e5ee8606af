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
  not_a_link: () =>
    'The request has gone to the payer’s phone, or may have: from then on, only a payment link can be expired.',
  not_expirable: ({ status }) =>
    status === 'REVIEW'
      ? 'The payment is under review, and a person has to decide it.'
      : `The payment is ${status}: it can no longer be expired.`,
  not_cancelable: (payment) => whyNotCancelable(payment),
  not_under_review: ({ status, final }) =>
    final
      ? `The payment is ${status}: there is nothing to decide. To have that checked anew, refresh the payment.`
      : `The payment is ${status}: there is nothing to decide.`,
  resolution_refused: (_, words) => words,
  not_initiated: () => 'The provider has not confirmed the payment yet. Try again in a moment.',
};

function whyNotCancelable({ status, final, transId }: PaymentView): string {
  if (final) return `The payout is ${status} already.`;
  if (status === 'REVIEW') return 'The payout may have been sent, and a person has to decide it.';
  return transId === undefined
    ? 'The payout may have been sent already: whether the provider has taken it is not known yet.'
    : 'The payout was sent: the provider has taken it.';
}
