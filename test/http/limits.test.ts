import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeptLimit, MAX_HINTS, MAX_KEPT, RateLimit } from '../../src/http/limits.js';

const MINUTE = 60_000;

describe('the limit of hints', () => {
  it('passes 60 within a minute, and says how long it is until the next', () => {
    const limit = new RateLimit(MAX_HINTS);
    const waits = Array.from({ length: 61 }, (_, index) => limit.take('a', 1_000 + index));
    expect(waits.slice(0, 60)).toEqual(Array(60).fill(0));
    expect(waits[60]).toBe(MINUTE - 60);
    expect(limit.take('a', 1_000 + MINUTE)).toBe(0);
  });

  it('is one for each key', () => {
    const limit = new RateLimit(1);
    expect([limit.take('a', 0), limit.take('b', 0), limit.take('a', 0)]).toEqual([0, 0, MINUTE]);
  });

  it('never passes more than it may within any minute, whatever comes', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: MINUTE / 2 }), { maxLength: 300 });
    fc.assert(
      fc.property(pauses, (list) => {
        const limit = new RateLimit(5);
        let now = 0;
        const passed = list.flatMap((pause) => {
          now += pause;
          return limit.take('a', now) === 0 ? [now] : [];
        });
        return passed.every((start) => passed.filter((time) => time >= start && time < start + MINUTE).length <= 5);
      }),
    );
  });

  it('lets one through as soon as it said it would', () => {
    const limit = new RateLimit(2);
    limit.take('a', 0);
    limit.take('a', 10_000);
    const wait = limit.take('a', 15_000);
    expect(limit.take('a', 15_000 + wait - 1)).toBe(1);
    expect(limit.take('a', 15_000 + wait)).toBe(0);
  });

  it('forgets the key used longest ago when there are too many', () => {
    const limit = new RateLimit(1, 2);
    for (const key of ['a', 'b', 'a', 'c']) limit.take(key, 0);
    expect(limit.take('a', 0)).toBe(MINUTE);
    expect(limit.take('b', 0)).toBe(0);
  });
});

describe('the limit of refused notifications that are kept', () => {
  const refused = (payment: string, transId = 'T1', status = 'FAILED') => ({ payment, transId, status });

  it('takes each different one once a minute', () => {
    const limit = new KeptLimit();
    const takes = (transId: string, status: string, now = 0) => limit.take(refused('col_1', transId, status), now);
    expect([takes('T1', 'FAILED'), takes('T1', 'FAILED'), takes('T1', 'EXPIRED'), takes('T2', 'FAILED')]).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(takes('T1', 'FAILED', MINUTE)).toBe(true);
  });

  it('leaves room for other payments in a flood of inventions for one', () => {
    const limit = new KeptLimit();
    const taken = (payment: string) =>
      Array.from({ length: 100 }, (_, index) => limit.take(refused(payment, `T${index}`), 0)).filter(Boolean);
    expect(taken('col_1')).toHaveLength(MAX_KEPT.ofPayment);
    expect(limit.take(refused('col_2'), 0)).toBe(true);
  });

  it('takes sixty a minute of all payments', () => {
    const limit = new KeptLimit();
    const taken = Array.from({ length: 100 }, (_, index) => limit.take(refused(`col_${index}`), 0));
    expect(taken.filter(Boolean)).toHaveLength(MAX_KEPT.all);
  });

  it('takes one again that was given back', () => {
    const limit = new KeptLimit();
    expect(limit.take(refused('col_1'), 0)).toBe(true);
    limit.giveBack(refused('col_1'));
    expect(limit.take(refused('col_1'), 0)).toBe(true);
  });
});
