import { describe, expect, it } from '@jest/globals';
import { CHAOS, EXPLORE, readCommandLine, SIMULATE, UsageError } from '../../lab/command-line.js';

describe("a simulation's command line", () => {
  it('asks for 1,000 payments and seed 1 unless it says otherwise', () => {
    expect(readCommandLine(SIMULATE, [])).toEqual({ payments: 1_000, seed: 1, json: false });
    expect(readCommandLine(SIMULATE, ['--payments', '40', '--seed', '7', '--json'])).toEqual({
      payments: 40,
      seed: 7,
      json: true,
    });
  });

  it.each([[['--payments', '0']], [['--payments', '1.5']], [['--seed', 'x']], [['--fast']], [['now']]])(
    'refuses %j, and says why',
    (args) => {
      expect(() => readCommandLine(SIMULATE, args)).toThrow(UsageError);
    },
  );
});

describe("a chaos run's command line", () => {
  it('asks for 300 payments and 30 kills unless it says otherwise', () => {
    expect(readCommandLine(CHAOS, [])).toEqual({ payments: 300, kills: 30, seed: 1, json: false });
    expect(readCommandLine(CHAOS, ['--payments', '40', '--kills', '8', '--seed', '7', '--json'])).toEqual({
      payments: 40,
      kills: 8,
      seed: 7,
      json: true,
    });
  });

  it.each([[['--payments', '0']], [['--kills', '-1']], [['--seed', 'x']], [['--fast']], [['now']]])(
    'refuses %j',
    (args) => {
      expect(() => readCommandLine(CHAOS, args)).toThrow();
    },
  );
});

describe("an exploration's command line", () => {
  it('has bounds of its own, which can be changed', () => {
    expect(readCommandLine(EXPLORE, [])).toEqual({
      depth: 0,
      states: 1_500_000,
      seconds: 0,
      walks: 0,
      seed: 1,
      json: false,
    });
    expect(readCommandLine(EXPLORE, ['--depth', '7', '--json'])).toMatchObject({ depth: 7, json: true });
  });

  it('refuses what it does not know', () => {
    expect(() => readCommandLine(EXPLORE, ['--breadth', '1'])).toThrow('breadth');
    expect(() => readCommandLine(EXPLORE, ['--states', '-1'])).toThrow();
  });
});
