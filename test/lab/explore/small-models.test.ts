import { describe, expect, it } from '@jest/globals';
import { visitAll } from '../../../lab/explore/breadth-first.js';
import { protocolModel } from '../../../lab/explore/protocol/model.js';
import { PROTOCOL } from '../../../lab/explore/protocol/protocol.js';
import { LOST_COMMITS, SETTINGS } from '../../../lab/explore/protocol/settings.js';
import { MUTANTS_OF_WORLDS, WORLDS } from '../../../lab/explore/small-models.js';

describe('The book and its hands', () => {
  it.each(WORLDS.map((world) => [world.name, world] as const))('break no rule in %s', (_, { visit }) => {
    expect(visit(20_000).broken).toEqual([]);
  });

  it.each(MUTANTS_OF_WORLDS.map((mutant) => [mutant.name, mutant] as const))(
    'break one without the rule of the %s',
    (_, { breaks, visit }) => {
      expect(visit(40_000).broken).toContainEqual({ rule: breaks, story: expect.any(Array) });
    },
  );

  it('are visited to their end, where two runs go on at once', () => {
    const { isWhole, states } = visitAll(protocolModel({ protocol: PROTOCOL, setting: SETTINGS.doubled }));
    expect(isWhole).toBe(true);
    expect(states).toBeGreaterThan(10_000);
  });

  it('pay twice where the book loses commits that no store and no run has seen, and the list lags', () => {
    const { broken } = visitAll(protocolModel({ protocol: PROTOCOL, setting: LOST_COMMITS }));
    expect(broken).toEqual([{ rule: 'once', story: expect.arrayContaining(['the book goes back to its copy']) }]);
  });
});
