import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { STATUS_CALLS_PER_WINDOW, STATUS_WINDOW_MS } from '../../src/payments/limits.js';
import type { StatusAnswer } from '../../src/payments/outcome.js';
import { nextFreeAt, type Spent, STATUS_CALLS_BUDGETED, spend } from '../../src/payments/status-budget.js';
import { broughtForward, looked, type Watch } from '../../src/payments/watch.js';
import { linkOrder, MINUTE, START, terms, transactionOf } from './orders.js';

/** Most calls that any window of the provider's width holds, whatever moment of each call the provider counted. */
function mostInWindow(times: readonly number[]): number {
  return Math.max(
    0,
    ...times.map((start) => times.filter((at) => at >= start && at - start <= STATUS_WINDOW_MS).length),
  );
}

const answers: fc.Arbitrary<StatusAnswer> = fc.constantFrom<StatusAnswer>(
  { kind: 'found', transaction: transactionOf(linkOrder, { status: 'PENDING' }) },
  { kind: 'unavailable', reason: 'no answer' },
  { kind: 'throttled', retryAfterMs: 1 },
  { kind: 'unknown', message: 'no such transaction', statusCode: 404 },
  { kind: 'unauthorized', message: 'no', statusCode: 401 },
);

describe('the status budget', () => {
  it('lets calls pass until it is spent, and then when the oldest has left the window', () => {
    let spent: Spent = [];
    for (let call = 0; call < STATUS_CALLS_BUDGETED; call++) {
      expect(nextFreeAt(spent, START + call)).toBe(START + call);
      spent = spend(spent, START + call);
    }
    expect(nextFreeAt(spent, START + 10)).toBe(START + STATUS_WINDOW_MS + 1);
  });

  it('keeps three of the calls that the provider allows in hand', () => {
    expect(STATUS_CALLS_BUDGETED).toBe(STATUS_CALLS_PER_WINDOW - 3);
  });

  it('does not grow', () => {
    let spent: Spent = [];
    for (let call = 0; call < 1_000; call++) spent = spend(spent, START + call);
    expect(spent.length).toBeLessThanOrEqual(STATUS_CALLS_PER_WINDOW);
  });

  it('never lets more than 6 calls into any 60 s, whatever the hints, the answers and their delays', () => {
    // Mostly much faster than the budget allows, or the budget would never be what holds it back.
    const time = (longest: number) =>
      fc.oneof(
        { weight: 4, arbitrary: fc.nat({ max: 500 }) },
        { weight: 1, arbitrary: fc.nat({ max: longest }) },
      );
    const step = fc.record({
      pause: time(30_000),
      latency: time(20_000),
      // when, between sending and answer, the provider counted the call
      countedAt: fc.double({ min: 0, max: 1, noNaN: true }),
      hint: fc.boolean(),
      lostAnswer: fc.boolean(),
      answer: answers,
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let watch: Watch = { spent: [], asked: 0, unanswered: 0, nextAt: START };
        let now = START;
        const lost: number[] = [];
        const counted: number[] = [];
        for (const { pause, latency, countedAt, hint, lostAnswer, answer } of steps) {
          now += pause;
          if (hint) watch = broughtForward(watch, now);
          if (now < watch.nextAt) continue;
          if (lostAnswer && lost.filter((at) => now - at <= STATUS_WINDOW_MS).length < 2) {
            // the worker dies after asking; the next one asks at once and doesn't know
            counted.push(now);
            lost.push(now);
          }
          counted.push(now + Math.floor(latency * countedAt));
          now += latency;
          watch = looked(watch, answer, { ...terms, pollFirstMs: 1, pollMaxMs: MINUTE }, hint, now);
        }
        expect(mostInWindow(counted)).toBeLessThanOrEqual(STATUS_CALLS_PER_WINDOW);
      }),
      { numRuns: 500 },
    );
  });
});
