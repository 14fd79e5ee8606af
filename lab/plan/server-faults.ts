import { HOUR_MS, MINUTE_MS } from '../../src/payments/words/time.js';
import type { PaymentProcess } from '../../stack/processes/stack.js';
import { type SeededRandom, seededRandom } from './seeded-random.js';

/** A fault of a server, or of all of a kind; times in ms from the start. */
export interface ServerFault {
  readonly kind: ServerFaultKind;
  readonly at: number;
  readonly forMs: number;
}

export type ServerFaultKind =
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
  | 'providerCut'
  /** Every connection to the book is cut once. */
  | 'bookCut'
  /** The book's PostgreSQL is killed, and started again at once. */
  | 'bookKilled';

/** A worker's death in the middle of a request that moves money, before or after the provider takes it. */
export interface Crash {
  /** Number of the request, counted from 1. */
  readonly request: number;
  readonly moment: 'beforeCommit' | 'afterCommit';
}

export interface ServerFaultPlan {
  readonly faults: readonly ServerFault[];
  readonly crashes: readonly Crash[];
}

/** The number and length of each fault. A fault strikes every payment of its time. */
const SERVER_FAULTS: readonly (readonly [
  kind: ServerFaultKind,
  times: number,
  length: readonly [min: number, max: number],
])[] = [
  ['providerFails', 1, [2 * HOUR_MS, 4 * HOUR_MS]],
  ['providerHangs', 1, [2 * MINUTE_MS, 5 * MINUTE_MS]],
  ['providerAway', 1, [20 * MINUTE_MS, 2 * HOUR_MS]],
  ['credentialsRevoked', 1, [5 * MINUTE_MS, 20 * MINUTE_MS]],
  ['merchantAway', 1, [1 * HOUR_MS, 12 * HOUR_MS]],
  ['workerRestarted', 1, [0, 0]],
  ['workerKilled', 1, [0, 0]],
  ['apiCut', 3, [0, 0]],
  ['providerCut', 3, [0, 0]],
  ['bookCut', 3, [0, 0]],
  ['bookKilled', 1, [0, 0]],
];

/** Plans what goes wrong with the servers themselves while payments arrive. */
export function planServerFaults(count: number, lengthMs: number, seed: string | number): ServerFaultPlan {
  const faults = SERVER_FAULTS.flatMap(([kind, times, [min, max]]) =>
    Array.from({ length: times }, (_, index): ServerFault => {
      const random = seededRandom(seed, 'trouble', kind, index);
      return {
        kind,
        at: random.between('when', HOUR_MS, lengthMs),
        forMs: random.between('how long', min, max),
      };
    }),
  );
  return { faults: faults.sort((one, other) => one.at - other.at), crashes: planCrashes(count, seed) };
}

/** One before the provider takes a request, one after. */
const CRASHES = 2;

/** Spread over the requests that move money: a bit more than half of the payments make one. */
function planCrashes(count: number, seed: string | number): Crash[] {
  const share = (count * 0.45) / CRASHES;
  return Array.from({ length: CRASHES }, (_, index): Crash => {
    const random: SeededRandom = seededRandom(seed, 'crash', index);
    const moment = index % 2 === 0 ? 'afterCommit' : 'beforeCommit';
    return {
      request: Math.floor(share * index) + random.between('request', 1, Math.max(1, Math.floor(share))),
      moment,
    };
  });
}

/** What is killed: a process of payments, or the book's PostgreSQL. */
export type KillTarget = PaymentProcess | 'book';

/** One kill. */
export interface PlannedKill {
  readonly target: KillTarget;
  /** ms from the start. */
  readonly at: number;
  /** ms until the process is started again. */
  readonly downMs: number;
}

/** A time in which the book is away, or its PostgreSQL stands still with its connections open. */
export interface PlannedOutage {
  readonly kind: 'bookAway' | 'bookHangs';
  /** ms from the start. */
  readonly at: number;
  readonly forMs: number;
}

const OUTAGES = ['bookAway', 'bookHangs'] as const;

/** Duration of the book's outage, in ms: longer than anybody waits for it. */
const OUTAGE_MS = { min: 6_000, max: 15_000 } as const;

/** Plans one outage of the book of each kind, in either half of `lengthMs`. */
export function planOutages(lengthMs: number, seed: string | number): PlannedOutage[] {
  const first = seededRandom(seed, 'outages').between('first', 0, 1);
  return OUTAGES.map((kind, index): PlannedOutage => {
    const random = seededRandom(seed, 'outage', kind);
    const half = (index + first) % 2;
    return {
      kind,
      at: Math.round(((half + random.between('when', 0, 999) / 1_000) / 2) * lengthMs),
      forMs: random.between('how long', OUTAGE_MS.min, OUTAGE_MS.max),
    };
  });
}

/** A store whose copy, made at one time, takes its place at another. */
export interface PlannedRestore {
  readonly store: 'book' | 'temporal';
  /** ms from the start. */
  readonly copiedAt: number;
  readonly restoredAt: number;
}

/**
 * In a shorter run, no restore is planned, in ms: between the book's copy and its return, Temporal has to be told of
 * another beat, and both stores must not go back at once.
 */
const MIN_LENGTH_MS = 120_000;

/** Plans the return of each store to an older copy: Temporal's first, and then the book's. */
export function planRestores(lengthMs: number): PlannedRestore[] {
  if (lengthMs < MIN_LENGTH_MS) return [];
  const at = (part: number) => Math.round(part * lengthMs);
  return [
    { store: 'temporal', copiedAt: at(0.2), restoredAt: at(0.4) },
    { store: 'book', copiedAt: at(0.25), restoredAt: at(0.8) },
  ];
}

const ALL: readonly KillTarget[] = ['temporal', 'book', 'worker', 'sandbox', 'api'];

/** Longest absence of a process, in ms. */
const MAX_DOWN_MS = 3_000;

/**
 * Plans `count` kills, one at a random moment in each of as many equal parts of `lengthMs`: of every process once at
 * first, then of any, most often the worker, which has the most to lose.
 */
export function planKills(count: number, lengthMs: number, seed: string | number): PlannedKill[] {
  const first = seededRandom(seed, 'kills').between('first', 0, ALL.length - 1);
  return Array.from({ length: count }, (_, index): PlannedKill => {
    const random = seededRandom(seed, 'kill', index);
    const moment = index + random.between('when', 0, 999) / 1_000;
    const anyone = random.pick<KillTarget>('who', [
      [4, 'worker'],
      [2, 'api'],
      [2, 'sandbox'],
      [3, 'temporal'],
      [3, 'book'],
    ]);
    return {
      target: index < ALL.length ? (ALL[(first + index) % ALL.length] ?? anyone) : anyone,
      at: Math.round((moment / count) * lengthMs),
      downMs: random.between('down', 0, MAX_DOWN_MS),
    };
  });
}
