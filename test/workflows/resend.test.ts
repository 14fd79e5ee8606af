import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../src/payments/words/payment.js';
import { HOUR, MINUTE } from '../support/orders.js';
import { HASTY, PaymentWorld } from '../support/payment-world.js';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    ...HASTY,
    terms: { ...HASTY.terms, ambiguousPolicy: 'resend' },
  });
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

const payout = async (): Promise<Payment> =>
  (await world.post('/v1/payouts', { amount: 900, phone: '670000000' })).body;
const notificationsOf = ({ id }: Payment) =>
  world.notifications.filter(({ payment }) => payment.id === id).map(({ type }) => type);

describe('an ambiguous payout under the policy resend', () => {
  it('is sent once more when the provider shows nothing for the whole grace period', async () => {
    world.sandbox.faults.add({ fault: 'resetBeforeCommit', endpoint: 'payout' });
    const payment = await payout();
    await world.pass(14 * MINUTE);
    expect(world.transactionsOf(payment.id)).toEqual([]);
    await world.pass(2 * MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.checked(payment.id, 'payout-resent-by-policy');
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
    expect(notificationsOf(payment)).toEqual(['payment.succeeded']);
  });

  it('is not sent a third time when the second is ambiguous as well: a person is asked', async () => {
    world.sandbox.faults.add({ fault: 'resetBeforeCommit', endpoint: 'payout', count: 2 });
    const payment = await payout();
    await world.pass(40 * MINUTE);
    await world.untilStatus(payment.id, 'REVIEW');
    await world.pass(10 * HOUR);
    expect(world.transactionsOf(payment.id)).toEqual([]);
  });

  it('is not FAILED when the second is rejected: the first may still have been taken', async () => {
    world.sandbox.faults.add({ fault: 'resetBeforeCommit', endpoint: 'payout' });
    const payment = await payout();
    world.sandbox.faults.add({ fault: 'lowBalance', endpoint: 'payout' });
    await world.pass(16 * MINUTE);
    expect(await world.untilStatus(payment.id, 'REVIEW')).toMatchObject({ final: false });
    expect(notificationsOf(payment)).toEqual(['payment.review']);
    await world.pass(2 * HOUR);
    const later = await world.untilStatus(payment.id, 'REVIEW');
    expect(later.reason).toMatch(/isn't known .*sent once more, and rejected: /);
  });

  it('is not sent while it cannot be looked up', async () => {
    world.sandbox.faults.add({ fault: 'resetBeforeCommit', endpoint: 'payout' });
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'transaction', rate: 1, count: 1_000 });
    const payment = await payout();
    await world.pass(HOUR);
    await world.untilStatus(payment.id, 'REVIEW');
    expect(world.transactionsOf(payment.id)).toEqual([]);
  });

  it('comes before a person when the provider turns out to have taken the first, too', async () => {
    world.sandbox.faults.add({ fault: 'timeoutAfterCommit', endpoint: 'payout' });
    world.sandbox.faults.add({ fault: 'listLag', endpoint: 'payout', delayMs: 10 * HOUR });
    world.sandbox.faults.add({ fault: 'webhookDrop', rate: 1, count: 1 });
    const payment = await payout();
    await world.pass(16 * MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    const [first, second] = world.transactionsOf(payment.id);
    expect(second?.transId).toBeDefined();
    await world.notify(payment, { transId: first?.transId });
    const review = await world.untilStatus(payment.id, 'REVIEW');
    expect(review).toMatchObject({ final: false, reason: expect.stringContaining(String(first?.transId)) });
  });
});
