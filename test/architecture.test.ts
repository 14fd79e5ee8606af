import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const guide = await readFile(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8');

/** The arrows of a Mermaid picture, as `from --> to`. */
function arrowsOf(kind: string): string[] {
  const [, picture = ''] = new RegExp(`\`\`\`mermaid\\n${kind}([^\`]*)\`\`\``).exec(guide) ?? [];
  return [...picture.matchAll(/^\s*(\w+) --> (\w+)/gm)].map(([, from, to]) => `${from} --> ${to}`).sort();
}

/** Files at the root of `src` that are a process. */
const PROCESS: Readonly<Record<string, string | undefined>> = {
  'server.ts': 'server',
  'desk.ts': 'desk',
  'worker.ts': 'worker',
  'codec-server.ts': 'codecServer',
};

/** Rooms of `src` that every process shares. The picture leaves them out. */
const SHARED = ['process', 'settings', 'telemetry', 'text'];

/** The room of a file, seen from within the product or from outside of it. */
function roomOf(path: string, isProduct: boolean): string | undefined {
  const [top = '', folder = '', rest] = path.split('/');
  if (top !== 'src') return top;
  const room = rest === undefined ? PROCESS[folder] : folder;
  if (isProduct && SHARED.includes(folder)) return undefined;
  return isProduct || room === undefined ? room : 'src';
}

/** Every import from one room to another. */
function importsBetweenRooms(): string[] {
  const rooms = '{src,bench,client,cli,examples,lab,sandbox,stack}/**/*.ts';
  const files = globSync(rooms, { cwd: root, exclude: ['bench/peers/**'] });
  const arrows = files.flatMap((file) => {
    const source = readFileSync(posix.join(root, file), 'utf8');
    return [...source.matchAll(/(?:\bfrom |\bimport\()'(\.[^']+|sanaga\/client)'/g)].map(([, target = '']) => {
      const path = posix.join(posix.dirname(file), target.replace(/\.js$/, '.ts'));
      const imported = target.startsWith('.') ? path : 'client/index.ts';
      const isProduct = file.startsWith('src/');
      // The sandbox may import the provider's schemas alone, which the picture shows.
      const isSandbox = file.startsWith('sandbox/');
      return [roomOf(file, isProduct), roomOf(imported, isProduct || isSandbox)] as const;
    });
  });
  const between = arrows.filter(([from, to]) => from !== to && from !== undefined && to !== undefined);
  return [...new Set(between.map(([from, to]) => `${from} --> ${to}`))].sort();
}

describe('ARCHITECTURE.md', () => {
  it('shows who imports whom, and leaves nobody out', () => {
    expect(arrowsOf('flowchart')).toEqual(importsBetweenRooms());
  });
});
