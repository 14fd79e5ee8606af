import { beforeEach, describe, expect, it } from '@jest/globals';
import { StatusLimit } from '../../src/activities/status-limit.js';
import type { StatusAnswer } from '../../src/payments/words/outcome.js';
import { DAY, MINUTE, START, transId } from '../support/orders.js';

const UNKNOWN: StatusAnswer = { kind: 'unknown', message: 'no such transaction', statusCode: 404 };

let limit: StatusLimit;
let asked: number;
beforeEach(() => {
  limit = new StatusLimit(3);
  asked = 0;
});

function ask(now: number, id = 'T1', question = async () => UNKNOWN): Promise<StatusAnswer> {
  return limit.ask(transId(id), now, () => {
    asked += 1;
    return question();
  });
}

describe("a worker's limit of status questions", () => {
  it('lets three about a transaction pass within a minute, and says when the next may be asked', async () => {
    for (const now of [START, START + 100, START + 200]) expect(await ask(now)).toEqual(UNKNOWN);
    const refused = await ask(START + 1_000);
    expect(refused).toMatchObject({ kind: 'throttled', isOurs: true });
    expect(asked).toBe(3);
    if (refused.kind !== 'throttled') throw new Error('it was asked');
    const freeAt = START + 1_000 + (refused.retryAfterMs ?? 0);
    expect(await ask(freeAt - 1)).toMatchObject({ kind: 'throttled' });
    expect(await ask(freeAt)).toEqual(UNKNOWN);
  });

  it('never lets more than three pass in any minute', async () => {
    const passed: number[] = [];
    for (let now = START; now < START + 10 * MINUTE; now += 1_700) {
      if ((await ask(now)).kind === 'unknown') passed.push(now);
    }
    expect(passed.length).toBeGreaterThan(25);
    for (const at of passed) {
      expect(passed.filter((one) => one >= at && one <= at + MINUTE).length).toBeLessThanOrEqual(3);
    }
  });

  it('is one for each transaction', async () => {
    for (let times = 0; times < 4; times++) await ask(START);
    expect(await ask(START, 'T2')).toEqual(UNKNOWN);
  });

  it('counts those that are on their way, and those that fail', async () => {
    const never = () => new Promise<StatusAnswer>(() => undefined);
    void ask(START, 'T1', never);
    await expect(ask(START, 'T1', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    void ask(START, 'T1', never);
    expect(await ask(START)).toMatchObject({ kind: 'throttled' });
  });

  it('counts a slow one from its answer', async () => {
    const slow = () => new Promise<StatusAnswer>((resolve) => setTimeout(resolve, 50, UNKNOWN));
    await Promise.all([1, 2, 3].map(() => ask(START, 'T1', slow)));
    expect(await ask(START + MINUTE + 30)).toMatchObject({ kind: 'throttled' });
  });

  it('forgets what is over', async () => {
    for (let id = 0; id < 1_000; id++) await ask(START, `T${id}`);
    await ask(START + DAY, 'last');
    expect(limit.size).toBe(1);
  });
});
