/**
 * Invisible characters that change how other text is read: controls, which a terminal obeys; marks that turn the
 * direction of a text; ends of lines; halves of a pair.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Shows other people's text in one line, with a mark in place of each invisible character.
 *
 * @example visible('paid\u001b[2K\rrefused') // 'paid�[2K�refused'
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, '\uFFFD');
}

/** Shows text of several lines, with tabs. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : '\uFFFD'));
}

/** Writes JSON in one line that shows all of its characters, and means the same: invisible ones are escaped. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
      return `\\u${unit}`;
    }).join(''),
  );
}

/**
 * Matches text of one line that is read as it is written: without controls, ends of lines, and marks that turn the
 * direction of neighbouring text. Joiners, as in emoji, are allowed.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses
export const PLAIN_LINE = /^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/;
