import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';

/**
 * The guide names code and tests in one form: a link to the file, whose text is the file's path below `src` or `test`,
 * and right after it the names in it, with commas between: functions in backticks, titles of tests in double quotes.
 */
const NAMED = /\[([^\]]+)\]\(\.\.\/((?:src|test)\/\1)\)((?:,? (?:`[^`]+`|"[^"]+"))+)/g;

interface Named {
  readonly path: string;
  readonly name: string;
}

const root = new URL('../', import.meta.url);
const text = await readFile(new URL('docs/safety.md', root), 'utf8');
const guide = text.replace(/\s+/g, ' ');
const named = namedIn(guide);

/** The rows of all tables, each as its cells; headings and the lines below them are left out. */
const tableRows = text
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const HEADING = ['Rule', 'What keeps it', 'Fails without it'];
const isHeading = (cells: readonly string[]) => cells[0] === 'Rule' || /^-+$/.test(cells[0] ?? '');
const rules = tableRows.filter((cells) => !isHeading(cells));

function namedIn(part: string): Named[] {
  return [...part.matchAll(NAMED)].flatMap(([, , path = '', names = '']) =>
    [...names.matchAll(/"[^"]+"|`[^`]+`/g)].map(([quoted]) => ({ path, name: quoted.slice(1, -1) })),
  );
}

const isTest = ({ path }: Named) => path.startsWith('test/');

async function missing(all: readonly Named[], has: (source: string, name: string) => boolean) {
  const looked = await Promise.all(
    all.map(async ({ path, name }) => {
      const file = new URL(path, root);
      const there = existsSync(file) && has(await readFile(file, 'utf8'), name);
      return there ? [] : [`${path}: ${name}`];
    }),
  );
  return looked.flat();
}

const quoted = (name: string) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A title is the first argument of a call, written as one string: `it('…',` or `it.each(…)("…",`. */
function hasTest(source: string, title: string): boolean {
  return new RegExp(`\\(\\s*(['"\`])${quoted(title)}\\1,`).test(source);
}

/** A declaration, such as `function poll(` or `const MAX = `, or a method at the beginning of its line. */
function declares(source: string, name: string): boolean {
  const declared = `\\b(?:function|const|class|interface|type) ${quoted(name)}\\b`;
  const method = `^\\s+(?:(?:private|async) )*${quoted(name)}\\(`;
  return new RegExp(`${declared}|${method}`, 'm').test(source);
}

describe('docs/safety.md', () => {
  it('names only tests that exist', async () => {
    const tests = named.filter(isTest);
    expect(tests.length).toBeGreaterThan(200);
    expect(await missing(tests, hasTest)).toEqual([]);
  });

  it('names only code that its file declares', async () => {
    const code = named.filter((one) => !isTest(one));
    expect(code.length).toBeGreaterThan(150);
    expect(await missing(code, declares)).toEqual([]);
  });

  it('says of each file what in it is meant', () => {
    const links = [...guide.matchAll(/\]\(\.\.\/(?:src|test)\//g)];
    expect([...guide.matchAll(NAMED)]).toHaveLength(links.length);
  });

  it('has its rules in tables of three columns, each with code and a test', () => {
    const headings = tableRows.filter(([first]) => first === 'Rule');
    expect(new Set(headings.map((cells) => cells.join()))).toEqual(new Set([HEADING.join()]));
    expect(rules.length).toBeGreaterThan(100);
    for (const cells of rules) {
      const [rule = '', keeper = '', proof = ''] = cells;
      expect(cells).toHaveLength(3);
      expect(namedIn(rule)).toEqual([]);
      expect([rule, namedIn(keeper).length > 0, namedIn(keeper).some(isTest)]).toEqual([rule, true, false]);
      expect([rule, namedIn(proof).length > 0, namedIn(proof).every(isTest)]).toEqual([rule, true, true]);
    }
  });

  it('has each rule once, as a sentence', () => {
    const sentences = rules.map(([rule = '']) => rule);
    expect(sentences.filter((rule) => !/^[A-Z`"].*\.$/.test(rule))).toEqual([]);
    expect(new Set(sentences).size).toBe(sentences.length);
  });
});
