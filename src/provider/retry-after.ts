/** Longest pause that a Retry-After is believed for, in ms: after it, asking again costs one request. */
export const RETRY_AFTER_MAX_MS = 60 * 60 * 1000;

/** The one date form that HTTP still sends. `Date.parse` alone would read a year into `-1`. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long a `Retry-After` asks to wait, in ms, at most {@link RETRY_AFTER_MAX_MS}. It comes in seconds or as a date.
 * `undefined` when it is missing, can't be read, or names no time to come: then the caller's own backoff counts.
 *
 * @param header the value of `Retry-After`
 * @param date the answer's own `Date`: a date is measured by the clock that wrote it, which may be off from ours
 * @param nowMs ms since 1970, for an answer that has no `Date`
 */
export function readRetryAfter(
  header: string | undefined,
  date: string | undefined,
  nowMs: number,
): number | undefined {
  const value = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(value)
    ? Number(value) * 1000
    : readDate(value) - orElse(readDate(date?.trim() ?? ''), nowMs);
  return waitMs > 0 ? Math.min(waitMs, RETRY_AFTER_MAX_MS) : undefined;
}

function readDate(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
}

function orElse(value: number, fallback: number): number {
  return Number.isNaN(value) ? fallback : value;
}
