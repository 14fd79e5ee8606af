import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryOutcome } from '../../src/payments/words/delivery.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { MINUTE } from '../support/orders.js';
import { PaymentWorld, SUCCEEDS_LATER } from '../support/payment-world.js';

/** Without workflows in memory, every task of these payments is a replay, as it is after a restart. */
let answer: DeliveryOutcome = { kind: 'delivered' };
let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    cachedWorkflows: 0,
    terms: { providerTimeoutMs: 1_500 },
    notify: async () => answer,
  });
});
afterAll(() => world.stop());

const link = (): Promise<Payment> => world.begin('collections', { method: 'link', amount: 5_000 });

describe('a payment whose worker is away', () => {
  it('looks once for several notifications of the same status', async () => {
    const payment = await link();
    await world.stopWorker();
    await world.visit(payment, 'pay');
    for (let copy = 0; copy < 5; copy++) expect(await world.notify(payment, {})).toBe(200);
    await world.startWorker();
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
    expect(world.transactionsOf(payment.id).map(({ statusCalls }) => statusCalls.answered)).toEqual([1]);
  });

  it('survives a worker that is stopped in the middle', async () => {
    const payment = await link();
    await world.stopWorker();
    await world.visit(payment, 'pay');
    await world.startWorker();
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
  });

  it('is found when the request that moves money had gone out, and is not sent again', async () => {
    world.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 10_000 });
    const answered = world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS_LATER });
    await world.untilTransaction(({ method }) => method === 'payout');
    await world.stopWorker();
    await world.startWorker();
    const { body } = await answered;
    await world.pass(2 * MINUTE);
    await world.untilStatus(body.id, 'SUCCESSFUL');
    await world.checked(body.id);
    expect(world.transactionsOf(body.id)).toHaveLength(1);
  });

  it('is told to the merchant when the worker is back', async () => {
    answer = { kind: 'failed', reason: 'down' };
    const payment = await link();
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.stopWorker();
    answer = { kind: 'delivered' };
    await world.startWorker();
    await world.pass(10 * MINUTE);
    await world.ended(payment.id);
    expect(world.notifications.at(-1)).toMatchObject({
      id: `evt_${payment.id}_succeeded_1`,
      type: 'payment.succeeded',
    });
  });
});
