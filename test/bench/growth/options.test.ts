import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CommanderError } from 'commander';
import { readGrowthOptions } from '../../../bench/growth/options.js';

describe('the arguments of the growth benchmark', () => {
  beforeEach(() => {
    // Commander explains a mistake there before it throws.
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('default to five concurrencies, with none and with 10,000 payments open', () => {
    expect(readGrowthOptions([])).toEqual({
      system: 'sanaga-postgres',
      sizes: [0, 10_000],
      loads: [
        { concurrency: 1, payments: 50 },
        { concurrency: 8, payments: 200 },
        { concurrency: 32, payments: 300 },
        { concurrency: 128, payments: 500 },
        { concurrency: 512, payments: 1_024 },
      ],
      results: 'growth.json',
      json: false,
      writeDocs: false,
    });
  });

  it('take sizes in any order: the store can only grow', () => {
    expect(readGrowthOptions(['--waiting', '100000,0,10000,0']).sizes).toEqual([0, 10_000, 100_000]);
  });

  it('take the figures of an earlier run', () => {
    expect(readGrowthOptions(['--from', 'growth.json'])).toMatchObject({ from: 'growth.json' });
  });

  it.each([
    ['--waiting', '-1'],
    ['--concurrency', '0'],
    ['--concurrency', '1,2', '--payments', '1,2,3'],
    ['--system', 'dbos'],
  ])('are refused when they are wrong: %s %s', (...args) => {
    expect(() => readGrowthOptions(args)).toThrow(CommanderError);
  });
});
