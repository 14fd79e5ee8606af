import { Trail } from './trail.js';
import { Visited } from './visited.js';

/** What may happen next in a world, in words, and the rules that it breaks. */
export interface WorldMove<World> {
  readonly label: string;
  readonly to: World;
  readonly broken?: readonly string[] | undefined;
}

/** A small model: a world, what may happen in it, and what must not come of it. */
export interface SmallModel<World> {
  readonly begin: World;
  readonly movesFrom: (world: World) => readonly WorldMove<World>[];
  /** Lists the rules that a world breaks by itself. It is asked once about each. */
  readonly brokenIn: (world: World) => readonly string[];
  /** Names a world: two with one name have the same future. */
  readonly keyOf: (world: World) => string;
}

/** A broken rule, and the shortest story that leads to it. */
export interface BrokenStory {
  readonly rule: string;
  readonly story: readonly string[];
}

/** The result of visiting the worlds of a small model. */
export interface Visits {
  readonly states: number;
  readonly transitions: number;
  /** There is nothing left to visit. */
  readonly isWhole: boolean;
  readonly broken: readonly BrokenStory[];
}

/** Visits all worlds of a model, the nearest first, until a rule is broken or so many states were visited. */
export function visitAll<World>(model: SmallModel<World>, states = Number.POSITIVE_INFINITY): Visits {
  const { begin, movesFrom, brokenIn, keyOf } = model;
  const visited = new Visited();
  const trail = new Trail();
  let transitions = 0;
  visited.add(keyOf(begin));
  let level = [{ world: begin, index: trail.add(-1, 0) }];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { world, index } of level) {
      if (visited.size >= states) return { states: visited.size, transitions, isWhole: false, broken: [] };
      for (const [ordinal, { to, broken = [] }] of movesFrom(world).entries()) {
        transitions += 1;
        const isNew = visited.add(keyOf(to));
        const rules = isNew ? [...broken, ...brokenIn(to)] : broken;
        if (rules.length > 0) {
          const story = tell(model, [...trail.to(index), ordinal]);
          const found = [...new Set(rules)].map((rule) => ({ rule, story }));
          return { states: visited.size, transitions, isWhole: false, broken: found };
        }
        if (isNew) next.push({ world: to, index: trail.add(index, ordinal) });
      }
    }
    level = next;
  }
  return { states: visited.size, transitions, isWhole: true, broken: [] };
}

/** Tells a story in words, from the number of each move among those that were possible. */
function tell<World>({ begin, movesFrom }: SmallModel<World>, ordinals: readonly number[]): string[] {
  let world = begin;
  return ordinals.map((ordinal) => {
    const move = movesFrom(world)[ordinal];
    if (move === undefined) throw new Error("the story can't be told again");
    world = move.to;
    return move.label;
  });
}
