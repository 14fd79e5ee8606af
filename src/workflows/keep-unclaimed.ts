import { condition, continueAsNew, setHandler, workflowInfo } from '@temporalio/workflow';
import { type UnclaimedNotification, unclaimedQuery, unclaimedSignal } from './messages.js';

/** Notifications kept: the latest. */
const KEPT = 200;

/** Notifications after which a new run takes over. */
const HISTORY_LIMIT = 1_500;

/**
 * Keeps the latest notifications of the provider that belong to no payment we know, for an operator to look at: a
 * payment made by hand at the provider's, another system's, or somebody's try.
 */
export async function keepUnclaimed(kept: readonly UnclaimedNotification[] = []): Promise<void> {
  let latest = kept;
  setHandler(unclaimedSignal, (notification) => {
    latest = [...latest, notification].slice(-KEPT);
  });
  setHandler(unclaimedQuery, () => latest);
  await condition(
    () => workflowInfo().historyLength >= HISTORY_LIMIT || workflowInfo().continueAsNewSuggested,
  );
  await continueAsNew<typeof keepUnclaimed>(latest);
}
