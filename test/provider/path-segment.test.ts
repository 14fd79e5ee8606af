import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pathSegment } from '../../src/provider/path-segment.js';

describe('a path segment', () => {
  it.each([
    ['a/b', 'a%2Fb'],
    ['a?b#c', 'a%3Fb%23c'],
    ['%2e%2e', '%252e%252e'],
    ['é', '%C3%A9'],
  ])('carries %s as %s', (identifier, segment) => {
    expect(pathSegment(identifier)).toBe(segment);
  });

  it.each([[''], ['.'], ['..'], ['\ud800']])('cannot carry %j', (identifier) => {
    expect(pathSegment(identifier)).toBeUndefined();
  });

  it('arrives as the identifier it was, in the place it was put, whatever that is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (identifier) => {
        const segment = pathSegment(identifier);
        if (segment === undefined) return;
        const { pathname, search, hash } = new URL(`http://127.0.0.1/status/${segment}`);
        expect([search, hash]).toEqual(['', '']);
        const [, folder, last, ...rest] = pathname.split('/');
        expect([folder, decodeURIComponent(last ?? ''), rest]).toEqual(['status', identifier, []]);
      }),
    );
  });
});
