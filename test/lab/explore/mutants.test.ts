import { afterAll, describe, expect, it } from '@jest/globals';
import { MACHINE } from '../../../lab/explore/machine.js';
import { describeStory } from '../../../lab/explore/report.js';
import { explore } from '../../../lab/explore/search.js';
import { GAP_MUTANTS } from './gap-mutants.js';
import { mutantOf, removeMutants } from './mutant.js';
import { type Mutant, MUTANTS as OTHER_MUTANTS } from './mutants.js';
import { REFUND_MUTANTS } from './refund-mutants.js';

const MUTANTS = [...OTHER_MUTANTS, ...REFUND_MUTANTS, ...GAP_MUTANTS];

/** More than most stories of a mutant take. */
const STATES = 60_000;

afterAll(removeMutants);

describe('The exploration finds a machine without the rule', () => {
  it.each(MUTANTS.map((mutant) => [mutant.rule, mutant] as const))('%s', async (_rule, mutant) => {
    const { setting, breaks, story, states = STATES } = mutant;
    const mutated = await mutantOf(mutant);
    const { found } = explore(mutated, setting, { states, only: [breaks] });
    const lines = found === undefined ? [] : describeStory(mutated, setting, found.moves);
    expect({ broken: found?.violations.map(({ invariant }) => invariant), lines }).toEqual({
      broken: expect.arrayContaining([breaks]),
      lines: expect.anything(),
    });
    for (const line of story) expect(lines.join('\n')).toMatch(line);
    played.push({ mutant, depth: found?.moves.length ?? 0 });
  });

  const played: Played[] = [];

  it('and none in the true machine, in the same worlds, through stories as long', () => {
    const worlds = new Map<string, [Played, ...Played[]]>();
    for (const one of played) {
      const world = JSON.stringify(one.mutant.setting, plain);
      worlds.set(world, [one, ...(worlds.get(world) ?? [])]);
    }
    for (const alike of worlds.values()) {
      const { rule, setting } = alike[0].mutant;
      const depth = Math.max(...alike.map((one) => one.depth));
      const states = Math.max(...alike.map((one) => one.mutant.states ?? STATES));
      const only = alike.map((one) => one.mutant.breaks);
      const { found } = explore(MACHINE, setting, { depth, states, only });
      expect({ world: rule, found }).toEqual({ world: rule, found: undefined });
    }
    expect(played).toHaveLength(MUTANTS.length);
  });
});

/** A mutant that was played, and how long the story was in which it was found. */
interface Played {
  readonly mutant: Mutant;
  readonly depth: number;
}

/** As JSON has it, a set is empty. */
const plain = (_key: string, value: unknown) => (value instanceof Set ? [...value].sort() : value);
