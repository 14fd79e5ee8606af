import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const [, table = ''] = /## What merchants share\n(.*?)\n## /s.exec(readFileSync('SECURITY.md', 'utf8')) ?? [];
const rows = table.split('\n').filter((line) => /^\| (?!-|Shared)/.test(line));

describe('what merchants share', () => {
  it.each(rows.map((row) => [row.split(' | ')[0]?.slice(2), row] as const))(
    'is bounded as suites show: %s',
    (_, row) => {
      const suites = [...(row.split(' | ')[2] ?? '').matchAll(/`([\w/-]+)`/g)].map(([, suite]) => suite);
      expect(suites.length).toBeGreaterThan(0);
      for (const suite of suites) expect(existsSync(`test/${suite}.test.ts`) ? suite : `no ${suite}`).toBe(suite);
    },
  );
});
