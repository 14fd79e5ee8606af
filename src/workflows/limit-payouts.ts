import {
  allHandlersFinished,
  condition,
  continueAsNew,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { type CountedPayout, NO_PAYOUTS, withPayout } from '../payments/counted-payouts.js';
import { countPayoutsUpdate, type PayoutCount, type PayoutLimitInput } from './messages.js';

/** Events of history after which a new run takes over. */
const HISTORY_LIMIT = 1_500;

/**
 * Counts the payouts that a merchant orders on one day against the merchant's limit. It is one workflow for all API
 * processes, which counts one batch after the other, so that no two payouts can take the same room. It ends with its day.
 */
export async function limitPayouts(input: PayoutLimitInput): Promise<void> {
  let counted = input.carried ?? NO_PAYOUTS;
  const count = (payouts: readonly CountedPayout[], max: number) => {
    let next = counted;
    const accepted = payouts.filter((payout) => {
      const withIt = withPayout(next, payout, max);
      next = withIt ?? next;
      return withIt !== undefined;
    });
    return { next, accepted };
  };

  setHandler(countPayoutsUpdate, ({ payouts, max }): PayoutCount => {
    const { next, accepted } = count(payouts, max);
    counted = next;
    return { accepted: accepted.map(({ id }) => id), total: counted.total };
  });

  const isLong = () => workflowInfo().historyLength >= HISTORY_LIMIT || workflowInfo().continueAsNewSuggested;
  const isOver = !(await condition(isLong, Math.max(1, input.until - Date.now())));
  await condition(allHandlersFinished);
  if (!isOver) await continueAsNew<typeof limitPayouts>({ ...input, carried: counted });
}
