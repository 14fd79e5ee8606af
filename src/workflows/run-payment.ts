import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import { nextDue } from '../payments/notification.js';
import { checkClaims } from './check-claims.js';
import type { EndedPayment, PaymentInput } from './messages.js';
import { PaymentRun } from './payment-run.js';
import { takeMessages } from './take-messages.js';
import { tellMerchant } from './tell-merchant.js';

/**
 * The frame that every payment lives in: it hears messages, asks about what notifications claim and tells the
 * merchant from its first moment on, and ends when it is final, the merchant knows, and nothing is left to ask.
 *
 * A request to cancel the workflow is not heeded: money that was asked for can't be unasked. A link is ended with
 * the API's expire.
 */
export function runPayment(
  input: PaymentInput,
  steps: (run: PaymentRun) => Promise<void>,
): Promise<EndedPayment> {
  return CancellationScope.nonCancellable(async () => {
    const run = new PaymentRun(input);
    takeMessages(run);
    await Promise.race([tellMerchant(run), checkClaims(run), finish(run, steps)]);
    return { ...run.result(), state: run.state };
  });
}

async function finish(run: PaymentRun, steps: (run: PaymentRun) => Promise<void>): Promise<void> {
  // Even what begins as final takes a turn: the message that opened it again is heard in it.
  do {
    await steps(run);
    await condition(() => isOver(run) || !run.state.final || run.long);
    await run.handOverWhenLong();
  } while (!isOver(run));
}

function isOver({ state }: PaymentRun): boolean {
  return (
    state.final &&
    nextDue(state.notifications) === undefined &&
    state.claims.length === 0 &&
    allHandlersFinished()
  );
}
