import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TryOutcome } from '../../src/activities/merchant.js';
import { HOUR, MINUTE } from '../support/orders.js';
import { HASTY, PaymentWorld } from '../support/payment-world.js';

const STAYS_PENDING = '670000800';

let merchant: TryOutcome;
let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    ...HASTY,
    notify: async () => merchant,
  });
});
beforeEach(() => {
  merchant = { kind: 'delivered' };
  world.sandbox.faults.clear();
});
afterAll(() => world.stop());

const resolve = (id: string, decision: object) => world.resolve(id, { why: 'as support says', ...decision });

/** A payout under review that the provider has taken, and shows in no list. */
async function takenUnseen() {
  world.sandbox.faults.add({ fault: 'listLag', endpoint: 'payout', delayMs: 100 * HOUR });
  world.sandbox.faults.add({ fault: 'webhookDrop', rate: 1, count: 1 });
  world.sandbox.faults.add({ fault: 'resetAfterCommit', endpoint: 'payout' });
  const { body: payment } = await world.post('/v1/payouts', { amount: 900, phone: STAYS_PENDING });
  await world.pass(16 * MINUTE);
  await world.untilStatus(payment.id, 'REVIEW');
  const [transaction] = world.transactionsOf(payment.id);
  if (transaction === undefined) throw new Error('the provider has not taken it');
  return { payment, transaction };
}

describe('a payment under review whose transaction a notification names', () => {
  it('is not sent again while the provider has yet to say what that is', async () => {
    const { payment, transaction } = await takenUnseen();
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payment-status', rate: 1, count: 100 });
    expect(await world.notify(payment, { transId: transaction.transId })).toBe(200);
    const { status, body } = await resolve(payment.id, { action: 'resend' });
    expect([status, body.detail]).toEqual([409, expect.stringContaining(transaction.transId)]);
    world.sandbox.faults.clear();
    await world.pass(5 * MINUTE);
    await world.untilStatus(payment.id, 'PENDING');
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('is not sent again when a made-up notification came first', async () => {
    const { payment, transaction } = await takenUnseen();
    await world.notify(payment, { transId: 'made-up' });
    await world.notify(payment, { transId: transaction.transId });
    expect((await resolve(payment.id, { action: 'resend' })).status).toBe(409);
    await world.pass(3 * MINUTE);
    await world.untilStatus(payment.id, 'PENDING');
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('is not failed while the provider has yet to say what that is', async () => {
    const { payment, transaction } = await takenUnseen();
    transaction.status = 'SUCCESSFUL';
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payment-status', rate: 1, count: 100 });
    await world.notify(payment, { transId: transaction.transId });
    expect((await resolve(payment.id, { action: 'fail' })).status).toBe(409);
    world.sandbox.faults.clear();
    await world.pass(5 * MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
  });
});

describe('a payment that was failed, and whose transaction turns up after all', () => {
  it('can’t be sent again, and goes on with that transaction when it is matched', async () => {
    const { payment, transaction } = await takenUnseen();
    expect((await resolve(payment.id, { action: 'fail' })).status).toBeLessThan(300);
    await world.checked(payment.id);
    await world.notify(payment, { transId: transaction.transId, status: 'PENDING' });
    await world.pass(2 * MINUTE);
    await world.untilStatus(payment.id, 'REVIEW');
    expect((await resolve(payment.id, { action: 'resend' })).status).toBe(409);
    const { transId } = transaction;
    expect((await resolve(payment.id, { action: 'match', transId })).status).toBeLessThan(300);
    world.sandbox.faults.clear();
    await world.settle(payment.id, 'SUCCESSFUL');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('waits for a person, whatever a list shows later', async () => {
    const { payment, transaction } = await takenUnseen();
    merchant = { kind: 'failed', reason: 'down' };
    expect((await resolve(payment.id, { action: 'fail' })).status).toBeLessThan(300);
    await world.notify(payment, { transId: transaction.transId, status: 'PENDING' });
    await world.untilStatus(payment.id, 'REVIEW');
    world.sandbox.faults.clear();
    // The sandbox alone is carried forward, so this has to be the last of its tests.
    world.clock.advanceTo(world.clock.now() + 101 * HOUR);
    await world.pass(5 * HOUR);
    await world.untilStatus(payment.id, 'REVIEW');
  });
});
