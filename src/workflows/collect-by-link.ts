import { follow } from './follow.js';
import { initiate } from './initiate.js';
import type { EndedPayment, PaymentInput } from './messages.js';
import { ordered } from './ordered.js';
import { reconcile } from './reconcile.js';
import { runPayment } from './run-payment.js';

/**
 * Collects money by a payment link: makes the link, waits for the payer until it is paid or its life is over, and
 * tells the merchant. A failed attempt is not the end: the payer may try again.
 */
export async function collectByLink(input: PaymentInput): Promise<EndedPayment> {
  const order = ordered(input.order, 'link');
  return runPayment(input, async (run) => {
    const send = () => run.world.createLink(order);
    await initiate(run, send);
    await reconcile(run, send);
    await follow(run);
  });
}
