import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';

/**
 * The guide names code and tests in one form: a link to the file, whose text is the file's path, and right after it
 * the names in it, with commas between: functions in backticks, titles of tests in double quotes.
 */
const NAMED = /\[((?:src|test)\/[^\]]+)\]\(\.\.\/\1\)((?:,? (?:`[^`]+`|"[^"]+"))+)/g;

interface Named {
  readonly path: string;
  readonly name: string;
}

const root = new URL('../', import.meta.url);
const guide = (await readFile(new URL('docs/safety.md', root), 'utf8')).replace(/\s+/g, ' ');
const named = [...guide.matchAll(NAMED)].flatMap(([, path = '', names = '']) =>
  [...names.matchAll(/"[^"]+"|`[^`]+`/g)].map(([quoted]): Named => ({ path, name: quoted.slice(1, -1) })),
);
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

const quoted = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A title is the first argument of a call, written as one string: `it('…',` or `it.each(…)("…",`. */
function hasTest(source: string, title: string): boolean {
  return new RegExp(`\\(\\s*(['"\`])${quoted(title)}\\1,`).test(source);
}

function hasName(source: string, name: string): boolean {
  return new RegExp(`(?<![\\w$])${quoted(name)}(?![\\w$])`).test(source);
}

describe('docs/safety.md', () => {
  it('names only tests that exist', async () => {
    const tests = named.filter(isTest);
    expect(tests.length).toBeGreaterThan(80);
    expect(await missing(tests, hasTest)).toEqual([]);
  });

  it('names only code that exists', async () => {
    const code = named.filter((one) => !isTest(one));
    expect(code.length).toBeGreaterThan(60);
    expect(await missing(code, hasName)).toEqual([]);
  });

  it('says of each file what in it is meant', () => {
    const links = [...guide.matchAll(/\]\(\.\.\/(?:src|test)\//g)];
    expect([...guide.matchAll(NAMED)]).toHaveLength(links.length);
  });

  it('has code and a test for each rule', () => {
    const steps = [...guide.matchAll(/ - (Kept by|Fails without it): /g)].map(([, step]) => step);
    const rules = steps.filter((step) => step === 'Kept by').length;
    expect(rules).toBeGreaterThan(50);
    expect(steps).toEqual(Array.from({ length: rules }, () => ['Kept by', 'Fails without it']).flat());
  });
});
