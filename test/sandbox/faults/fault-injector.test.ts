import { describe, expect, it } from '@jest/globals';
import { manualClock } from '../../../sandbox/clock.js';
import { FaultInjector, type InjectionPoint } from '../../../sandbox/faults/fault-injector.js';
import { START, startSandbox, textOf } from '../../support/running-sandbox.js';

const open = (seed: string | number = 'seed') => {
  const clock = manualClock(START);
  return { clock, faults: new FaultInjector({ clock, seed }) };
};
const direct: InjectionPoint = { target: 'direct-pay', externalId: 'order-1' };
const order = (nth: number): InjectionPoint => ({ target: 'direct-pay', externalId: `order-${nth}` });
const strikes = (faults: FaultInjector, site: InjectionPoint, times: number) =>
  Array.from({ length: times }, () => faults.responseFault(site) !== undefined);

describe('faults', () => {
  it('strike the next match once, unless told otherwise', () => {
    const { faults } = open();
    faults.add({ fault: 'slow' });
    expect(strikes(faults, direct, 2)).toEqual([true, false]);
    expect(faults.list()).toEqual([]);
  });

  it('strike so many times', () => {
    const { faults } = open();
    faults.add({ fault: 'slow', count: 2 });
    expect(strikes(faults, direct, 3)).toEqual([true, true, false]);
  });

  it('strike for so long', () => {
    const { clock, faults } = open();
    faults.add({ fault: 'slow', forMs: 1000 });
    expect(strikes(faults, direct, 2)).toEqual([true, true]);
    clock.advanceTo(START + 1000);
    expect(strikes(faults, direct, 1)).toEqual([false]);
  });

  it.each([
    ['endpoint', { endpoint: 'payout' }, { target: 'payout' }],
    ['externalId', { externalId: 'order-2' }, { target: 'direct-pay', externalId: 'order-2' }],
    ['transId', { transId: 'abc' }, { target: 'payment-status', transId: 'abc' }],
    ['userId', { userId: 'ann' }, { target: 'transaction', userId: 'ann' }],
  ] as const)('are aimed by %s', (_what, aim, site) => {
    const { faults } = open();
    faults.add({ fault: 'slow', ...aim });
    expect(strikes(faults, direct, 1)).toEqual([false]);
    expect(strikes(faults, site, 1)).toEqual([true]);
  });

  it('strike one request one at a time, the first that was ordered first', () => {
    const { faults } = open();
    faults.add({ fault: 'slow' });
    faults.add({ fault: 'garbage' });
    expect([0, 1, 2].map(() => faults.responseFault(direct)?.fault)).toEqual(['slow', 'garbage', undefined]);
  });

  it('strike the share of requests that their rate says', () => {
    const { faults } = open();
    faults.add({ fault: 'slow', rate: 0.2 });
    const hits = Array.from({ length: 5000 }, (_, nth) => faults.responseFault(order(nth))).filter(Boolean).length;
    expect(hits).toBeGreaterThan(900);
    expect(hits).toBeLessThan(1100);
  });

  it('never strike at a rate of 0, and always at a rate of 1', () => {
    const { faults } = open();
    faults.add({ fault: 'slow', rate: 0 });
    expect(strikes(faults, direct, 50)).not.toContain(true);
    faults.add({ fault: 'slow', rate: 1 });
    expect(strikes(faults, direct, 50)).not.toContain(false);
  });

  it('strike the same requests for the same seed, in whatever order they come', () => {
    const sites = Array.from({ length: 200 }, (_, nth) => order(nth % 50));
    const run = (seed: string, order: readonly InjectionPoint[]) => {
      const { faults } = open(seed);
      faults.add({ fault: 'slow', rate: 0.5 });
      const struck = new Map<string, boolean[]>();
      for (const site of order) {
        const key = site.externalId ?? '';
        struck.set(key, [...(struck.get(key) ?? []), faults.responseFault(site) !== undefined]);
      }
      return [...struck].sort();
    };
    expect(run('one', sites)).toEqual(run('one', [...sites].reverse()));
    expect(run('one', sites)).not.toEqual(run('two', sites));
  });

  it('draw anew for each request about the same payment', () => {
    const { faults } = open();
    faults.add({ fault: 'slow', rate: 0.5 });
    expect(new Set(strikes(faults, direct, 50))).toEqual(new Set([true, false]));
  });

  it("do not shift each other's draws", () => {
    const run = (others: boolean) => {
      const { faults } = open();
      if (others) faults.add({ fault: 'garbage', rate: 0.5 });
      faults.add({ fault: 'slow', rate: 0.5 });
      return Array.from({ length: 100 }, (_, nth) => faults.responseFault(order(nth % 10))?.fault);
    };
    const alone = run(false);
    const together = run(true);
    together.forEach((fault, nth) => {
      if (fault !== 'garbage') expect(fault).toBe(alone[nth]);
    });
    expect(together).toContain('garbage');
  });

  it('follow a seed of their own when they have one', () => {
    const run = (seed: string) => {
      const { faults } = open(seed);
      faults.add({ fault: 'slow', rate: 0.5, seed: 'own' });
      return strikes(faults, direct, 50);
    };
    expect(run('one')).toEqual(run('two'));
  });
});

describe('/_sandbox/faults', () => {
  it('takes a fault, lists it with its hits and the totals, and ends it', async () => {
    const { operator, get } = await startSandbox();
    const added = await operator('POST', '/faults', { fault: 'throttle', endpoint: 'balance', count: 2 });
    expect(added).toMatchObject({
      status: 201,
      body: { id: 1, hits: 0, rule: { fault: 'throttle', count: 2 } },
    });
    await get('/balance');
    expect((await operator('GET', '/faults')).body).toMatchObject({
      faults: [{ id: 1, hits: 1 }],
      totals: { throttle: 1 },
    });
    expect((await operator('DELETE', '/faults/1')).status).toBe(204);
    expect((await operator('DELETE', '/faults/1')).status).toBe(404);
    expect((await get('/balance')).status).toBe(200);
  });

  it('ends all faults at once', async () => {
    const { operator, get } = await startSandbox();
    await operator('POST', '/faults', { fault: 'throttle', rate: 1 });
    await operator('POST', '/faults', { fault: 'slow', rate: 1 });
    expect((await operator('DELETE', '/faults')).status).toBe(204);
    expect((await operator('GET', '/faults')).body).toMatchObject({ faults: [] });
    expect((await get('/balance')).status).toBe(200);
  });

  it.each([
    ['fault', {}],
    ['fault', { fault: 'earthquake' }],
    ['rate', { fault: 'slow', rate: 2 }],
    ['count', { fault: 'slow', count: 0 }],
    ['endpoint', { fault: 'slow', endpoint: 'nowhere' }],
    ['endpoint', { fault: 'slow', endpoint: 'webhook' }],
    ['endpoint', { fault: 'lowBalance', endpoint: 'search' }],
    ['endpoint', { fault: 'webhookDrop', endpoint: 'search' }],
    ['delay', { fault: 'slow', delay: 5 }],
    ['status', { fault: 'errorAfterCommit', status: 404 }],
    ['retryAfter', { fault: 'gatewayThrottleAfterCommit', retryAfter: -1 }],
    ['endpoint', { fault: 'questionTimeout', endpoint: 'payout' }],
    ['endpoint', { fault: 'listFlap', endpoint: 'payment-status' }],
    ['endpoint', { fault: 'listPage', endpoint: 'payment-status' }],
    ['size', { fault: 'listPage', size: -1 }],
    ['endpoint', { fault: 'statusLag', endpoint: 'transaction' }],
    ['delayMs', { fault: 'statusLag', delayMs: -1 }],
    ['endpoint', { fault: 'missingFields', endpoint: 'balance' }],
    ['fields', { fault: 'missingFields', fields: [] }],
    ['fields', { fault: 'missingFields', fields: ['transId'] }],
    ['endpoint', { fault: 'unknownStatus', endpoint: 'direct-pay' }],
    ['status', { fault: 'unknownStatus', status: 'SUCCESSFUL' }],
    ['status', { fault: 'unknownStatus', status: '' }],
    ['userId', { fault: 'slow', userId: '' }],
  ])('refuses a fault that is wrong in %s: %j', async (field, body) => {
    const { operator } = await startSandbox();
    const reply = await operator('POST', '/faults', body);
    expect(reply.status).toBe(400);
    expect(textOf(reply, 'message')).toContain(field);
  });
});
