import { describe, expect, it } from '@jest/globals';
import { PROVIDER_TEXT_MAX, providerText } from '../../src/provider/provider-text.js';

describe("the provider's text", () => {
  it('is passed on as it is', () => {
    expect(providerText('Numéro invalide: opérateur inconnu')).toBe('Numéro invalide: opérateur inconnu');
  });

  it.each([
    ['line breaks', 'one\r\ntwo', 'one two'],
    ['escape sequences', 'red \u001b[31malert', 'red  [31malert'],
    ['marks that turn text around', 'abc\u202edef', 'abc def'],
    ['line separators', 'a\u2028b\u2029c', 'a b c'],
    ['halves of a character', 'a\ud83db', 'a b'],
    ['blanks at its ends', '\t no \n', 'no'],
  ])('loses %s', (_, text, expected) => {
    expect(providerText(text)).toBe(expected);
  });

  it('is cut to its greatest length, between characters', () => {
    const cut = providerText('😀'.repeat(PROVIDER_TEXT_MAX + 1));
    expect([...cut]).toHaveLength(PROVIDER_TEXT_MAX);
    expect(cut).toBe(`${'😀'.repeat(PROVIDER_TEXT_MAX - 1)}…`);
    expect(providerText('x'.repeat(PROVIDER_TEXT_MAX))).toBe('x'.repeat(PROVIDER_TEXT_MAX));
  });

  it('shows none of the withheld values, even where one holds another', () => {
    expect(providerText('key secret-key-2 of user secret', ['secret', 'secret-key-2'])).toBe(
      'key *** of user ***',
    );
  });

  it('is not torn apart by a withheld value that is too short to be one', () => {
    expect(providerText('Amount too small', ['a', 'too'])).toBe('Amount too small');
  });
});
