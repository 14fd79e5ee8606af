import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { describeAssumptions } from '../lab/explore/invariants.js';
import { MUTANTS } from './lab/explore/mutants.js';

/**
 * The guide names code and tests in one form: a link to the file, whose text is the file's path (below `src` or `test`, where it is there),
 * and right after it the names in it, with commas between: functions in backticks, titles of tests and rules of mutants
 * in double quotes, where a double quote of their own has a backslash before it.
 */
const NAMED = /\[([^\]]+)\]\(\.\.\/((?:(?:src|test)\/)?\1)\)((?:,? (?:`[^`]+`|"(?:\\"|[^"])+"))+)/g;
const NAME = /"(?:\\"|[^"])+"|`[^`]+`/g;

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
    [...names.matchAll(NAME)].map(([inQuotes]) => ({
      path,
      name: inQuotes.slice(1, -1).replaceAll('\\"', '"'),
    })),
  );
}

const isTest = ({ path }: Named) => path.startsWith('test/');
const isMutant = ({ path }: Named) => path.endsWith('mutants.ts');

async function missing(all: readonly Named[], has: (source: string, name: string) => boolean) {
  const checked = await Promise.all(
    all.map(async ({ path, name }) => {
      const file = new URL(path, root);
      const there = existsSync(file) && has(await readFile(file, 'utf8'), name);
      return there ? [] : [`${path}: ${name}`];
    }),
  );
  return checked.flat();
}

const quoted = (name: string) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A title is the first argument of a call, written as one string: `it('…',` or `it.each(…)("…",`. */
function hasTest(source: string, title: string): boolean {
  return new RegExp(`\\(\\s*(['"\`])${quoted(title)}\\1,`).test(source);
}

/** A mutant is named by its rule, written as one string: `rule: '…',`. */
function hasMutant(source: string, rule: string): boolean {
  return new RegExp(`\\brule: (['"])${quoted(rule)}\\1,`).test(source);
}

/** A declaration, such as `function poll(` or `const MAX = `, or a method at the beginning of its line. */
function declares(source: string, name: string): boolean {
  const declared = `\\b(?:function|const|class|interface|type) ${quoted(name)}\\b`;
  const method = `^\\s+(?:(?:private|async) )*${quoted(name)}\\(`;
  return new RegExp(`${declared}|${method}`, 'm').test(source);
}

describe('docs/safety.md', () => {
  it('names only tests that exist', async () => {
    const tests = named.filter((one) => isTest(one) && !isMutant(one));
    expect(tests.length).toBeGreaterThan(200);
    expect(await missing(tests, hasTest)).toEqual([]);
  });

  it('names only mutants that exist, and each of them', async () => {
    const mutants = named.filter(isMutant);
    expect(await missing(mutants, hasMutant)).toEqual([]);
    const rulesNamed = new Set(mutants.map(({ name }) => name));
    expect(MUTANTS.map(({ rule }) => rule).filter((rule) => !rulesNamed.has(rule))).toEqual([]);
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

  it('has its rules in tables of three columns, each with code and a test or a mutant', () => {
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

  it('has what the exploration assumes, word for word', () => {
    const [, section = ''] = text.split('\n## What the exploration assumes\n');
    const [own = ''] = section.split('\n## ');
    expect(own.split('\n').filter((line) => line.startsWith('- '))).toEqual(
      describeAssumptions().split('\n'),
    );
  });

  it('has each rule once, as a sentence', () => {
    const sentences = rules.map(([rule = '']) => rule);
    expect(sentences.filter((rule) => !/^[A-Z`"].*\.$/.test(rule))).toEqual([]);
    expect(new Set(sentences).size).toBe(sentences.length);
  });
});
