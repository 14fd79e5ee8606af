import { describe, expect, it } from '@jest/globals';
import { DIGITS, keyedRandom } from '../../sandbox/keyed-random.js';

describe('keyedRandom', () => {
  it('draws the same for the same seed and key, whatever was drawn before', () => {
    const random = keyedRandom('seed');
    random.fraction('something else');
    expect(random.fraction('a', 1)).toBe(keyedRandom('seed').fraction('a', 1));
  });

  it('draws something else for another key or another seed', () => {
    const drawn = [
      keyedRandom('seed').fraction('a', 'bc'),
      keyedRandom('seed').fraction('ab', 'c'),
      keyedRandom('other').fraction('a', 'bc'),
    ];
    expect(new Set(drawn).size).toBe(3);
  });

  it('draws differently each time it is made without a seed', () => {
    expect(keyedRandom().fraction('a')).not.toBe(keyedRandom().fraction('a'));
  });

  it('spreads its fractions over [0, 1)', () => {
    const random = keyedRandom(7);
    const drawn = Array.from({ length: 2000 }, (_, nth) => random.fraction(nth));
    expect(drawn.every((fraction) => fraction >= 0 && fraction < 1)).toBe(true);
    const mean = drawn.reduce((sum, fraction) => sum + fraction, 0) / drawn.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.03);
  });

  it('writes texts of the length and alphabet asked for', () => {
    expect(keyedRandom('seed').text(10, DIGITS, 'id')).toMatch(/^\d{10}$/);
  });
});
