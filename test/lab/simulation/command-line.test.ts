import { describe, expect, it } from '@jest/globals';
import { readCommandLine, UsageError } from '../../../lab/simulation/command-line.js';

describe("a simulation's command line", () => {
  it('asks for 1,000 payments and seed 1 unless it says otherwise', () => {
    expect(readCommandLine([])).toEqual({ payments: 1_000, seed: 1, json: false });
    expect(readCommandLine(['--payments', '40', '--seed', '7', '--json'])).toEqual({
      payments: 40,
      seed: 7,
      json: true,
    });
  });

  it.each([[['--payments', '0']], [['--payments', '1.5']], [['--seed', 'x']], [['--fast']], [['now']]])(
    'refuses %j, and says why',
    (args) => {
      expect(() => readCommandLine(args)).toThrow(UsageError);
    },
  );
});
