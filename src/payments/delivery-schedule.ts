const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;

/** For how long a notification is tried, in ms: three days from when it happened. */
export const DELIVERY_PATIENCE_MS = 72 * HOUR_MS;

/** Pauses after the first, second, … failed try, in ms; the last one repeats. The steps are those that Standard Webhooks suggests. */
const PAUSES_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS] as const;

/**
 * The pause before a notification is tried again, in ms; `undefined` when its three days are over.
 *
 * @param tries tries so far, all failed
 * @param at ms since the epoch: when what it tells of happened
 */
export function deliverAgainDelay(tries: number, at: number, now: number): number | undefined {
  const pause = PAUSES_MS[Math.min(tries, PAUSES_MS.length) - 1] ?? PAUSES_MS[0];
  return now + pause > at + DELIVERY_PATIENCE_MS ? undefined : pause;
}
