import { describe, expect, it } from '@jest/globals';
import { formatAmount, formatTime, formatTimeLeft } from '../../../sandbox/checkout/summary.js';

describe('an amount', () => {
  it('has its thousands apart and stays on one line', () => {
    expect(formatAmount(5000)).toBe('5,000\u00a0XAF');
    expect(formatAmount(100)).toBe('100\u00a0XAF');
  });
});

describe('a moment', () => {
  it('is told by the clock of Douala, one hour before UTC', () => {
    expect(formatTime(Date.UTC(2025, 10, 21, 23, 30))).toBe('Sat 22 Nov, 00:30');
  });
});

describe('the time left', () => {
  it.each([
    [86_400_000, '24 h'],
    [83_520_000, '23 h 12 min'],
    [3_599_999, '59 min'],
    [60_000, '1 min'],
    [59_999, 'less than a minute'],
  ])('of %d ms is %s', (span, text) => {
    expect(formatTimeLeft(span)).toBe(text);
  });
});
