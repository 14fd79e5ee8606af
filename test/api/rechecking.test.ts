import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../src/payments/words/payment.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ terms: { providerTimeoutMs: 1_000 } });
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

const recheck = (payment: Payment) => world.post(`/v1/payments/${payment.id}/refresh`, {});
/** The payment's latest run. */
const runOf = async ({ id }: Payment) => (await world.client.workflow.getHandle(id).describe()).runId;

/** A payout that an operator has failed, though the provider had taken it: its list shows it this much later. */
async function failedWrongly(listLagMs: number): Promise<Payment> {
  world.sandbox.faults.add({ fault: 'listLag', endpoint: 'payout', delayMs: listLagMs });
  world.sandbox.faults.add({ fault: 'webhookDrop', rate: 1, count: 1 });
  world.sandbox.faults.add({ fault: 'resetAfterCommit', endpoint: 'payout' });
  const { body } = await world.post('/v1/payouts', { amount: 900, phone: '670000000' });
  await world.pass(16 * MINUTE);
  const payment = await world.untilStatus(body.id, 'REVIEW');
  const { status } = await world.resolve(payment.id, { action: 'fail' });
  expect(status).toBe(200);
  return await world.untilStatus(payment.id, 'FAILED');
}

/** The operator matches the transaction that the provider shows by now. */
async function matched(payment: Payment): Promise<Payment> {
  const transId = world.transactionsOf(payment.id)[0]?.transId;
  const { status } = await world.resolve(payment.id, { action: 'match', transId });
  expect(status).toBe(200);
  return await world.untilStatus(payment.id, 'SUCCESSFUL');
}

describe('a final payment that an operator refreshes', () => {
  it('comes under review when the provider shows by then that it was taken, and can be put right', async () => {
    const payment = await failedWrongly(3 * HOUR);
    await world.pass(5 * HOUR);
    const { status, body } = await recheck(payment);
    expect([status, body.status, body.final]).toEqual([200, 'REVIEW', false]);
    expect(body.review?.number).toBe(2);
    expect(body.reason).toContain(String(world.transactionsOf(payment.id)[0]?.transId));

    const paid = await matched(payment);
    expect(paid).toMatchObject({ final: true, resolution: { action: 'match', review: 2 } });
    await world.checked(payment.id);
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
    expect(world.notifications.filter((one) => one.payment.id === payment.id).map(({ type }) => type)).toEqual([
      'payment.review',
      'payment.failed',
      'payment.review',
      'payment.succeeded',
    ]);
  });

  it('goes on in another run when its workflow has ended', async () => {
    const payment = await failedWrongly(2 * DAY);
    await world.checked(payment.id);
    const ended = await runOf(payment);
    await world.pass(2 * DAY);
    const { status, body } = await recheck(payment);
    expect([status, body.status, body.final]).toEqual([200, 'REVIEW', false]);
    expect(await runOf(payment)).not.toBe(ended);
    await matched(payment);
    await world.checked(payment.id);
  });

  it('stays as it was when the provider agrees', async () => {
    const payment = await world.begin('payouts', { amount: 900, phone: '670000000' });
    await world.pass(MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
    const [entry] = world.transactionsOf(payment.id);
    const asked = entry?.statusCalls.answered ?? 0;
    const ended = await runOf(payment);
    const { status, body } = await recheck(payment);
    expect([status, body.status, body.final]).toEqual([200, 'SUCCESSFUL', true]);
    expect(entry?.statusCalls.answered).toBe(asked + 1);
    await world.ended(payment.id);
    expect(await runOf(payment)).not.toBe(ended);
    expect(world.notifications.filter((one) => one.payment.id === payment.id)).toHaveLength(1);
  });

  it("is not called checked while the provider's list can't be read", async () => {
    const payment = await failedWrongly(30 * DAY);
    // The payment itself compares its outcome at about this time, too.
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'transaction', rate: 1 });
    const { status, body } = await recheck(payment);
    expect([status, body.code, body.payment?.status]).toEqual([503, 'provider_unavailable', 'FAILED']);
    world.sandbox.faults.clear();
    expect((await recheck(payment)).status).toBe(200);
    await world.checked(payment.id);
  });
});
