import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readBudgets } from './cost-tables.js';

/** The figures of docs/performance.md: each is in a table of the page, agrees with the others, and is of today. */

const text = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8');

const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

const GENERATED = /<!-- ([^>]*): begin -->\n([\s\S]*?)<!-- \1: end -->/g;

/** Sections that describe what is done, not what came out. */
const ABOUT_HOW = ['Method', 'How to repeat it'];

const figuresIn = (words: string) =>
  [...words.matchAll(/(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?/g)].map(([figure]) => figure);

/** Figures of the prose, and of tables that nothing generates, that are in no generated table. */
function unfounded(page: string): string[] {
  const tables = [...page.matchAll(GENERATED)].flatMap(([, , block = '']) => figuresIn(block));
  const prose = page
    .replace(GENERATED, '')
    .split(/^## /m)
    .filter((section) => !ABOUT_HOW.some((title) => section.startsWith(`${title}\n`)))
    .join('')
    .replace(/\[(\d{4})?([^\]]*)\]\([^)]*\)/g, '$2')
    .replace(/`[^`]*`/g, '')
    .replace(/\d+ \w+ 20\d\d/g, '');
  // A product stands beside its factors.
  const products = [...prose.matchAll(PRODUCT)].map(([, , , product = '']) => product);
  const known = new Set([...tables, ...products, ...GIVEN]);
  return figuresIn(prose).filter((figure) => !known.has(figure));
}

/** Figures that nobody measures: of the load, of Temporal's prices and defaults, and how flat memory has to be. */
const GIVEN = ['20', '1,000', '100', '30', '200', '32', '12', '58', '512', '500'];

const PRODUCT = /(\d+) × (\d+) [\w ]+ = (\d+)/g;

/** Sums, products and ratios that aren't what they are made of. */
function wrongSums(page: string): string[] {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
  const cpu = rows.filter(([, total = '', parts = '']) => /^\d/.test(total) && /^[a-z][a-z ]* \d/.test(parts));
  const bills = rows.filter((row) => row.filter((cell) => cell.startsWith('$')).length === 5);
  const amount = (cell = '') => Number(cell.replace(/[$,]/g, ''));
  return [
    ...cpu
      .filter(([, total, parts = '']) => {
        const sum = figuresIn(parts).reduce((whole, part) => whole + Number(part), 0);
        return sum.toFixed(1) !== total;
      })
      .map(([name, total]) => `${name}: ${total}`),
    ...bills
      .map((row) => [row[0], ...row.slice(-5)])
      .filter(([, actions, storage, plan, total]) => amount(actions) + amount(storage) + amount(plan) !== amount(total))
      .map(([name, , , , total]) => `${name}: ${total}`),
    ...[...page.matchAll(PRODUCT)].filter(([, one, other, product]) => Number(one) * Number(other) !== Number(product)),
    ...wrongRatios(page),
  ].map(String);
}

/** Ratios such as `sanaga/dbos 0.41` that the tables above them don't make. */
function wrongRatios(page: string): string[] {
  const loads = page.split(/^\*\*/m).slice(1);
  return loads.flatMap((load) => {
    const [speeds = new Map(), costs = new Map()] = load.split(/^\| a payment /m).map(
      (table) =>
        new Map(
          table
            .split('\n')
            .filter((line) => line.startsWith('|'))
            .map(cellsOf)
            .map(([name = '', figure]) => [name, Number(figure)]),
        ),
    );
    return [...load.matchAll(/^(Payments a second|CPU ms), one to the other: (.*)\.$/gm)].flatMap(
      ([, what, list = '']) => {
        const of = what === 'CPU ms' ? costs : speeds;
        return list.split(', ').filter((ratio) => {
          const [, one = '', other = '', said] = /^(.*)\/(.*) ([\d.]+)$/.exec(ratio) ?? [];
          return ((of.get(one) ?? Number.NaN) / (of.get(other) ?? Number.NaN)).toFixed(2) !== said;
        });
      },
    );
  });
}

const NOT_MEASURED = 'Not measured since the workflow last changed.';

/** The commands whose figures are of another workflow than the one whose paid link makes so many events. */
function outdated(page: string, events: number): string[] {
  return [...page.matchAll(GENERATED)]
    .filter(([, command = '', block = '']) => {
      if (!command.includes('--write-docs') || block.trim() === NOT_MEASURED) return false;
      const counted = [...block.matchAll(/where a paid link makes (\d+) events/g)].map(([, count]) => Number(count));
      return counted.length === 0 || counted.some((count) => count !== events);
    })
    .map(([, command = '']) => command);
}

describe('docs/performance.md', () => {
  it('has no figure that is in no table', () => expect(unfounded(text)).toEqual([]));

  it('has sums, products and ratios that agree with what they are made of', () => expect(wrongSums(text)).toEqual([]));

  it("has no figures of another workflow than today's", () => {
    const { events } = readBudgets(text).get('link, paid') ?? { events: Number.NaN };
    expect(outdated(text, events)).toEqual([]);
  });
});

describe('these checks', () => {
  const command = 'npm run bench -- --write-docs';
  const measured = (lines: string) => `<!-- ${command}: begin -->\n\n${lines}\n\n<!-- ${command}: end -->\n`;
  const [speed, cost] = ['| sanaga | 48.6 |\n| dbos | 117.3 |', '| sanaga | 34.6 | api 6.2, server 28.4 |'];
  const tables = (ratio: string) =>
    `**32 at a time**\n\n${speed}\n\n| a payment | CPU ms |\n${cost}\n\nPayments a second, one to the other: sanaga/dbos ${ratio}.`;

  it('find a figure of the prose, and of a table by hand, that nothing has generated', () => {
    const page = (prose: string) => `# Performance\n\n${prose}\n\n${measured(tables('0.41'))}`;
    expect(unfounded(page('It makes 48.6, and 117.3 are made by DBOS.'))).toEqual([]);
    expect(unfounded(page('It makes 28.7.\n\n| disk | 55 kB |'))).toEqual(['28.7', '55']);
    expect(unfounded(page('58 × 8 state transitions = 464 a second'))).toEqual(['8']);
  });

  it('find sums, products and ratios that are off by the last digit', () => {
    expect(wrongSums(measured(tables('0.41')))).toEqual([]);
    expect(wrongSums(measured(tables('0.42')))).toEqual(['sanaga/dbos 0.42']);
    expect(wrongSums(cost.replace('34.6', '34.7'))).toEqual(['sanaga: 34.7']);
    expect(wrongSums('| link | 5 min | $4,675 | $189 | $500 | $5,362 | $0.18 |')).toEqual(['link: $5,362']);
    expect(wrongSums('58 × 8 state transitions = 465 a second')).toHaveLength(1);
  });

  it('find what was measured with another workflow, or with one that it does not tell', () => {
    const at = (events: number) => measured(`at commit abc, where a paid link makes ${events} events,`);
    expect(outdated(at(14), 14)).toEqual([]);
    expect(outdated(measured(NOT_MEASURED), 14)).toEqual([]);
    expect(outdated(at(8), 14)).toEqual([command]);
    expect(outdated(measured(tables('0.41')), 14)).toEqual([command]);
  });
});
