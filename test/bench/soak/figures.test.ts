import { describe, expect, it } from '@jest/globals';
import { MAX_GROWTH, trendOf } from '../../../bench/soak/figures.js';
import { heapsByProcess } from '../../../bench/soak/run-soak.js';
import { ramp } from './example.js';

const RATE = 20;

describe('the trend of memory', () => {
  it('says how many bytes a payment adds', () => {
    const trend = trendOf(ramp(20, 5_000), RATE, MAX_GROWTH.resident);
    expect(trend?.perPayment).toBeCloseTo(5_000, 5);
    expect(trend?.judgement).toBe('growing');
  });

  it('is flat when it grows by less than is allowed, or shrinks', () => {
    expect(trendOf(ramp(20, 50), RATE, MAX_GROWTH.heap)?.judgement).toBe('flat');
    expect(trendOf(ramp(20, -5_000), RATE, MAX_GROWTH.heap)?.judgement).toBe('flat');
    expect(trendOf(ramp(20, 150), RATE, MAX_GROWTH.heap)?.judgement).toBe('growing');
  });

  it('does not count the warm-up, in which caches fill', () => {
    const cold = ramp(20, 0).map(({ atMs, bytes }) => ({
      atMs,
      bytes: atMs < 4 * 60_000 ? bytes / 2 : bytes,
    }));
    expect(trendOf(cold, RATE, MAX_GROWTH.heap)).toMatchObject({ perPayment: 0, judgement: 'flat' });
  });

  it('is not moved by a few samples that stand out', () => {
    const spiky = ramp(20, 0).map((sample, index) => (index % 20 === 0 ? { ...sample, bytes: 1e12 } : sample));
    expect(trendOf(spiky, RATE, MAX_GROWTH.heap)?.perPayment).toBe(0);
  });

  it('sees a leak through the ups and downs of memory', () => {
    const noisy = ramp(20, 3_000).map(({ atMs, bytes }, index) => ({
      atMs,
      bytes: bytes + (index % 7) * 4e6,
    }));
    expect(trendOf(noisy, RATE, MAX_GROWTH.resident)?.judgement).toBe('growing');
  });

  it('is unknown after too few payments', () => {
    expect(trendOf(ramp(1, 5_000), RATE, MAX_GROWTH.resident)?.judgement).toBe('unknown');
    expect(trendOf(ramp(20, 0).slice(0, 2), RATE, MAX_GROWTH.resident)).toBeUndefined();
    expect(trendOf([], RATE, MAX_GROWTH.resident)).toBeUndefined();
  });
});

describe('the heaps of processes', () => {
  const line = (at: number, pid: number, thread: number, bytes: number) => ({ at, pid, thread, bytes });

  it('are those of all their threads together, once each was read', () => {
    const lines = [line(10, 1, 0, 100), line(11, 1, 1, 50), line(12, 2, 0, 7), line(20, 1, 0, 110), line(21, 1, 1, 40)];
    const heaps = heapsByProcess(lines, 10);
    expect(heaps.get(1)).toEqual([
      { atMs: 1, bytes: 150 },
      { atMs: 10, bytes: 160 },
      { atMs: 11, bytes: 150 },
    ]);
    expect(heaps.get(2)).toEqual([{ atMs: 2, bytes: 7 }]);
  });

  it('count from when the load began', () => {
    expect(heapsByProcess([line(5, 1, 0, 100), line(15, 1, 0, 120)], 10).get(1)).toEqual([{ atMs: 5, bytes: 120 }]);
  });
});
