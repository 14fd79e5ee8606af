import { describe, expect, it } from '@jest/globals';
import { MACHINE } from '../../../lab/explore/machine.js';
import { viewTimeline } from '../../../src/api/routes/timeline.js';
import { step } from '../../../src/payments/machine/machine.js';
import { FIRST_KEPT, MAX_ENTRIES, recordStep } from '../../../src/payments/views/timeline.js';
import { EMPTY_TIMELINE } from '../../../src/payments/views/timeline-entry.js';
import { openPayment } from '../../../src/payments/words/payment-state.js';
import { linkOrder, MINUTE, START } from '../../support/orders.js';
import { taken } from '../../support/scenario.js';
import { randomStory } from '../../support/stories.js';

const summaries = (given: Parameters<typeof viewTimeline>[0]) => viewTimeline(given).map(({ summary }) => summary);

describe('a timeline as the API shows it', () => {
  it('says where entries are left out, and how many', () => {
    const payment = taken(linkOrder, { pollFirstMs: MINUTE, pollMaxMs: MINUTE });
    for (let tries = 0; tries < 200; tries++) payment.found(tries % 2 === 0 ? 'PENDING' : 'FAILED');
    const { timeline } = payment;
    const shown = viewTimeline({ createdAt: START, timeline });
    expect(shown).toHaveLength(MAX_ENTRIES + 2);
    expect(shown[FIRST_KEPT + 1]).toEqual({
      at: shown[FIRST_KEPT + 2]?.at,
      type: 'omitted',
      source: 'system',
      entries: timeline.omitted,
      summary: `${timeline.omitted} entries are left out here.`,
    });
  });

  it('says how often something has happened, and when for the last time', () => {
    const payment = taken(linkOrder).hint('T1', 'FAILED').later(MINUTE).hint('T1', 'FAILED');
    expect(viewTimeline({ createdAt: START, timeline: payment.timeline }).at(-1)).toMatchObject({
      at: '2026-01-01T00:00:00.000Z',
      lastAt: '2026-01-01T00:01:00.000Z',
      count: 2,
      summary: expect.stringMatching(/\(2 times\)$/),
    });
  });

  it('has a whole sentence for whatever happens in random stories', () => {
    const said = new Set<string>();
    for (let seed = 1; seed <= 300; seed++) {
      const { order, terms, startedAt, events } = randomStory(MACHINE, seed);
      let [payment, timeline] = [openPayment(order, terms, startedAt), EMPTY_TIMELINE];
      for (const { event, now } of [{ event: { kind: 'begin' } as const, now: startedAt }, ...events]) {
        const before = payment;
        const { payment: after, replies } = step(before, event, now);
        payment = after;
        timeline = recordStep(timeline, { before, event, after, replies }, now);
      }
      for (const summary of summaries({ createdAt: startedAt, timeline })) said.add(summary);
    }
    expect(said.size).toBeGreaterThan(50);
    for (const summary of said) {
      // Names of keys are as their operators have written them.
      expect(summary).toMatch(/^(?:[A-Z]|ops |second |manager |accountant ).*[^.]\.(?: \(\d+ times\))?$/);
      expect(summary).not.toMatch(/undefined|\[object/);
    }
  });
});
