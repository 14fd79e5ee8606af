import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StatusAnswer } from '../../src/payments/outcome.js';
import { broughtForward, looked, pollDelay, retryDelay, type Watch } from '../../src/payments/watch.js';
import { HOUR, linkOrder, MINUTE, START, terms, transactionOf } from './orders.js';

const fresh: Watch = { spent: [], asked: 0, unanswered: 0, nextAt: START };
const found: StatusAnswer = { kind: 'found', transaction: transactionOf(linkOrder) };

describe('the poll schedule', () => {
  it('begins after the quiet time, doubles, and stays at the longest pause', () => {
    const pauses = [0, 1, 2, 3, 4, 5, 6, 40, 4_000].map((asked) => pollDelay(asked, terms) / MINUTE);
    expect(pauses).toEqual([3, 6, 12, 24, 48, 60, 60, 60, 60]);
  });

  it('never shrinks, and never passes POLL_MAX', () => {
    const times = fc.integer({ min: 1, max: 100 * HOUR });
    fc.assert(
      fc.property(times, times, fc.nat({ max: 500 }), (pollFirstMs, pollMaxMs, asked) => {
        const set = { pollFirstMs, pollMaxMs };
        expect(pollDelay(asked + 1, set)).toBeGreaterThanOrEqual(pollDelay(asked, set));
        expect(pollDelay(asked, set)).toBeLessThanOrEqual(pollMaxMs);
        expect(pollDelay(asked, set)).toBeGreaterThan(0);
      }),
    );
  });

  it('backs off when the provider gives no answer, up to POLL_MAX', () => {
    const pauses = [0, 1, 2, 3, 20].map((unanswered) => retryDelay(unanswered, terms));
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, HOUR]);
  });
});

describe('a watch', () => {
  it('looks at once when a hint comes in and the budget allows', () => {
    expect(broughtForward({ ...fresh, nextAt: START + HOUR }, START + 5).nextAt).toBe(START + 5);
  });

  it('waits for the budget when a hint comes in and it is spent', () => {
    let watch = fresh;
    for (let call = 0; call < 3; call++) watch = looked(watch, found, terms, false, START + call);
    expect(broughtForward(watch, START + 10).nextAt).toBe(START + MINUTE + 1);
  });

  it('looks again soon when a hint had no change behind it', () => {
    const watch = looked({ ...fresh, asked: 7 }, found, terms, true, START);
    expect(watch.nextAt).toBe(START + 10_000);
    expect(looked(watch, found, terms, false, START + 10_000).nextAt).toBe(START + 10_000 + 3 * MINUTE);
  });

  it('counts unanswered looks in a row, and forgets them with the first answer', () => {
    const once = looked(fresh, { kind: 'unavailable', reason: 'x' }, terms, false, START);
    const twice = looked(once, { kind: 'unavailable', reason: 'x' }, terms, false, START);
    expect([once.unanswered, twice.unanswered]).toEqual([1, 2]);
    expect(looked(twice, found, terms, false, START).unanswered).toBe(0);
  });

  it('stays away for as long as the provider asks', () => {
    const watch = looked(fresh, { kind: 'throttled', retryAfterMs: 90_000 }, terms, false, START);
    expect(watch.nextAt).toBe(START + 90_000);
  });

  it('pauses for a minute at least when the credentials are refused', () => {
    const watch = looked(fresh, { kind: 'unauthorized', message: 'no', statusCode: 401 }, terms, true, START);
    expect(watch.nextAt).toBe(START + MINUTE);
  });
});
