import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MerchantNotification, TryOutcome } from '../../src/activities/merchant.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { paymentSearchAttributes } from '../../src/temporal/search-attributes.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const down: TryOutcome = { kind: 'failed', reason: 'down' };
let answer: (notification: MerchantNotification) => TryOutcome | Promise<TryOutcome>;

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ notify: async (notification) => answer(notification) });
});
beforeEach(() => {
  answer = () => ({ kind: 'delivered' });
});
afterAll(() => world.stop());

const link = (): Promise<Payment> => world.begin('collections', { method: 'link', amount: 5_000 });
const notificationsOf = ({ id }: Payment) => world.notifications.filter(({ payment }) => payment.id === id);

describe('telling the merchant', () => {
  it('goes on until the merchant takes it, under one id, without holding up the payment', async () => {
    answer = () => down;
    const payment = await link();
    await world.visit(payment, 'pay');
    expect(await world.untilStatus(payment.id, 'SUCCESSFUL')).toMatchObject({ final: true });
    await world.pass(HOUR);
    answer = () => ({ kind: 'delivered' });
    await world.pass(3 * HOUR);
    await world.ended(payment.id, 'merchant-notified-late');
    const ids = new Set(notificationsOf(payment).map(({ id }) => id));
    expect(ids).toEqual(new Set([`evt_${payment.id}_succeeded_1`]));
    expect(notificationsOf(payment).length).toBeGreaterThanOrEqual(4);
  });

  it('keeps the order, and tells each time how the payment stands by then', async () => {
    answer = () => down;
    const payment = await link();
    await world.visit(payment, 'decline');
    while (notificationsOf(payment).length === 0) await pause(20);
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    answer = () => ({ kind: 'delivered' });
    await world.pass(10 * MINUTE);
    await world.ended(payment.id, 'merchant-notified-in-order');
    const notified = notificationsOf(payment).map(({ type, payment: { status } }) => `${type} ${status}`);
    expect(notified[0]).toBe('payment.attempt_failed FAILED');
    // By the time it was taken, the payer had paid: the merchant is not told that the payment stands as FAILED.
    expect(notified.at(-2)).toBe('payment.attempt_failed SUCCESSFUL');
    expect(notified.at(-1)).toBe('payment.succeeded SUCCESSFUL');
  });

  it('does not repeat what is being told when the payment changes, and tells the rest after it', async () => {
    const payment = await link();
    let release: (delivery: TryOutcome) => void = () => undefined;
    answer = () =>
      new Promise<TryOutcome>((resolve) => {
        release = resolve;
      });
    await world.visit(payment, 'decline');
    while (notificationsOf(payment).length === 0) await pause(20);
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    answer = () => ({ kind: 'delivered' });
    release({ kind: 'delivered' });
    await world.ended(payment.id, 'merchant-notified-of-each');
    const told = notificationsOf(payment).map(({ type, payment: { status } }) => `${type} ${status}`);
    expect(told).toEqual(['payment.attempt_failed FAILED', 'payment.succeeded SUCCESSFUL']);
    await world.pass(HOUR);
  });

  it('says how the payment is when it is sent, however long it has waited for a worker', async () => {
    const releases: (() => void)[] = [];
    answer = () => new Promise<TryOutcome>((resolve) => releases.push(() => resolve({ kind: 'delivered' })));
    // As many as a worker sends at a time.
    for (let copy = 0; copy < 10; copy++) await world.visit(await link(), 'pay');
    while (releases.length < 10) await pause(20);
    const payment = await link();
    await world.visit(payment, 'decline');
    await world.untilStatus(payment.id, 'FAILED');
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    const isMadeAnew = async () =>
      (await world.historyOf(payment.id)).filter((event) => event === 'ACTIVITY_TASK_SCHEDULED').length > 1;
    while (!(await isMadeAnew())) await pause(100);
    answer = () => ({ kind: 'delivered' });
    for (const release of releases) release();
    await world.ended(payment.id, 'merchant-notified-anew');
    const told = notificationsOf(payment).map(({ type, payment: { status } }) => `${type} ${status}`);
    expect(told).toEqual(['payment.attempt_failed SUCCESSFUL', 'payment.succeeded SUCCESSFUL']);
    const { body } = await world.get(`/v1/payments/${payment.id}/notifications`);
    const deliveries = body as unknown as {
      readonly data: readonly { readonly delivery: { status: string } }[];
    };
    expect(deliveries.data.map(({ delivery }) => delivery.status)).toEqual(['delivered', 'delivered']);
    await world.pass(HOUR);
  });

  it('holds up no request that moves money, however many wait for a merchant who never answers', async () => {
    answer = () => down;
    for (let copy = 0; copy < 12; copy++) await world.visit(await link(), 'pay');
    let release: (delivery: TryOutcome) => void = () => undefined;
    const silence = new Promise<TryOutcome>((resolve) => {
      release = resolve;
    });
    answer = () => silence;
    const before = world.notifications.length;
    const passing = world.pass(MINUTE);
    // There are more second tries than a worker has slots for activities.
    while (world.notifications.length < before + 10) await pause(20);
    const { status } = await world.post('/v1/payouts', { amount: 900, phone: '670000800' });
    release({ kind: 'delivered' });
    await passing;
    expect(status).toBe(201);
  });

  it('is given up after three days, as the index then knows, and can be asked for again', async () => {
    answer = () => down;
    const payment = await link();
    const isGivenUp = async () => {
      const { typedSearchAttributes } = await world.client.workflow.getHandle(payment.id).describe();
      return typedSearchAttributes.get(paymentSearchAttributes.givenUp);
    };
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.pass(3 * DAY + HOUR);
    await world.ended(payment.id, 'merchant-never-notified');
    expect(await isGivenUp()).toBe(true);
    const before = notificationsOf(payment).length;
    expect(before).toBeLessThan(20);

    answer = () => ({ kind: 'delivered' });
    const again = await world.post(`/v1/payments/${payment.id}/notifications/1/resend`, {});
    expect(again.status).toBe(202);
    await world.ended(payment.id, 'merchant-notified-again');
    expect(await isGivenUp()).toBeUndefined();
    expect(notificationsOf(payment)).toHaveLength(before + 1);
    expect(notificationsOf(payment).at(-1)).toMatchObject({
      id: `evt_${payment.id}_succeeded_1`,
      payment: { status: 'SUCCESSFUL' },
    });
    const missing = await world.post(`/v1/payments/${payment.id}/notifications/2/resend`, {});
    expect([missing.status, missing.body.code]).toEqual([404, 'no_such_notification']);
  });

  it('begins anew at once when it is asked for again between two tries', async () => {
    answer = () => down;
    const payment = await link();
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.pass(3 * HOUR);
    const before = notificationsOf(payment).length;
    answer = () => ({ kind: 'delivered' });
    const again = await world.post(`/v1/payments/${payment.id}/notifications/1/resend`, {});
    expect(again.status).toBe(202);
    await world.ended(payment.id);
    expect(notificationsOf(payment)).toHaveLength(before + 1);
  });
});
