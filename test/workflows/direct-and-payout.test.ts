import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../src/payments/words/payment.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { APPROVER, PaymentWorld } from '../support/payment-world.js';

const SECOND = 1_000;
/** Test numbers of the sandbox: the last three digits decide. */
const SUCCEEDS = '670000000';
const FAILS = '670000100';
const SUCCEEDS_IN_26_HOURS = '670000626';
const STAYS_PENDING = '670000800';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start();
});
afterAll(() => world.stop());

const direct = (phone: string): Promise<Payment> =>
  world.begin('collections', { method: 'direct', amount: 700, phone });
const payout = (to: object): Promise<Payment> => world.begin('payouts', { amount: 900, ...to });

describe('a direct collection', () => {
  it.each([
    [SUCCEEDS, 'SUCCESSFUL', undefined],
    [FAILS, 'FAILED', 'direct-failed'],
  ] as const)('to %s ends as %s', async (phone, status, scenario) => {
    const payment = await direct(phone);
    await world.pass(5 * SECOND);
    expect(await world.untilStatus(payment.id, status)).toMatchObject({ final: true });
    await world.ended(payment.id, scenario);
  });

  it('does not expire: undecided for a day it is put under review, and is asked after until it is decided', async () => {
    const payment = await direct(SUCCEEDS_IN_26_HOURS);
    world.sandbox.faults.add({ fault: 'webhookDrop', externalId: payment.id, rate: 1 });
    await world.pass(DAY + HOUR + MINUTE);
    expect(await world.untilStatus(payment.id, 'REVIEW')).toMatchObject({
      final: false,
      reason: expect.stringContaining('a day'),
    });
    await world.pass(2 * HOUR);
    expect(await world.untilStatus(payment.id, 'SUCCESSFUL')).toMatchObject({ final: true });
    await world.ended(payment.id);
    const [transaction] = world.transactionsOf(payment.id);
    expect(transaction?.statusCalls.throttled).toBe(0);
    const notified = world.notifications.filter((event) => event.payment.id === payment.id).map(({ type }) => type);
    expect(notified).toEqual(['payment.review', 'payment.succeeded']);
  });

  it("can't be expired", async () => {
    const payment = await direct(STAYS_PENDING);
    const { status, body } = await world.post(`/v1/collections/${payment.id}/expire`, {});
    expect([status, body.code]).toEqual([409, 'not_a_link']);
    await world.settle(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
  });

  it('takes up a notification that comes before the answer to its initiation', async () => {
    world.sandbox.faults.add({ fault: 'slow', endpoint: 'direct-pay', delayMs: 1_000 });
    const key = { 'idempotency-key': 'hint-before-answer' };
    const answer = world.post('/v1/collections', { method: 'direct', amount: 700, phone: STAYS_PENDING }, key);
    const { externalId } = await world.untilTransaction(({ amount, status }) => amount === 700 && status === 'PENDING');
    await world.settle(String(externalId), 'SUCCESSFUL');
    const { body: payment } = await answer;
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    const events = await world.ended(payment.id);
    expect(events).not.toContain('TIMER_FIRED');
  });
});

describe('a payout', () => {
  it.each([
    [{ phone: SUCCEEDS }, 'SUCCESSFUL'],
    [{ phone: FAILS }, 'FAILED'],
    [{ medium: 'platform', email: 'always.paid@example.com' }, 'SUCCESSFUL'],
    [{ medium: 'platform', email: 'never.paid@example.com' }, 'FAILED'],
  ] as const)('to %p ends as %s', async (to, status) => {
    const payment = await payout(to);
    await world.pass(5 * SECOND);
    expect(await world.untilStatus(payment.id, status)).toMatchObject({ final: true });
    await world.ended(payment.id);
  });

  it('that has to be approved waits for that, and is sent once', async () => {
    const ordered = await world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS, approval: true });
    expect(ordered.body).toMatchObject({ status: 'CREATED', held: { for: ['approval'] } });
    await world.pass(HOUR);
    expect(world.transactionsOf(ordered.body.id)).toEqual([]);
    const { digest } = ordered.body.held ?? {};
    expect((await world.post(`/v1/payouts/${ordered.body.id}/approve`, { digest }, APPROVER)).status).toBe(200);
    await world.pass(MINUTE);
    await world.untilStatus(ordered.body.id, 'SUCCESSFUL');
    await world.ended(ordered.body.id, 'payout-approved');
    expect(world.transactionsOf(ordered.body.id)).toHaveLength(1);
  });

  it("is FAILED with the provider's words when it is rejected, and the same is answered again", async () => {
    world.sandbox.faults.add({ fault: 'lowBalance' });
    const body = { amount: 900, phone: SUCCEEDS };
    const key = { 'idempotency-key': 'rejected' };
    const first = await world.post('/v1/payouts', body, key);
    expect([first.status, first.body.code]).toEqual([422, 'rejected_by_provider']);
    const id = String(first.body.payment?.id);
    await world.ended(id);
    const again = await world.post('/v1/payouts', body, key);
    expect([again.status, again.body.detail]).toEqual([422, first.body.detail]);
    expect((await world.get(`/v1/payments/${id}`)).body).toMatchObject({ status: 'FAILED', final: true });
    expect(world.transactionsOf(id)).toEqual([]);
  });

  it('waits while the provider refuses the credentials, and goes out when it takes them again', async () => {
    world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', count: 2 });
    const answer = await world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS });
    expect([answer.status, answer.body.status, answer.body.final]).toEqual([202, 'CREATED', false]);
    await world.pass(3 * MINUTE);
    await world.untilStatus(answer.body.id, 'SUCCESSFUL');
    await world.ended(answer.body.id);
    expect(world.transactionsOf(answer.body.id)).toHaveLength(1);
  });

  it('is sent again when it surely was not taken', async () => {
    world.sandbox.faults.add({ fault: 'throttle', endpoint: 'payout', count: 3, retryAfter: 2 });
    const { body } = await world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS });
    await world.pass(4 * MINUTE);
    await world.untilStatus(body.id, 'SUCCESSFUL');
    await world.checked(body.id);
    expect(world.transactionsOf(body.id)).toHaveLength(1);
  });

  it('is FAILED when it could not be sent for five minutes', async () => {
    world.sandbox.faults.add({ fault: 'throttle', endpoint: 'payout', rate: 1, count: 1_000 });
    const { body } = await world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS });
    await world.pass(7 * MINUTE);
    const payment = await world.untilStatus(body.id, 'FAILED');
    world.sandbox.faults.clear();
    expect(payment).toMatchObject({ final: true, reason: expect.stringContaining('never sent') });
    await world.checked(body.id);
    expect(world.transactionsOf(body.id)).toEqual([]);
  });
});
