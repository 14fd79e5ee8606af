import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CommanderError } from 'commander';
import { readSoakOptions } from '../../../bench/soak/options.js';

describe('the arguments of the soak test', () => {
  beforeEach(() => {
    // Commander explains a mistake there before it throws.
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('default to 20 minutes, at a rate that is measured first', () => {
    const options = readSoakOptions([]);
    expect(options).toEqual({
      system: 'sanaga-postgres',
      minutes: 20,
      results: 'soak.json',
      json: false,
      writeDocs: false,
    });
    expect(options.rate).toBeUndefined();
  });

  it('take parts of a minute and of a payment a second', () => {
    expect(readSoakOptions(['--minutes', '0.5', '--rate', '12.5'])).toMatchObject({
      minutes: 0.5,
      rate: 12.5,
    });
  });

  it.each([
    ['--minutes', '0'],
    ['--minutes', 'long'],
    ['--rate', '-1'],
    ['--system', 'restate'],
  ])('are refused when they are wrong: %s %s', (...args) => {
    expect(() => readSoakOptions(args)).toThrow(CommanderError);
  });
});
