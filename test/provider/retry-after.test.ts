import { describe, expect, it } from '@jest/globals';
import { RETRY_AFTER_MAX_MS, readRetryAfter } from '../../src/provider/retry-after.js';

const now = Date.parse('2026-03-01T12:00:00Z');

describe('Retry-After', () => {
  it.each([
    ['seconds', '7', 7_000],
    ['seconds with blanks around', ' 7 ', 7_000],
    ['a date', 'Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['more than an hour, cut to an hour', '86400', RETRY_AFTER_MAX_MS],
    ['a far date, cut to an hour', 'Mon, 01 Mar 2027 12:00:00 GMT', RETRY_AFTER_MAX_MS],
    ['a number beyond all numbers', '9'.repeat(400), RETRY_AFTER_MAX_MS],
  ])('is read from %s', (_, header, expected) => {
    expect(readRetryAfter(header, undefined, now)).toBe(expected);
  });

  it.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['zero, which names no time to come', '0'],
    ['a negative number', '-1'],
    ['a fraction', '1.5'],
    ['words', 'soon'],
    ['infinity', 'Infinity'],
    ['a date gone by', 'Sun, 01 Mar 2026 11:59:59 GMT'],
    ['a date of another form', '2026-03-01T12:00:30Z'],
    ['a date that does not exist', 'Sun, 99 Mar 2026 12:00:30 GMT'],
  ])('is ignored when it is %s', (_, header) => {
    expect(readRetryAfter(header, undefined, now)).toBeUndefined();
  });

  it("measures a date by the answer's own clock, a day off from ours or not", () => {
    expect(readRetryAfter('Mon, 02 Mar 2026 12:00:30 GMT', 'Mon, 02 Mar 2026 12:00:00 GMT', now)).toBe(
      30_000,
    );
    expect(readRetryAfter('Sat, 28 Feb 2026 12:00:30 GMT', 'Sat, 28 Feb 2026 12:00:00 GMT', now)).toBe(
      30_000,
    );
  });

  it("falls back on our clock when the answer's own can't be read", () => {
    expect(readRetryAfter('Sun, 01 Mar 2026 12:00:30 GMT', 'today', now)).toBe(30_000);
  });
});
