import { describe, expect, it } from '@jest/globals';
import { PlannedTimeline } from '../../../lab/world/simulated-time.js';

const ORIGIN = 1_000_003;
const TICK = 600;

function timelineWith(plan: (timeline: PlannedTimeline, happen: (what: string) => () => void) => void) {
  const timeline = new PlannedTimeline(ORIGIN, TICK);
  const happened: string[] = [];
  plan(timeline, (what) => () => void happened.push(what));
  const upTo = (time: number) => {
    for (const run of timeline.takeDue(time)) void run();
    return happened;
  };
  return { timeline, upTo };
}

describe('the timeline', () => {
  it('puts things off to the next tick, together', () => {
    const { timeline, upTo } = timelineWith((plan, happen) => {
      plan.at(ORIGIN + 1, happen('first'));
      plan.at(ORIGIN + TICK, happen('second'));
      plan.at(ORIGIN + TICK + 1, happen('later'));
    });
    expect(timeline.next()).toBe(ORIGIN + TICK);
    expect(upTo(ORIGIN + TICK - 1)).toEqual([]);
    expect(upTo(ORIGIN + TICK)).toEqual(['first', 'second']);
    expect(timeline.next()).toBe(ORIGIN + 2 * TICK);
  });

  it('keeps a moment that is asked for exactly', () => {
    const { timeline, upTo } = timelineWith((plan, happen) => {
      plan.at(ORIGIN + 5, happen('some time'));
      plan.exactly(ORIGIN + 7, happen('just then'));
    });
    expect(timeline.next()).toBe(ORIGIN + 7);
    expect(upTo(ORIGIN + 7)).toEqual(['just then']);
    expect(upTo(ORIGIN + TICK)).toEqual(['just then', 'some time']);
    expect(timeline.next()).toBeUndefined();
  });
});
