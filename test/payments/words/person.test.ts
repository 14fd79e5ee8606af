import { describe, expect, it } from '@jest/globals';
import { isOneName, isOnePerson } from '../../../src/payments/words/person.js';

/** The name of one person, in other spellings. */
const RESPELT = [
  ['another case', 'Ann-Lee'],
  ['capitals', 'ANN-LEE'],
  ['an accent', 'ánn-lee'],
  ['an accent of its own', 'a\u0301nn-lee'],
  ['full width', 'ａｎｎ－ｌｅｅ'],
  ['a space in place of the hyphen', 'ann lee'],
  ['several spaces', ' ann \u00a0\t lee '],
  ['another hyphen', 'ann\u2010\u2011lee'],
  ['a zero-width space', 'ann\u200b-lee'],
  ['a zero-width joiner', 'an\u200dn-lee\u2060'],
  ['a byte order mark', '\ufeffann-lee'],
  ['a change of direction', '\u202eann-lee\u202c'],
  ['a soft hyphen', 'ann\u00ad-lee'],
  ['a filler', 'ann\u3164-lee\u115f'],
  ['a variation selector', 'ann\ufe0f-lee'],
] as const;

describe('a name', () => {
  it.each(RESPELT)('is one person’s with %s', (_, name) => {
    expect(isOneName('ann-lee', name)).toBe(true);
    expect(isOneName(name, 'ann-lee')).toBe(true);
  });

  it.each([
    ['ß', 'SS'],
    ['ẞ', 'ss'],
    ['ΑΣ', 'ας'],
    ['ﬁ', 'FI'],
    ['İ', 'i'],
    ['ı', 'I'],
  ])('is one person’s as %s and as %s', (one, other) => {
    expect(isOneName(one, other)).toBe(true);
  });

  it.each([
    ['ann', 'anna'],
    ['ann', 'bob'],
    ['ann1', 'ann2'],
    ['ann-lee', 'annlee'],
    ['shop-1-12', 'shop-11-2'],
    ['жан', 'иван'],
  ])('is another person’s where %s is called %s', (one, other) => {
    expect(isOneName(one, other)).toBe(false);
  });
});

describe('two people', () => {
  it('are one when they have a name or a key in common, and two otherwise', () => {
    const ann = { name: 'ann', keys: ['k1', 'k2'] };
    expect(isOnePerson(ann, { name: 'Ann', keys: ['k3'] })).toBe(true);
    expect(isOnePerson(ann, { name: 'zoe', keys: ['k3', 'k2'] })).toBe(true);
    expect(isOnePerson(ann, { name: 'bob', keys: ['k3'] })).toBe(false);
    expect(isOnePerson(ann, { name: 'bob' })).toBe(false);
    expect(isOnePerson({ name: 'ann' }, { name: 'bob', keys: ['k1'] })).toBe(false);
    expect(isOnePerson({ name: 'ann' }, { name: 'ANN' })).toBe(true);
  });
});
