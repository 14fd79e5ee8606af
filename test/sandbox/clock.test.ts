import { describe, expect, it } from '@jest/globals';
import { manualClock, scaledClock } from '../../sandbox/clock.js';

describe('manualClock', () => {
  it('stands still until it is told to go on', () => {
    const clock = manualClock(5);
    expect(clock.now()).toBe(5);
    clock.advanceTo(9);
    expect(clock.now()).toBe(9);
  });

  it('never goes back', () => {
    const clock = manualClock(5);
    clock.advanceTo(3);
    expect(clock.now()).toBe(5);
  });

  it('runs what falls due in order of time, each at its own time', () => {
    const clock = manualClock(0);
    const ran: string[] = [];
    clock.at(30, () => ran.push(`late ${clock.now()}`));
    clock.at(10, () => ran.push(`early ${clock.now()}`));
    clock.at(40, () => ran.push('not yet'));
    clock.advanceTo(30);
    expect(ran).toEqual(['early 10', 'late 30']);
  });

  it('runs callbacks of the same time in the order they were asked for', () => {
    const clock = manualClock(0);
    const ran: number[] = [];
    for (const each of [1, 2, 3]) clock.at(10, () => ran.push(each));
    clock.advanceTo(10);
    expect(ran).toEqual([1, 2, 3]);
  });

  it('runs what a callback asks for on the way', () => {
    const clock = manualClock(0);
    const ran: number[] = [];
    clock.at(10, () => clock.at(15, () => ran.push(clock.now())));
    clock.advanceTo(20);
    expect(ran).toEqual([15]);
  });

  it('runs nothing of the past before it is moved', () => {
    const clock = manualClock(10);
    let ran = false;
    clock.at(1, () => {
      ran = true;
    });
    expect(ran).toBe(false);
    clock.advanceTo(10);
    expect(ran).toBe(true);
  });

  it('says when the next callback is due, and forgets those that are cancelled', () => {
    const clock = manualClock(0);
    const cancel = clock.at(10, () => {});
    clock.at(20, () => {});
    expect(clock.nextDue()).toBe(10);
    cancel();
    cancel();
    expect(clock.nextDue()).toBe(20);
  });
});

describe('scaledClock', () => {
  it('starts at the real time', () => {
    const before = Date.now();
    const now = scaledClock().now();
    expect(now).toBeGreaterThanOrEqual(before - 1);
    expect(now).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('runs a callback once its time has come, as many times as fast as its scale', async () => {
    const clock = scaledClock({ scale: 8640 });
    const due = clock.now() + 10 * 60_000;
    const ranAt = await new Promise<number>((resolve) => clock.at(due, () => resolve(clock.now())));
    expect(ranAt).toBeGreaterThanOrEqual(due);
    expect(clock.realMs(8640)).toBe(1);
  });

  it('runs nothing that was cancelled', async () => {
    const clock = scaledClock({ scale: 1000 });
    let ran = false;
    clock.at(clock.now() + 1, () => {
      ran = true;
    })();
    await new Promise<void>((resolve) => clock.at(clock.now() + 5000, resolve));
    expect(ran).toBe(false);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuses the scale %p', (scale) => {
    expect(() => scaledClock({ scale })).toThrow(RangeError);
  });
});

describe('a scaledClock that goes on from a time', () => {
  it('runs from there', () => {
    const now = scaledClock({ startMs: 1_000 }).now();
    expect(now).toBeGreaterThanOrEqual(1_000);
    expect(now).toBeLessThan(60_000);
  });
});
