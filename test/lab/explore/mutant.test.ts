import { describe, expect, it } from '@jest/globals';
import { placesOf } from './mutant.js';
import { MUTANTS } from './mutants.js';

describe('What a mutant changes', () => {
  it('is in src/payments exactly once', () => {
    const lost = MUTANTS.filter(({ find }) => placesOf(find).length !== 1);
    expect(lost.map(({ rule, find }) => `${rule}: ${find}`)).toEqual([]);
  });

  it('is found whatever its line breaks, comments and trailing commas are', () => {
    const find = '=> waiters.map(\n  (one) => one, // so\n)';
    expect(placesOf(find)).toEqual([]);
    const source = 'return payment.others.find(\n  (other) =>\n    /* still */ isOpen(payment, other),\n);';
    expect(placesOf(source)).toHaveLength(1);
  });
});
