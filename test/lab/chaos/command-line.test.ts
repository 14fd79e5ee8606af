import { describe, expect, it } from '@jest/globals';
import { readCommandLine } from '../../../lab/chaos/command-line.js';

describe("a chaos run's command line", () => {
  it('asks for 300 payments and 30 kills unless it says otherwise', () => {
    expect(readCommandLine([])).toEqual({ payments: 300, kills: 30, seed: 1, json: false });
    expect(readCommandLine(['--payments', '40', '--kills', '8', '--seed', '7', '--json'])).toEqual({
      payments: 40,
      kills: 8,
      seed: 7,
      json: true,
    });
  });

  it.each([[['--payments', '0']], [['--kills', '-1']], [['--seed', 'x']], [['--fast']], [['now']]])(
    'refuses %j',
    (args) => {
      expect(() => readCommandLine(args)).toThrow();
    },
  );
});
