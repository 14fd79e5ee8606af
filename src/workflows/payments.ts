import { workflowInfo } from '@temporalio/workflow';
import type { PaymentOrder } from '../payments/words/order.js';
import { isContinued, readInput, wrongInput } from './handlers.js';
import { runPayment } from './interpreter.js';
import type { EndedPayment, PaymentInput } from './messages.js';
import { directInput, type InputReaders, linkInput, payoutInput, reopeningInput } from './schemas.js';

/*
 * One workflow for each kind of payment. The payment machine in src/payments decides when each step is due and what its
 * answer leads to; the interpreter takes one step after the other, and receives messages in between.
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
export async function collectByLink(given: PaymentInput): Promise<EndedPayment> {
  const input = readPaymentInput(linkInput, given);
  return runPayment(input, (provider) => provider.createLink(input.order));
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
export async function collectDirect(given: PaymentInput): Promise<EndedPayment> {
  const input = readPaymentInput(directInput, given);
  return runPayment(input, (provider, when) => provider.requestOnPhone(input.order, when));
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
export async function payOut(given: PaymentInput): Promise<EndedPayment> {
  const input = readPaymentInput(payoutInput, given);
  return runPayment(input, (provider, when, heldSince) => provider.sendPayout(input.order, when, heldSince));
}

/**
 * Reopens a payment that has ended, under its own id: because a notification disagrees with its outcome, an operator
 * doubts it, or a notification to the merchant is to be sent again. If the provider contradicts the outcome, the
 * payment goes to review and waits for a person; otherwise it ends unchanged.
 */
export async function reopenPayment(given: PaymentInput): Promise<EndedPayment> {
  return runPayment(readPaymentInput(reopeningInput, given), () => {
    throw new Error('a payment that has ended is never sent again');
  });
}

/** @throws what {@link wrongInput} returns: nothing is sent then */
function readPaymentInput<Order extends PaymentOrder>({ first, next }: InputReaders<Order>, given: unknown) {
  const input = readInput(isContinued() ? next : first, given);
  if (input.order.id === workflowInfo().workflowId) return input;
  throw wrongInput('the order is that of another workflow');
}
