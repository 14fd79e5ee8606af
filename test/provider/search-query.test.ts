import { describe, expect, it } from '@jest/globals';
import { ZodError } from 'zod';
import { searchPath } from '../../src/provider/search-query.js';

describe("a search's path", () => {
  it('has no query when nothing is asked for', () => {
    expect(searchPath({})).toBe('search');
    expect(searchPath({ status: undefined })).toBe('search');
  });

  it('carries every filter, encoded', () => {
    expect(
      searchPath({
        status: 'failed',
        medium: 'mobile money',
        start: '2026-02-01',
        end: '2026-02-28',
        amt: 500,
        limit: 100,
        sort: 'asc',
      }),
    ).toBe(
      'search?status=failed&medium=mobile%20money&start=2026-02-01&end=2026-02-28&amt=500&limit=100&sort=asc',
    );
  });

  it.each([
    ['a limit of 0', { limit: 0 }],
    ['a limit of 101', { limit: 101 }],
    ['a broken amount', { amt: 1.5 }],
    ['a date that does not exist', { start: '2026-02-30' }],
  ])('throws on %s, which the provider would ignore', (_, query) => {
    expect(() => searchPath(query)).toThrow(ZodError);
  });
});
