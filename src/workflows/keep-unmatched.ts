import { condition, continueAsNew, setHandler, workflowInfo } from '@temporalio/workflow';
import { type UnmatchedNotification, unmatchedQuery, unmatchedSignal } from './messages.js';

/** How many notifications are kept, the latest. */
const KEPT = 200;

/** Events of history after which a new run takes over. */
const HISTORY_LIMIT = 1_500;

/**
 * Keeps the provider's latest notifications that match no payment, for an operator to read. They may come from a payment
 * made by hand in the provider's portal, from another system, from a link with which no payment could be started, or be forged.
 */
export async function keepUnmatched(kept: readonly UnmatchedNotification[] = []): Promise<void> {
  let latest = kept;
  setHandler(unmatchedSignal, (notification) => {
    latest = [...latest, notification].slice(-KEPT);
  });
  setHandler(unmatchedQuery, () => latest);
  await condition(
    () => workflowInfo().historyLength >= HISTORY_LIMIT || workflowInfo().continueAsNewSuggested,
  );
  await continueAsNew<typeof keepUnmatched>(latest);
}
