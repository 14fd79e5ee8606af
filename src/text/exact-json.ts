/*
 * JSON.parse does two things silently that may be about money: it rounds a number with too many digits, and takes the
 * last of two fields of one name.
 */

/**
 * Deepest nesting of objects and arrays, including the outermost; our bodies have four levels. Naming a field thousands
 * of levels deep takes so long that a few such bodies would delay everybody's requests.
 */
const MAX_DEPTH = 16;

/** Repeated fields that are reported; a hostile text could have thousands. */
const MAX_REPEATED = 20;

/** Characters of a field's name that an error repeats. */
const MAX_NAME_LENGTH = 60;

/**
 * Matches strings, which may contain any other token, and JSON's punctuation. A string that never ends is read once.
 */
const TOKENS = /"(?:[^"\\]|\\.)*"?|[{}[\]:]/g;

/** Thrown for JSON that is nested too deeply. */
export class TooDeepError extends Error {
  override readonly name = 'TooDeepError';

  constructor() {
    super(`must have at most ${MAX_DEPTH} levels`);
  }
}

/** The beginning of a field's name, for errors. No character is cut in half: readers of JSON refuse that. */
export function shorten(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed();
}

/**
 * Parses JSON. Rounding never makes a number whole that wasn't written so.
 *
 * @throws {TooDeepError} before a reviver would overflow the stack
 * @throws {SyntaxError} for what isn't JSON
 */
export function parseExactly(json: string): unknown {
  limitDepth(json);
  return JSON.parse(json, rejectRounded);
}

/** @param text JSON, or what may be taken for it */
function limitDepth(text: string): void {
  let depth = 0;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > MAX_DEPTH) throw new TooDeepError();
  }
}

/** A reviver that keeps rounding from making a number whole: the number becomes NaN, which no field accepts. */
function rejectRounded(_: string, value: unknown, number?: { readonly source?: string }): unknown {
  return Number.isInteger(value) && !isWhole(number?.source ?? '') ? Number.NaN : value;
}

/** @param source a number as JSON has it, such as `5e3` */
export function isWhole(source: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const digits = whole + fraction;
  let significant = digits.length;
  while (digits[significant - 1] === '0') significant -= 1;
  return significant === 0 || significant <= whole.length + Number(exponent);
}

/** An object or an array whose end has not been reached. */
interface OpenValue {
  /** Path of its fields, with a dot at the end; empty for the body's own. */
  readonly path: string;
  /** Names of its fields so far; none in an array. */
  readonly names: Set<string>;
  /** Path of the fields of the next object within it. */
  next: string;
}

/**
 * The fields that an object has more than once, each by its path, such as `metadata.colour`; the first of them, if
 * there are many. JSON.parse silently takes the last one.
 *
 * @param json text that JSON.parse has accepted
 * @example repeatedFields('{"amount": 500, "\\u0061mount": 600}') // ['amount']
 */
export function repeatedFields(json: string): string[] {
  const repeated = new Set<string>();
  const open: OpenValue[] = [];
  let last = '';
  for (const [token] of json.matchAll(TOKENS)) {
    const within = open.at(-1);
    if (token === '{' || token === '[') {
      const path = within?.next ?? '';
      open.push({ path, names: new Set(), next: path });
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token !== ':') {
      last = token;
    } else if (within !== undefined) {
      // Compared without escapes: any character of a name can be written as one.
      const name = String(JSON.parse(last));
      const field = within.path + shorten(name);
      if (within.names.has(name)) repeated.add(field);
      if (repeated.size === MAX_REPEATED) break;
      within.names.add(name);
      within.next = `${field}.`;
    }
  }
  return [...repeated];
}
