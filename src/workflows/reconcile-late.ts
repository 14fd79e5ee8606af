import { follow } from './follow.js';
import type { EndedPayment, PaymentInput } from './messages.js';
import { runPayment } from './run-payment.js';

/**
 * Opens a payment again that has ended, under its own id: a notification came in that doesn't agree with its outcome,
 * or something is to be told again. What is claimed is checked with the provider; where the provider contradicts the
 * outcome, the payment goes to review and waits for a person, and otherwise it ends as it was.
 */
export async function reconcileLate(input: PaymentInput): Promise<EndedPayment> {
  return runPayment(input, follow);
}
