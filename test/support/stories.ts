import { Model } from '../../lab/explore/model.js';
import type { Move } from '../../lab/explore/move.js';
import { movesFrom } from '../../lab/explore/moves.js';
import { pick, randomOf } from '../../lab/explore/random.js';
import {
  type HeldOrder,
  LISTED_LATE,
  orderIn,
  type Setting,
  START,
  settingOf,
  TWO_PEOPLE,
} from '../../lab/explore/setting.js';
import type { Machine } from '../../lab/explore/situation.js';
import type { PaymentEvent } from '../../src/payments/machine/events.js';
import type { Step } from '../../src/payments/machine/machine.js';
import type { OrderKind, PaymentOrder, PaymentTerms } from '../../src/payments/words/order.js';
import { MINUTE_MS } from '../../src/payments/words/time.js';

/** A random story: the events of one payment, in order, and the machine's step at each. */
export interface RandomStory {
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  /** ms since the epoch */
  readonly startedAt: number;
  /** Without `begin`. */
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
  /** By default, everything may happen but lost runs. */
  readonly setting?: Setting | undefined;
}

/**
 * Makes a story; the same seed and options give the same one.
 */
export function randomStory(machine: Machine, seed: number, options: StoryOptions = {}): RandomStory {
  const random = randomOf(seed);
  const setting = options.setting ?? storySetting(random, options);
  const events: StoryEvent[] = [];
  const model = new Model(machine, setting, (event, now, { todo, notified, replies }) => {
    if (event.kind !== 'begin') events.push({ event, now, expected: { todo, notified, replies } });
  });
  let { situation } = model.start();
  for (let count = 0; count < (options.moves ?? 60); count += 1) {
    const moves = movesFrom(situation, setting).filter(isPlayable);
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
    allowance: { troubles: 4, notifications: 3, requests: 3, decisions: 4 },
  });
}

/** Most payouts are sent at once. */
const HELD_ORDERS: readonly (HeldOrder | undefined)[] = [
  undefined,
  undefined,
  { approval: true },
  { approval: true, sendAfterMs: MINUTE_MS },
];

/** Reports whether a story can contain a move: nothing is lost in it. */
function isPlayable(move: Move): boolean {
  switch (move.kind) {
    case 'status':
    case 'list':
    case 'expire':
      return move.answer.kind !== 'lost';
    default:
      return true;
  }
}
