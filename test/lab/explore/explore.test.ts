import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { describeAssumptions } from '../../../lab/explore/invariants.js';
import { MACHINE } from '../../../lab/explore/machine.js';
import { exploreAll } from '../../../lab/explore/report.js';
import { calmSettingOf } from '../../../lab/explore/setting.js';
import { defaultSettings } from '../../../lab/explore/settings.js';
import type { Machine } from '../../../lab/explore/situation.js';
import { Visited } from '../../../lab/explore/visited.js';
import { walk, walkAll, walkSetting } from '../../../lab/explore/walks.js';
import { step } from '../../../src/payments/machine/machine.js';
import { openPayment } from '../../../src/payments/words/payment-state.js';
import { randomStory } from '../../support/stories.js';

/** From which phase to which a payment has come in these tests. */
const arrows = new Set<string>();

const machine: Machine = {
  ...MACHINE,
  step(payment, event, now) {
    const after = step(payment, event, now);
    const [from, to] = [payment.phase.kind, after.payment.phase.kind];
    if (from !== to) arrows.add(`${from} --> ${to}`);
    return after;
  },
};

describe('An exploration', () => {
  it('finds no broken rule in the first sixty thousand states', () => {
    const { result, broken } = exploreAll(machine, defaultSettings(), { states: 60_000 });
    expect(broken).toEqual([]);
    expect(result).toMatchObject({ violations: 0 });
    expect(result.states).toBeGreaterThanOrEqual(60_000);
  });

  it('finds none in two thousand walks with large budgets, to the end of each payment', () => {
    const broken: string[] = [];
    const result = walkAll(machine, { walks: 2_000, seed: 1 }, ({ story, violations }) => {
      broken.push(...story, ...violations.map(({ what }) => what));
    });
    expect(broken).toEqual([]);
    expect(result).toMatchObject({ walks: 2_000, violations: 0 });
  });

  it('sees a payment come from phase to phase as ARCHITECTURE.md draws it, and in no other way', async () => {
    const guide = await readFile(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8');
    const [, picture = ''] = /```mermaid\nstateDiagram-v2([^`]*)```/.exec(guide) ?? [];
    // Ways of a few payments, which the exploration above may not come to.
    const links = calmSettingOf({
      kind: 'link',
      requests: new Set(['expire']),
      allowance: { requests: 1 },
    });
    const inDoubt = calmSettingOf({
      kind: 'payout',
      troubles: new Set(['ambiguous']),
      allowance: { troubles: 1, notifications: 1 },
    });
    const throttled = calmSettingOf({
      kind: 'link',
      troubles: new Set(['ambiguous', 'throttledPost']),
      allowance: { troubles: 2 },
    });
    const resent = calmSettingOf({
      kind: 'payout',
      troubles: new Set(['ambiguous', 'unauthorized', 'rejected']),
      decisions: new Set(['resend']),
      allowance: { troubles: 2, decisions: 2 },
    });
    const heldBack = calmSettingOf({
      kind: 'payout',
      troubles: new Set(['throttledPost']),
      foreign: ['others'],
      allowance: { troubles: 1, notifications: 1 },
    });
    const held = calmSettingOf({
      kind: 'payout',
      held: { approval: true },
      requests: new Set(['expire']),
      foreign: ['unknown'],
      allowance: { requests: 1, decisions: 1, notifications: 1 },
    });
    const settings = [links, inDoubt, throttled, resent, heldBack, held];
    expect(exploreAll(machine, settings, { states: 60_000 }).broken).toEqual([]);
    const drawn = [...picture.matchAll(/^\s*(\w+ --> \w+)/gm)].map(([, arrow]) => arrow);
    expect([...arrows].sort()).toEqual(drawn.sort());
  });

  it('visits the same states each time', () => {
    const bounds = { states: 7_000 };
    const [one, other] = [1, 2].map(() => exploreAll(machine, defaultSettings(), bounds).result);
    expect({ ...one, seconds: 0 }).toEqual({ ...other, seconds: 0 });
  });

  it('plays stories no longer than its depth', () => {
    const { result } = exploreAll(machine, defaultSettings().slice(0, 1), { depth: 3 });
    expect(result.depth).toBe(3);
  });

  it('tells what it takes for granted, a line each', () => {
    expect(describeAssumptions()).toMatch(/^- \*\*A1\.\*\* .+\n- \*\*A2\.\*\* /);
  });
});

describe('Visited texts', () => {
  it('are known again, however many there are', () => {
    const visited = new Visited();
    const texts = Array.from({ length: 200_000 }, (_, index) => `state ${index}`);
    expect(texts.every((text) => visited.add(text))).toBe(true);
    expect(texts.some((text) => visited.add(text))).toBe(false);
    expect(visited.size).toBe(texts.length);
  });
});

describe('A walk', () => {
  it('is the same for the same seed, and another for another', () => {
    const played = (seed: number) => walk(machine, walkSetting(seed), seed);
    expect(played(7)).toEqual(played(7));
    expect(played(7)).not.toEqual(played(8));
  });
});

describe('A random story', () => {
  it('is the same for the same seed', () => {
    expect(randomStory(machine, 7)).toEqual(randomStory(machine, 7));
    expect(randomStory(machine, 7)).not.toEqual(randomStory(machine, 8));
  });

  it('is what the machine makes of its events', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const { order, terms, startedAt, events } = randomStory(machine, seed);
      let { payment, todo } = step(openPayment(order, terms, startedAt), { kind: 'begin' }, startedAt);
      for (const { event, now, expected } of events) {
        if (todo.kind === 'end') ({ payment } = step(payment, { kind: 'begin' }, now));
        const made = step(payment, event, now);
        expect({ todo: made.todo, notified: made.notified, replies: made.replies }).toEqual(expected);
        ({ payment, todo } = made);
      }
    }
  });

  it('comes to every kind of question, request and answer', () => {
    const kinds = new Set<string>();
    for (let seed = 0; seed < 500; seed += 1) {
      for (const { event, expected } of randomStory(machine, seed).events) {
        kinds.add(event.kind).add(expected.todo.kind);
      }
    }
    expect([...kinds].sort()).toEqual(
      [
        'approve',
        'askStatus',
        'decide',
        'end',
        'expire',
        'expired',
        'hint',
        'hintWithoutTransaction',
        'listed',
        'lookUp',
        'recheck',
        'refresh',
        'reject',
        'rejectPayout',
        'send',
        'sent',
        'status',
        'time',
        'wait',
      ].sort(),
    );
  });
});
