import { condition, continueAsNew, setHandler, workflowInfo } from '@temporalio/workflow';
import { type UnmatchedNotification, unmatchedQuery, unmatchedSignal } from './messages.js';

/** Notifications kept: the latest. */
const KEPT = 200;

/** Notifications after which a new run takes over. */
const HISTORY_LIMIT = 1_500;

/**
 * Keeps the provider's latest notifications that match no payment we know, for an operator to look at: a payment made by
 * hand in the provider's portal, another system's, or a forgery.
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
