import { visibleLines } from '../text/visible-text.js';

/** Markup in which every value has been escaped. */
export class Html {
  constructor(readonly text: string) {}
}

/** The values that a template takes. `undefined` and `false` render nothing; lists are concatenated. */
export type Content = Html | string | number | false | undefined | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function render(content: Content): string {
  if (content instanceof Html) return content.text;
  if (content === undefined || content === false) return '';
  if (typeof content === 'object') return content.map(render).join('');
  return visibleLines(String(content)).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/**
 * A tagged template for markup. Each value is escaped, for text and for quoted attributes, unless it is {@link Html}.
 *
 * @example html`<a href="/desk/payments/${id}">${id}</a>`
 */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(strings.map((text, index) => text + render(contents[index])).join(''));
}
