import { isDeepStrictEqual } from 'node:util';
import type { Step } from '../payments/machine.js';
import type { PaymentEvent } from '../payments/transitions.js';
import { BEGINNING, Game } from './game.js';
import { movesFrom } from './moves.js';
import type { PlayableStory, TimedEvent } from './play-story.js';
import { orderOf, type Setting } from './setting.js';
import type { Machine, Situation } from './situation.js';

/** Moves that answer a question. */
const ANSWERS = ['post', 'status', 'list', 'expire', 'deliver'];

/** Moves of a story, at the most. */
const MOVES_MAX = 40;

/**
 * A story of the exploration's world, chosen at random: the events that the machine is fed, for the built workflow to be
 * played through. The same random numbers make the same story.
 *
 * @param random a number from 0 up to, and not including, 1
 */
export function randomStory(machine: Machine, setting: Setting, random: () => number): PlayableStory {
  const events: TimedEvent[] = [];
  let isAsking = false;
  let isDue = false;
  const game = new Game(machine, setting, (event: PaymentEvent, now: number, { todo }: Step) => {
    // A question that a worker was lost with is asked again, of which the workflow hears nothing.
    if (event.kind !== 'time' || !isAsking) events.push({ event, now });
    isAsking = todo.kind !== 'wait' && todo.kind !== 'end' && todo.kind !== 'redeliver';
    // What is due is asked at once: between a beginning, or a timer, and its question no message can come in.
    isDue = (event.kind === 'time' || event.kind === 'begin') && isAsking;
  });
  let { situation } = game.begin();
  for (let count = 0; count < MOVES_MAX; count++) {
    const moves = movesFrom(situation, setting).filter(
      ({ kind }) => kind !== 'reset' && (!isDue || ANSWERS.includes(kind)),
    );
    const move = moves[Math.floor(random() * moves.length)];
    if (move === undefined) break;
    const told = events.length;
    situation = game.play(situation, move).situation;
    if (isToldBy(machine, setting, events, situation)) continue;
    // A task was lost with its worker and done again: what came of it the first time is no part of the story.
    events.length = told;
    break;
  }
  return { order: orderOf(setting.method), terms: setting.terms, startedAt: BEGINNING, events };
}

/** Whether the events lead to where the story is. */
function isToldBy(
  machine: Machine,
  setting: Setting,
  events: readonly TimedEvent[],
  { payment }: Situation,
): boolean {
  const opened = machine.openPayment(orderOf(setting.method), setting.terms, BEGINNING);
  const told = events.reduce((state, { event, now }) => machine.step(state, event, now).payment, opened);
  return isDeepStrictEqual(told, payment);
}

/** Random numbers that a seed leads to (mulberry32): enough to choose moves by. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
