import { describe, expect, it } from '@jest/globals';
import { dayAfter, dayOf, endOfDay, isDay, startOf } from '../../../src/payments/words/time.js';

describe('a day', () => {
  it.each([
    ['2026-11-21T22:59:59.999Z', '2026-11-21', '2026-11-21T23:00:00.000Z'],
    ['2026-11-21T23:00:00.000Z', '2026-11-22', '2026-11-22T23:00:00.000Z'],
    ['2026-11-22T00:00:00.000Z', '2026-11-22', '2026-11-22T23:00:00.000Z'],
  ])('is that of Cameroon: %s falls on %s', (time, day, end) => {
    expect(dayOf(Date.parse(time))).toBe(day);
    expect(endOfDay(Date.parse(time))).toBe(Date.parse(end));
  });

  it('begins when the one before it ends', () => {
    expect(startOf('2026-11-22')).toBe(Date.parse('2026-11-21T23:00:00Z'));
    expect(startOf('2026-11-22')).toBe(endOfDay(startOf('2026-11-21')));
    expect(dayOf(startOf('2026-11-22'))).toBe('2026-11-22');
  });

  it('has one before and one after it, over the ends of months and years, too', () => {
    expect(dayAfter('2026-12-31')).toBe('2027-01-01');
    expect(dayAfter('2028-03-01', -1)).toBe('2028-02-29');
  });

  it.each(['2026-02-30', '2026-13-01', '2026-1-1', '20261121', '2026-11-21T00:00:00Z', ''])(
    'is on the calendar: %j is none',
    (text) => {
      expect(isDay(text)).toBe(false);
      expect(isDay('2028-02-29')).toBe(true);
    },
  );
});
