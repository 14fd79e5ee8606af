/** Longest text from the provider that is passed on, in characters. */
export const MAX_PROVIDER_TEXT = 500;

/** Confidential parts of a request. The provider may repeat them in its answer; they must not be passed on. */
export interface Confidential {
  readonly credentials?: readonly string[] | undefined;
  readonly phone?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

const MASK = '***';

/** Shorter credentials, numbers and names occur too often in ordinary words to be masked. */
const MIN_LENGTH = { credential: 6, digits: 6, letters: 3 } as const;

/** Control and invisible formatting characters, and lone surrogates: they can forge log lines or reverse text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu;

/** Matches only from the start of a word, so that a long word without an @ is not searched from each character. */
const EMAIL = /(?<![^\s@<>()[\]"',;:])[^\s@<>()[\]"',;:]+@[^\s@<>()[\]"',;:]+/gu;

/** Separators that people write between the digits of a phone number. */
const BETWEEN_DIGITS = '[\\s\\p{Pd}.()]{0,3}';

/** Dates as the provider writes them, which would otherwise count as a number of 8 digits. */
const DATE = '(?<!\\d)(?:19|20)\\d\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])(?![-\\d])';

/** Matches a date, or 8 digits or more, which may be a phone number. */
const DATE_OR_PHONE = new RegExp(`(${DATE})|\\+?\\p{Nd}(?:${BETWEEN_DIGITS}\\p{Nd}){7,}`, 'gu');

/**
 * Makes the provider's text safe to show and to keep: one line, at most {@link MAX_PROVIDER_TEXT} characters, without
 * e-mail addresses, without numbers of 8 digits or more that may be phone numbers, and without the confidential parts
 * of the request, however the provider writes them. Names of people that were not in the request aren't recognized.
 *
 * @param confidential the confidential parts of the request; credentials and phone numbers shorter than 6 characters,
 *   and names shorter than 3 letters, are not masked
 */
export function providerText(text: string, confidential: Confidential = {}): string {
  // Decomposed, so that a name is found with or without its accents.
  const line = decompose(text).replace(UNPRINTABLE, ' ');
  const mask = (shown: string, pattern: RegExp) => shown.replace(pattern, MASK);
  const { credentials, phone, name, email } = confidential;
  const named = [...literalPatterns(credentials, email), ...namePatterns(name), EMAIL].reduce(mask, line);
  const unnumbered = named.replace(DATE_OR_PHONE, (_number, date?: string) => date ?? MASK);
  // After the longer numbers, which may contain this one behind a country code.
  const shown = phonePatterns(phone).reduce(mask, unnumbered).normalize('NFC').trim();
  // By code points, so that no character is cut in half.
  const characters = [...shown];
  return characters.length > MAX_PROVIDER_TEXT ? `${characters.slice(0, MAX_PROVIDER_TEXT - 1).join('')}…` : shown;
}

/** Longer credentials first: one may contain another. */
function literalPatterns(credentials: readonly string[] = [], email = ''): RegExp[] {
  const secrets = credentials
    .filter((credential) => credential.length >= MIN_LENGTH.credential)
    .sort((one, other) => other.length - one.length)
    .map((credential) => new RegExp(literally(credential), 'gu'));
  return email === '' ? secrets : [...secrets, new RegExp(literally(email), 'giu')];
}

/** The digits of a phone number, with any of the usual separators between them. */
function phonePatterns(phone = ''): RegExp[] {
  const digits = phone.match(/\p{Nd}/gu) ?? [];
  return digits.length < MIN_LENGTH.digits ? [] : [new RegExp(`\\+?${digits.join(BETWEEN_DIGITS)}`, 'gu')];
}

/** A name as a whole, then each of its words: the provider may reorder them or leave some out. */
function namePatterns(name = ''): RegExp[] {
  const words =
    decompose(name)
      .replace(/\p{M}/gu, '')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return [words, ...words.map((word) => [word])]
    .filter((parts) => [...parts.join('')].length >= MIN_LENGTH.letters)
    .map((parts) => {
      const letters = parts.map((part) => [...part].map((letter) => `${letter}\\p{M}*`).join(''));
      const phrase = letters.join('[^\\p{L}\\p{N}]{0,3}');
      return new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])${phrase}(?![\\p{L}\\p{M}\\p{N}])`, 'giu');
    });
}

/**
 * Longest run of marks, by Unicode's stream-safe format: decomposing a text takes time that grows with the square of
 * its runs.
 */
const LONG_RUN_OF_MARKS = /(\p{M}{30})\p{M}+/gu;

function decompose(text: string): string {
  return text.replace(LONG_RUN_OF_MARKS, '$1').normalize('NFD');
}

/** A pattern that matches exactly this text. */
function literally(text: string): string {
  return decompose(text).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
