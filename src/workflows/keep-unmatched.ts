import { CancellationScope, condition, continueAsNew } from '@temporalio/workflow';
import { isHistoryLong, onQuery, onSignal, readInput } from './handlers.js';
import {
  matchedSignal,
  type UnmatchedInput,
  type UnmatchedNotification,
  unmatchedQuery,
  unmatchedSignal,
} from './messages.js';
import { matchedNotification, unmatchedInput, unmatchedNotification } from './schemas.js';

/** Notifications that are kept: the latest. */
const KEPT = 200;

/** Unreadable ones among them, at most: these push out no other. */
const KEPT_UNREAD = 50;

/**
 * Keeps the provider's latest notifications that match no payment, for an operator to read. They may come from a
 * payment made by hand in the provider's portal, from another system, from a link with which no payment could be
 * started, or be forged. A request to cancel it has no effect: what it keeps is kept nowhere else.
 */
export function keepUnmatched(given: UnmatchedInput = { v: 1, kept: [] }): Promise<void> {
  return CancellationScope.nonCancellable(() => keep(given));
}

async function keep(given: unknown): Promise<void> {
  let latest = readInput(unmatchedInput, given).kept;
  onSignal(unmatchedSignal, unmatchedNotification, (notification) => {
    latest = withLatest(latest, notification);
  });
  onSignal(matchedSignal, matchedNotification, ({ at, transId, externalId }) => {
    latest = latest.filter((kept) => kept.at !== at || kept.transId !== transId || kept.externalId !== externalId);
  });
  onQuery(unmatchedQuery, () => latest);
  await condition(isHistoryLong);
  await continueAsNew<typeof keepUnmatched>({ v: 1, kept: latest });
}

/** Adds a notification, in place of an earlier one that says the same. */
function withLatest(
  kept: readonly UnmatchedNotification[],
  latest: UnmatchedNotification,
): readonly UnmatchedNotification[] {
  const others = kept.filter((one) => !saysTheSame(one, latest));
  if (latest.unread === undefined) return [...others, latest].slice(-KEPT);
  const unread = others.filter((one) => one.unread !== undefined);
  const oldest = unread.length >= KEPT_UNREAD ? unread[0] : undefined;
  return [...others.filter((one) => one !== oldest), latest].slice(-KEPT);
}

function saysTheSame(one: UnmatchedNotification, other: UnmatchedNotification): boolean {
  return (['unread', 'transId', 'status', 'externalId'] as const).every((field) => one[field] === other[field]);
}
