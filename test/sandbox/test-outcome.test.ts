import { describe, expect, it } from '@jest/globals';
import { outcomeOfAddress, outcomeOfNumber, TEST_ADDRESSES, TEST_NUMBERS } from '../../sandbox/test-outcome.js';

const settles = (status: string, after: string | number) => ({ kind: 'settles', status, after });

describe('outcomeOfNumber', () => {
  it.each([
    ['677000000', settles('SUCCESSFUL', 'atOnce')],
    ['677000999', settles('SUCCESSFUL', 'atOnce')],
    ['677000150', settles('FAILED', 'atOnce')],
    ['677000207', settles('SUCCESSFUL', 7_000)],
    ['677000359', settles('FAILED', 59_000)],
    ['677000430', settles('SUCCESSFUL', 1_800_000)],
    ['677000501', settles('FAILED', 60_000)],
    ['677000623', settles('SUCCESSFUL', 82_800_000)],
    ['677000724', settles('FAILED', 86_400_000)],
    ['677000812', { kind: 'stays' }],
  ])('gives %s its outcome', (digits, outcome) => {
    expect(outcomeOfNumber(digits)).toEqual(outcome);
  });

  it('is told by a table with a row for each digit', () => {
    expect(TEST_NUMBERS.map(({ digit }) => digit).join('')).toBe('0123456789');
  });
});

describe('outcomeOfAddress', () => {
  it('has two addresses that always succeed and two that never do', () => {
    const outcomes = Object.keys(TEST_ADDRESSES).flatMap((email) =>
      [0, 0.999].map((chance) => outcomeOfAddress(email, chance)),
    );
    expect(outcomes.filter((outcome) => outcome.kind === 'settles' && outcome.status === 'SUCCESSFUL')).toHaveLength(4);
    expect(outcomes.filter((outcome) => outcome.kind === 'settles' && outcome.status === 'FAILED')).toHaveLength(4);
  });

  it('does not mind capitals', () => {
    expect(outcomeOfAddress('Never.Paid@Example.com', 0)).toMatchObject({ status: 'FAILED' });
  });

  it('leaves any other address to chance', () => {
    expect(outcomeOfAddress('someone@example.com', 0.49)).toMatchObject({ status: 'SUCCESSFUL' });
    expect(outcomeOfAddress('someone@example.com', 0.5)).toMatchObject({ status: 'FAILED' });
  });
});
