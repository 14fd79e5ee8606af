import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { PaymentInput, PaymentResult } from './messages.js';
import { PaymentRun } from './payment-run.js';
import { takeMessages } from './take-messages.js';
import { merchantTold, tellMerchant } from './tell-merchant.js';

/**
 * The frame that every payment lives in: it hears messages and tells the merchant from its first moment on, and ends
 * when its steps are done, everybody who waits was answered, and the merchant knows.
 *
 * A request to cancel the workflow is not heeded: money that was asked for can't be unasked. A link is ended with
 * the API's expire.
 */
export function runPayment(
  input: PaymentInput,
  steps: (run: PaymentRun) => Promise<void>,
): Promise<PaymentResult> {
  return CancellationScope.nonCancellable(async () => {
    const run = new PaymentRun(input);
    takeMessages(run);
    await Promise.race([tellMerchant(run), finish(run, steps)]);
    return run.result();
  });
}

async function finish(run: PaymentRun, steps: (run: PaymentRun) => Promise<void>): Promise<void> {
  await steps(run);
  await merchantTold(run);
  await condition(allHandlersFinished);
}
