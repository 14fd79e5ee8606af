import type { Done } from './book.js';
import type { Protocol } from './protocol.js';
import type { At, Hand, Setting, World } from './world.js';

/** What is explored: the rules, and the world that they are tried in. */
export interface Explored {
  readonly protocol: Protocol;
  readonly setting: Setting;
}

/** Replaces a hand by another, or takes it away. */
export function withHand(world: World, hand: Hand, next?: Hand): World {
  const hands = world.hands.flatMap((one) => (one !== hand ? [one] : next === undefined ? [] : [next]));
  return { ...world, hands };
}

/** Most hands at once. */
const HANDS = 3;

/** Adds a hand, unless there are as many as can be. */
export function addHand(world: World, hand: Omit<Hand, 'id'>): World | undefined {
  if (world.hands.length >= HANDS) return undefined;
  const stamp = world.stamp + 1;
  return { ...world, stamp, hands: [...world.hands, { ...hand, id: stamp }] };
}

export const unrung = (world: World): World => ({ ...world, isRung: false });
export const news = (): At => ({ kind: 'turn', input: { kind: 'news' } });
export const done = (token: number, what: Done): At => ({ kind: 'turn', input: { kind: 'done', token, done: what } });

/** A hand that was given up ends with its activity: what comes after is the workflow's. */
export function goOn(world: World, hand: Hand, at: At): World {
  const isOver = hand.isGivenUp && at.kind === 'turn' && hand.at.kind !== 'ask';
  return withHand(world, hand, isOver ? undefined : { ...hand, at });
}

export function nameOf({ id, isGivenUp }: Hand): string {
  return `hand ${id}${isGivenUp ? ' (given up)' : ''}`;
}
