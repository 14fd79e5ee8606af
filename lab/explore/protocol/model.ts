import type { SmallModel } from '../breadth-first.js';
import { standsStill } from './calm.js';
import type { Explored } from './hand.js';
import { movesOf } from './hand-moves.js';
import { keyOf } from './key.js';
import { beginIn, type Move, type Rule, type World } from './world.js';
import { surroundings } from './world-moves.js';

/** The model of a protocol, in a world; `only`: the rules to look for, instead of all. */
export function protocolModel(explored: Explored, only?: readonly Rule[]): SmallModel<World> {
  const { setting, protocol } = explored;
  const isWanted = (rule: Rule) => (only?.includes(rule) ?? true) && !setting.without?.includes(rule);
  const stillness = standsStill(explored);
  return {
    begin: beginIn(setting),
    movesFrom: (world): Move[] =>
      [...world.hands.flatMap((hand) => movesOf(world, hand, explored)), ...surroundings(world, explored)].map(
        (move) => (move.broken === undefined ? move : { ...move, broken: move.broken.filter(isWanted) }),
      ),
    brokenIn: (world) => {
      const isStill = isWanted('moves') && stillness(world);
      return [...untrue(world), ...(isStill ? (['moves'] as const) : [])].filter(isWanted);
    },
    keyOf: (world) => keyOf(world, protocol),
  };
}

/** What people were told isn't so. */
function untrue({ told, transactions }: World): Rule[] {
  if (told === undefined || told === 'succeeded') return [];
  return transactions.some(({ status }) => status !== 'failed') ? ['final'] : [];
}
