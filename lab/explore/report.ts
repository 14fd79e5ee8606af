import { ASSUMPTIONS } from './assumptions.js';
import { INVARIANTS, type Violation } from './invariants.js';
import { type Bounds, explore } from './search.js';
import type { Setting } from './setting.js';
import type { Machine } from './situation.js';
import { tell } from './words.js';

/** What an exploration of several worlds has come to: its last line of output. */
export interface Result {
  readonly states: number;
  readonly transitions: number;
  /** Moves of the longest stories of which all were played, in the world that was explored the least far. */
  readonly depth: number;
  /** Rules that were checked in every state. */
  readonly invariants: number;
  readonly violations: number;
  readonly seconds: number;
}

/** The shortest story that breaks a rule, in words. */
export interface BrokenRule {
  readonly world: string;
  readonly story: readonly string[];
  readonly violations: readonly Violation[];
}

export interface Report {
  readonly result: Result;
  readonly broken: readonly BrokenRule[];
}

/**
 * Explores worlds one after the other. The bounds are for all of them: what a world leaves of its share, since there is
 * nothing more to visit in it, goes to those after it.
 */
export function exploreAll(
  machine: Machine,
  worlds: readonly Setting[],
  {
    depth,
    states,
    seconds,
  }: { readonly depth?: number; readonly states?: number; readonly seconds?: number },
  progress: (line: string) => void = () => undefined,
): Report {
  const startedAt = Date.now();
  const broken: BrokenRule[] = [];
  const depths: number[] = [];
  let [visited, transitions] = [0, 0];
  for (const [index, world] of worlds.entries()) {
    const share = (all: number, used: number) => Math.max(0, all - used) / (worlds.length - index);
    const bounds: Bounds = {
      depth,
      states: states === undefined ? undefined : Math.ceil(share(states, visited)),
      until: seconds === undefined ? undefined : Date.now() + share(seconds * 1_000, Date.now() - startedAt),
    };
    const explored = explore(machine, world, bounds);
    visited += explored.states;
    transitions += explored.transitions;
    if (!explored.isWhole) depths.push(explored.depth);
    const far = explored.isWhole ? 'to its end' : `${explored.depth} moves deep`;
    progress(`${world.name}: ${explored.states} states, ${explored.transitions} transitions, ${far}`);
    if (explored.found !== undefined) {
      const { moves, violations } = explored.found;
      broken.push({ world: world.name, story: tell(machine, world, moves), violations });
    }
  }
  const result: Result = {
    states: visited,
    transitions,
    depth: depths.length === 0 ? 0 : Math.min(...depths),
    invariants: Object.keys(INVARIANTS).length,
    violations: broken.length,
    seconds: Math.round((Date.now() - startedAt) / 100) / 10,
  };
  return { result, broken };
}

/** A broken rule, for people. */
export function describeBroken({ world, story, violations }: BrokenRule): string {
  const rules = violations.map(({ invariant, what }) => `  BROKEN: ${INVARIANTS[invariant]}\n    ${what}`);
  return [`In the world "${world}":`, ...story.map((line) => `  ${line}`), ...rules].join('\n');
}

/** The rules and what they rest on, for people. */
export function describeRules(): string {
  const listed = (all: Readonly<Record<string, string>>) =>
    Object.entries(all).map(([name, sentence]) => `  ${name}: ${sentence}`);
  return [
    'Rules, checked in every state:',
    ...listed(INVARIANTS),
    'Assumptions:',
    ...listed(ASSUMPTIONS),
  ].join('\n');
}
