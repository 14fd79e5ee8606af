import { workflowInfo } from '@temporalio/workflow';
import type { PaymentOrder } from '../payments/words/order.js';
import { isContinued, readInput, wrongInput } from './handlers.js';
import { runPayment } from './interpreter.js';
import type { EndedPayment, PaymentInput } from './messages.js';
import { directInput, type InputReaders, linkInput, payoutInput, reopeningInput } from './schemas.js';

/*
 * One workflow for each kind of payment. The payment machine in src/payments decides when each step is due and what its
 * answer leads to; the interpreter runs one step after the other, and receives messages in between.
 */

/**
 * Collects money by a payment link. A failed attempt doesn't end the payment: the payer may try again until the link is
 * paid or expires.
 */
export async function collectByLink(given: PaymentInput): Promise<EndedPayment> {
  const input = readPaymentInput(linkInput, given);
  const { order } = input;
  return runPayment(input, (provider) => ({
    // The link is made, and its address given to the merchant, who sends the payer there.
    send: () => provider.createLink(order),
    // When it is unknown whether it was made, any link that was made is found and expired, and another is made.
    lookUp: () => provider.lookUp(order),
    // When the provider notifies, and now and then without, it is asked what the payer has done.
    askStatus: (transId) => provider.askStatus(order, transId),
    // At the end of its life it is expired. Its status is read before and after, so that no late payment is lost.
    expire: (transId) => provider.expireLink(transId),
    expireUnissued: (transId) => provider.expireUnissued(transId),
  }));
}

/**
 * Collects money from a payer's phone. The request is never sent again while its outcome is unknown, unless the policy
 * or an operator says so, and it never expires. One that the provider doesn't decide within a day goes to review, and
 * the provider is still asked about it.
 */
export async function collectDirect(given: PaymentInput): Promise<EndedPayment> {
  const input = readPaymentInput(directInput, given);
  const { order } = input;
  return runPayment(input, (provider) => ({
    // The payer is asked on the phone.
    send: (when) => provider.requestOnPhone(order, when),
    // When it is unknown whether the provider took the request, its transaction is looked for, until a person decides.
    lookUp: () => provider.lookUp(order),
    // When the provider notifies, and now and then without, it is asked what the payer has done.
    askStatus: (transId) => provider.askStatus(order, transId),
    expire: neverExpires,
    expireUnissued: neverExpires,
  }));
}

/**
 * Pays money out. The payout is never sent again while its outcome is unknown, unless the policy or an operator says
 * so.
 */
export async function payOut(given: PaymentInput): Promise<EndedPayment> {
  const input = readPaymentInput(payoutInput, given);
  const { order } = input;
  return runPayment(input, (provider) => ({
    // The money is sent.
    send: (when) => provider.sendPayout(order, when),
    // When it is unknown whether the provider took the request, its transaction is looked for, until a person decides.
    lookUp: () => provider.lookUp(order),
    // When the provider notifies, and at growing intervals, it is asked whether the money has arrived.
    askStatus: (transId) => provider.askStatus(order, transId),
    expire: neverExpires,
    expireUnissued: neverExpires,
  }));
}

/**
 * Reopens a payment that has ended, under its own id: because a notification disagrees with its outcome, an operator
 * doubts it, or a notification to the merchant is to be sent again. If the provider contradicts the outcome, the
 * payment goes to review and waits for a person; otherwise it ends unchanged.
 */
export async function reopenPayment(given: PaymentInput): Promise<EndedPayment> {
  const input = readPaymentInput(reopeningInput, given);
  return runPayment(input, (provider) => ({
    send: () => {
      throw wrongStep('a payment that has ended is never sent again');
    },
    lookUp: () => provider.lookUp(input.order),
    askStatus: (transId) => provider.askStatus(input.order, transId),
    expire: (transId) => provider.expireLink(transId),
    expireUnissued: (transId) => provider.expireUnissued(transId),
  }));
}

function neverExpires(): never {
  throw wrongStep('only a payment link can be expired');
}

/**
 * The machine never asks for such a step. If it did, the workflow task would fail and be retried, and nothing be lost.
 */
function wrongStep(message: string): Error {
  return new Error(message);
}

/** Reads what a payment's run begins with. @throws what {@link wrongInput} returns: nothing is sent then */
function readPaymentInput<Order extends PaymentOrder>({ first, next }: InputReaders<Order>, given: unknown) {
  const input = readInput(isContinued() ? next : first, given);
  if (input.order.id === workflowInfo().workflowId) return input;
  throw wrongInput('the order is that of another workflow');
}
