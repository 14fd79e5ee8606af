import { describe, expect, it } from '@jest/globals';
import { parsePage } from '../support/pages.js';
import { asMerchantsSee, likenessOf } from './likeness.js';

const example = {
  id: 'col_2775d55233b9d4be2a8db3491967ed92',
  status: 'CREATED',
  amount: 5_000,
  createdAt: '2026-11-21T08:20:32.843Z',
  errors: [{ field: 'amount' }],
};

const isLike = (answer: unknown) =>
  JSON.stringify(likenessOf(asMerchantsSee(answer, example))) === JSON.stringify(likenessOf(example));

describe('an example of the guides', () => {
  it('is like an answer with another id, another time, and what only operators see', () => {
    const answer = { ...example, id: 'col_905efd21aeeb5d4bc6841433f3db0960', merchant: 'shop' };
    expect(isLike({ ...answer, createdAt: '2027-01-02T03:04:05.678Z' })).toBe(true);
  });

  it.each([
    ['another value', { ...example, status: 'PENDING' }],
    ['a value of another type', { ...example, amount: '5000' }],
    ['an id of another kind', { ...example, id: 'pay_905efd21aeeb5d4bc6841433f3db0960' }],
    ['a further field', { ...example, method: 'link' }],
    ['a field of a field that has another name', { ...example, errors: [{ name: 'amount' }] }],
    ['a field less', { ...example, amount: undefined }],
  ])('is not like an answer with %s', (_, answer) => {
    expect(isLike(answer)).toBe(false);
  });
});

describe('a page', () => {
  it('has its blocks, indented ones as well, with what is said before each', () => {
    const { blocks, end } = parsePage('a.md', 'One:\n\n```sh\nls\n```\n\nTwo:\n\n    ```json\n    {}\n    ```\nEnd.');
    expect(blocks).toEqual([
      { place: 'a.md:3', language: 'sh', text: 'ls\n', lead: 'One:\n' },
      { place: 'a.md:9', language: 'json', text: '{}\n', lead: '\nTwo:\n' },
    ]);
    expect(end).toBe('End.');
  });

  it('with a block that has no end is refused', () => {
    expect(() => parsePage('a.md', '```sh\nls\n')).toThrow('a.md:1: a block without an end');
  });
});
