import { afterAll, describe, expect, it } from '@jest/globals';
import { MACHINE } from '../../../lab/explore/machine.js';
import { describeStory } from '../../../lab/explore/report.js';
import { explore } from '../../../lab/explore/search.js';
import { calmSettingOf } from '../../../lab/explore/setting.js';
import type { afterTry } from '../../../src/payments/machine/notification.js';
import { paymentId } from '../../support/orders.js';
import { mutantModule, mutantOf, removeMutants } from './mutant.js';
import { type Mutant, MUTANTS as OTHER_MUTANTS } from './mutants.js';
import { REFUND_MUTANTS } from './refund-mutants.js';

const MUTANTS = [...OTHER_MUTANTS, ...REFUND_MUTANTS];

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

describe('A world that tells the merchant before Temporal has recorded what it tells', () => {
  const world = calmSettingOf({
    kind: 'payout',
    troubles: new Set(['notSent', 'workerLost']),
    requests: new Set(['expire']),
    allowance: { troubles: 2, requests: 1 },
  });
  const only = ['toldFinal'] as const;

  it('is found by a withdrawal that is lost with its update, and sent', () => {
    const early = { ...world, tellsEarly: true } as const;
    const { found } = explore(MACHINE, early, { states: STATES, only });
    const story = describeStory(MACHINE, early, found?.moves ?? []).join(' ');
    expect(story).toMatch(/somebody asks: expire: FAILED, final.*the request included.*SUCCESSFUL, final/);
  });

  it('is not ours', () => {
    expect(explore(MACHINE, world, { states: STATES, only }).found).toBeUndefined();
  });
});

describe('A merchant’s patience', () => {
  const HOUR_MS = 60 * 60 * 1000;
  const failed = { kind: 'failed', reason: 'nobody there' } as const;

  /** Returns the times of the tries of a delivery that began at 0, in ms. */
  function triesOf(after: typeof afterTry): number[] {
    const tries = [0];
    let due = { kind: 'due', at: 0, tries: 0 } as const as Parameters<typeof afterTry>[0];
    for (;;) {
      const next = after(due, failed, paymentId('col_1'), due.at);
      if (next.kind !== 'due') return tries;
      tries.push(next.at);
      due = next;
    }
  }

  it('lasts three days, to the last try', async () => {
    const { afterTry: after } = await mutantModule<{ afterTry: typeof afterTry }>({
      find: "  if (now >= lastAt) return { kind: 'abandoned'",
      replace: "  if (now + 10 * HOUR_MS >= lastAt) return { kind: 'abandoned'",
    });
    expect(triesOf(after).at(-1)).not.toBe(72 * HOUR_MS);
    const { afterTry: sound } = await import('../../../src/payments/machine/notification.js');
    expect(triesOf(sound).at(-1)).toBe(72 * HOUR_MS);
  });
});
