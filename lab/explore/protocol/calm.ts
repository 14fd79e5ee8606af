import type { Explored } from './hand.js';
import { movesOf } from './hand-moves.js';
import { keyOf } from './key.js';
import { type Move, NOTHING, type World } from './world.js';
import { beats, keeper } from './world-moves.js';

/** More rounds than any calm future takes. */
const ROUNDS = 12;
/** More moves than a hand makes before it sleeps. */
const MOVES = 60;

/**
 * Returns a function that reports whether a payment stands still from a world on: though nothing more goes wrong, the
 * keeper brings it neither to its end nor to a person. All hands are lost, since they may be.
 */
export function standsStill(explored: Explored): (world: World) => boolean {
  const known = new Map<string, boolean>();
  return (world) => {
    const lost: World = { ...world, hands: [], isRung: false, api: undefined, left: NOTHING };
    const key = keyOf(lost, explored.protocol);
    const before = known.get(key);
    if (before !== undefined) return before;
    const stands = !comesToRest(lost, explored);
    known.set(key, stands);
    return stands;
  };
}

function comesToRest(begin: World, explored: Explored): boolean {
  let world = begin;
  for (let round = 0; round < ROUNDS; round++) {
    const next = calmly(world, explored);
    if (next === undefined) return false;
    if (isAtRest(next)) return true;
    world = { ...next, now: next.now + 1 };
  }
  return false;
}

/** All that is done without the clock's help; undefined, if it never ends or comes to what can't be. */
function calmly(begin: World, explored: Explored): World | undefined {
  let world = begin;
  for (let moves = 0; moves < MOVES; moves++) {
    const [move] = [
      ...beats(world, explored),
      ...world.hands.flatMap((hand): Move[] => movesOf(world, hand, explored)),
      ...keeper(world),
    ];
    if (move === undefined) return world;
    if (move.broken?.some((rule) => rule === 'asked')) return undefined;
    world = move.to;
  }
  return undefined;
}

/** It has ended, or waits for a person; nobody waits for a reply, and no outcome and no gap for its turn. */
function isAtRest({ book }: World): boolean {
  const { row, inbox, fences, gap } = book;
  if (gap === 'recorded') return false;
  const isHeard = inbox.every(({ reply }) => reply !== undefined);
  const isTaken = fences.every((fence) => fence.outcome === undefined || fence.isTaken);
  return isHeard && isTaken && ['ended', 'review', 'held'].includes(row.phase.kind);
}
