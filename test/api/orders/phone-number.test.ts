import { describe, expect, it } from '@jest/globals';
import { readPhoneNumber } from '../../../src/api/orders/phone-number.js';

describe('a phone number', () => {
  it.each([
    '677000000',
    '+237677000000',
    '237677000000',
    '+237 6 77 00 00 00',
    '6-77-00-00-00',
    ' 677000000 ',
  ])('is read from %p', (text) => {
    expect(readPhoneNumber(text)).toBe('677000000');
  });

  it.each([
    '',
    '577000000',
    '67700000',
    '6770000000',
    '+33677000000',
    '00237677000000',
    '+6770000000',
    '6770000OO',
  ])('is not found in %p', (text) => {
    expect(readPhoneNumber(text)).toBeUndefined();
  });
});
