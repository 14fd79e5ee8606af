import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  bringForward,
  nextFreeAt,
  type Polling,
  pauseAfter,
  pollDelay,
  type RecentQuestions,
  recordPoll,
  recordQuestion,
  retryDelay,
  STATUS_CALLS_BUDGETED,
  startPolling,
} from '../../../src/payments/machine/polling.js';
import { STATUS_CALLS_PER_WINDOW, STATUS_WINDOW_MS } from '../../../src/payments/words/limits.js';
import { HOUR, linkOrder, MINUTE, payoutOrder, START, terms, transactionOf, transId } from '../../support/orders.js';
import { SILENT, taken, throttled, UNAUTHORIZED, UNKNOWN } from '../../support/scenario.js';

const fresh: Polling = { asked: 0, unanswered: 0, nextAt: START, hinted: false };
const found = { kind: 'found', transaction: transactionOf(linkOrder) } as const;
const own = transId('T1');

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

  it('is kept by a payment', () => {
    const payment = taken(payoutOrder);
    const pauses: number[] = [];
    for (let polls = 0; polls < 7; polls++) {
      const from = payment.now;
      payment.asks('askStatus');
      pauses.push((payment.now - from) / MINUTE);
      payment.found('PENDING');
    }
    expect(pauses).toEqual([3, 3, 6, 12, 24, 48, 60]);
  });
});

describe('polling', () => {
  it('begins at once when a notification came before', () => {
    expect(startPolling(false, terms, START).nextAt).toBe(START + 3 * MINUTE);
    expect(startPolling(true, terms, START)).toEqual({ ...fresh, hinted: true });
  });

  it('is brought forward by a hint, and never put off', () => {
    expect(bringForward({ ...fresh, nextAt: START + HOUR }, true, START + 5)).toEqual({
      ...fresh,
      nextAt: START + 5,
      hinted: true,
    });
    expect(bringForward({ ...fresh, nextAt: START }, false, START + 5).nextAt).toBe(START);
    expect(bringForward({ ...fresh, hinted: true }, false, START).hinted).toBe(true);
  });

  it('asks again soon when a hint had no change behind it, once', () => {
    const once = recordPoll({ ...fresh, asked: 7, hinted: true }, found, terms, START);
    expect(once).toEqual({ asked: 0, unanswered: 0, hinted: false, nextAt: START + 10_000 });
    expect(recordPoll(once, found, terms, START + 10_000).nextAt).toBe(START + 10_000 + 3 * MINUTE);
  });

  it('keeps a hint until there is an answer', () => {
    expect(recordPoll({ ...fresh, hinted: true }, SILENT, terms, START).hinted).toBe(true);
    expect(recordPoll({ ...fresh, hinted: true }, UNKNOWN, terms, START).hinted).toBe(true);
  });

  it.each([SILENT, UNKNOWN])(
    'counts questions in a row without an answer, until the first answer ($kind)',
    (answer) => {
      const once = recordPoll(fresh, answer, terms, START);
      const twice = recordPoll(once, answer, terms, START);
      expect([once, twice].map(({ unanswered, nextAt }) => [unanswered, nextAt - START])).toEqual([
        [1, 5_000],
        [2, 10_000],
      ]);
      expect(recordPoll(twice, found, terms, START).unanswered).toBe(0);
    },
  );

  it('pauses for as long as the provider asks', () => {
    expect(recordPoll(fresh, throttled(90_000), terms, START).nextAt).toBe(START + 90_000);
    expect(pauseAfter(throttled(90_000), 0, terms)).toBe(90_000);
    expect(pauseAfter(throttled(), 2, terms)).toBe(20_000);
    expect(pauseAfter(throttled(1), 2, terms)).toBe(20_000);
  });

  it('pauses for a minute at least when the credentials are refused', () => {
    expect(recordPoll({ ...fresh, hinted: true }, UNAUTHORIZED, terms, START).nextAt).toBe(START + MINUTE);
    expect(pauseAfter(UNAUTHORIZED, 20, terms)).toBe(HOUR);
  });
});

describe('the quiet that the provider asks for', () => {
  it('is kept whatever hints and refreshes bring the poll forward', () => {
    const payment = taken(payoutOrder).answered(throttled(10 * MINUTE));
    const until = payment.now + 10 * MINUTE;
    payment.later(1_000).hint('T1').request('refresh');
    expect(payment.todo).toMatchObject({ kind: 'wait', until });
    payment.asks('askStatus');
    expect(payment.now).toBe(until);
  });

  it('is kept by questions about what notifications name', () => {
    const payment = taken(payoutOrder)
      .answered(throttled(10 * MINUTE))
      .hint('T2');
    expect(payment.todo).toMatchObject({ kind: 'wait', until: payment.now + 10 * MINUTE });
  });
});

/** The most calls that any window of the provider's width holds. */
function mostInWindow(times: readonly number[]): number {
  const counts = times.map((start) => times.filter((at) => at >= start && at - start <= STATUS_WINDOW_MS).length);
  return Math.max(0, ...counts);
}

describe('the status budget', () => {
  it('lets calls pass until it is recentQuestions, and then when the oldest has left the window', () => {
    let recentQuestions: RecentQuestions = [];
    for (let call = 0; call < STATUS_CALLS_BUDGETED; call++) {
      expect(nextFreeAt(recentQuestions, own, START + call)).toBe(START + call);
      recentQuestions = recordQuestion(recentQuestions, own, START + call);
    }
    expect(nextFreeAt(recentQuestions, own, START + 10)).toBe(START + STATUS_WINDOW_MS + 1);
  });

  it('is one for each transaction', () => {
    let recentQuestions: RecentQuestions = [];
    for (let call = 0; call < STATUS_CALLS_BUDGETED; call++)
      recentQuestions = recordQuestion(recentQuestions, own, START);
    expect(nextFreeAt(recentQuestions, transId('T2'), START)).toBe(START);
  });

  it('keeps three of the calls that the provider allows in hand', () => {
    expect(STATUS_CALLS_BUDGETED).toBe(STATUS_CALLS_PER_WINDOW - 3);
  });

  it('does not grow', () => {
    let recentQuestions: RecentQuestions = [];
    for (let call = 0; call < 1_000; call++)
      recentQuestions = recordQuestion(recentQuestions, transId(`T${call % 7}`), START + call);
    expect(recentQuestions.length).toBeLessThanOrEqual(24);
    expect(recordQuestion(recentQuestions, own, START + HOUR)).toHaveLength(1);
  });

  it('is computed when the question is asked: hints and refreshes wait for it', () => {
    const payment = taken(payoutOrder);
    for (let call = 0; call < 3; call++) {
      payment.hint('T1');
      expect(payment.todo.kind).toBe('askStatus');
      payment.later(100).found('PENDING');
    }
    payment.hint('T1').request('refresh');
    expect(payment.todo).toMatchObject({ kind: 'wait', until: START + 100 + STATUS_WINDOW_MS + 1 });
  });

  it('is kept by decisions and rechecks, too', () => {
    const payment = taken(payoutOrder).found('PENDING', { amount: 1 });
    const first = payment.now;
    payment.match('T1').found('PENDING', { amount: 1 }).match('T1').found('PENDING', { amount: 1 });
    payment.match('T1').asks('askStatus');
    expect(payment.now).toBe(first + STATUS_WINDOW_MS + 1);
    payment.found('SUCCESSFUL').later(2 * MINUTE);
    for (let call = 0; call < 3; call++) payment.request('recheck').found('SUCCESSFUL').listed();
    const checked = payment.now;
    payment.request('recheck').asks('askStatus');
    expect(payment.now).toBe(checked + STATUS_WINDOW_MS + 1);
  });

  it('never lets more than 6 calls into any 60 s, whatever the hints, the answers and their delays', () => {
    // Mostly much faster than the budget allows, or the budget would never be what holds a question back.
    const time = (longest: number) =>
      fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 500 }) }, { weight: 1, arbitrary: fc.nat({ max: longest }) });
    const answers = fc.constantFrom(
      { kind: 'found', transaction: transactionOf(payoutOrder, { status: 'PENDING' }) } as const,
      SILENT,
      throttled(1),
      UNKNOWN,
      UNAUTHORIZED,
    );
    const happening = fc.record({
      pause: time(30_000),
      latency: time(20_000),
      // When, between sending and answer, the provider counted the call.
      countedAt: fc.double({ min: 0, max: 1, noNaN: true }),
      event: fc.constantFrom('hint', 'refresh', 'time'),
      isAnswerLost: fc.boolean(),
      answer: answers,
    });
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 200 }), (happenings) => {
        const payment = taken(payoutOrder, { pollFirstMs: 1, pollMaxMs: MINUTE });
        const lost: number[] = [];
        const counted: number[] = [];
        const answered: number[] = [];
        for (const { pause, latency, countedAt, event, isAnswerLost, answer } of happenings) {
          payment.later(pause);
          if (event === 'hint') payment.hint('T1');
          else if (event === 'refresh') payment.request('refresh');
          else payment.after(0);
          if (payment.todo.kind !== 'askStatus') continue;
          if (isAnswerLost && lost.filter((at) => payment.now - at <= STATUS_WINDOW_MS).length < 2) {
            // The worker dies after asking; the next one asks at once and doesn't know.
            counted.push(payment.now);
            lost.push(payment.now);
          }
          counted.push(payment.now + Math.floor(latency * countedAt));
          payment.later(latency).answered(answer);
          answered.push(payment.now);
        }
        expect(mostInWindow(counted)).toBeLessThanOrEqual(STATUS_CALLS_PER_WINDOW);
        expect(mostInWindow(answered)).toBeLessThanOrEqual(STATUS_CALLS_BUDGETED);
      }),
      { numRuns: 300 },
    );
  });
});
