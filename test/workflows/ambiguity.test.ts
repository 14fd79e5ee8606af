import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { FaultRequest } from '../../sandbox/faults/fault-rule.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { HOUR, MINUTE } from '../support/orders.js';
import { HASTY, PaymentWorld, SUCCEEDS_LATER } from '../support/payment-world.js';

const SUCCEEDS = '670000000';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start(HASTY);
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

async function ordered(path: 'collections' | 'payouts', body: object): Promise<Payment> {
  const answer = await world.post(`/v1/${path}`, body);
  expect([201, 202]).toContain(answer.status);
  return answer.body;
}

const notificationsOf = (id: string) =>
  world.notifications.filter(({ payment }) => payment.id === id).map(({ type }) => type);

const kinds = [
  {
    endpoint: 'payout',
    order: (phone = SUCCEEDS) => ordered('payouts', { amount: 900, phone }),
  },
  {
    endpoint: 'direct-pay',
    order: (phone = SUCCEEDS) => ordered('collections', { method: 'direct', amount: 700, phone }),
  },
] as const;

const committed = ['timeoutAfterCommit', 'errorAfterCommit', 'resetAfterCommit', 'garbage'] as const;
const uncommitted = ['timeoutBeforeCommit', 'errorBeforeCommit', 'resetBeforeCommit'] as const;

describe.each(kinds)('an ambiguous $endpoint', ({ endpoint, order }) => {
  it.each(committed)('that was taken (%s) is found and seen through, and never sent again', async (fault) => {
    world.sandbox.faults.add({ fault, endpoint } as FaultRequest);
    const payment = await order(SUCCEEDS_LATER);
    await world.pass(MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    // The outcome of one that was doubted is looked at for a day: every payment of the suite would be asked about.
    if (fault === 'timeoutAfterCommit') await world.checked(payment.id);
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });

  it.each(uncommitted)(
    'that was not taken (%s) goes to review after the grace period, and is never sent again',
    async (fault) => {
      world.sandbox.faults.add({ fault, endpoint } as FaultRequest);
      const payment = await order();
      await world.pass(14 * MINUTE);
      expect((await world.get(`/v1/payments/${payment.id}`)).body).toMatchObject({
        status: 'CREATED',
        final: false,
      });
      await world.pass(2 * MINUTE);
      const review = await world.untilStatus(payment.id, 'REVIEW');
      expect(review).toMatchObject({ final: false, reason: expect.stringContaining("isn't known") });
      await world.pass(HOUR);
      expect(world.transactionsOf(payment.id)).toEqual([]);
      expect((await world.get(`/v1/payments/${payment.id}`)).body.status).toBe('REVIEW');
      expect(notificationsOf(payment.id)).toEqual(['payment.review']);
    },
  );

  it('is not given up because the provider shows it late', async () => {
    world.sandbox.faults.add({ fault: 'timeoutAfterCommit', endpoint });
    world.sandbox.faults.add({ fault: 'listLag', endpoint, delayMs: 12 * MINUTE });
    world.sandbox.faults.add({ fault: 'webhookDrop', rate: 1 });
    const payment = await order();
    await world.pass(20 * MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('that was taken twice is not FAILED when the one that was found has failed: a person is asked', async () => {
    world.sandbox.faults.add({ fault: 'timeoutAfterCommit', endpoint });
    world.sandbox.faults.add({ fault: 'listLag', endpoint, delayMs: 30_000 });
    world.sandbox.faults.add({ fault: 'webhookDrop', rate: 1 });
    const payment = await order();
    // The provider's gateway has sent it on once more, and the list shows that one at once.
    const [first] = world.transactionsOf(payment.id);
    if (first === undefined || first.method === 'link') throw new Error('the provider has not taken it');
    const { service, serviceName, method, amount, medium, externalId, userId, webhook } = first;
    const second = world.sandbox.ledger.openPending(
      { service, serviceName, method, amount, medium, externalId, userId, webhook },
      { kind: 'settles', status: 'FAILED', after: MINUTE },
    );
    await world.pass(5_000);
    await world.until(payment.id, ({ transId }) => transId === second.transId);
    await world.pass(HOUR);
    const review = await world.untilStatus(payment.id, 'REVIEW');
    expect(review).toMatchObject({
      final: false,
      reason: `${second.transId} is FAILED, but the provider has another transaction for this payment: ${first.transId} (SUCCESSFUL)`,
    });
    expect((await world.resolve(payment.id, { action: 'match', transId: first.transId })).status).toBeLessThan(300);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    await world.checked(payment.id);
    expect(notificationsOf(payment.id)).toEqual(['payment.review', 'payment.succeeded']);
  });
});

describe('an ambiguous link', () => {
  it.each([...committed, ...uncommitted])(
    '(%s) is made anew, and the payer has one that can be paid',
    async (fault) => {
      world.sandbox.faults.add({ fault, endpoint: 'initiate-pay' } as FaultRequest);
      const ordered = await world.post('/v1/collections', { method: 'link', amount: 5_000 });
      await world.pass(MINUTE);
      const payment = await world.until(ordered.body.id, ({ link }) => link !== undefined);
      expect(await world.visit(payment, 'pay')).toBe(303);
      await world.untilStatus(payment.id, 'SUCCESSFUL');
      await world.ended(payment.id, fault === 'errorAfterCommit' ? 'link-made-by-a-worker' : undefined);
      const statuses = world.transactionsOf(payment.id).map(({ status }) => status);
      // What the lost answer left behind can't be paid any more.
      expect(statuses.filter((status) => status === 'SUCCESSFUL')).toHaveLength(1);
      expect(statuses.filter((status) => status === 'CREATED' || status === 'PENDING')).toEqual([]);
    },
  );
});
