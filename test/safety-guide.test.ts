import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { describeAssumptions } from '../lab/explore/invariants.js';

const MUTANTS = '[mutants](../test/lab/explore/mutants.ts)';
/** A test is linked by its path in `test`. */
const TEST = /^\[(.+)\]\(\.\.\/(test\/\1\.test\.ts)\)$/;

const root = new URL('../', import.meta.url);
const text = await readFile(new URL('docs/safety.md', root), 'utf8');

/** The rows of the tables of rules, each as its cells. */
const rows = text
  .split('\n\n')
  .filter((block) => block.startsWith('| Rule | Proven by |\n'))
  .flatMap((table) => table.trim().split('\n').slice(2))
  .map((row) => row.slice(2, -2).split(' | '));

/** Reports whether a rule's proofs are tests that exist, each once, or mutants of the payment machine. */
function isProven([, proofs = '', ...more]: readonly string[]): boolean {
  const links = proofs.split(', ');
  const files = links.filter((link) => link !== MUTANTS).map((link) => TEST.exec(link)?.[2]);
  const areTests = files.every((file) => file !== undefined && existsSync(new URL(file, root)));
  return areTests && files.length > 0 && new Set(links).size === links.length && more.length === 0;
}

describe('docs/safety.md', () => {
  it('has each rule once, as a sentence', () => {
    const rules = rows.map(([rule = '']) => rule);
    expect(rules.length).toBeGreaterThan(100);
    expect(rules.filter((rule) => !/^[A-Z`].*\.$/.test(rule))).toEqual([]);
    expect(new Set(rules).size).toBe(rules.length);
  });

  it('links each rule to tests that exist', () => {
    expect(rows.filter((row) => !isProven(row))).toEqual([]);
  });

  it('has what the exploration assumes, word for word', () => {
    const [, section = ''] = text.split('\n## What the exploration assumes\n');
    const [own = ''] = section.split('\n## ');
    expect(own.split('\n').filter((line) => line.startsWith('- '))).toEqual(describeAssumptions().split('\n'));
  });
});
