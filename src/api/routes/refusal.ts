import type { PaymentView } from '../payment-view.js';
import type { Refusal } from '../payments/tell-payment.js';
import { ApiError } from '../problem.js';

/** The problem document for what a payment refuses to do, with the payment as it stands. */
export function refusal(why: Refusal, payment: PaymentView): ApiError {
  return new ApiError(why, details[why](payment), { payment });
}

const details: Readonly<Record<Refusal, (payment: PaymentView) => string>> = {
  not_a_link: () => 'Payment links alone can be expired, and this payment was sent to a phone.',
  not_expirable: ({ status }) => `The payment is ${status}: it can no longer be expired.`,
  not_initiated: () => 'The provider has not confirmed the payment yet. Try again in a moment.',
};
