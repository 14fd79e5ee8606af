import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CommanderError } from 'commander';
import { readOptions } from '../../bench/options.js';

describe('the arguments of the benchmark', () => {
  beforeEach(() => {
    // Commander explains a mistake there before it throws.
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('default to 400 payments at concurrency 32, three times, with every system', () => {
    expect(readOptions([])).toEqual({
      loads: [{ payments: 400, concurrency: 32 }],
      repeats: 3,
      systems: [
        'sanaga',
        'sanaga-doubled',
        'sanaga-postgres',
        'temporal-floor',
        'temporal-textbook',
        'dbos',
        'restate',
      ],
      json: false,
      writeDocs: false,
    });
  });

  it('take several concurrencies, with one number of payments or one for each', () => {
    expect(readOptions(['--concurrency', '1,32']).loads).toEqual([
      { payments: 400, concurrency: 1 },
      { payments: 400, concurrency: 32 },
    ]);
    expect(readOptions(['--concurrency', '1,32', '--payments', '50,800']).loads).toEqual([
      { payments: 50, concurrency: 1 },
      { payments: 800, concurrency: 32 },
    ]);
  });

  it('take parts of the comparison, and what Sanaga is without something', () => {
    const { systems } = readOptions(['--systems', 'sanaga,sanaga-unencrypted,sanaga-call-stacks']);
    expect(systems).toEqual(['sanaga', 'sanaga-unencrypted', 'sanaga-call-stacks']);
  });

  it.each([
    ['--payments', '0'],
    ['--payments', '8x'],
    ['--concurrency', '1,2', '--payments', '1,2,3'],
    ['--systems', 'sanaga,cadence'],
    ['--fast'],
  ])('are refused when they are wrong: %s %s', (...args) => {
    expect(() => readOptions(args)).toThrow(CommanderError);
  });
});
