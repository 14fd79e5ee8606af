import { CancellationScope, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { onQuery, onSignal, readInput } from './handlers.js';
import { matchedSignal, type UnmatchedNotification, unmatchedQuery, unmatchedSignal } from './messages.js';
import { list } from './schema.js';
import { matchedNotification, unmatchedNotification } from './schemas.js';

/** How many notifications are kept, the latest. */
const KEPT = 200;

/** Events of history after which a new run takes over. */
const HISTORY_LIMIT = 1_500;

/**
 * Keeps the provider's latest notifications that match no payment, for an operator to read. They may come from a payment
 * made by hand in the provider's portal, from another system, from a link with which no payment could be started, or be forged.
 * A request to cancel it has no effect: what it keeps is kept nowhere else.
 */
export function keepUnmatched(kept: readonly UnmatchedNotification[] = []): Promise<void> {
  return CancellationScope.nonCancellable(() => keep(kept));
}

async function keep(kept: readonly UnmatchedNotification[]): Promise<void> {
  let latest = readInput(list(unmatchedNotification), kept);
  onSignal(unmatchedSignal, unmatchedNotification, (notification) => {
    latest = [...latest, notification].slice(-KEPT);
  });
  onSignal(matchedSignal, matchedNotification, ({ at, transId, externalId }) => {
    latest = latest.filter(
      (kept) => kept.at !== at || kept.transId !== transId || kept.externalId !== externalId,
    );
  });
  onQuery(unmatchedQuery, () => latest);
  await condition(
    () => workflowInfo().historyLength >= HISTORY_LIMIT || workflowInfo().continueAsNewSuggested,
  );
  await continueAsNew<typeof keepUnmatched>(latest);
}
