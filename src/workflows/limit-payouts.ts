import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  workflowInfo,
} from '@temporalio/workflow';
import { countPayouts, NO_PAYOUTS } from '../payments/counted-payouts.js';
import { onUpdate, readInput } from './handlers.js';
import { countPayoutsUpdate, type PayoutCount, type PayoutLimitInput } from './messages.js';
import { payoutLimitInput, payoutsToCount } from './schemas.js';

/** Events of history after which a new run takes over. */
const HISTORY_LIMIT = 1_500;

/**
 * Counts the payouts that a merchant orders on one day against the merchant's limit. It is one workflow for all API
 * processes, which counts one batch after the other, so that no two payouts can take the same room. It ends with its day. A request
 * to cancel it has no effect: without it, nothing more would be paid that day.
 */
export function limitPayouts(given: PayoutLimitInput): Promise<void> {
  return CancellationScope.nonCancellable(() => count(given));
}

async function count(given: PayoutLimitInput): Promise<void> {
  const input = readInput(payoutLimitInput, given);
  let counted = input.carried ?? NO_PAYOUTS;
  onUpdate(countPayoutsUpdate, payoutsToCount, ({ payouts, max }): PayoutCount => {
    const count = countPayouts(counted, payouts, max);
    counted = count.counted;
    return { isAccepted: count.isAccepted, total: counted.total };
  });

  const isLong = () => workflowInfo().historyLength >= HISTORY_LIMIT || workflowInfo().continueAsNewSuggested;
  const isOver = !(await condition(isLong, Math.max(1, input.until - Date.now())));
  await condition(allHandlersFinished);
  if (!isOver) await continueAsNew<typeof limitPayouts>({ ...input, carried: counted });
}
