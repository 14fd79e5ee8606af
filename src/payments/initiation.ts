/** For how long a request that was never taken is tried again, in ms. */
export const NOT_SENT_PATIENCE_MS = 5 * 60 * 1000;

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** First and longest pause when the provider refuses our credentials, in ms: only an operator can end that. */
const UNAUTHORIZED_PAUSE_MS = 60_000;
const UNAUTHORIZED_LONGEST_MS = 10 * 60_000;

/** The pause before a payment that the provider's credentials held up is sent for the `tries + 1`th time, in ms. */
export function unauthorizedDelay(tries: number): number {
  return Math.min(UNAUTHORIZED_PAUSE_MS * 2 ** Math.min(tries - 1, 31), UNAUTHORIZED_LONGEST_MS);
}

/** The pause before a request that was never taken is sent for the `tries + 1`th time, in ms; at least what the provider asked for. */
export function sendAgainDelay(tries: number, retryAfterMs = 0): number {
  return Math.max(retryAfterMs, Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries - 1, 31), LONGEST_PAUSE_MS));
}
