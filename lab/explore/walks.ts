import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { MINUTE_MS } from '../../src/payments/words/time.js';
import type { Invariant, Violation } from './invariants.js';
import { Liveness } from './liveness.js';
import { Model } from './model.js';
import type { Move } from './move.js';
import { movesFrom } from './moves.js';
import { pick, randomOf } from './random.js';
import { describeStory } from './report.js';
import { type Allowance, LISTED_LATE, QUICK_TERMS, type Setting, settingOf, TWO_PEOPLE } from './setting.js';
import type { Machine, Situation } from './situation.js';

/*
 * Random walks: long stories in which everything may happen, many times, up to the end of the payment. They come where
 * no search that visits every state can, and prove nothing of what they don't meet.
 */

/** Largest number of moves in a walk. Few come near. */
const MAX_MOVES = 600;

/** The moves of a walk, and how it broke a rule, if it did. */
export interface Walk {
  readonly moves: readonly Move[];
  readonly violations: readonly Violation[];
}

/** A walk that broke a rule: its seed, and the shortest story of it that still does, in words. */
export interface BrokenWalk {
  readonly setting: string;
  readonly story: readonly string[];
  readonly violations: readonly Violation[];
}

/** A thread's report of its walks. */
export type WalkMessage =
  | { readonly kind: 'broken'; readonly broken: BrokenWalk }
  | { readonly kind: 'result'; readonly result: WalksResult };

/** Selects walks to play: the numbers from `from` on, of those with this seed. */
export interface Walks {
  readonly walks: number;
  readonly seed: number;
  readonly from?: number;
}

/** The result of many walks: the last line of output. */
export interface WalksResult {
  readonly walks: number;
  readonly seed: number;
  readonly steps: number;
  readonly violations: number;
  readonly seconds: number;
}

/** Plays walks, each with a seed of its own that follows from the first one. */
export function walkAll(
  machine: Machine,
  { walks, seed, from = 0 }: Walks,
  report: (broken: BrokenWalk) => void,
): WalksResult {
  const startedAt = Date.now();
  let [steps, violations] = [0, 0];
  for (let count = from; count < from + walks; count += 1) {
    const own = seedOf(seed, count);
    const setting = walkSetting(own);
    const walked = walk(machine, setting, own);
    steps += walked.moves.length;
    if (walked.violations.length > 0) {
      violations += 1;
      const { moves, violations: broken } = shrunk(machine, setting, walked);
      report({
        setting: setting.name,
        story: describeStory(machine, setting, moves),
        violations: broken,
      });
    }
  }
  return { walks, seed, steps, violations, seconds: Math.round((Date.now() - startedAt) / 100) / 10 };
}

/** Returns the seed of one of many walks. */
function seedOf(seed: number, count: number): number {
  return (Math.imul(seed, 0x9e3779b1) + count) >>> 0;
}

/** Makes the world of a walk: one of all kinds, terms and tempers, with large budgets. */
export function walkSetting(seed: number): Setting {
  const random = randomOf(seed ^ 0x5bd1e995);
  const kind = pick(['payout', 'payout', 'link', 'link', 'direct'] as const, random) ?? 'payout';
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const allowance: Allowance = {
    troubles: upTo(14),
    notifications: upTo(random() < 0.1 ? 30 : 6),
    requests: upTo(4),
    decisions: upTo(8),
  };
  return settingOf({
    name: `${kind}, seed ${seed}`,
    kind,
    terms: {
      ...(random() < 0.3 && QUICK_TERMS),
      ...(random() < 0.5 && LISTED_LATE),
      ...(random() < 0.3 && TWO_PEOPLE),
      ambiguousPolicy: random() < 0.5 ? 'review' : 'resend',
    },
    allowance,
    retryAfterMs: random() < 0.5 ? 1_000 : 300_000,
    ...(random() < 0.2 && { refusesUnknown: true as const }),
    copies: random() < 0.1 ? 4 : 1,
    ...(random() < 0.1 && { wasSentBefore: true as const }),
    ...(random() < 0.3 && { namesAlone: true as const }),
    ...(random() < 0.4 && { held: { approval: true as const, ...(random() < 0.5 && { sendAfterMs: 2 * MINUTE_MS }) } }),
  });
}

/** Walks until the payment has ended and nothing more is to come, or a rule is broken. */
export function walk(machine: Machine, setting: Setting, seed: number, only?: readonly Invariant[]): Walk {
  const random = randomOf(seed);
  const model = new Model(machine, setting);
  const moves: Move[] = [];
  // What is unusual comes rarely in some walks, and at every turn in others.
  const calm = 0.3 + random() * 0.6;
  let { situation, violations } = model.start();
  for (;;) {
    const broken = wanted(violations, only);
    if (broken.length > 0) return { moves, violations: broken };
    const move = moves.length < MAX_MOVES ? nextMove(situation, setting, calm, random) : undefined;
    if (move === undefined) break;
    moves.push(move);
    ({ situation, violations } = model.apply(situation, move));
  }
  const ends = wanted(new Liveness(machine, setting).violationsFrom(situation), only);
  return { moves, violations: ends };
}

function wanted(violations: readonly Violation[], only: readonly Invariant[] | undefined) {
  return only === undefined ? violations : violations.filter(({ invariant }) => only.includes(invariant));
}

function nextMove(situation: Situation, setting: Setting, calm: number, random: () => number): Move | undefined {
  const possible = movesFrom(situation, setting);
  if (random() >= calm) return pick(possible, random);
  const plain = possible.filter(isPlain);
  return pick(plain.length > 0 ? plain : possible, random);
}

/** Reports whether a move needs nobody's message and costs no trouble. */
function isPlain({ kind, troubles = 0 }: Move): boolean {
  const isDecision = kind === 'decide' || kind === 'reject' || kind === 'approve' || kind === 'rejectPayout';
  const isMessage = kind === 'notification' || kind === 'request' || isDecision;
  return troubles === 0 && !isMessage;
}

/** Finds a shorter walk that breaks the same rule: moves are left out as long as it does. */
function shrunk(machine: Machine, setting: Setting, { moves, violations }: Walk): Walk {
  const only = violations.map(({ invariant }) => invariant);
  let shortest: Walk = { moves, violations };
  for (let size = Math.ceil(moves.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = shortest.moves.length - size; at >= 0; at -= size) {
      const fewer = [...shortest.moves.slice(0, at), ...shortest.moves.slice(at + size)];
      const played = playedAgain(machine, setting, fewer, only);
      if (played.violations.length > 0 && played.moves.length < shortest.moves.length) shortest = played;
    }
  }
  return shortest;
}

/** Plays moves as far as they are possible, with times and reviews as they are by then. */
function playedAgain(machine: Machine, setting: Setting, moves: readonly Move[], only: readonly Invariant[]): Walk {
  const model = new Model(machine, setting);
  const played: Move[] = [];
  let { situation } = model.start();
  for (const move of moves) {
    const kind = kindOf(move, situation);
    const possible = movesFrom(situation, setting).find((one) => kindOf(one, situation) === kind);
    if (possible === undefined) continue;
    const applied = model.apply(situation, possible);
    played.push(possible);
    const violations = wanted(applied.violations, only);
    if (violations.length > 0) return { moves: played, violations };
    ({ situation } = applied);
  }
  return {
    moves: played,
    violations: wanted(new Liveness(machine, setting).violationsFrom(situation), only),
  };
}

function kindOf(move: Move, { payment }: Situation): string {
  if (move.kind === 'time') return move.kind;
  const isOutdated = 'review' in move && move.review < payment.reviews;
  return JSON.stringify('review' in move ? { ...move, review: isOutdated } : move);
}

/**
 * Plays walks in as many threads as there are processors. Which walks are played, and how, depends on the seed alone.
 */
export async function walkInThreads(
  { walks, seed }: Walks,
  report: (broken: BrokenWalk) => void,
): Promise<WalksResult> {
  const startedAt = Date.now();
  const threads = Math.min(availableParallelism(), walks);
  const first = (thread: number) => Math.floor((walks * thread) / threads);
  const results = await Promise.all(
    Array.from({ length: threads }, (_, thread) =>
      playedByThread({ walks: first(thread + 1) - first(thread), seed, from: first(thread) }, report),
    ),
  );
  const sum = (of: 'steps' | 'violations') => results.reduce((all, result) => all + result[of], 0);
  const seconds = Math.round((Date.now() - startedAt) / 100) / 10;
  return { walks, seed, steps: sum('steps'), violations: sum('violations'), seconds };
}

function playedByThread(walks: Walks, report: (broken: BrokenWalk) => void): Promise<WalksResult> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./walk-worker.js', import.meta.url), { workerData: walks });
    thread.on('error', reject);
    thread.on('message', (message: WalkMessage) => {
      if (message.kind === 'broken') report(message.broken);
      else resolve(message.result);
    });
  });
}
