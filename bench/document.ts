import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * Writes the benchmark's output: tables in Markdown, the parts of docs/performance.md that commands generate, and
 * pictures.
 */

const DOCS = new URL('../../docs/', import.meta.url);

/** A table in Markdown that can be read as it is. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** Two figures that belong together, such as a median and a 99th percentile, in one cell of a table. */
export const pair = (one: number, other: number) => `${one.toFixed(0)} / ${other.toFixed(0)}`;

/**
 * A document with the part replaced that a command generates.
 *
 * @throws Error when it has no such part
 */
export function withGenerated(document: string, generated: string, command: string): string {
  const [beginMark, endMark] = [`<!-- ${command}: begin -->`, `<!-- ${command}: end -->`];
  const [begin, end] = [document.indexOf(beginMark), document.indexOf(endMark)];
  if (begin < 0 || end < begin) {
    throw new Error(`the document has no part between ${beginMark} and ${endMark}`);
  }
  return `${document.slice(0, begin + beginMark.length)}\n\n${generated}\n\n${document.slice(end)}`;
}

/** Replaces the part of docs/performance.md that a command generates. @throws Error when there is no such part */
export async function writeGenerated(generated: string, command: string): Promise<void> {
  const file = fileURLToPath(new URL('performance.md', DOCS));
  await writeFile(file, withGenerated(await readFile(file, 'utf8'), generated, command));
}

/** A picture beside docs/performance.md. */
export interface Picture {
  /** Its file's name. */
  readonly name: string;
  /** For those who can't see it. */
  readonly text: string;
  readonly svg: string;
}

/** The pictures as Markdown, as docs/performance.md shows them. */
export const toMarkdown = (pictures: readonly Picture[]) =>
  pictures.map(({ name, text }) => `![${text}](images/${name})`).join('\n\n');

/** Writes pictures to docs/images. */
export async function writePictures(pictures: readonly Picture[]): Promise<void> {
  for (const { name, svg } of pictures) {
    await writeFile(fileURLToPath(new URL(`images/${name}`, DOCS)), svg);
  }
}
