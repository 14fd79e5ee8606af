import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { claim } from '../../src/book/claim.js';
import { Unavailable } from '../../src/engine/errors.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { PAYMENT_WORKFLOW_TYPES, type PaymentInput } from '../../src/workflows/messages.js';
import { eventually } from '../support/eventually.js';
import { linkOrder, MINUTE, paymentId, payoutOrder, terms as usualTerms } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';
import { expectReplayable } from '../support/replayable.js';

/** A number that stays PENDING until it is settled. */
const PENDING = '670000800';
const terms = { pollFirstMs: 2_000, pollMaxMs: 2_000, ambiguousGraceMs: 5_000, providerTimeoutMs: 3_000 };
/** Events after which Temporal suggests to continue in a new run. */
const LONG = 60;

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    terms,
    dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': String(LONG) },
  });
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

const handleOf = (id: string) => world.client.workflow.getHandle(id);
const lengthOf = async (id: string) => (await world.historyOf(id)).length;
const payout = () => world.post('/v1/payouts', { amount: 900, phone: PENDING });

/** Claims an order as the API does, which then dies before it starts anything. */
async function claimOnly(order: PaymentOrder, claimedAt = world.now()): Promise<PaymentId> {
  const id = paymentId(`${order.kind === 'payout' ? 'pay' : 'col'}_${randomUUID().replaceAll('-', '')}`);
  const request = { merchant: 'shop', fingerprint: 'f', requestId: 'r' };
  await claim(world.made.book, { order: { ...order, id }, terms: { ...usualTerms, ...terms }, ...request }, claimedAt);
  return id;
}

/** Starts another run of a payment, under a workflow id that isn't the payment's. */
function runMore(id: PaymentId) {
  const args: [PaymentInput] = [{ v: 1, id }];
  return world.client.workflow.start(PAYMENT_WORKFLOW_TYPES.payout, {
    workflowId: `more-${randomUUID()}`,
    taskQueue: 'payments',
    args,
  });
}

describe('a payment that was claimed, and whose workflow was never started', () => {
  it.each([
    ['a payout', { ...payoutOrder, phone: PENDING }],
    ['a link', linkOrder],
  ])('is begun by the keeper, and sent once (%s)', async (_, order) => {
    const id = await claimOnly(order, world.now() - 2 * MINUTE);
    const payment = await world.until(id, ({ transId }) => transId !== undefined);
    expect(world.transactionsOf(id)).toHaveLength(1);
    expect((await handleOf(id).describe()).status.name).toBe('RUNNING');
    // What stays open would be asked about every two seconds of the day that another test skips.
    await (payment.link === undefined ? world.settle(id, 'SUCCESSFUL') : world.visit(payment, 'pay'));
    await world.untilStatus(id, 'SUCCESSFUL');
    await world.ended(id);
  });
});

describe('a payment that runs more than once at a time', () => {
  /** Sees a payment to its end, which one of its runs may have doubted, and stops the runs that only wait. */
  async function isPaidOnce(id: PaymentId, runs: readonly { readonly workflowId: string }[]): Promise<void> {
    await world.until(id, ({ transId }) => transId !== undefined);
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    await world.checked(id);
    expect(world.transactionsOf(id)).toHaveLength(1);
    const ids = runs.map(({ workflowId }) => workflowId);
    await expectReplayable(world, [id, ...ids]);
    for (const more of ids)
      await handleOf(more)
        .terminate()
        .catch(() => undefined);
  }

  it('is sent once when all of its runs begin at once', async () => {
    const id = await claimOnly({ ...payoutOrder, phone: PENDING });
    await isPaidOnce(id, await Promise.all([1, 2, 3].map(() => runMore(id))));
  });

  it('is not sent again by a run that begins while the request of another is on its way', async () => {
    world.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 2_000 });
    const ordered = world.post('/v1/payouts', { amount: 901, phone: PENDING });
    const { externalId } = await world.untilTransaction(({ amount }) => amount === 901);
    const id = paymentId(String(externalId));
    const more = await runMore(id);
    await ordered;
    await isPaidOnce(id, [more]);
  });
});

describe('payments under way while the book is away for most of a minute', () => {
  it('wait by timers, write few events, and go on', async () => {
    const begun = await Promise.all([1, 2, 3].map(() => payout()));
    const ids = begun.map(({ body }) => body.id);
    for (const id of ids) await world.until(id, ({ transId }) => transId !== undefined);
    const before = await Promise.all(ids.map(lengthOf));
    await world.made.whileAway(async () => {
      const refused = await payout();
      expect([refused.status, refused.body.code]).toEqual([503, 'temporarily_unavailable']);
      await pause(45_000);
    });
    const after = await Promise.all(ids.map(lengthOf));
    // Pauses of 5, 10 and 20 s: each is a task, a marker and a timer.
    for (const [index, length] of after.entries()) expect(length - (before[index] ?? 0)).toBeLessThan(45);
    for (const id of ids) await world.settle(id, 'SUCCESSFUL');
    for (const id of ids) await world.untilStatus(id, 'SUCCESSFUL');
    await world.ended(ids[0] ?? '', 'payout-book-away');
    await expectReplayable(world, ids);
  });
});

describe('a payment that was rung many times', () => {
  it('goes on in a new run, although somebody has pressed Cancel, and comes to its end', async () => {
    const { id } = (await payout()).body;
    await world.until(id, ({ transId }) => transId !== undefined);
    const { runId } = await handleOf(id).describe();
    await handleOf(id).cancel();
    await eventually(
      async () => {
        // On a busy machine, Temporal may not answer in time.
        await world.ring(id).catch((error: unknown) => expect(error).toBeInstanceOf(Unavailable));
        return await handleOf(id).describe();
      },
      (now) => now.runId !== runId && now.status.name === 'RUNNING',
    );
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(await world.ended(id, 'payout-continued')).not.toContain('WORKFLOW_EXECUTION_FAILED');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a workflow that somebody starts by hand', () => {
  it.each([
    ['with nothing', []],
    ['with an order', [{ v: 1, order: { id: 'pay_1' } }]],
    ['for a payment that the book has not', [{ v: 1, id: 'pay_00000000000000000000000000000000' }]],
  ])('%s ends, and sends nothing', async (_, args) => {
    const sent = world.sandbox.ledger.all().length;
    const options = { workflowId: `by-hand-${randomUUID()}`, taskQueue: 'payments', args };
    const run = await world.client.workflow.start(PAYMENT_WORKFLOW_TYPES.payout, options);
    await expect(run.result()).rejects.toThrow();
    expect(world.sandbox.ledger.all()).toHaveLength(sent);
  });
});
