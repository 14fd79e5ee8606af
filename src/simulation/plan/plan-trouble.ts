import { type Dice, diceOf } from './dice.js';
import { HOUR, MINUTE } from './durations.js';

/** A stretch of trouble; times in ms from the beginning. */
export interface Trouble {
  readonly kind: TroubleKind;
  readonly at: number;
  readonly forMs: number;
}

export type TroubleKind =
  /** The provider answers nothing but 5xx. */
  | 'providerFails'
  /** The provider's address refuses connections. */
  | 'providerAway'
  /** The provider refuses our credentials. */
  | 'credentialsRevoked'
  /** The merchant's endpoint answers nothing. */
  | 'merchantAway'
  /** The worker is stopped, and started again at once. */
  | 'workerRestarted'
  /** The worker is killed, and started again at once. */
  | 'workerKilled'
  /** Every connection to the API is cut once. */
  | 'apiCut'
  /** Every connection to the provider is cut once. */
  | 'providerCut';

/** A worker's death in the middle of a request that moves money, before or after the provider takes it. */
export interface Crash {
  /** The how-manieth of such requests. */
  readonly request: number;
  readonly moment: 'beforeCommit' | 'afterCommit';
}

export interface TroublePlan {
  readonly troubles: readonly Trouble[];
  readonly crashes: readonly Crash[];
}

/** How often each trouble comes: at least, and once more for every so many payments. */
const OFTEN: readonly (readonly [
  kind: TroubleKind,
  least: number,
  forEach: number,
  length: readonly [number, number],
])[] = [
  ['providerFails', 1, 4_000, [2 * HOUR, 4 * HOUR]],
  ['providerAway', 1, 4_000, [20 * MINUTE, 2 * HOUR]],
  ['credentialsRevoked', 1, 10_000, [5 * MINUTE, 20 * MINUTE]],
  ['merchantAway', 2, 5_000, [1 * HOUR, 14 * HOUR]],
  ['workerRestarted', 2, 1_000, [0, 0]],
  ['workerKilled', 1, 3_000, [0, 0]],
  ['apiCut', 3, 500, [0, 0]],
  ['providerCut', 3, 500, [0, 0]],
];

/** Plans what goes wrong with the servers themselves while payments arrive. */
export function planTrouble(count: number, lengthMs: number, seed: string | number): TroublePlan {
  const troubles = OFTEN.flatMap(([kind, least, forEach, [shortest, longest]]) =>
    Array.from({ length: least + Math.floor(count / forEach) }, (_, index): Trouble => {
      const dice = diceOf(seed, 'trouble', kind, index);
      return {
        kind,
        at: dice.between('when', HOUR, lengthMs),
        forMs: dice.between('how long', shortest, longest),
      };
    }),
  );
  return { troubles: troubles.sort((one, other) => one.at - other.at), crashes: planCrashes(count, seed) };
}

/** Spread over the requests that move money: a bit more than half of the payments make one. */
function planCrashes(count: number, seed: string | number): Crash[] {
  const crashes = 2 + Math.floor(count / 2_000);
  const share = (count * 0.45) / crashes;
  return Array.from({ length: crashes }, (_, index): Crash => {
    const dice: Dice = diceOf(seed, 'crash', index);
    const moment = index % 2 === 0 ? 'afterCommit' : 'beforeCommit';
    return {
      request: Math.floor(share * index) + dice.between('request', 1, Math.max(1, Math.floor(share))),
      moment,
    };
  });
}
