import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNow } from '../../src/engine/workflow-start.js';
import type { PayoutOrder } from '../../src/payments/words/order.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { approveUpdate, expireUpdate, rejectPayoutUpdate } from '../../src/workflows/messages.js';
import { DAY, HOUR, MINUTE, paymentId, terms as usualTerms } from '../support/orders.js';
import { HASTY, PaymentWorld } from '../support/payment-world.js';
import { MERCHANT } from '../support/scenario.js';

const terms = { ...usualTerms, ...HASTY.terms, approveAbove: 899 };

let world: PaymentWorld;
beforeAll(async () => {
  // Each task replays the history from its start.
  world = await PaymentWorld.start({ terms, cachedWorkflows: 0 });
});
afterAll(() => world.stop());

const handleOf = (id: string) => world.client.workflow.getHandle(id);
const now = () => world.env.currentTimeMs();

/** A payout of 900 XAF that ann has ordered. */
async function order(name: string, more: Partial<PayoutOrder> = {}): Promise<Payment> {
  const id = paymentId(`pay_${name}`);
  const ordered: PayoutOrder = {
    id,
    kind: 'payout',
    amount: 900,
    phone: '670000000',
    orderedBy: 'ann',
    metadata: {},
    ...more,
  };
  const input = { v: 1, order: ordered, terms, fingerprint: 'f', requestId: 'r' } as const;
  await startNow(world.client, { input, merchant: 'shop', taskQueue: 'payments', createdAt: await now() });
  return await world.until(id, ({ held }) => held !== undefined);
}

const approve = ({ id, held }: Payment, by: string, digest = held?.digest ?? '') =>
  handleOf(id).executeUpdate(approveUpdate, { args: [{ by, digest }] });
const reject = ({ id }: Payment, by: string) =>
  handleOf(id).executeUpdate(rejectPayoutUpdate, { args: [{ by, why: 'no such invoice' }] });
const typesOf = (id: string) => world.notifications.filter(({ payment }) => payment.id === id).map(({ type }) => type);

describe('a payout above the limit', () => {
  it('is answered at once, as held, and is not sent while nobody approves it', async () => {
    const { status, body } = await world.post('/v1/payouts', { amount: 900, phone: '670000000' });
    expect({ status, held: body.held?.for }).toEqual({ status: 201, held: ['approval'] });
    await world.pass(8 * DAY);
    expect(await world.untilStatus(body.id, 'FAILED')).toMatchObject({ failureCode: 'not_approved', final: true });
    expect(world.transactionsOf(body.id)).toEqual([]);
    await world.checked(body.id, 'payout-not-approved');
    expect(typesOf(body.id)).toEqual(['payment.held', 'payment.failed']);
  });

  it('is sent once somebody else has approved it, and its date has come', async () => {
    const payment = await order('wages', { sendAt: (await now()) + 2 * DAY });
    const { id } = payment;
    await expect(approve(payment, 'ann')).rejects.toMatchObject({ cause: { type: 'SamePerson' } });
    await expect(approve(payment, 'bob', 'another')).rejects.toMatchObject({ cause: { type: 'OtherDigest' } });
    const approved = await approve(payment, 'bob');
    expect(approved.payment.held).toMatchObject({ for: ['date'], approvals: [{ by: 'bob' }] });
    await world.pass(DAY);
    expect(world.transactionsOf(id)).toEqual([]);
    await world.pass(DAY + HOUR);
    expect(await world.untilStatus(id, 'SUCCESSFUL')).toMatchObject({ amountPaid: 900 });
    await expect(approve(payment, 'eve')).rejects.toThrow();
    await world.ended(id, 'payout-approved');
    expect(world.transactionsOf(id)).toHaveLength(1);
    const events = (await world.events(id)).map(({ type }) => type);
    expect(events.slice(0, 5)).toEqual(['created', 'held', 'merchant_notification', 'approved', 'sending']);
  });

  it('is not sent once somebody has rejected it, or its merchant has cancelled it', async () => {
    const rejected = await order('rejected');
    expect((await reject(rejected, 'bob')).payment).toMatchObject({ status: 'FAILED', failureCode: 'not_approved' });
    await world.ended(rejected.id, 'payout-rejected');
    const cancelled = await order('cancelled');
    const { status, body } = await world.post(`/v1/payouts/${cancelled.id}/cancel`, undefined);
    expect({ status, code: body.failureCode }).toEqual({ status: 200, code: 'withdrawn' });
    await world.ended(cancelled.id);
  });

  it('goes to a person when a notification names it, and is not sent by an operator’s decision', async () => {
    const payment = await order('named');
    await world.notify(payment, { transId: 'forged' });
    await world.untilStatus(payment.id, 'REVIEW');
    const resent = await world.resolve(payment.id, { action: 'resend', force: true });
    expect(resent).toMatchObject({ status: 409, body: { detail: expect.stringContaining("can't be sent") } });
    expect((await world.resolve(payment.id, { action: 'fail', force: true })).body.status).toBe('FAILED');
    await world.checked(payment.id);
    expect(world.transactionsOf(payment.id)).toEqual([]);
  });

  it('ends once the list was read where it may have been sent before', async () => {
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'transaction' });
    const { id } = await order('unread');
    const ending = handleOf(id).executeUpdate(expireUpdate, { args: [{ by: MERCHANT }] });
    await world.pass(2 * MINUTE);
    expect((await ending).payment).toMatchObject({ status: 'FAILED', failureCode: 'withdrawn' });
    await world.checked(id);
  });
});
