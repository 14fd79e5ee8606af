import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { claim } from '../../src/book/claim.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { directOrder, HOUR, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

/** Time that a payment has to be sent, in ms. */
const SEND_BY_MS = 2 * HOUR;

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start();
});
afterAll(() => world.stop());

/** Claims an order while no worker runs, and has a worker run again after some time. */
async function orderAndWait(order: PaymentOrder, waitMs: number): Promise<PaymentId> {
  const prefix = order.kind === 'payout' ? 'pay' : 'col';
  const id = paymentId(`${prefix}_${randomUUID().replaceAll('-', '')}`);
  await world.stopWorker();
  const claimed = { order: { ...order, id }, terms: { ...terms, sendByMs: SEND_BY_MS } };
  await claim(world.made.book, { ...claimed, merchant: 'shop', fingerprint: 'f', requestId: 'r' }, world.now());
  await world.pass(waitMs);
  await world.startWorker();
  await world.ring(id);
  return id;
}

async function expectUnsent(id: PaymentId): Promise<void> {
  const failed = await world.until(id, ({ final }) => final);
  expect(failed).toMatchObject({ status: 'FAILED', failureCode: 'not_sent' });
  expect(failed.reason).toBe('never sent to the provider: its time was over before it could be sent');
  await world.ended(id);
  expect(world.transactionsOf(id)).toEqual([]);
  expect(world.notifications.filter(({ payment }) => payment.id === id).map(({ type }) => type)).toContain(
    'payment.failed',
  );
}

describe('a payment that no worker has taken for SEND_BY', () => {
  it.each([
    ['a payout', payoutOrder],
    ['a request on a phone', { ...directOrder, phone: '670000800' }],
  ])('is not sent (%s)', async (_, order) => {
    await expectUnsent(await orderAndWait(order, SEND_BY_MS + MINUTE));
  });

  it('is sent within it', async () => {
    const id = await orderAndWait({ ...payoutOrder, phone: '670000800' }, SEND_BY_MS - MINUTE);
    await world.until(id, ({ transId }) => transId !== undefined);
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a payout with a date', () => {
  const sendAt = () => world.now() + 5 * HOUR;

  it('is sent on it', async () => {
    const { body } = await world.post('/v1/payouts', {
      amount: 900,
      phone: '670000800',
      sendAt: new Date(sendAt()).toISOString(),
    });
    expect(body).toMatchObject({ status: 'CREATED', held: { for: ['date'] } });
    await world.pass(5 * HOUR - MINUTE);
    expect(world.transactionsOf(body.id)).toEqual([]);
    await world.pass(2 * MINUTE);
    await world.until(body.id, ({ transId }) => transId !== undefined);
  });

  it('is not sent SEND_BY after it, or later', async () => {
    await expectUnsent(await orderAndWait({ ...payoutOrder, sendAt: sendAt() }, 5 * HOUR + SEND_BY_MS + MINUTE));
  });
});
