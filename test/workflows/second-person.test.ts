import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Decision } from '../../src/payments/words/decision.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { rejectUpdate, resolveUpdate } from '../../src/workflows/messages.js';
import { MINUTE } from '../support/orders.js';
import { HASTY, PaymentWorld } from '../support/payment-world.js';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    ...HASTY,
    terms: { ...HASTY.terms, secondPersonAbove: 899 },
    // Each task replays the history from its start.
    cachedWorkflows: 0,
  });
});
afterAll(() => world.stop());

/** A payout of 900 XAF that the provider has not taken, under review. */
async function underReview(): Promise<Payment> {
  world.sandbox.faults.add({ fault: 'resetBeforeCommit', endpoint: 'payout' });
  const { body } = await world.post('/v1/payouts', { amount: 900, phone: '670000000' });
  await world.pass(16 * MINUTE);
  return await world.untilStatus(body.id, 'REVIEW');
}

const why = 'seen in the portal';
const decide = (id: string, by: string, decision: Decision, review = 1) =>
  world.client.workflow
    .getHandle(id)
    .executeUpdate(resolveUpdate, { args: [{ decision, review, by, why, force: false }] });

describe('a decision on a payout above the limit', () => {
  it('waits in its workflow for a second person, and is then carried out once', async () => {
    const { id } = await underReview();
    const kept = await decide(id, 'ann', { action: 'resend' });
    expect(kept.payment).toMatchObject({ status: 'REVIEW', review: { proposed: { by: 'ann' } } });
    await world.pass(30 * MINUTE);
    expect(world.transactionsOf(id)).toEqual([]);
    await expect(decide(id, 'ann', { action: 'resend' }, 2)).rejects.toMatchObject({
      cause: { type: 'ResolutionRefused', message: expect.stringContaining('waits for a second person') },
    });

    await decide(id, 'bob', { action: 'resend' }, 2);
    await world.pass(MINUTE);
    const paid = await world.untilStatus(id, 'SUCCESSFUL');
    expect(paid.resolution).toMatchObject({ action: 'resend', by: 'ann', approval: { by: 'bob', why } });
    await world.checked(id, 'review-second-person');
    expect(world.transactionsOf(id)).toHaveLength(1);
    const told = world.notifications.filter(({ payment }) => payment.id === id);
    expect(told.map(({ type }) => type)).toEqual(['payment.review', 'payment.succeeded']);
  });

  it('is void when somebody rejects it', async () => {
    const { id } = await underReview();
    await decide(id, 'ann', { action: 'fail' });
    const handle = world.client.workflow.getHandle(id);
    const { payment } = await handle.executeUpdate(rejectUpdate, { args: [{ review: 2, by: 'bob', why }] });
    expect(payment.review).toMatchObject({ rejected: { proposedBy: 'ann', by: 'bob' } });
    expect(payment.review?.proposed).toBeUndefined();
    expect((await decide(id, 'bob', { action: 'fail' }, 3)).payment.status).toBe('REVIEW');
    expect((await decide(id, 'ann', { action: 'fail' }, 4)).payment.status).toBe('FAILED');
    await world.checked(id);
  });
});
