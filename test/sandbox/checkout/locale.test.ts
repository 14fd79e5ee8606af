import { describe, expect, it } from '@jest/globals';
import { locales } from '../../../sandbox/checkout/locale.js';
import type { Texts } from '../../../sandbox/checkout/texts.js';

const { en, fr } = locales;

describe('an amount', () => {
  it('has its thousands apart and stays on one line', () => {
    expect(en.formatAmount(5000)).toBe('5,000\u00a0XAF');
    expect(en.formatAmount(100)).toBe('100\u00a0XAF');
    expect(fr.formatAmount(1_250_000)).toBe('1\u202f250\u202f000\u00a0FCFA');
  });
});

describe('a moment', () => {
  it('is told by the clock of Douala, one hour before UTC, in 24 hours', () => {
    const late = Date.UTC(2025, 10, 21, 23, 30);
    expect(en.formatTime(late)).toBe('Sat 22 Nov, 00:30 (Douala time)');
    expect(fr.formatTime(late)).toBe('sam. 22 nov., 00:30 (heure de Douala)');
    const afternoon = Date.UTC(2025, 7, 1, 13, 5);
    expect(en.formatTime(afternoon)).toBe('Fri 1 Aug, 14:05 (Douala time)');
    expect(fr.formatTime(afternoon)).toBe('ven. 1 août, 14:05 (heure de Douala)');
  });
});

/** Every text, by its path, with its arguments as they are named. */
const textsOf = (texts: unknown, path = ''): [path: string, text: string][] => {
  if (typeof texts === 'function') return [[path, String(texts('{1}', '{2}'))]];
  if (typeof texts === 'object' && texts !== null) {
    return Object.entries(texts).flatMap(([name, value]) => textsOf(value, `${path}.${name}`));
  }
  return [[path, String(texts)]];
};

describe('the texts', () => {
  const pairs = (one: Texts, other: Texts) => {
    const others = new Map(textsOf(other));
    return textsOf(one).map(([path, text]) => [path, text, others.get(path) ?? ''] as const);
  };

  it('are translated, all of them', () => {
    const untranslated = pairs(en.texts, fr.texts).filter(([, english, french]) => english === french);
    expect(untranslated).toEqual([]);
  });

  it('name the same amount, merchant, time or number in both languages', () => {
    const holes = (text: string) => [...new Set(text.match(/\{\d\}/g))].sort();
    for (const [path, english, french] of pairs(en.texts, fr.texts)) {
      expect([path, holes(french)]).toEqual([path, holes(english)]);
    }
  });

  it('are set in French with a no-break space before double punctuation, so that it never begins a line', () => {
    const wrong = textsOf(fr.texts).filter(([, text]) => /(?<!\u00a0)[:;?!]/.test(text));
    expect(wrong).toEqual([]);
  });
});
