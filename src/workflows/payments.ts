import { ApplicationFailure } from '@temporalio/workflow';
import type { PaymentOrder } from '../payments/order.js';
import { runPayment } from './interpreter.js';
import type { EndedPayment, PaymentInput } from './messages.js';

/*
 * Each kind of payment, as its own story. When each step is due, and what its answer leads to, is decided by the payment
 * machine in src/payments; the interpreter does one step after the other, and hears messages in between.
 */

/**
 * Collects money by a payment link. A failed attempt is not the end: the payer may try again until the link is paid or
 * its life is over.
 */
export async function collectByLink(input: PaymentInput): Promise<EndedPayment> {
  const order = orderBy('link', input.order);
  return runPayment(input, (provider) => ({
    // The link is made, and its address given to the merchant, who sends the payer there.
    send: () => provider.createLink(order),
    // When nobody knows whether it was made, what was made is found and expired, and another link is made.
    lookUp: () => provider.lookUp(order),
    // When the provider notifies, and now and then without, it is asked what the payer has done.
    askStatus: (transId) => provider.askStatus(order, transId),
    // At the end of its life it is expired; before and after that it is asked for, so that no late payment is lost.
    expire: (transId) => provider.expireLink(transId),
  }));
}

/**
 * Collects money straight from a payer's phone. The request is sent at most once and never expires; one that the
 * provider doesn't decide within a day comes under review, and is asked for all the same.
 */
export async function collectDirect(input: PaymentInput): Promise<EndedPayment> {
  const order = orderBy('direct', input.order);
  return runPayment(input, (provider) => ({
    // The payer is asked on the phone.
    send: () => provider.requestOnPhone(order),
    // When nobody knows whether the provider took the request, its transaction is looked for, until a person decides.
    lookUp: () => provider.lookUp(order),
    // When the provider notifies, and now and then without, it is asked what the payer has done.
    askStatus: (transId) => provider.askStatus(order, transId),
    expire: neverExpires,
  }));
}

/** Pays money out. The payout is sent at most once; when nobody can tell whether it was taken, a person decides. */
export async function payOut(input: PaymentInput): Promise<EndedPayment> {
  const order = orderBy(undefined, input.order);
  return runPayment(input, (provider) => ({
    // The money is sent.
    send: () => provider.sendPayout(order),
    // When nobody knows whether the provider took the request, its transaction is looked for, until a person decides.
    lookUp: () => provider.lookUp(order),
    // When the provider notifies, and now and then without, it is asked whether the money has arrived.
    askStatus: (transId) => provider.askStatus(order, transId),
    expire: neverExpires,
  }));
}

/**
 * Opens a payment again that has ended, under its own id: a notification came in that doesn't agree with its outcome, an
 * operator doubts it, or a notification of ours is to be sent again. Where the provider contradicts the outcome, the
 * payment comes under review and waits for a person; otherwise it ends as it was.
 */
export async function reopenPayment(input: PaymentInput): Promise<EndedPayment> {
  return runPayment(input, (provider) => ({
    send: () => {
      throw wrongStep('a payment that has ended is never sent again');
    },
    lookUp: () => provider.lookUp(input.order),
    askStatus: (transId) => provider.askStatus(input.order, transId),
    expire: (transId) => provider.expireLink(transId),
  }));
}

function neverExpires(): never {
  throw wrongStep('only a payment link can be expired');
}

/** The machine asks for no such step; should it, the task fails and is tried again, and nothing is lost. */
function wrongStep(message: string): Error {
  return new Error(message);
}

/**
 * The order as the workflow's own kind of order.
 *
 * @throws {ApplicationFailure} when the workflow was started with another kind, by hand or by a mistake: it ends at
 * once, and nothing is sent.
 */
function orderBy<Method extends PaymentOrder['method']>(
  method: Method,
  order: PaymentOrder,
): Extract<PaymentOrder, { readonly method?: Method }> {
  if (isBy(method, order)) return order;
  const message = `this workflow can't take an order by ${order.method ?? 'payout'}`;
  throw ApplicationFailure.nonRetryable(message, 'WrongOrder');
}

function isBy<Method extends PaymentOrder['method']>(
  method: Method,
  order: PaymentOrder,
): order is Extract<PaymentOrder, { readonly method?: Method }> {
  return order.method === method;
}
