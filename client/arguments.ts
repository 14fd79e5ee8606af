/*
 * Checks of a caller's arguments: each mistake is a TypeError with the argument's name, before anything is sent.
 */

/** The longest time that a timer takes; with a longer one, or NaN, it would fire at once. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** @throws {TypeError} for a time that no timer accepts: `Infinity` and NaN would be over at once. */
export function refuseWrongMs(name: string, ms: number): void {
  if (typeof ms !== 'number' || !(ms >= 0 && ms <= MAX_TIMEOUT_MS)) {
    throw new TypeError(`${name} must be a number of ms from 0 to ${MAX_TIMEOUT_MS}, and not ${said(ms)}`);
  }
}

/** @throws {TypeError} for a value without fields. */
export function refuseNoObject(name: string, value: unknown): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new TypeError(`${name} must be an object, and not ${said(value)}`);
}

/** @throws {TypeError} for a signal that can't stop anything. */
export function refuseNoSignal(signal: unknown): void {
  if (signal === undefined || typeof fieldOf(signal, 'throwIfAborted') === 'function') return;
  throw new TypeError(`signal must be an AbortSignal, and not ${said(signal)}`);
}

/** Describes a caller's value in an error, whatever it is. */
export function said(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** A time as the API takes it. @throws {TypeError} for a date that is none. */
export function toTime(name: string, time: string | Date | undefined): string | undefined {
  if (!(time instanceof Date)) return time;
  if (Number.isNaN(time.getTime())) throw new TypeError(`${name} must be a time, and not an invalid date`);
  return time.toISOString();
}

/** Reads a field of a value that may be anything, such as an error of another realm. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Partial<Record<string, unknown>>)[name];
}
