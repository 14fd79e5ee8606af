import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../src/payments/words/payment.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { HASTY, PaymentWorld } from '../support/payment-world.js';

const SUCCEEDS = '670000000';
const STAYS_PENDING = '670000800';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start(HASTY);
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

/** A payout under review; `taken` when the provider has it all the same, and doesn't show it. */
async function underReview(taken: boolean, phone = SUCCEEDS): Promise<Payment> {
  if (taken) world.sandbox.faults.add({ fault: 'listLag', endpoint: 'payout', delayMs: 10 * HOUR });
  if (taken) world.sandbox.faults.add({ fault: 'webhookDrop', rate: 1, count: 1 });
  world.sandbox.faults.add({ fault: taken ? 'resetAfterCommit' : 'resetBeforeCommit', endpoint: 'payout' });
  const { body } = await world.post('/v1/payouts', { amount: 900, phone });
  await world.pass(16 * MINUTE);
  return await world.untilStatus(body.id, 'REVIEW');
}

const resolve = (payment: Payment, decision: object) => world.resolve(payment.id, decision);
const notificationsOf = (payment: Payment) =>
  world.notifications.filter((one) => one.payment.id === payment.id).map(({ type }) => type);

describe('an operator’s decision', () => {
  it('to resend is carried out once when the provider shows nothing', async () => {
    const payment = await underReview(false);
    expect((await resolve(payment, { action: 'resend' })).status).toBeLessThan(300);
    await world.pass(MINUTE);
    const paid = await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(paid.resolution).toMatchObject({ action: 'resend', by: 'shop', why: 'seen in the portal' });
    await world.checked(payment.id, 'review-resend');
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
    expect(notificationsOf(payment)).toEqual(['payment.review', 'payment.succeeded']);
  });

  it('to resend is refused when the provider has come to show it', async () => {
    const payment = await underReview(true);
    world.sandbox.faults.clear();
    world.clock.advanceTo(world.clock.now() + 11 * HOUR);
    const answer = await resolve(payment, { action: 'resend' });
    expect([answer.status, answer.body.code]).toEqual([409, 'resolution_refused']);
    expect(answer.body.detail).toContain(String(world.transactionsOf(payment.id)[0]?.transId));
    await world.pass(12 * HOUR);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.checked(payment.id);
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('to resend is refused while the provider cannot be asked', async () => {
    const payment = await underReview(false);
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'transaction' });
    expect((await resolve(payment, { action: 'resend' })).body.code).toBe('resolution_refused');
    expect((await resolve(payment, { action: 'fail' })).status).toBeLessThan(300);
    await world.checked(payment.id, 'review-fail');
    expect((await world.get(`/v1/payments/${payment.id}`)).body).toMatchObject({
      status: 'FAILED',
      final: true,
    });
    expect(notificationsOf(payment)).toEqual(['payment.review', 'payment.failed']);
    expect(world.transactionsOf(payment.id)).toEqual([]);
  });

  it('to match is carried out when the transaction is the payment’s', async () => {
    const payment = await underReview(true);
    const transId = world.transactionsOf(payment.id)[0]?.transId;
    const answer = await resolve(payment, { action: 'match', transId });
    expect(answer.body).toMatchObject({ status: 'SUCCESSFUL', final: true, transId });
    await world.checked(payment.id, 'review-match');
    expect(notificationsOf(payment)).toEqual(['payment.review', 'payment.succeeded']);
  });

  it('to match is refused for a transaction of another payment, and for one that nobody knows', async () => {
    const other = await world.begin('payouts', { amount: 900, phone: SUCCEEDS });
    const payment = await underReview(false);
    for (const transId of [other.transId, 'made-up']) {
      const answer = await resolve(payment, { action: 'match', transId });
      expect([answer.status, answer.body.code]).toEqual([409, 'resolution_refused']);
    }
    expect((await world.get(`/v1/payments/${payment.id}`)).body.status).toBe('REVIEW');
    await resolve(payment, { action: 'fail' });
    await world.checked(payment.id);
  });

  it('to fail is refused while the provider has it as PENDING', async () => {
    const payment = await world.begin('payouts', { amount: 900, phone: STAYS_PENDING });
    await world.pass(DAY + HOUR + MINUTE);
    await world.untilStatus(payment.id, 'REVIEW');
    expect((await resolve(payment, { action: 'fail' })).body.code).toBe('resolution_refused');
    await world.settle(payment.id, 'FAILED');
    await world.untilStatus(payment.id, 'FAILED');
    await world.ended(payment.id);
  });

  it('is checked within the provider’s limit, however often it is made', async () => {
    const payment = await world.begin('payouts', { amount: 900, phone: STAYS_PENDING });
    await world.pass(DAY + HOUR + MINUTE);
    await world.untilStatus(payment.id, 'REVIEW');
    for (let copy = 0; copy < 8; copy++) await resolve(payment, { action: 'fail' });
    await world.pass(5 * MINUTE);
    expect(world.transactionsOf(payment.id)[0]?.statusCalls.throttled).toBe(0);
    await world.settle(payment.id, 'SUCCESSFUL');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
  });

  it('is refused for a payment that is not under review', async () => {
    const payment = await world.begin('payouts', { amount: 900, phone: STAYS_PENDING });
    expect((await resolve(payment, { action: 'fail' })).body.code).toBe('not_under_review');
    await world.settle(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
  });
});

describe('a notification that names a transaction', () => {
  it('brings back an ambiguous payment that the provider does not show', async () => {
    world.sandbox.faults.add({ fault: 'listLag', endpoint: 'payout', delayMs: 10 * HOUR });
    world.sandbox.faults.add({ fault: 'timeoutAfterCommit', endpoint: 'payout' });
    const { body } = await world.post('/v1/payouts', { amount: 900, phone: STAYS_PENDING });
    await world.settle(body.id, 'SUCCESSFUL');
    await world.untilStatus(body.id, 'SUCCESSFUL');
    await world.checked(body.id, 'payout-found-by-its-notification');
  });

  it('puts a payment under review when the provider has a second transaction for it', async () => {
    const payment = await world.begin('payouts', { amount: 900, phone: STAYS_PENDING });
    const second = world.sandbox.ledger.openPending(
      {
        service: 'payout',
        serviceName: 'x',
        method: 'payout',
        amount: 900,
        externalId: payment.id,
        userId: payment.id,
      },
      { kind: 'stays' },
    );
    await world.notify(payment, { transId: second.transId, status: 'PENDING' });
    const review = await world.untilStatus(payment.id, 'REVIEW');
    expect(review.reason).toContain(second.transId);
    world.sandbox.faults.add({ fault: 'webhookDrop', externalId: payment.id, rate: 1 });
    // Its own outcome doesn't end that review: somebody must look at the second.
    await world.settle(payment.id, 'SUCCESSFUL');
    await world.pass(2 * HOUR);
    expect((await world.get(`/v1/payments/${payment.id}`)).body.status).toBe('REVIEW');
    const answer = await resolve(payment, { action: 'match', transId: payment.transId });
    expect(answer.body).toMatchObject({ status: 'SUCCESSFUL', final: true });
    // The second was paid as well, after that decision: it is seen when the outcome is checked again.
    await world.pass(MINUTE);
    const again = await world.untilStatus(payment.id, 'REVIEW');
    expect(again.reason).toContain(`${second.transId} (SUCCESSFUL)`);
    await resolve(payment, { action: 'match', transId: payment.transId });
    await world.checked(payment.id, 'payout-second-transaction');
  });

  it('opens a payment again that has ended, and puts it under review, when the provider contradicts the outcome', async () => {
    const payment = await world.begin('payouts', { amount: 900, phone: STAYS_PENDING });
    await world.settle(payment.id, 'FAILED');
    await world.ended(payment.id);
    const [transaction] = world.transactionsOf(payment.id);
    if (transaction) Object.assign(transaction, { status: 'SUCCESSFUL' });
    expect(await world.notify(payment, { status: 'SUCCESSFUL' })).toBe(200);
    await world.pass(2 * MINUTE);
    const review = await world.untilStatus(payment.id, 'REVIEW');
    expect(review).toMatchObject({
      final: false,
      reason: expect.stringMatching(/^the payment ended as FAILED, and the provider now says that \S+ is SUCCESSFUL$/),
    });
    const { body } = await resolve(payment, { action: 'match', transId: payment.transId });
    expect(body).toMatchObject({ status: 'SUCCESSFUL', final: true });
    await world.ended(payment.id, 'late-contradiction');
    expect(notificationsOf(payment)).toEqual(['payment.failed', 'payment.review', 'payment.succeeded']);
  });

  it('changes nothing about a payment that has ended, when the provider confirms the outcome', async () => {
    const payment = await world.begin('payouts', { amount: 900, phone: STAYS_PENDING });
    await world.settle(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
    expect(await world.notify(payment, { status: 'FAILED' })).toBe(200);
    await world.pass(40 * MINUTE);
    await world.ended(payment.id, 'late-forgery');
    expect((await world.get(`/v1/payments/${payment.id}`)).body).toMatchObject({
      status: 'SUCCESSFUL',
      final: true,
    });
    expect(notificationsOf(payment)).toEqual(['payment.succeeded']);
  });
});
