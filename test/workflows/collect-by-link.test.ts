import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../src/payments/words/payment.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const SECOND = 1_000;
const POLL_FIRST = 3 * MINUTE;

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start();
});
afterAll(() => world.stop());

const link = (more: object = {}): Promise<Payment> =>
  world.begin('collections', { method: 'link', amount: 5_000, ...more });

/** The statuses the provider was asked about, how often. */
const looks = (payment: Payment) => world.transactionsOf(payment.id).map(({ statusCalls }) => statusCalls.answered);

describe('a collection by link', () => {
  it('is SUCCESSFUL when the payer pays, on the first notification', async () => {
    const payment = await link({ externalId: 'order-1', userId: 'user-1', metadata: { basket: '7' } });
    expect(payment).toMatchObject({
      status: 'CREATED',
      final: false,
      externalId: 'order-1',
      userId: 'user-1',
    });
    await world.visit(payment, 'pay');
    const paid = await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(paid).toMatchObject({
      final: true,
      revenue: expect.any(Number),
      financialTransId: expect.any(String),
    });
    expect(paid).toMatchObject({ externalId: 'order-1', userId: 'user-1', metadata: { basket: '7' } });
    await world.ended(payment.id, 'link-paid');
    expect(looks(payment)).toEqual([1]);
  });

  it('goes on after a failed attempt, and is SUCCESSFUL when the payer tries again', async () => {
    const payment = await link();
    await world.visit(payment, 'decline');
    expect(await world.untilStatus(payment.id, 'FAILED')).toMatchObject({ final: false });
    await world.visit(payment, 'pay');
    expect(await world.untilStatus(payment.id, 'SUCCESSFUL')).toMatchObject({ final: true });
    await world.ended(payment.id);
    const events = world.notifications.filter((event) => event.payment.id === payment.id).map(({ type }) => type);
    expect(events).toEqual(['payment.attempt_failed', 'payment.succeeded']);
  });

  it('is EXPIRED after 24 hours without a payment', async () => {
    const payment = await link();
    await world.pass(DAY + MINUTE);
    expect(await world.untilStatus(payment.id, 'EXPIRED')).toMatchObject({ final: true });
    expect(world.transactionsOf(payment.id)).toMatchObject([{ status: 'EXPIRED' }]);
    await world.ended(payment.id, 'link-expired');
  });

  it("is EXPIRED at the merchant's shorter time, and can't be paid from then on", async () => {
    const payment = await link({ expiresIn: '10m' });
    await world.pass(10 * MINUTE + SECOND);
    await world.untilStatus(payment.id, 'EXPIRED');
    expect(await world.visit(payment, 'pay')).toBe(410);
    await world.ended(payment.id);
  });

  it('is EXPIRED at once when the merchant wishes', async () => {
    const payment = await link();
    const { status, body } = await world.post(`/v1/collections/${payment.id}/expire`, {});
    expect([status, body.status, body.final]).toEqual([200, 'EXPIRED', true]);
    expect(await world.visit(payment, 'pay')).toBe(410);
    await world.ended(payment.id);
  });

  it('is settled by polling when its notification never comes', async () => {
    const payment = await link();
    world.sandbox.faults.add({ fault: 'webhookDrop', externalId: payment.id, rate: 1 });
    await world.visit(payment, 'pay');
    await world.pass(POLL_FIRST - MINUTE);
    expect((await world.get(`/v1/payments/${payment.id}`)).body.status).toBe('CREATED');
    await world.pass(2 * MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
  });

  it('is SUCCESSFUL when it is paid at 23 h 59 m 59 s, though nobody notifies', async () => {
    const payment = await link();
    world.sandbox.faults.add({ fault: 'webhookDrop', externalId: payment.id, rate: 1 });
    const { body } = await world.get(`/v1/payments/${payment.id}`);
    await world.pass(Date.parse(body.createdAt) + DAY - SECOND - world.now());
    expect(await world.visit(payment, 'pay')).toBe(303);
    await world.pass(MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
  });

  it("takes the provider's `Link already expired` for done, and lets the status decide", async () => {
    const payment = await link({ expiresIn: '1h' });
    world.sandbox.faults.add({ fault: 'webhookDrop', externalId: payment.id, rate: 1 });
    const [transaction] = world.transactionsOf(payment.id);
    world.sandbox.ledger.expire(String(transaction?.transId));
    // Between two polls (at 45 and 93 minutes) only the end of the link's life asks.
    await world.pass(HOUR + MINUTE);
    await world.untilStatus(payment.id, 'EXPIRED');
    await world.ended(payment.id);
  });

  it('is not misled by notifications out of order', async () => {
    const payment = await link();
    await world.visit(payment, 'decline');
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(await world.notify(payment, { status: 'FAILED' })).toBe(200);
    expect(await world.notify(payment, { status: 'EXPIRED' })).toBe(200);
    // The last of them would contradict the outcome: it is asked about for half an hour before the outcome is believed.
    await world.pass(40 * MINUTE);
    await world.ended(payment.id);
    expect((await world.get(`/v1/payments/${payment.id}`)).body).toMatchObject({
      status: 'SUCCESSFUL',
      final: true,
    });
  });

  it('believes no notification that the provider does not confirm', async () => {
    const payment = await link();
    expect(await world.notify(payment, { status: 'SUCCESSFUL' })).toBe(200);
    await world.pass(30 * SECOND);
    expect((await world.get(`/v1/payments/${payment.id}`)).body).toMatchObject({
      status: 'CREATED',
      final: false,
    });
    const { status, body } = await world.post(`/v1/collections/${payment.id}/expire`, {});
    expect([status, body.code]).toEqual([409, 'not_expirable']);
    expect(body.detail).toContain("the provider hasn't confirmed that yet");
    // It may be ahead of the provider's records for as long as that.
    await world.pass(36 * MINUTE);
    await world.post(`/v1/collections/${payment.id}/expire`, {});
    await world.ended(payment.id);
  });

  it('asks no more than three times a minute in a flood of notifications, and is never answered 429', async () => {
    const payment = await link();
    for (let copy = 0; copy < 100; copy++) await world.notify(payment, {});
    await world.pass(3 * MINUTE);
    const [transaction] = world.transactionsOf(payment.id);
    expect(transaction?.statusCalls.throttled).toBe(0);
    expect(transaction?.statusCalls.answered).toBeLessThanOrEqual(12);
    await world.pass(36 * MINUTE);
    await world.post(`/v1/collections/${payment.id}/expire`, {});
    await world.ended(payment.id);
  });

  it('tells what it knows when the merchant asks it to look', async () => {
    const payment = await link();
    world.sandbox.faults.add({ fault: 'webhookDrop', externalId: payment.id, rate: 1 });
    await world.visit(payment, 'pay');
    const { status, body } = await world.post(`/v1/payments/${payment.id}/refresh`, {});
    expect([status, body.status]).toEqual([200, 'SUCCESSFUL']);
    await world.ended(payment.id);
  });

  it('is not expired when it is paid, which the provider would let us do', async () => {
    const payment = await link();
    world.sandbox.faults.add({ fault: 'webhookDrop', externalId: payment.id, rate: 1 });
    await world.visit(payment, 'pay');
    const [transaction] = world.transactionsOf(payment.id);
    const { ledger } = world.sandbox;
    const asked: string[] = [];
    const expire = ledger.expire.bind(ledger);
    ledger.expire = (transId) => {
      asked.push(transId);
      return expire(transId);
    };
    const { status, body } = await world.post(`/v1/collections/${payment.id}/expire`, {});
    ledger.expire = expire;
    expect([status, body.code]).toEqual([409, 'not_expirable']);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(asked).not.toContain(transaction?.transId);
    await world.ended(payment.id);
  });
});
