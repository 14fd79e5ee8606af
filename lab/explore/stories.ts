import type { Step } from '../../src/payments/machine.js';
import type { PaymentOrder, PaymentTerms } from '../../src/payments/order.js';
import type { PaymentEvent } from '../../src/payments/transitions.js';
import { Liveness } from './liveness.js';
import { Model, START } from './model.js';
import type { Move } from './move.js';
import { movesFrom } from './moves.js';
import type { Exploration } from './search.js';
import { type Method, orderOf, type Setting, settingOf, TWO_PEOPLE } from './setting.js';
import type { Machine, Situation } from './situation.js';

/** A random story: the events of one payment, in order, and what the machine did at each. */
export interface RandomStory {
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  /** ms since the epoch */
  readonly startedAt: number;
  /** Without `begin`, and without the `time` that follows the start of a slow delivery. */
  readonly events: readonly StoryEvent[];
}

export interface StoryEvent {
  readonly event: PaymentEvent;
  /** ms since the epoch */
  readonly now: number;
  readonly expected: Pick<Step, 'todo' | 'notified' | 'replies'>;
}

export interface StoryOptions {
  /** The maximum length of a story. */
  readonly moves?: number | undefined;
  readonly method?: Method | undefined;
  readonly ambiguousPolicy?: PaymentTerms['ambiguousPolicy'] | undefined;
  /** By default, everything may happen but lost workers and resets. */
  readonly setting?: Setting | undefined;
}

/** The same seed and options give the same story. Messages come in while the payment waits, or has ended. */
export function randomStory(machine: Machine, seed: number, options: StoryOptions = {}): RandomStory {
  const random = randomOf(seed);
  const setting = options.setting ?? storySetting(random, options);
  const events: StoryEvent[] = [];
  let isBackground = false;
  const model = new Model(machine, setting, (event, now, { todo, notified, replies }) => {
    if (event.kind !== 'begin' && !isBackground)
      events.push({ event, now, expected: { todo, notified, replies } });
    isBackground = todo.kind === 'deliver';
  });
  let { situation } = model.start();
  for (let count = 0; count < (options.moves ?? 60); count += 1) {
    const moves = movesFrom(situation, setting).filter((move) => isPlayable(move, situation));
    const move = pick(moves, random);
    if (move === undefined) break;
    ({ situation } = model.apply(situation, move));
  }
  return { order: orderOf(setting.method), terms: setting.terms, startedAt: START, events };
}

function storySetting(random: () => number, { method, ambiguousPolicy }: StoryOptions): Setting {
  const methods: readonly Method[] = ['payout', 'direct', 'link'];
  return settingOf({
    method: method ?? pick(methods, random) ?? 'payout',
    terms: {
      ambiguousPolicy: ambiguousPolicy ?? (random() < 0.5 ? 'review' : 'resend'),
      ...(random() < 0.5 && TWO_PEOPLE),
    },
    allowance: { troubles: 4, notifications: 3, requests: 3, decisions: 4, handOvers: 2, resets: 0 },
  });
}

/**
 * A long random story of mostly plain moves, lost workers and resets included: far longer than the stories that can all be
 * explored. Returns how it broke a rule, if it did.
 */
export function randomWalk(
  machine: Machine,
  setting: Setting,
  seed: number,
  length: number,
): Exploration['found'] {
  const random = randomOf(seed);
  const model = new Model(machine, setting);
  const liveness = new Liveness(machine, setting);
  const moves: Move[] = [];
  let { situation } = model.start();
  while (moves.length < length) {
    const possible = movesFrom(situation, setting);
    const plain = possible.filter(isPlain);
    const move = pick(plain.length > 0 && random() < 0.75 ? plain : possible, random);
    if (move === undefined) return undefined;
    const applied = model.apply(situation, move);
    moves.push(move);
    const violations =
      applied.violations.length > 0 ? applied.violations : liveness.violationsFrom(applied.situation);
    if (violations.length > 0) return { moves, violations };
    ({ situation } = applied);
  }
  return undefined;
}

/** Whether a move happens by itself, and as it should. */
function isPlain({ kind, troubles = 0 }: Move): boolean {
  const isDecision = kind === 'decide' || kind === 'reject';
  const isMessage = kind === 'notification' || kind === 'request' || isDecision;
  return troubles === 0 && !isMessage && kind !== 'handOver' && kind !== 'mark' && kind !== 'reset';
}

/** What a story can hold: no withdrawal, no lost worker, no reset, nothing during a request, and no message during a question. */
function isPlayable(move: Move, { todo, payment }: Situation): boolean {
  const isWaiting = todo.kind === 'wait' || todo.kind === 'end';
  switch (move.kind) {
    case 'workerLost':
    case 'mark':
    case 'reset':
      return false;
    case 'post':
      return move.outcome !== 'lost' && move.during === undefined;
    case 'status':
    case 'list':
    case 'expire':
    case 'resetCheck':
      return move.answer.kind !== 'lost';
    case 'request':
      // A withdrawal makes the workflow ask Temporal first, which a story knows nothing of.
      return isWaiting && !(move.request === 'expire' && payment.phase.kind === 'waiting');
    case 'notification':
    case 'decide':
    case 'reject':
    case 'delivered':
    case 'handOver':
      return isWaiting;
    default:
      return true;
  }
}

function pick<Choice>(choices: readonly Choice[], random: () => number): Choice | undefined {
  return choices[Math.floor(random() * choices.length)];
}

/** Numbers from 0 up to 1, the same for the same seed (mulberry32, a public-domain generator). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
