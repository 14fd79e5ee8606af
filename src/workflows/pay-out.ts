import { follow } from './follow.js';
import { initiate } from './initiate.js';
import type { EndedPayment, PaymentInput } from './messages.js';
import { ordered } from './ordered.js';
import { reconcile } from './reconcile.js';
import { runPayment } from './run-payment.js';

/** Pays money out. The payout is sent at most once; when nobody can tell whether it was taken, a person decides. */
export async function payOut(input: PaymentInput): Promise<EndedPayment> {
  const order = ordered(input.order, undefined);
  return runPayment(input, async (run) => {
    const send = () => run.world.sendPayout(order);
    await initiate(run, send);
    await reconcile(run, send);
    await follow(run);
  });
}
