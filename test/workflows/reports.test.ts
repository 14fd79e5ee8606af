import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { STATUS_CALLS_BUDGETED } from '../../src/payments/machine/polling.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const STAYS_PENDING = '670000800';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start();
});
afterAll(() => world.stop());

const payout = (): Promise<Payment> => world.begin('payouts', { amount: 900, phone: STAYS_PENDING });
const statusCalls = ({ id }: Payment) => world.transactionsOf(id)[0]?.statusCalls;

/** The payment has ended, and its workflow with it. */
async function settled(payment: Payment, status: 'SUCCESSFUL' | 'FAILED'): Promise<void> {
  await world.settle(payment.id, status);
  await world.ended(payment.id);
}

describe('a transaction that notifications name', () => {
  it('is asked about once a minute, however many name it: its questions are its own payment’s', async () => {
    const other = await payout();
    const payment = await payout();
    for (let copy = 0; copy < 30; copy++) {
      expect(await world.notify(payment, { transId: other.transId })).toBe(200);
      await pause(20);
    }
    expect(statusCalls(other)).toMatchObject({ answered: 1, throttled: 0 });
    for (const { id } of [other, payment]) await world.settle(id, 'FAILED');
  });

  it('is asked about within the budget when it is the payment’s own, though the payment has ended', async () => {
    const payment = await payout();
    for (let look = 0; look < STATUS_CALLS_BUDGETED - 1; look++)
      await world.post(`/v1/payments/${payment.id}/refresh`, {});
    await settled(payment, 'SUCCESSFUL');
    expect(statusCalls(payment)?.answered).toBe(STATUS_CALLS_BUDGETED);
    for (let copy = 0; copy < 3; copy++) {
      expect(await world.notify(payment, { status: 'FAILED' })).toBe(200);
      await pause(500);
    }
    expect(statusCalls(payment)?.answered).toBe(STATUS_CALLS_BUDGETED);
    // What the provider doesn't confirm is asked about three more times, since a notification may overtake its records.
    await world.pass(40 * MINUTE);
    await world.ended(payment.id);
    expect(statusCalls(payment)).toMatchObject({ answered: STATUS_CALLS_BUDGETED + 4, throttled: 0 });
    expect((await world.get(`/v1/payments/${payment.id}`)).body).toMatchObject({
      status: 'SUCCESSFUL',
      final: true,
    });
  });
});

describe('a payment that was opened again by a notification', () => {
  it('is not sent again when its request is repeated after that', async () => {
    const body = { amount: 900, phone: STAYS_PENDING };
    const key = { 'idempotency-key': 'opened-again' };
    const { body: payment } = await world.post('/v1/payouts', body, key);
    await settled(payment, 'SUCCESSFUL');
    const { runId } = await world.client.workflow.getHandle(payment.id).describe();
    expect(await world.notify(payment, { status: 'FAILED' })).toBe(200);
    await world.pass(40 * MINUTE);
    await world.ended(payment.id);
    expect((await world.client.workflow.getHandle(payment.id).describe()).runId).not.toBe(runId);

    const again = await world.post('/v1/payouts', body, key);
    expect([again.status, again.body.id, again.body.status]).toEqual([200, payment.id, 'SUCCESSFUL']);
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });
});
