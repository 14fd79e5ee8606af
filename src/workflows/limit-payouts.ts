import {
  allHandlersFinished,
  condition,
  continueAsNew,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { countPayouts, NO_PAYOUTS } from '../payments/counted-payouts.js';
import { countPayoutsUpdate, type PayoutCount, type PayoutLimitInput } from './messages.js';

/** Events of history after which a new run takes over. */
const HISTORY_LIMIT = 1_500;

/**
 * Counts the payouts that a merchant orders on one day against the merchant's limit. It is one workflow for all API
 * processes, which counts one batch after the other, so that no two payouts can take the same room. It ends with its day.
 */
export async function limitPayouts(input: PayoutLimitInput): Promise<void> {
  let counted = input.carried ?? NO_PAYOUTS;
  setHandler(countPayoutsUpdate, ({ payouts, max }): PayoutCount => {
    const count = countPayouts(counted, payouts, max);
    counted = count.counted;
    return { isAccepted: count.isAccepted, total: counted.total };
  });

  const isLong = () => workflowInfo().historyLength >= HISTORY_LIMIT || workflowInfo().continueAsNewSuggested;
  const isOver = !(await condition(isLong, Math.max(1, input.until - Date.now())));
  await condition(allHandlersFinished);
  if (!isOver) await continueAsNew<typeof limitPayouts>({ ...input, carried: counted });
}
