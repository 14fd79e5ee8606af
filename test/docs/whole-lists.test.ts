import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const FOLDER = 'docs/operations';
const pages = ['docs/operators.md', ...readdirSync(FOLDER).map((name) => `${FOLDER}/${name}`)].filter((path) =>
  path.endsWith('.md'),
);

/** Matches a parameter that finds one payment, so that there is no second page. */
const ONE = /[?&](externalId|transId|financialTransId)=/;

describe.each(pages)('%s', (path) => {
  const text = readFileSync(path, 'utf8');

  it('has an operator list payments to the last page', () => {
    const calls = [...text.matchAll(/"\$SANAGA_URL\/v1\/payments\?[^"]*"/g)].map(([call]) => call);
    expect(calls.filter((call) => !ONE.test(call))).toEqual([]);
    const commands = [...text.matchAll(/sanaga list[^\n`|)]*/g)].map(([command]) => command);
    expect(commands.filter((command) => !command.includes('--limit 0'))).toEqual([]);
  });
});
