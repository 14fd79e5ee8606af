import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Link {
  readonly from: string;
  readonly target: string;
}

async function documents(): Promise<string[]> {
  const guides = await readdir(join(root, 'docs'), { recursive: true });
  const all = [...(await readdir(root)), ...guides.map((name) => join('docs', name))];
  return all.filter((name) => name.endsWith('.md')).sort();
}

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** The anchors of a document's headings, as code hosts make them. */
function anchorsOf(text: string): string[] {
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

async function linksOf(document: string): Promise<Link[]> {
  const text = withoutCode(await readFile(join(root, document), 'utf8'));
  const targets = [...text.matchAll(/\]\(([^()\s]+)\)/g), ...text.matchAll(/(?:src|href)="([^"]+)"/g)];
  return targets
    .map(([, target = '']) => ({ from: document, target }))
    .filter(({ target }) => !/^(https?|mailto):/.test(target));
}

async function isBroken({ from, target }: Link): Promise<boolean> {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(root, from) : join(root, dirname(from), path);
  if (relative(root, file).startsWith('..') || !existsSync(file)) return true;
  return anchor !== undefined && !anchorsOf(await readFile(file, 'utf8')).includes(anchor);
}

describe('the documents', () => {
  it('link only to files and headings that exist', async () => {
    const links = (await Promise.all((await documents()).map(linksOf))).flat();
    expect(links.length).toBeGreaterThan(20);
    const broken = await Promise.all(links.map(async (link) => ((await isBroken(link)) ? [link] : [])));
    expect(broken.flat()).toEqual([]);
  });

  it('have every decision in their index', async () => {
    const names = await readdir(join(root, 'docs/decisions'));
    const index = await readFile(join(root, 'docs/decisions/README.md'), 'utf8');
    const missing = names.filter((name) => /^\d{4}-/.test(name) && !index.includes(`](${name})`));
    expect(missing).toEqual([]);
  });
});
