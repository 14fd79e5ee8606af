import type { PaymentInput } from './messages.js';
import { runPayment } from './payment-loop.js';

/*
 * One workflow for each kind of payment. What a payment is, and what it has to do next, stands in the book; its
 * workflow does it, waits for what was announced, and asks the book again. It remembers nothing.
 */

/**
 * Collects money by a payment link:
 *
 * 1. The provider makes the link, and the merchant sends the payer to its address. When nobody knows whether it was
 *    made, any link that the provider's list shows is expired, and another is made.
 * 2. When the provider notifies, and now and then without, it is asked what the payer has done. A failed attempt
 *    doesn't end the payment: the payer may try again until the link is paid or expires.
 * 3. At the end of its life the link is expired. Its status is read before and after, so that no late payment is lost.
 */
export function collectByLink(input: PaymentInput): Promise<void> {
  return runPayment(input, 'createLink');
}

/**
 * Collects money from a payer's phone:
 *
 * 1. The provider asks the payer on the phone. When nobody knows whether it took the request, its list is searched for
 *    the transaction, until a person decides: the request is never sent again, unless the policy or an operator says
 *    so.
 * 2. When the provider notifies, and now and then without, it is asked what the payer has done. The request never
 *    expires: what the provider doesn't decide within a day goes to review, and the provider is still asked about it.
 */
export function collectDirect(input: PaymentInput): Promise<void> {
  return runPayment(input, 'requestOnPhone');
}

/**
 * Pays money out:
 *
 * 1. A payout that has to be approved, or that has a date, is held until both are there. It ends unsent when somebody
 *    rejects or withdraws it, or nobody approves it in time.
 * 2. The provider is told to send it. When nobody knows whether it took the request, its list is searched for the
 *    transaction, until a person decides: the payout is never sent again, unless the policy or an operator says so.
 * 3. When the provider notifies, and at growing intervals, it is asked whether the money has arrived.
 */
export function payOut(input: PaymentInput): Promise<void> {
  return runPayment(input, 'sendPayout');
}
