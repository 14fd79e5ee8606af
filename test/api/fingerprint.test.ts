import { describe, expect, it } from '@jest/globals';
import { fingerprint } from '../../src/api/fingerprint.js';

describe('a fingerprint', () => {
  it('is the hex of a SHA-256', () => {
    expect(fingerprint({ amount: 500 })).toMatch(/^[0-9a-f]{64}$/);
  });

  it('does not depend on the order of fields, at any depth', () => {
    const one = { amount: 500, metadata: { a: '1', b: '2', 10: 'x', 9: 'y' } };
    const other = { metadata: { 9: 'y', b: '2', 10: 'x', a: '1' }, amount: 500 };
    expect(fingerprint(one)).toBe(fingerprint(other));
  });

  it('takes a field that is undefined for one left out', () => {
    expect(fingerprint({ amount: 500, email: undefined })).toBe(fingerprint({ amount: 500 }));
  });

  it.each([
    ['a value', { amount: 501 }],
    ['a type', { amount: '500' }],
    ['a name', { amounts: 500 }],
    ['a field more', { amount: 500, message: 'x' }],
    ['nesting', { amount: { amount: 500 } }],
    ['pairs in place of an object', [['amount', 500]]],
  ])('differs with %s', (_, body) => {
    expect(fingerprint(body)).not.toBe(fingerprint({ amount: 500 }));
  });
});
