/**
 * An identifier as one segment of an address. `undefined` for what no segment can carry: nothing at all, text that
 * isn't valid Unicode, and `.` and `..`, which an address would swallow and so ask for something else.
 */
export function pathSegment(identifier: string): string | undefined {
  if (identifier === '' || identifier === '.' || identifier === '..') return undefined;
  try {
    return encodeURIComponent(identifier);
  } catch {
    return undefined;
  }
}
