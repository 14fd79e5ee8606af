import { readdir, readFile } from 'node:fs/promises';

/** The pages of the documentation, and the fenced blocks in them. */

const root = new URL('../../', import.meta.url);

/** A fenced block of a page. */
export interface Block {
  /** Place of the block: `docs/webhooks.md:24`. */
  readonly place: string;
  /** The word after the fence; empty when there is none. */
  readonly language: string;
  readonly text: string;
  /** Text of the page before it, from the end of the previous block. */
  readonly lead: string;
}

export interface Page {
  /** `docs/webhooks.md` */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Text after the last block. */
  readonly end: string;
}

/** README.md and all of docs/, but for the decisions. */
export async function readPages(): Promise<Page[]> {
  const guides = (await readdir(new URL('docs/', root))).filter((name) => name.endsWith('.md')).sort();
  return Promise.all(
    ['README.md', ...guides.map((name) => `docs/${name}`)].map(async (path) =>
      parsePage(path, await readFile(new URL(path, root), 'utf8')),
    ),
  );
}

export async function readPage(path: string): Promise<Page> {
  return parsePage(path, await readFile(new URL(path, root), 'utf8'));
}

/** @throws {Error} for a block without an end. */
export function parsePage(path: string, text: string): Page {
  const blocks: Block[] = [];
  let open: { readonly line: number; readonly indent: string; readonly language: string } | undefined;
  let lines: string[] = [];
  let lead = '';
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent = '', language] = /^( *)```(.*)$/.exec(line) ?? [];
    if (language === undefined) {
      lines.push(open === undefined ? line : line.replace(open.indent, ''));
    } else if (open === undefined) {
      open = { line: index + 1, indent, language: language.trim() };
      lead = lines.join('\n');
      lines = [];
    } else {
      blocks.push({
        place: `${path}:${open.line}`,
        language: open.language,
        text: `${lines.join('\n')}\n`,
        lead,
      });
      open = undefined;
      lines = [];
    }
  }
  if (open !== undefined) throw new Error(`${path}:${open.line}: a block without an end`);
  return { path, text, blocks, end: lines.join('\n') };
}
