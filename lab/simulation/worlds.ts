import { availableParallelism } from 'node:os';
import type { SimulationOptions } from './simulation-options.js';

/**
 * Payments in one world at the most. The time-skipping server keeps a list of everything that ever held up its time, and
 * goes through it each time: its work grows with the square of the payments.
 */
const MOST_PAYMENTS = 1_250;
/** Payments for which a further world is worth its servers. */
const LEAST_PAYMENTS = 250;
/** Worlds at once at the most: all of them have their people and their provider in this one process. */
const MOST_AT_ONCE = 4;

/** Worlds that are played at the same time: one more than there are cores, as each waits for a third of its time. */
export const AT_ONCE = Math.min(availableParallelism() + 1, MOST_AT_ONCE);

/**
 * Divides the payments among worlds, each with servers, faults and crashes of its own, drawn from the seed.
 *
 * @param atOnce worlds that are played at the same time
 */
export function worldsOf(options: SimulationOptions, atOnce = AT_ONCE): SimulationOptions[] {
  const { payments, seed } = options;
  const rounds = Math.ceil(payments / MOST_PAYMENTS / atOnce);
  const count = Math.max(1, Math.min(rounds * atOnce, Math.floor(payments / LEAST_PAYMENTS)));
  return Array.from({ length: count }, (_, index) => ({
    ...options,
    payments: Math.floor(payments / count) + (index < payments % count ? 1 : 0),
    seed: `${seed}/${index}`,
  }));
}
