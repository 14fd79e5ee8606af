import { broughtForward, retryDelay } from '../payments/watch.js';
import type { PaymentRun } from './payment-run.js';

/**
 * Asks the provider to expire the link, at the end of its life or when the merchant wishes. Whatever it answers,
 * `Link already expired` included, the status decides next: a payment made in the last second is not lost. When the
 * link is still open after that, or the provider couldn't be asked, it is tried again. True when it has answered.
 */
export async function closeLink(run: PaymentRun): Promise<boolean> {
  const { transId } = run.state;
  if (transId === undefined) return false;
  const answer = await run.world.expireLink(transId);
  const now = Date.now();
  const { watch, expiry, terms } = run.state;
  const tries = (expiry?.tries ?? 0) + 1;
  const answered = answer.kind === 'expired' || answer.kind === 'alreadyExpired' || answer.kind === 'refused';
  const next = answered ? broughtForward(watch, now) : watch;
  const again = retryDelay(tries - 1, terms);
  run.apply({
    state: { ...run.state, watch: next, expiry: { at: (answered ? next.nextAt : now) + again, tries } },
  });
  return answered;
}
