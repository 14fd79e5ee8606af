/** Safe markup: every value in it has been escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | false | undefined | readonly Part[];

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Matches invisible characters, and those that turn the direction of a text: with them, a merchant's message would read
 * as something else.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const escapeText = (text: string): string =>
  text
    .replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : '\ufffd'))
    .replace(/[&<>"']/g, (character) => escapes[character] ?? '');

const render = (part: Part): string => {
  if (part instanceof Html) return part.text;
  if (part === false || part === undefined) return '';
  if (typeof part === 'object') return part.map(render).join('');
  return escapeText(String(part));
};

/**
 * A tagged template for markup. Escapes every value, for text and for quoted attributes, unless it is {@link Html}.
 * `undefined` and `false` render nothing; lists are concatenated.
 *
 * @example html`<p title="${name}">${isNew && html`<b>New</b>`}</p>`
 */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((text, index) => text + render(parts[index])).join(''));
