import { sleep } from '@temporalio/workflow';
import { NOT_SENT_PATIENCE_MS, sendAgainDelay, unauthorizedDelay } from '../payments/initiation.js';
import type { InitiationOutcome } from '../payments/outcome.js';
import { accepted, ambiguous, failed, rejected } from '../payments/payment-state.js';
import type { PaymentRun } from './payment-run.js';

/**
 * Sends the payment to the provider, and leaves it begun: accepted, failed, or ambiguous. Only a request that surely
 * was not taken is sent again. Does nothing when an earlier run has done it.
 */
export async function initiate(run: PaymentRun, send: () => Promise<InitiationOutcome>): Promise<void> {
  for (let tries = 1; !run.state.begun; tries++) {
    const outcome = await run.sending(send);
    const now = Date.now();
    switch (outcome.kind) {
      case 'accepted':
        return run.apply(accepted(run.state, outcome, now));
      case 'rejected':
        return run.apply(rejected(run.state, outcome.message, now));
      case 'ambiguous':
        return run.apply(ambiguous(run.state, outcome.reason, now));
      case 'unauthorized':
        await sleep(unauthorizedDelay(tries), {
          summary: `The provider refuses our credentials: ${outcome.message}`,
        });
        break;
      case 'notSent':
        if (now - run.state.createdAt >= NOT_SENT_PATIENCE_MS) {
          return run.apply(failed(run.state, `never sent to the provider: ${outcome.reason}`, now));
        }
        await sleep(sendAgainDelay(tries, outcome.retryAfterMs), {
          summary: `Send again: ${outcome.reason}`,
        });
        break;
    }
    await run.handOverWhenLong();
  }
}
