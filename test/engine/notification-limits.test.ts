import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { toProblem } from '../../src/api/engine-problems.js';
import { KeptLimit, MAX_HINTS, MAX_KEPT, NotificationLimit } from '../../src/engine/notification-limits.js';

const MINUTE = 60_000;

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => void jest.useRealTimers());

/** Takes one, or says in how many seconds the next can be taken. */
async function waitFor(limit: NotificationLimit, key: string): Promise<string | undefined> {
  try {
    await limit.pass(key);
    return undefined;
  } catch (error) {
    const problem = toProblem(error);
    expect(problem?.code).toBe('too_many_notifications');
    return problem?.headers['Retry-After'];
  }
}

/** Takes one after the other. */
async function takeAll(count: number, take: (index: number) => Promise<boolean>): Promise<boolean[]> {
  const taken: boolean[] = [];
  for (let index = 0; index < count; index++) taken.push(await take(index));
  return taken.filter(Boolean);
}

describe('the limit of hints', () => {
  it('passes 60 within a minute, and says how long it is until the next', async () => {
    const limit = new NotificationLimit(MAX_HINTS);
    const waits: (string | undefined)[] = [];
    for (let second = 0; second < 61; second++) {
      jest.setSystemTime(500 * second);
      waits.push(await waitFor(limit, 'a'));
    }
    expect(waits.slice(0, 60)).toEqual(Array(60).fill(undefined));
    expect(waits[60]).toBe('30');
    jest.setSystemTime(MINUTE);
    expect(await waitFor(limit, 'a')).toBeUndefined();
  });

  it('is one for each key', async () => {
    const limit = new NotificationLimit(1);
    expect([await waitFor(limit, 'a'), await waitFor(limit, 'b'), await waitFor(limit, 'a')]).toEqual([
      undefined,
      undefined,
      '60',
    ]);
  });

  it('never passes more than it may within a minute of the first, whatever comes', async () => {
    const pauses = fc.array(fc.integer({ min: 0, max: MINUTE / 2 }), { maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(pauses, async (list) => {
        const limit = new NotificationLimit(5);
        const passed: number[] = [];
        for (const pause of list) {
          jest.setSystemTime(Date.now() + pause);
          if (await limit.take('a')) passed.push(Date.now());
        }
        let first: number | undefined;
        for (const [index, time] of passed.entries()) {
          if (first !== undefined && time < first + MINUTE) continue;
          first = time;
          expect((passed[index + 5] ?? Number.POSITIVE_INFINITY) - first).toBeGreaterThanOrEqual(MINUTE);
        }
      }),
    );
  });

  it('lets one through as soon as it said it would, however many it has refused', async () => {
    const limit = new NotificationLimit(2);
    await takeAll(20, () => limit.take('a'));
    jest.setSystemTime(15_000);
    expect(await waitFor(limit, 'a')).toBe('45');
    jest.setSystemTime(MINUTE - 1);
    expect(await waitFor(limit, 'a')).toBe('1');
    jest.setSystemTime(MINUTE);
    expect(await waitFor(limit, 'a')).toBeUndefined();
  });
});

describe('the memory of a limit', () => {
  it('forgets the key used longest ago when there are too many', async () => {
    const limit = new NotificationLimit(1, 2);
    for (const key of ['a', 'b', 'a', 'c']) await limit.take(key);
    expect(await limit.take('a')).toBe(false);
    expect(await limit.take('b')).toBe(true);
  });

  it('holds 5,000 keys, however many a flood invents', async () => {
    const limit = new NotificationLimit(1);
    await takeAll(20_000, (index) => limit.take(`col_${index}`));
    expect(jest.getTimerCount()).toBe(5_000);
    expect([await limit.take('col_19999'), await limit.take('col_0')]).toEqual([false, true]);
  });

  it('lets a key pass again a minute after it was first used, though others were forgotten since', async () => {
    const limit = new NotificationLimit(1, 2);
    for (const key of ['a', 'b', 'c']) await limit.take(key);
    jest.setSystemTime(MINUTE);
    expect([await limit.take('b'), await limit.take('c')]).toEqual([true, true]);
  });
});

describe('the limit of refused notifications that are kept', () => {
  const refused = (payment: string, transId = 'T1', status = 'FAILED') => ({ payment, transId, status });

  it('takes each different one once a minute', async () => {
    const limit = new KeptLimit();
    const takes = (transId: string, status: string) => limit.take(refused('col_1', transId, status));
    expect([
      await takes('T1', 'FAILED'),
      await takes('T1', 'FAILED'),
      await takes('T1', 'EXPIRED'),
      await takes('T2', 'FAILED'),
    ]).toEqual([true, false, true, true]);
    jest.setSystemTime(MINUTE);
    expect(await takes('T1', 'FAILED')).toBe(true);
  });

  it('leaves room for other payments in a flood of inventions for one', async () => {
    const limit = new KeptLimit();
    const taken = await takeAll(100, (index) => limit.take(refused('col_1', `T${index}`)));
    expect(taken).toHaveLength(MAX_KEPT.ofPayment);
    expect(await limit.take(refused('col_2'))).toBe(true);
  });

  it('takes sixty a minute of all payments', async () => {
    const limit = new KeptLimit();
    const taken = await takeAll(100, (index) => limit.take(refused(`col_${index}`)));
    expect(taken).toHaveLength(MAX_KEPT.all);
  });

  it('takes as few of those that come at once', async () => {
    const limit = new KeptLimit();
    const taken = await Promise.all(Array.from({ length: 100 }, () => limit.take(refused('col_1'))));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('takes one again that was given back', async () => {
    const limit = new KeptLimit();
    expect(await limit.take(refused('col_1'))).toBe(true);
    await limit.giveBack(refused('col_1'));
    expect(await limit.take(refused('col_1'))).toBe(true);
  });
});
