import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../src/payments/payment.js';
import { PaymentWorld } from './payment-world.js';

/** Without workflows in memory, every task of these payments is a replay, as it is after a restart. */
let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ cachedWorkflows: 0 });
}, 60_000);
afterAll(() => world.stop(), 30_000);

const link = (): Promise<Payment> => world.begin('collections', { method: 'link', amount: 5_000 });

describe('a payment whose worker is away', () => {
  it('looks once for several notifications of the same status', async () => {
    const payment = await link();
    await world.stopWorker();
    await world.visit(payment, 'pay');
    for (let copy = 0; copy < 5; copy++) expect(await world.notify(payment, {})).toBe(200);
    await world.startWorker();
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id, 'link-duplicate-hints');
    expect(world.transactionsOf(payment.id).map(({ statusCalls }) => statusCalls.answered)).toEqual([1]);
  });

  it('survives a worker that is stopped in the middle', async () => {
    const payment = await link();
    await world.stopWorker();
    await world.visit(payment, 'pay');
    await world.startWorker();
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id, 'link-worker-restarted');
  });
});
