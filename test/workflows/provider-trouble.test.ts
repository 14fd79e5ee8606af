import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../src/payments/words/payment.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const SUCCEEDS = '670000000';
const SECOND = 1_000;

/** The paths that the provider was asked. */
const asked: string[] = [];
let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ onProviderRequest: (path) => asked.push(path) });
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

const link = (): Promise<Payment> => world.begin('collections', { method: 'link', amount: 5_000 });
const payout = (): Promise<Payment> => world.begin('payouts', { amount: 900, phone: SUCCEEDS });

describe('a payment in the provider’s trouble', () => {
  it.each([{ retryAfter: 90 }, {}])('waits when it is answered 429 (%p), and goes on', async (header) => {
    const payment = await link();
    world.sandbox.faults.add({ fault: 'throttle', endpoint: 'payment-status', count: 3, ...header });
    await world.visit(payment, 'pay');
    await world.pass(5 * MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
  });

  it('stays as it was last known through hours of 5xx, with few questions, and goes on when they end', async () => {
    const payment = await link();
    world.sandbox.faults.add({
      fault: 'errorBeforeCommit',
      endpoint: 'payment-status',
      rate: 1,
      forMs: 5 * HOUR,
    });
    await world.visit(payment, 'pay');
    const run = async () => (await world.client.workflow.getHandle(payment.id).describe()).runId;
    const firstRun = await run();
    asked.length = 0;
    await world.pass(4 * HOUR);
    expect((await world.get(`/v1/payments/${payment.id}`)).body).toMatchObject({
      status: 'CREATED',
      final: false,
    });
    await world.pass(2 * HOUR);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    const events = await world.ended(payment.id);
    const questions = asked.filter((path) => path.includes('/payment-status/')).length;
    expect(questions).toBeGreaterThan(5);
    expect(questions).toBeLessThan(30);
    expect(events.length).toBeLessThan(15 * questions);
    expect(await run()).toBe(firstRun);
  });

  it('outlasts a provider that is away at the end of the link’s life', async () => {
    const payment = await link();
    world.sandbox.faults.add({ fault: 'webhookDrop', externalId: payment.id, rate: 1 });
    await world.pass(DAY - MINUTE);
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', rate: 1, forMs: 3 * HOUR });
    await world.pass(2 * HOUR);
    expect((await world.get(`/v1/payments/${payment.id}`)).body).toMatchObject({
      status: 'CREATED',
      final: false,
    });
    await world.pass(3 * HOUR);
    await world.untilStatus(payment.id, 'EXPIRED');
    await world.ended(payment.id);
  });

  it('is expired, as a link, though the provider could not be told at its end', async () => {
    const order = { method: 'link', amount: 5_000, expiresIn: '10m' };
    const payment = await world.begin('collections', order);
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'expire-pay', count: 3 });
    await world.pass(HOUR);
    await world.untilStatus(payment.id, 'EXPIRED');
    expect(world.transactionsOf(payment.id)).toMatchObject([{ status: 'EXPIRED' }]);
    await world.ended(payment.id);
  });

  it('takes a slow answer for an answer', async () => {
    world.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 300 });
    const payment = await payout();
    await world.pass(5 * SECOND);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('is FAILED with the provider’s words when the balance is too low, and the next one is not', async () => {
    world.sandbox.faults.add({ fault: 'lowBalance' });
    const { status, body } = await world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS });
    expect([status, body.code]).toEqual([422, 'rejected_by_provider']);
    const payment = await payout();
    await world.pass(5 * SECOND);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
  });

  it('waits, and is neither FAILED nor under review, while the credentials are revoked', async () => {
    const begun = await payout();
    world.sandbox.faults.add({ fault: 'wrongCredentials', rate: 1, forMs: 3 * HOUR });
    const posts = Array.from({ length: 5 }, () => world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS }));
    const held = (await Promise.all(posts)).map(({ status, body }): Payment => {
      expect([status, body.status]).toEqual([202, 'CREATED']);
      return body;
    });
    await world.pass(2 * HOUR);
    for (const { id } of [begun, ...held]) {
      expect((await world.get(`/v1/payments/${id}`)).body).toMatchObject({ status: 'CREATED', final: false });
    }
    await world.pass(2 * HOUR);
    for (const { id } of [begun, ...held]) {
      await world.untilStatus(id, 'SUCCESSFUL');
      expect(world.transactionsOf(id)).toHaveLength(1);
    }
  });

  it('does not mind that the provider’s clock is a day off', async () => {
    for (const skewMs of [DAY, -DAY]) {
      world.sandbox.faults.clear();
      world.sandbox.faults.add({ fault: 'clockSkew', rate: 1, skewMs });
      const payment = await link();
      await world.visit(payment, 'pay');
      await world.untilStatus(payment.id, 'SUCCESSFUL');
      await world.ended(payment.id);
    }
  });

  it('is not misled by a status that goes backwards', async () => {
    const payment = await link();
    await world.visit(payment, 'decline');
    await world.untilStatus(payment.id, 'FAILED');
    world.sandbox.faults.add({ fault: 'statusRegression', transId: String(payment.transId), count: 2 });
    await world.visit(payment, 'pay');
    await world.pass(10 * MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
    const notified = world.notifications.filter((event) => event.payment.id === payment.id).map(({ type }) => type);
    expect(notified).toEqual(['payment.attempt_failed', 'payment.succeeded']);
  });

  it('is sent when the provider can be reached again, having refused connections', async () => {
    await world.refuseConnections(true);
    const { status, body } = await world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS });
    expect([status, body.status]).toEqual([202, 'CREATED']);
    await world.refuseConnections(false);
    await world.pass(MINUTE);
    await world.untilStatus(body.id, 'SUCCESSFUL');
    await world.ended(body.id);
    expect(world.transactionsOf(body.id)).toHaveLength(1);
  });
});
