/** For how long a request that was never taken is tried again, in ms. */
export const NOT_SENT_PATIENCE_MS = 5 * 60 * 1000;

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** The pause when the provider refuses our credentials, in ms: only an operator can end that, so there is no hurry. */
export const UNAUTHORIZED_PAUSE_MS = 60_000;

/** The pause before a request that was never taken is sent for the `tries + 1`th time, in ms; at least what the provider asked for. */
export function sendAgainDelay(tries: number, retryAfterMs = 0): number {
  return Math.max(retryAfterMs, Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries - 1, 31), LONGEST_PAUSE_MS));
}
