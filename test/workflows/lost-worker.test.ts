import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { Activities } from '../../src/activities/activities.js';
import { MINUTE } from '../support/orders.js';
import { HASTY, PaymentWorld } from '../support/payment-world.js';

const SUCCEEDS = '670000000';

/**
 * What becomes of the worker that makes the next attempt: it dies before it does anything, or when the provider has
 * taken the request, or it is frozen before it does anything.
 */
let lost: 'before' | 'after' | 'frozen' | undefined;
let thaw: () => void = () => undefined;
/** What the frozen worker does once it goes on. */
let thawed: Promise<unknown> = Promise.resolve();

/** A worker that is gone never reports: Temporal only sees that its time is over. */
function losing(send: Activities['sendPayout']): Activities['sendPayout'] {
  return async (...given) => {
    const where = lost;
    lost = undefined;
    if (where === undefined) return await send(...given);
    if (where === 'after') await send(...given);
    if (where === 'frozen') {
      const frozen = new Promise<void>((resolve) => {
        thaw = resolve;
      });
      thawed = frozen.then(() => send(...given));
      await thawed.catch(() => undefined);
    }
    return await Context.current().cancelled;
  };
}

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    ...HASTY,
    activities: (usual) => ({
      ...usual,
      sendPayout: losing(usual.sendPayout),
      requestOnPhone: losing(usual.requestOnPhone),
    }),
  });
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

describe.each([
  ['payouts', { amount: 900, phone: SUCCEEDS }],
  ['collections', { method: 'direct', amount: 700, phone: SUCCEEDS }],
] as const)('a payment that moves money (%s)', (path, body) => {
  const order = async () => (await world.post(`/v1/${path}`, body)).body.id;

  it('whose worker is lost before the request goes out is sent by the next, since it surely was not before', async () => {
    lost = 'before';
    const id = await order();
    await world.pass(20 * MINUTE);
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(world.transactionsOf(id)).toHaveLength(1);
    const types = (await world.events(id)).map(({ type }) => type);
    expect(types).toContain('send_failed');
    expect(types).not.toContain('unanswered');
  });

  it('whose worker is lost with the provider’s answer is known by its fence, and not sent by another', async () => {
    lost = 'after';
    world.sandbox.faults.add({ fault: 'webhookDrop', rate: 1 });
    const id = await order();
    await world.pass(20 * MINUTE);
    await world.untilStatus(id, 'SUCCESSFUL');
    const events = await world.checked(id, 'payout-worker-lost');
    expect(events.filter((event) => /^ACTIVITY_TASK_(SCHEDULED|TIMED_OUT)$/.test(event))).toEqual([
      'ACTIVITY_TASK_SCHEDULED',
      'ACTIVITY_TASK_TIMED_OUT',
    ]);
    expect(world.transactionsOf(id)).toHaveLength(1);
  });

  it('whose worker is frozen before the request goes out is sent by the next, and not by that one when it goes on', async () => {
    lost = 'frozen';
    const id = await order();
    await world.pass(20 * MINUTE);
    await world.untilStatus(id, 'SUCCESSFUL');
    thaw();
    await thawed;
    expect(world.transactionsOf(id)).toHaveLength(1);
    await world.checked(id);
  });
});
