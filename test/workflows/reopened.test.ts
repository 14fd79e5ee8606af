import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TryOutcome } from '../../src/activities/merchant.js';
import { MINUTE } from '../support/orders.js';
import { HASTY, PaymentWorld } from '../support/payment-world.js';

const STAYS_PENDING = '670000800';
const payout = { amount: 900, phone: STAYS_PENDING };

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
});
afterAll(() => world.stop());

describe('a payment whose outcome the provider takes back', () => {
  it('is not final any more to anybody who waits for it', async () => {
    // Its run lives on, and so does what those who waited before were told.
    merchant = { kind: 'failed', reason: 'down' };
    const payment = await world.begin('payouts', payout);
    const waiting = world.get(`/v1/payments/${payment.id}?wait=20`);
    await world.settle(payment.id, 'SUCCESSFUL');
    expect((await waiting).body.status).toBe('SUCCESSFUL');
    const [transaction] = world.transactionsOf(payment.id);
    if (transaction !== undefined) transaction.status = 'FAILED';
    await world.notify(payment, { status: 'FAILED' });
    await world.pass(2 * MINUTE);
    await world.untilStatus(payment.id, 'REVIEW');
    const { body } = await world.get(`/v1/payments/${payment.id}?wait=2`);
    expect(body).toMatchObject({ status: 'REVIEW', final: false });
  });

  it('is not answered as rejected when it was taken after all', async () => {
    world.sandbox.faults.add({ fault: 'lowBalance', endpoint: 'payout', count: 1, rate: 1 });
    const key = { 'idempotency-key': 'rejected-and-taken' };
    const rejected = await world.post('/v1/payouts', payout, key);
    const id = String(rejected.body.payment?.id);
    expect(rejected.status).toBe(422);
    const transaction = world.sandbox.ledger.openPending(
      {
        service: 'payout',
        serviceName: 'Test shop',
        method: 'payout',
        amount: 900,
        externalId: id,
        userId: id,
      },
      { kind: 'stays' },
    );
    const { transId } = transaction;
    const { body } = rejected;
    await world.notify(body.payment ?? body, { transId, externalId: id, status: 'PENDING' });
    await world.untilStatus(id, 'REVIEW');
    expect((await world.post('/v1/payouts', payout, key)).body).toMatchObject({ id, status: 'REVIEW' });
    transaction.status = 'SUCCESSFUL';
    await world.resolve(id, { action: 'match', transId, why: 'it was taken' });
    const again = await world.post('/v1/payouts', payout, key);
    expect([again.status, again.body.status]).toEqual([200, 'SUCCESSFUL']);
  });
});

describe('a payment that notifications open again and again', () => {
  it('asks about the transaction that they name once a minute at most', async () => {
    const other = await world.begin('payouts', payout);
    const payment = await world.begin('payouts', payout);
    await world.settle(payment.id, 'SUCCESSFUL');
    await world.ended(payment.id);
    const named = { transId: other.transId, status: 'PENDING' };
    const asked = () => world.transactionsOf(other.id)[0]?.statusCalls.answered;

    await world.notify(payment, named);
    await world.ended(payment.id);
    expect(asked()).toBe(1);
    for (let copy = 0; copy < 4; copy++) await world.notify(payment, named);
    await world.pass(30_000);
    expect(asked()).toBe(1);
    await world.pass(MINUTE);
    await world.ended(payment.id);
    expect(asked()).toBe(2);
  });
});
