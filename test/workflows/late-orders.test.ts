import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNow } from '../../src/engine/workflow-start.js';
import type { PaymentOrder, PayoutOrder } from '../../src/payments/words/order.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { approveUpdate } from '../../src/workflows/messages.js';
import { DAY, directOrder, HOUR, paymentId, payoutOrder, terms } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

let world: PaymentWorld;
beforeAll(async () => {
  // Each task replays the history from its start.
  world = await PaymentWorld.start({ terms, cachedWorkflows: 0 });
}, 240_000);
afterAll(() => world.stop());

async function start(order: PaymentOrder): Promise<PaymentId> {
  const input = { v: 1, order, terms, fingerprint: 'f', requestId: 'r' } as const;
  const createdAt = await world.env.currentTimeMs();
  await startNow(world.client, { input, merchant: 'shop', taskQueue: 'payments', createdAt });
  return order.id;
}
const payout = (name: string, more: Partial<PayoutOrder> = {}): PayoutOrder => ({
  ...payoutOrder,
  id: paymentId(`pay_${name}`),
  orderedBy: 'ann',
  ...more,
});

/** No worker runs for a time. */
async function away(ms: number): Promise<void> {
  await world.stopWorker();
  await world.pass(ms);
  await world.startWorker();
}

async function expectUnsent(id: PaymentId): Promise<void> {
  const failed = await world.until(id, ({ final }) => final);
  expect(failed).toMatchObject({ status: 'FAILED', failureCode: 'not_sent' });
  expect(failed.reason).toBe('never sent to the provider: its time was over before it could be sent');
  expect(world.transactionsOf(id)).toEqual([]);
  await world.checked(id);
  const told = world.notifications.filter(({ payment }) => payment.id === id).map(({ type }) => type);
  expect(told.at(-1)).toBe('payment.failed');
}

describe('a payment that no worker has taken for SEND_BY', () => {
  it.each([payout('ordered'), { ...directOrder, id: paymentId('col_ordered') }])('is not sent', async (order) => {
    await world.stopWorker();
    const id = await start(order);
    await away(terms.sendByMs + HOUR);
    await expectUnsent(id);
  });

  it('is sent within it', async () => {
    await world.stopWorker();
    const id = await start(payout('in-time'));
    await away(terms.sendByMs - HOUR);
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a payout with a date', () => {
  it('is not sent SEND_BY after it, or later', async () => {
    const id = await start(payout('dated', { sendAt: (await world.env.currentTimeMs()) + 2 * DAY }));
    await world.until(id, ({ held }) => held !== undefined);
    await away(2 * DAY + terms.sendByMs + HOUR);
    await expectUnsent(id);
  });

  it('has its time from its approval on, where that comes later', async () => {
    const sendAt = (await world.env.currentTimeMs()) + HOUR;
    const id = await start(payout('approved-late', { sendAt, approval: true }));
    const { held } = await world.until(id, (payment) => payment.held !== undefined);
    await world.pass(3 * DAY);
    const approval = { by: 'bob', digest: held?.digest ?? '' };
    await world.client.workflow.getHandle(id).executeUpdate(approveUpdate, { args: [approval] });
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});
