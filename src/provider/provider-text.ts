/** Longest text of the provider's that is passed on, in characters. */
export const PROVIDER_TEXT_MAX = 500;

/** Shorter values are too common in plain words for their removal to make sense. */
const WITHHELD_MIN = 6;

/** Control and invisible formatting characters, and lone surrogates: they forge log lines or turn text around. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu;

/**
 * The provider's words, safe to show and to keep: one line, at most {@link PROVIDER_TEXT_MAX} characters, and without
 * the values that were sent in confidence, should the provider repeat them.
 *
 * @param withheld credentials and personal data of the request; those shorter than 6 characters are left in
 */
export function providerText(text: string, withheld: readonly string[] = []): string {
  const secrets = withheld
    .filter((secret) => secret.length >= WITHHELD_MIN)
    .sort((a, b) => b.length - a.length);
  const masked = secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
  const line = masked.replace(UNPRINTABLE, ' ').trim();
  // By code points, so that no character is cut in half.
  const characters = [...line];
  return characters.length > PROVIDER_TEXT_MAX
    ? `${characters.slice(0, PROVIDER_TEXT_MAX - 1).join('')}…`
    : line;
}
