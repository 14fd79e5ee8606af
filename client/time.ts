/** A time as the API takes it. @throws {TypeError} for a date that is none. */
export function toTime(name: string, time: string | Date | undefined): string | undefined {
  if (!(time instanceof Date)) return time;
  if (Number.isNaN(time.getTime())) throw new TypeError(`${name} must be a time, and not an invalid date`);
  return time.toISOString();
}
