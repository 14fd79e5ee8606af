import { encode } from './encoding.js';
import type { Invariant, Violation } from './invariants.js';
import { Liveness } from './liveness.js';
import { Model } from './model.js';
import type { Move } from './move.js';
import { movesFrom } from './moves.js';
import type { Setting } from './setting.js';
import type { Machine, Situation } from './situation.js';
import { Trail } from './trail.js';
import { Visited } from './visited.js';

/** Bounds of the exploration. */
export interface Bounds {
  readonly depth?: number | undefined;
  readonly states?: number | undefined;
  /** Time to stop at, in real ms since the epoch. */
  readonly until?: number | undefined;
  /** The rules to look for, instead of all. */
  readonly only?: readonly Invariant[] | undefined;
}

/** The result of exploring one setting. */
export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** All stories of up to this many moves were explored. */
  readonly depth: number;
  /** There is nothing left to visit. */
  readonly isWhole: boolean;
  /** The shortest story that breaks a rule. */
  readonly found?: { readonly moves: readonly Move[]; readonly violations: readonly Violation[] } | undefined;
}

interface Visit {
  readonly situation: Situation;
  readonly index: number;
}

/** Explores all stories of a setting, breadth first, until a rule is broken or the bounds are reached. */
export function explore(
  machine: Machine,
  setting: Setting,
  bounds: Bounds = {},
  report?: (line: string) => void,
): Exploration {
  const model = new Model(machine, setting);
  const liveness = new Liveness(machine, setting);
  const visited = new Visited();
  const trail = new Trail();
  let transitions = 0;
  const isWanted = (rule: Invariant) => bounds.only === undefined || bounds.only.includes(rule);

  const begin = model.start();
  visited.add(encode(begin.situation));
  let level: Visit[] = [{ situation: begin.situation, index: trail.add(-1, 0) }];
  if (begin.violations.length > 0) {
    return {
      states: 1,
      transitions,
      depth: 0,
      isWhole: false,
      found: { moves: [], violations: begin.violations },
    };
  }
  for (let depth = 0; ; depth += 1) {
    const result = (isWhole: boolean, found?: Exploration['found']): Exploration => ({
      states: visited.size,
      transitions,
      depth,
      isWhole,
      found,
    });
    if (level.length === 0) return result(true);
    if (bounds.depth !== undefined && depth >= bounds.depth) return result(false);
    const next: Visit[] = [];
    for (const { situation, index } of level) {
      const moves = movesFrom(situation, setting);
      for (const [ordinal, move] of moves.entries()) {
        const applied = model.apply(situation, move);
        transitions += 1;
        const isNew = visited.add(encode(applied.situation));
        const violations = [
          ...applied.violations,
          ...(isNew && applied.violations.length === 0 && isWanted('wayOut')
            ? liveness.violationsFrom(applied.situation)
            : []),
        ].filter(({ invariant }) => isWanted(invariant));
        if (violations.length > 0) {
          const story = [...trail.to(index), ordinal];
          return result(false, { moves: replay(model, setting, story), violations });
        }
        if (isNew) next.push({ situation: applied.situation, index: trail.add(index, ordinal) });
      }
      const isOver =
        (bounds.states !== undefined && visited.size >= bounds.states) ||
        (bounds.until !== undefined && transitions % 16 === 0 && Date.now() >= bounds.until);
      if (isOver) return result(false);
    }
    report?.(`${setting.name}: ${depth + 1} moves, ${visited.size} states, ${transitions} transitions`);
    level = next;
  }
}

/** Plays a story again, from the number of each move among the possible ones. */
function replay(model: Model, setting: Setting, ordinals: readonly number[]): Move[] {
  let { situation } = model.start();
  return ordinals.map((ordinal) => {
    const move = movesFrom(situation, setting)[ordinal];
    if (move === undefined) throw new Error("the story can't be repeated");
    situation = model.apply(situation, move).situation;
    return move;
  });
}
