import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import { countPayouts, NO_PAYOUTS } from '../payments/machine/counted-payouts.js';
import { isHistoryLong, onUpdate, readInput, wrongInput } from './handlers.js';
import {
  countPayoutsUpdate,
  type PayoutCount,
  type PayoutLimitInput,
  type PayoutLimitSteps,
  payoutLimitWorkflowId,
} from './messages.js';
import { payoutLimitInput, payoutsToCount } from './schemas.js';

/** Asked until it answers: without the count so far, nothing is paid. */
const { orderedPayouts } = proxyLocalActivities<PayoutLimitSteps>({
  startToCloseTimeout: '2m',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
  summary: "Read the day's payouts so far",
});

/**
 * Counts the payouts that a merchant orders on one day against the merchant's limit. It is one workflow for all API
 * processes, which counts one batch after the other, so that no two payouts can take the same room. It begins with what
 * Temporal lists of the day, in case somebody has deleted it, and ends with its day. A request to cancel it has no
 * effect: without it, nothing more would be paid that day.
 */
export function limitPayouts(given: PayoutLimitInput): Promise<void> {
  return CancellationScope.nonCancellable(() => count(given));
}

async function count(given: unknown): Promise<void> {
  const input = readInput(payoutLimitInput, given);
  const { merchant, day, until } = input;
  if (payoutLimitWorkflowId(merchant, day) !== workflowInfo().workflowId) throw wrongInput('it is of another day');
  let counted = input.carried;
  onUpdate(countPayoutsUpdate, payoutsToCount, async ({ payouts, max }): Promise<PayoutCount> => {
    // A request to cancel would end a wait of a handler's own.
    await CancellationScope.nonCancellable(() => condition(() => counted !== undefined));
    const count = countPayouts(counted ?? NO_PAYOUTS, payouts, max);
    counted = count.counted;
    return { isAccepted: count.isAccepted, total: counted.total };
  });
  counted ??= await orderedPayouts(merchant, day);

  const isOver = !(await condition(isHistoryLong, Math.max(1, until - Date.now())));
  await condition(allHandlersFinished);
  if (!isOver) await continueAsNew<typeof limitPayouts>({ ...input, carried: counted });
}
