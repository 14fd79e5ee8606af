/**
 * Times are in ms since the epoch. Calendar days, such as `2026-11-21`, are those of Cameroon, of merchants and payers.
 */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Cameroon's time is an hour ahead of UTC all year. */
const CAMEROON_OFFSET_MS = HOUR_MS;

/** The name of the time zone. */
export const TIME_ZONE = 'Africa/Douala';

/** Returns the day that a time falls on. */
export function dayOf(time: number): string {
  return new Date(time + CAMEROON_OFFSET_MS).toISOString().slice(0, 10);
}

/** Returns the end of the day that a time falls on, which is the beginning of the next. */
export function endOfDay(time: number): number {
  return (Math.floor((time + CAMEROON_OFFSET_MS) / DAY_MS) + 1) * DAY_MS - CAMEROON_OFFSET_MS;
}

/** Returns the beginning of a day. */
export function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) - CAMEROON_OFFSET_MS;
}

/** Returns the day a number of days after another, or before it. */
export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Reports whether a text is a day of the calendar. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Writes a time as clocks in Douala show it, with their offset: `2026-11-21T09:20:32.000+01:00`. */
export function doualaTime(time: number): string {
  return new Date(time + CAMEROON_OFFSET_MS).toISOString().replace('Z', '+01:00');
}

/** Writes a time as the API does: ISO 8601, in UTC. */
export function isoTime(time: number): string {
  return new Date(time).toISOString();
}
