import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { RecentLinks, requestLink, Turns } from '../../../src/api/payments/make-link.js';
import { HOUR, linkOrder, paymentId, terms, transId } from '../../support/orders.js';

afterEach(() => {
  jest.useRealTimers();
});

const notThere = async () => ({ kind: 'unavailable', reason: 'not there' }) as const;

describe('a link that is asked for', () => {
  const ask = (initiatePay: Parameters<typeof requestLink>[0]['initiatePay']) =>
    requestLink({ initiatePay, expirePay: notThere }, linkOrder, terms, 1_000, new AbortController().signal);

  it('is of no further concern until the first poll', async () => {
    const { idleMs, payment } = await ask(async () => ({
      kind: 'accepted',
      transId: transId('T1'),
      link: 'https://pay.example/T1',
    }));
    expect(payment.phase.kind).toBe('following');
    expect(idleMs).toBe(terms.pollFirstMs);
  });

  it.each([
    { kind: 'ambiguous', reason: 'reset' },
    { kind: 'notSent', reason: 'refused' },
    { kind: 'rejected', message: 'no', statusCode: 400 },
  ] as const)('has something to do at once when it is $kind', async (outcome) => {
    expect((await ask(async () => outcome)).idleMs).toBeUndefined();
  });

  it("names the payment alone, as the workflow's request does", async () => {
    let sent: unknown;
    await ask(async (request) => {
      sent = request;
      return { kind: 'notSent', reason: 'refused' };
    });
    expect(sent).toMatchObject({ externalId: linkOrder.id, userId: linkOrder.id, amount: linkOrder.amount });
  });
});

describe('turns', () => {
  it('are taken one after the other for one payment, whether they succeed or not, and at once for others', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const task =
      (name: string, fails = false) =>
      async () => {
        log.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 10));
        log.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      };
    const [one, other] = [paymentId('col_1'), paymentId('col_2')];
    const results = await Promise.allSettled([
      turns.take(one, task('first', true)),
      turns.take(one, task('second')),
      turns.take(other, task('other')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(log.slice(0, 2)).toEqual(['first begins', 'other begins']);
    expect(log.indexOf('second begins')).toBeGreaterThan(log.indexOf('first ends'));
  });
});

describe('somebody who comes when a link is asked for', () => {
  it('can wait until that is over, however it went', async () => {
    const turns = new Turns();
    const id = paymentId('col_1');
    let isOver = false;
    const asked = turns.take(id, async () => {
      await pause(20);
      isOver = true;
      throw new Error('the provider is down');
    });
    await Promise.all([expect(asked).rejects.toThrow('down'), turns.untilOver(id)]);
    expect(isOver).toBe(true);
    await turns.untilOver(id);
  });
});

describe('the links that a process has just made', () => {
  it('are known once, and for an hour', () => {
    jest.useFakeTimers({ now: 0 });
    const recent = new RecentLinks();
    const [one, other] = [paymentId('col_1'), paymentId('col_2')];
    recent.add(one);
    recent.add(other);
    expect([recent.take(one), recent.take(one), recent.take(paymentId('col_3'))]).toEqual([
      true,
      false,
      false,
    ]);
    jest.setSystemTime(HOUR);
    expect(recent.take(other)).toBe(false);
  });

  it('are forgotten when there are too many, the first one first', () => {
    const recent = new RecentLinks();
    for (let number = 0; number <= 10_000; number++) recent.add(paymentId(`col_${number}`));
    expect([recent.take(paymentId('col_0')), recent.take(paymentId('col_1'))]).toEqual([false, true]);
  });
});
