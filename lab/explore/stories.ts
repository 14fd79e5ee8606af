import type { PaymentEvent } from '../../src/payments/machine/events.js';
import type { Step } from '../../src/payments/machine/machine.js';
import type { OrderKind, PaymentOrder, PaymentTerms } from '../../src/payments/words/order.js';
import type { PaymentState } from '../../src/payments/words/payment-state.js';
import { MINUTE_MS } from '../../src/payments/words/time.js';
import { Model } from './model.js';
import type { Move } from './move.js';
import { movesFrom } from './moves.js';
import { pick, randomOf } from './random.js';
import { type HeldOrder, LISTED_LATE, orderIn, type Setting, START, settingOf, TWO_PEOPLE } from './setting.js';
import type { Machine, Situation } from './situation.js';

/** A random story: the events of one payment, in order, and the machine's step at each. */
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
  readonly kind?: OrderKind | undefined;
  readonly ambiguousPolicy?: PaymentTerms['ambiguousPolicy'] | undefined;
  /** By default, everything may happen but lost workers and resets. */
  readonly setting?: Setting | undefined;
}

/**
 * Makes a story; the same seed and options give the same one. Messages come in while the payment waits, or has ended.
 */
export function randomStory(machine: Machine, seed: number, options: StoryOptions = {}): RandomStory {
  const random = randomOf(seed);
  const setting = options.setting ?? storySetting(random, options);
  const events: StoryEvent[] = [];
  let isBackground = false;
  const model = new Model(machine, setting, (event, now, { todo, notified, replies }) => {
    if (event.kind !== 'begin' && !isBackground) events.push({ event, now, expected: { todo, notified, replies } });
    isBackground = todo.kind === 'deliver';
  });
  let { situation } = model.start();
  for (let count = 0; count < (options.moves ?? 60); count += 1) {
    const moves = movesFrom(situation, setting).filter((move) => isPlayable(move, situation));
    const move = pick(moves, random);
    if (move === undefined) break;
    ({ situation } = model.apply(situation, move));
  }
  return { order: orderIn(setting), terms: setting.terms, startedAt: START, events };
}

function storySetting(random: () => number, { kind, ambiguousPolicy }: StoryOptions): Setting {
  const kinds: readonly OrderKind[] = ['payout', 'direct', 'link'];
  return settingOf({
    kind: kind ?? pick(kinds, random) ?? 'payout',
    terms: {
      ambiguousPolicy: ambiguousPolicy ?? (random() < 0.5 ? 'review' : 'resend'),
      ...(random() < 0.5 && TWO_PEOPLE),
      ...(random() < 0.5 && LISTED_LATE),
    },
    held: pick(HELD_ORDERS, random),
    namesAlone: true,
    allowance: { troubles: 4, notifications: 3, requests: 3, decisions: 4, handOvers: 2, resets: 0 },
  });
}

/** Most payouts are sent at once. */
const HELD_ORDERS: readonly (HeldOrder | undefined)[] = [
  undefined,
  undefined,
  { approval: true },
  { approval: true, sendAfterMs: MINUTE_MS },
];

/**
 * Reports whether a story can contain a move: no withdrawal, no lost worker, no reset, nothing during a request, and no
 * message during a question.
 */
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
      return isWaiting && !(move.request === 'expire' && isAskedFirst(payment));
    case 'rejectPayout':
      return isWaiting && !isAskedFirst(payment);
    case 'notification':
    case 'approve':
    case 'decide':
    case 'reject':
    case 'delivered':
    case 'handOver':
      return isWaiting;
    default:
      return true;
  }
}

/** Reports whether a withdrawal makes the workflow ask Temporal first, which a story knows nothing of. */
function isAskedFirst({ phase }: PaymentState): boolean {
  return phase.kind === 'waiting' || phase.kind === 'held';
}
