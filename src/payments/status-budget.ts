import { STATUS_CALLS_PER_WINDOW, STATUS_WINDOW_MS } from './limits.js';

/**
 * Keeps one transaction's status look-ups below the provider's limit, so that it never has to answer 429.
 *
 * A call counts from when it was *answered*: the provider counted it at some moment before that, so that a slow
 * call can never slide out of our window while it is still in the provider's. Three calls of the provider's six are
 * kept in hand. What is asked within a workflow task that comes to nothing leaves no trace, and is asked again: a worker
 * dies, or a signal overtakes the payment's end. At the end of a link that may be two calls; the third is for a
 * transaction that a notification claims.
 */
export const STATUS_CALLS_BUDGETED = STATUS_CALLS_PER_WINDOW - 3;

/** Times (ms since the epoch) at which the latest look-ups were answered, oldest first. */
export type Spent = readonly number[];

/** The earliest time at which one more look-up is allowed: `now`, or when the oldest of a full window has left it. */
export function nextFreeAt(spent: Spent, now: number): number {
  const inWindow = recent(spent, now);
  const oldest = inWindow[inWindow.length - STATUS_CALLS_BUDGETED];
  return oldest === undefined ? now : oldest + STATUS_WINDOW_MS + 1;
}

/** The budget after a look-up that was answered (or given up) at `answeredAt`. */
export function spend(spent: Spent, answeredAt: number): Spent {
  return [...recent(spent, answeredAt), answeredAt].sort((a, b) => a - b).slice(-STATUS_CALLS_PER_WINDOW);
}

function recent(spent: Spent, now: number): Spent {
  return spent.filter((at) => now - at <= STATUS_WINDOW_MS);
}
