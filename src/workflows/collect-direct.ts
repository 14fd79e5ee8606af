import { follow } from './follow.js';
import { initiate } from './initiate.js';
import type { EndedPayment, PaymentInput } from './messages.js';
import { ordered } from './ordered.js';
import { reconcile } from './reconcile.js';
import { runPayment } from './run-payment.js';

/**
 * Collects money straight from a payer's phone. The request is sent at most once and never expires; one that the
 * provider doesn't decide within a day is put before a person, and asked after all the same.
 */
export async function collectDirect(input: PaymentInput): Promise<EndedPayment> {
  const order = ordered(input.order, 'direct');
  return runPayment(input, async (run) => {
    const send = () => run.world.requestOnPhone(order);
    await initiate(run, send);
    await reconcile(run, send);
    await follow(run);
  });
}
