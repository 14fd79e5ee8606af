import { describe, expect, it } from '@jest/globals';
import { MAX_PROVIDER_TEXT, providerText } from '../../src/provider/provider-text.js';

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
    const cut = providerText('😀'.repeat(MAX_PROVIDER_TEXT + 1));
    expect([...cut]).toHaveLength(MAX_PROVIDER_TEXT);
    expect(cut).toBe(`${'😀'.repeat(MAX_PROVIDER_TEXT - 1)}…`);
    expect(providerText('x'.repeat(MAX_PROVIDER_TEXT))).toBe('x'.repeat(MAX_PROVIDER_TEXT));
  });

  it('shows none of the credentials, even where one holds another', () => {
    const credentials = ['secret', 'secret-key-2'];
    expect(providerText('key secret-key-2 of user secret', { credentials })).toBe('key *** of user ***');
  });

  it('is not torn apart by a credential that is too short to be one', () => {
    expect(providerText('Amount too small', { credentials: ['a', 'too'] })).toBe('Amount too small');
  });
});

describe("personal data in the provider's text", () => {
  it.each([
    ['Account jean.mbarga+shop@mail.example.cm is closed', 'Account *** is closed'],
    ['mailto:a@b.cm, then <c@d.cm>', 'mailto:***, then <***>'],
    ['677000001 is not registered', '*** is not registered'],
    ['sent to +237 677 00 00 01.', 'sent to ***.'],
    ['sent to (237) 677-00-00-01', 'sent to (***'],
    ['MTN/00237677000001: refused', 'MTN/***: refused'],
    ['call 67\u00a070\u2011000\u200b01 now', 'call *** now'],
    ['call ٦٧٧٠٠٠٠٠١ now', 'call *** now'],
    ['failed on 2026-03-01 for 677 000 001', 'failed on 2026-03-01 for ***'],
  ])('is masked without being known: %j', (text, expected) => {
    expect(providerText(text)).toBe(expected);
  });

  it.each([
    'Amount 1 234 567 is above 500 000',
    'Declined on 2026-03-01 at 10:15:22',
    'Error 5012, see 404',
    'Pay @ the counter',
  ])('is not seen in %j', (text) => {
    expect(providerText(text)).toBe(text);
  });

  it.each([
    ['+237 677 000 001', '237-677-000-001 is barred', '*** is barred'],
    ['+237677000001', 'number 677000001 is barred', 'number *** is barred'],
    ['677000001', 'number +237 677 00 00 01 is barred', 'number *** is barred'],
    ['67-70-01', 'short number 677 001 is barred', 'short number *** is barred'],
  ])('is masked whatever stands between the digits of the phone sent: %s', (phone, text, expected) => {
    expect(providerText(text, { phone })).toBe(expected);
  });

  it.each([
    ['Jean Ngo', 'NGO JEAN is unknown', '*** *** is unknown'],
    ['Jean Ngo', 'jean-ngo is unknown', '*** is unknown'],
    ['Éric Mbarga', 'ERIC M. is unknown', '*** M. is unknown'],
    ['Eric', 'É\u0301ric, E\u0301ric, Éric', '***, ***, ***'],
    ['Li Na', 'LI NA and li na and Lina', '*** and *** and ***'],
    ["N'Diaye", 'N’DIAYE or Diaye', '*** or ***'],
  ])('is masked when it is the name sent, or a word of it: %s', (name, text, expected) => {
    expect(providerText(text, { name })).toBe(expected);
  });

  it.each([
    ['Ann', 'The annual limit: cannot pay Joann'],
    ['Li', 'Li is below the limit'],
    ['. .', 'One. Two. Three'],
  ])('leaves words alone that only hold the name sent, or a name too short: %s', (name, text) => {
    expect(providerText(text, { name })).toBe(text);
  });

  it('is masked when it is the e-mail sent, whatever its case and form', () => {
    const email = '"a, b"@Example.com';
    expect(providerText('to "A, B"@example.COM failed', { email })).toBe('to *** failed');
  });

  it('is masked before the text is cut, so that no part of it is left at the cut', () => {
    const text = `${'x'.repeat(MAX_PROVIDER_TEXT - 5)} 677000001`;
    expect(providerText(text)).not.toContain('6770');
  });

  it('is looked for in a time that grows with the length of the text alone', () => {
    const started = process.cpuUsage();
    for (const part of ['a', '1 ', '1', '(', 'a@', '. ']) providerText(part.repeat(500_000), { name: 'aaa a' });
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(10_000);
  });
});
