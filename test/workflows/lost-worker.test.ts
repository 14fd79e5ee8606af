import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { Activities } from '../../src/activities/activities.js';
import { HOUR, MINUTE } from '../support/orders.js';
import { HASTY, PaymentWorld } from '../support/payment-world.js';

const SUCCEEDS = '670000000';

/**
 * The moment at which the next request that moves money loses its worker: before it went out, or when the provider has
 * taken it.
 */
let lost: 'before' | 'after' | undefined;

/** A worker that is gone never reports: Temporal only sees that its time is over. */
function losing<Given extends readonly unknown[], Outcome>(send: (...given: Given) => Promise<Outcome>) {
  return async (...given: Given): Promise<Outcome> => {
    const where = lost;
    lost = undefined;
    if (where === undefined) return await send(...given);
    if (where === 'after') await send(...given);
    return await Context.current().cancelled;
  };
}

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    ...HASTY,
    activities: (usual: Activities) => ({
      ...usual,
      payOut: losing(usual.payOut),
      directPay: losing(usual.directPay),
    }),
  });
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

describe.each([
  ['payouts', { amount: 900, phone: SUCCEEDS }],
  ['collections', { method: 'direct', amount: 700, phone: SUCCEEDS }],
] as const)('a payment that moves money (%s)', (path, body) => {
  it('whose worker is lost before the request goes out is not sent by another: a person is asked', async () => {
    lost = 'before';
    const payment = (await world.post(`/v1/${path}`, body)).body;
    await world.pass(20 * MINUTE);
    const review = await world.untilStatus(payment.id, 'REVIEW');
    expect(review.reason).toContain('the worker was lost before it could report');
    await world.pass(10 * HOUR);
    expect(world.transactionsOf(payment.id)).toEqual([]);
  });

  it('whose worker is lost with the provider’s answer is found, and not sent by another', async () => {
    lost = 'after';
    world.sandbox.faults.add({ fault: 'webhookDrop', rate: 1 });
    const payment = (await world.post(`/v1/${path}`, body)).body;
    await world.pass(20 * MINUTE);
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    const events = await world.checked(payment.id);
    // Temporal itself knows that it was handed out, and gave it up: no memory of a worker is needed for that.
    expect(events.filter((event) => /^ACTIVITY_TASK_(SCHEDULED|TIMED_OUT)$/.test(event))).toEqual([
      'ACTIVITY_TASK_SCHEDULED',
      'ACTIVITY_TASK_TIMED_OUT',
      'ACTIVITY_TASK_SCHEDULED', // the merchant is told
    ]);
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });
});
