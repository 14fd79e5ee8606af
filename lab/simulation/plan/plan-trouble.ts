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
  /** The provider takes every request, and answers none. */
  | 'providerHangs'
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

/** How often each trouble comes, and for how long. However many payments there are, it strikes all that live then. */
const TROUBLES: readonly (readonly [
  kind: TroubleKind,
  times: number,
  length: readonly [least: number, most: number],
])[] = [
  ['providerFails', 1, [2 * HOUR, 4 * HOUR]],
  ['providerHangs', 1, [2 * MINUTE, 5 * MINUTE]],
  ['providerAway', 1, [20 * MINUTE, 2 * HOUR]],
  ['credentialsRevoked', 1, [5 * MINUTE, 20 * MINUTE]],
  ['merchantAway', 1, [1 * HOUR, 12 * HOUR]],
  ['workerRestarted', 1, [0, 0]],
  ['workerKilled', 1, [0, 0]],
  ['apiCut', 3, [0, 0]],
  ['providerCut', 3, [0, 0]],
];

/** Plans what goes wrong with the servers themselves while payments arrive. */
export function planTrouble(count: number, lengthMs: number, seed: string | number): TroublePlan {
  const troubles = TROUBLES.flatMap(([kind, times, [shortest, longest]]) =>
    Array.from({ length: times }, (_, index): Trouble => {
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

/** One before the provider takes a request, one after. */
const CRASHES = 2;

/** Spread over the requests that move money: a bit more than half of the payments make one. */
function planCrashes(count: number, seed: string | number): Crash[] {
  const share = (count * 0.45) / CRASHES;
  return Array.from({ length: CRASHES }, (_, index): Crash => {
    const dice: Dice = diceOf(seed, 'crash', index);
    const moment = index % 2 === 0 ? 'afterCommit' : 'beforeCommit';
    return {
      request: Math.floor(share * index) + dice.between('request', 1, Math.max(1, Math.floor(share))),
      moment,
    };
  });
}
