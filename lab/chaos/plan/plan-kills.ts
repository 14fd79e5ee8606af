import type { StackProcess } from '../../../stack/processes/stack.js';
import { diceOf } from '../../simulation/plan/dice.js';

/** One death. */
export interface PlannedKill {
  readonly target: StackProcess;
  /** ms from the beginning. */
  readonly at: number;
  /** ms until the process is started again. */
  readonly downMs: number;
}

const ALL: readonly StackProcess[] = ['temporal', 'worker', 'sandbox', 'api'];

/** How long a process stays away at most, in ms. */
const LONGEST_DOWN_MS = 3_000;

/**
 * Plans `count` deaths, one at a random moment in each of as many equal stretches of `lengthMs`: of every process once
 * at first, then of any, the worker's the most often, as it has the most to lose.
 */
export function planKills(count: number, lengthMs: number, seed: string | number): PlannedKill[] {
  const first = diceOf(seed, 'kills').between('first', 0, ALL.length - 1);
  return Array.from({ length: count }, (_, index): PlannedKill => {
    const dice = diceOf(seed, 'kill', index);
    const moment = index + dice.between('when', 0, 999) / 1_000;
    const anyone = dice.pick<StackProcess>('who', [
      [4, 'worker'],
      [2, 'api'],
      [2, 'sandbox'],
      [3, 'temporal'],
    ]);
    return {
      target: index < ALL.length ? (ALL[(first + index) % ALL.length] ?? anyone) : anyone,
      at: Math.round((moment / count) * lengthMs),
      downMs: dice.between('down', 0, LONGEST_DOWN_MS),
    };
  });
}
