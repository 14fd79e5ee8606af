import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNow } from '../../src/engine/workflow-start.js';
import type { PaymentOrder, PayoutOrder } from '../../src/payments/words/order.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { eventually } from '../support/eventually.js';
import { directOrder, HOUR, paymentId, payoutOrder, terms } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

/** Time that a payment has to be sent, in ms. The time-skipping server skips none while a task waits for a worker. */
const SEND_BY_MS = 1_000;

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ realServer: true, cachedWorkflows: 0 });
}, 240_000);
afterAll(() => world.stop());

async function start(order: PaymentOrder, sendByMs = SEND_BY_MS): Promise<PaymentId> {
  const input = { v: 1, order, terms: { ...terms, sendByMs }, fingerprint: 'f', requestId: 'r' } as const;
  await startNow(world.client, { input, merchant: 'shop', taskQueue: 'payments', createdAt: Date.now() });
  return order.id;
}
const payout = (name: string, more: Partial<PayoutOrder> = {}): PayoutOrder => ({
  ...payoutOrder,
  id: paymentId(`pay_${name}`),
  orderedBy: 'ann',
  ...more,
});

/** Starts a worker once `SEND_BY` is over that counts from a time, in ms since the epoch. */
async function startWorkerTooLate(from = Date.now()): Promise<void> {
  await pause(Math.max(0, from + SEND_BY_MS + 100 - Date.now()));
  await world.startWorker();
}

async function expectUnsent(id: PaymentId): Promise<void> {
  const failed = await world.until(id, ({ final }) => final);
  expect(failed).toMatchObject({ status: 'FAILED', failureCode: 'not_sent' });
  expect(failed.reason).toBe('never sent to the provider: its time was over before it could be sent');
  expect(world.transactionsOf(id)).toEqual([]);
  const told = () => world.notifications.filter(({ payment }) => payment.id === id).map(({ type }) => type);
  await eventually(
    async () => told(),
    (types) => types.at(-1) === 'payment.failed',
  );
}

describe('a payment that no worker has taken for SEND_BY', () => {
  it.each([payout('ordered'), { ...directOrder, id: paymentId('col_ordered') }])('is not sent', async (order) => {
    await world.stopWorker();
    const id = await start(order);
    await startWorkerTooLate();
    await expectUnsent(id);
  });

  it('is sent within it', async () => {
    await world.stopWorker();
    const id = await start(payout('in-time'), HOUR);
    await startWorkerTooLate();
    await world.untilTransaction(({ externalId }) => externalId === id);
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a payout with a date', () => {
  it('is not sent SEND_BY after it, or later', async () => {
    const sendAt = Date.now() + 20_000;
    const id = await start(payout('dated', { sendAt }));
    await world.until(id, ({ held }) => held !== undefined);
    await world.stopWorker();
    await startWorkerTooLate(sendAt);
    await expectUnsent(id);
  });
});
