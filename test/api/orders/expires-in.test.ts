import { describe, expect, it } from '@jest/globals';
import { readExpiresIn } from '../../../src/api/orders/expires-in.js';

describe("a link's lifetime", () => {
  it.each([
    ['10s', 10_000],
    ['90s', 90_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['1440m', 86_400_000],
  ])('of %s has %d ms', (text, ms) => {
    expect(readExpiresIn(text)).toBe(ms);
  });

  it.each(['', '9s', '0m', '25h', '86401s', '1d', '1.5h', '-5m', '5 m', 'toString'])(
    'cannot be %p',
    (text) => {
      expect(readExpiresIn(text)).toBeUndefined();
    },
  );
});
