import { type Options, stringify } from 'csv-stringify/sync';
import { doualaTime } from '../../payments/words/time.js';

/** Names of what may stand between two cells. Where the decimal separator is a comma, Excel expects a semicolon. */
export const SEPARATORS = ['comma', 'semicolon'] as const;
export type Separator = (typeof SEPARATORS)[number];

const CHARACTERS: Readonly<Record<Separator, string>> = { comma: ',', semicolon: ';' };

/** Without it, Excel takes UTF-8 for another encoding. */
export const BYTE_ORDER_MARK = '\ufeff';

const OPTIONS: Options = {
  record_delimiter: 'windows',
  // A line break alone would end the row for many readers.
  quoted_match: /[\r\n]/,
  cast: {
    boolean: String,
    date: (value) => doualaTime(value.getTime()),
    object: (value) => safeJson(value),
    string: safeText,
  },
};

/**
 * Writes rows as CSV (RFC 4180), safe to open in a spreadsheet, whichever separator it reads: texts as {@link safeText}
 * says, objects as {@link safeJson} does, and dates as times in Douala, with their offset.
 */
export function toCsv(
  rows: readonly object[],
  { columns, header, separator }: { columns: readonly string[]; header: boolean; separator: Separator },
): string {
  return stringify([...rows], { ...OPTIONS, columns: [...columns], header, delimiter: CHARACTERS[separator] });
}

/**
 * What begins a formula, at the beginning of a text or of what could be a cell: a spreadsheet that expects another
 * separator splits a text at it, even within quotes.
 */
const FORMULA = /(^|[,;|\t\r\n])((?:[^\S\t\r\n]|["'])*)([=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** A number with more than 15 digits, a leading zero or an exponent, which a spreadsheet wouldn't keep as it is. */
const UNKEPT_NUMBER = /^(?=(?:\D*\d){16})[\d\s.,]+$|^0\d+$|^\d+(?:[.,]\d+)?[eE]\d+$/;

/** Puts an apostrophe before what a spreadsheet would take for a formula, or for a number that it can't keep. */
function safeText(text: string): string {
  if (UNKEPT_NUMBER.test(text)) return `'${text}`;
  return text.replace(FORMULA, "$1$2'$3");
}

/** JSON whose texts have escapes for semicolons, and for what could begin a formula. */
function safeJson(value: object): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value)
    .replaceAll(';', escaped(';'))
    .replace(FORMULA, (_, before: string, between: string, character: string) => before + between + escaped(character));
}
