import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MerchantNotification } from '../../src/delivery/merchant.js';
import type { DeliveryOutcome } from '../../src/payments/words/delivery.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { eventually } from '../support/eventually.js';
import { DAY, HOUR } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const down: DeliveryOutcome = { kind: 'failed', reason: 'down' };
let answer: (notification: MerchantNotification) => DeliveryOutcome | Promise<DeliveryOutcome>;

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ notify: async (notification) => answer(notification) });
});
beforeEach(() => {
  answer = () => ({ kind: 'delivered' });
});
afterAll(() => world.stop());

const link = (): Promise<Payment> => world.begin('collections', { method: 'link', amount: 5_000 });
const toldOf = ({ id }: Payment) => world.notifications.filter(({ payment }) => payment.id === id);

describe('telling the merchant', () => {
  it('goes on until the merchant takes it, under one id, when the payment has long ended', async () => {
    answer = () => down;
    const payment = await link();
    await world.visit(payment, 'pay');
    await world.ended(payment.id);
    await world.pass(HOUR);
    answer = () => ({ kind: 'delivered' });
    await world.pass(3 * HOUR);
    expect(new Set(toldOf(payment).map(({ id }) => id))).toEqual(new Set([`evt_${payment.id}_succeeded_1`]));
    expect(toldOf(payment).length).toBeGreaterThanOrEqual(4);
  });

  it('keeps the order, and tells each time how the payment stands by then', async () => {
    answer = () => down;
    const payment = await link();
    await world.visit(payment, 'decline');
    await eventually(
      async () => toldOf(payment).length,
      (count) => count > 0,
    );
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    answer = () => ({ kind: 'delivered' });
    await world.pass(HOUR);
    const told = toldOf(payment).map(({ type, payment: { status } }) => `${type} ${status}`);
    expect(told[0]).toBe('payment.attempt_failed FAILED');
    // By the time it was taken, the payer had paid: the merchant is not told that the payment stands as FAILED.
    expect(told.slice(-2)).toEqual(['payment.attempt_failed SUCCESSFUL', 'payment.succeeded SUCCESSFUL']);
  });

  it('holds up no request that moves money, however many wait for a merchant who never answers', async () => {
    let release: (delivery: DeliveryOutcome) => void = () => undefined;
    const silence = new Promise<DeliveryOutcome>((resolve) => {
      release = resolve;
    });
    answer = () => silence;
    const before = world.notifications.length;
    for (let copy = 0; copy < 12; copy++) await world.visit(await link(), 'pay');
    await eventually(
      async () => world.notifications.length,
      (count) => count > before,
    );
    const { status } = await world.post('/v1/payouts', { amount: 900, phone: '670000800' });
    release({ kind: 'delivered' });
    expect(status).toBe(201);
  });

  it('is given up after three days, and can be asked for again', async () => {
    answer = () => down;
    const payment = await link();
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.pass(3 * DAY + HOUR);
    const before = toldOf(payment).length;
    expect(before).toBeLessThan(20);
    await world.pass(DAY);
    expect(toldOf(payment)).toHaveLength(before);

    answer = () => ({ kind: 'delivered' });
    const again = await world.post(`/v1/payments/${payment.id}/notifications/1/resend`, {});
    expect(again.status).toBe(202);
    await eventually(
      async () => toldOf(payment).length,
      (count) => count === before + 1,
    );
    expect(toldOf(payment).at(-1)).toMatchObject({
      id: `evt_${payment.id}_succeeded_1`,
      payment: { status: 'SUCCESSFUL' },
    });
    const missing = await world.post(`/v1/payments/${payment.id}/notifications/2/resend`, {});
    expect([missing.status, missing.body.code]).toEqual([404, 'no_such_notification']);
  });
});
