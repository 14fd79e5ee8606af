import {
  allHandlersFinished,
  condition,
  continueAsNew,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { type CountedPayout, EMPTY_TALLY, withPayout } from '../payments/payout-tally.js';
import { countPayoutsUpdate, type PayoutCount, type TallyInput } from './messages.js';

/** Events of history after which a new run takes over. */
const HISTORY_LIMIT = 1_500;

/**
 * Counts the payouts that a merchant orders on one day against the merchant's limit. It is one workflow for all API
 * processes, which counts one batch after the other, so that no two payouts can take the same room. It ends with its day.
 */
export async function tallyPayouts(input: TallyInput): Promise<void> {
  let tally = input.carried ?? EMPTY_TALLY;
  const count = (payouts: readonly CountedPayout[], max: number) => {
    let next = tally;
    const accepted = payouts.filter((payout) => {
      const counted = withPayout(next, payout, max);
      next = counted ?? next;
      return counted !== undefined;
    });
    return { next, accepted };
  };

  setHandler(countPayoutsUpdate, ({ payouts, max }): PayoutCount => {
    const { next, accepted } = count(payouts, max);
    tally = next;
    return { accepted: accepted.map(({ id }) => id), total: tally.total };
  });

  const isLong = () => workflowInfo().historyLength >= HISTORY_LIMIT || workflowInfo().continueAsNewSuggested;
  const isOver = !(await condition(isLong, Math.max(1, input.until - Date.now())));
  await condition(allHandlersFinished);
  if (!isOver) await continueAsNew<typeof tallyPayouts>({ ...input, carried: tally });
}
