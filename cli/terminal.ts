import { visible, visibleJson, visibleLines } from '../src/text/visible-text.js';

/** Writes a line to stdout. */
export function print(line: string): void {
  process.stdout.write(`${forTerminal(line)}\n`);
}

/** Writes a value as a line of JSON to stdout. */
export function printJson(value: unknown): void {
  print(visibleJson(value));
}

/**
 * Writes CSV to stdout: unchanged, with the mark by which Excel recognises UTF-8, or line by line for a person at a
 * terminal.
 */
export function printCsv(csv: string): void {
  const bare = csv.replace(/^\ufeff/, '');
  if (process.stdout.isTTY) print(bare.replaceAll('\r\n', '\n').trimEnd());
  else process.stdout.write(`\ufeff${bare}`);
}

/** Writes a line to stderr: progress, and anything but the result. */
export function note(line: string): void {
  process.stderr.write(`${forTerminal(line)}\n`);
}

/** The colours of `paint`. Other people's text has none: see {@link shownFetch}. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what begins a colour
const COLOUR = /(\u001b\[\d{1,3}m)/;

/**
 * Makes text safe to print: all output goes through here. Nothing in it moves the cursor, sets a title, or turns the
 * direction of the text.
 */
function forTerminal(text: string): string {
  return text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : visibleLines(part)))
    .join('');
}

/** A fetch whose answers are shown to people: each text in them is in one line, without invisible characters. */
export const shownFetch: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  const text = await response.text();
  const { status, statusText, headers } = response;
  // An answer without a body can't be made with one, and there is nothing to show of it.
  return new Response(NULL_BODY.has(status) ? null : shownBody(text), { status, statusText, headers });
};

const NULL_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function shownBody(text: string): string {
  try {
    return JSON.stringify(shown(JSON.parse(text)));
  } catch {
    return text;
  }
}

/** A value of JSON, in which each name and each text is shown in one line. */
export function shown<T>(value: T): T;
export function shown(value: unknown): unknown {
  if (typeof value === 'string') return visible(value);
  if (Array.isArray(value)) return value.map((one: unknown) => shown(one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [shownName(name), shown(one)]));
}

/** A name that can't be shown as it is, with its escapes: no two of an object become one. */
function shownName(name: string): string {
  const json = visibleJson(name);
  return json === `"${name}"` ? name : json.slice(1, -1);
}
