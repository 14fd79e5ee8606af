import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { FaultRequest } from '../../sandbox/faults/fault-rule.js';
import { isoTime } from '../../src/payments/words/time.js';
import { eventually } from '../support/eventually.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { APPROVER, PaymentWorld } from '../support/payment-world.js';
import { type TemporalCommand, temporalCommands } from '../support/temporal-commands.js';
import { describeActions, type Situation, untilPhase } from '../support/workflow-actions.js';

/*
 * An operator's actions on payments of which the provider leaves something open, or that wait for a time. What is done
 * to their workflows is put right by whoever rings what is overdue: nobody else does.
 */

let world: PaymentWorld;
let temporal: TemporalCommand;
beforeAll(async () => {
  world = await PaymentWorld.start({ answerWithinMs: 1_500 });
  temporal = await temporalCommands(world.env.address);
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

const link = { method: 'link', amount: 5_000 };
/** A number that stays PENDING until it is settled. */
const payout = { amount: 900, phone: '670000800' };

const add = (fault: FaultRequest) => void world.sandbox.faults.add(fault);
const unread = (id: string) => add({ fault: 'errorBeforeCommit', endpoint: 'transaction', userId: id, rate: 1 });

/** A payment that the provider has taken without an answer, and doesn't list for ten minutes. */
async function unanswered(path: 'payouts' | 'collections'): Promise<string> {
  const endpoint = path === 'payouts' ? 'payout' : 'direct-pay';
  // Not once: all rules for a list apply to the first of the requests that are made together.
  add({ fault: 'errorAfterCommit', endpoint, rate: 1 });
  add({ fault: 'listLag', endpoint, delayMs: 10 * MINUTE, rate: 1 });
  const body = path === 'payouts' ? payout : { ...payout, method: 'direct' };
  const { id } = (await world.post(`/v1/${path}`, body)).body;
  await untilPhase(world, id, 'searching');
  return id;
}

/** A payout that the provider has taken without an answer, and that was found. */
async function found(): Promise<string> {
  add({ fault: 'errorAfterCommit', endpoint: 'payout' });
  const { id } = (await world.post('/v1/payouts', payout)).body;
  await world.until(id, ({ transId }) => transId !== undefined);
  return id;
}

const settled = (id: string) => world.settle(id, 'SUCCESSFUL');
const nothing = () => Promise.resolve();

const situations: readonly Situation[] = [
  {
    name: 'a link whose end the provider does not confirm',
    async begin() {
      const { id, transId } = await world.begin('collections', link);
      add({ fault: 'errorBeforeCommit', endpoint: 'expire-pay', transId: String(transId), rate: 1 });
      await world.post(`/v1/collections/${id}/expire`, {});
      await untilPhase(world, id, 'closing');
      return id;
    },
    laterMs: HOUR,
    finish: nothing,
    outcome: 'EXPIRED',
    transactions: 1,
  },
  {
    name: 'a link of whose payment nobody notifies',
    begin: async () => (await world.begin('collections', link)).id,
    async finish(id) {
      add({ fault: 'webhookDrop', externalId: id, rate: 1 });
      await world.visit((await world.get(`/v1/payments/${id}`)).body, 'pay');
    },
    finallyMs: HOUR,
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout that nobody has answered',
    begin: () => unanswered('payouts'),
    laterMs: 12 * MINUTE,
    finish: settled,
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a collection from a phone that nobody has answered',
    begin: () => unanswered('collections'),
    laterMs: 12 * MINUTE,
    finish: settled,
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout that has failed, while nobody knows whether there is another',
    async begin() {
      const id = await found();
      unread(id);
      await world.settle(id, 'FAILED');
      await untilPhase(world, id, 'verifying');
      return id;
    },
    laterMs: 12 * MINUTE,
    finish: nothing,
    outcome: 'FAILED',
    transactions: 1,
  },
  {
    name: 'a payout whose time has not come',
    async begin() {
      const sendAt = isoTime(world.now() + 2 * DAY);
      const { id, held } = (await world.post('/v1/payouts', { ...payout, approval: true, sendAt })).body;
      await world.post(`/v1/payouts/${id}/approve`, { digest: held?.digest }, APPROVER);
      return id;
    },
    laterMs: 2 * DAY + MINUTE,
    finish: settled,
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout that has ended, and is compared with the provider for another day',
    async begin() {
      const id = await found();
      await world.settle(id, 'SUCCESSFUL');
      await world.untilStatus(id, 'SUCCESSFUL');
      return id;
    },
    laterMs: 25 * HOUR,
    finish: isCompared,
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
];

/** Nothing is due of the payment any more. */
async function isCompared(id: string): Promise<void> {
  await eventually(
    () => world.made.book.query('SELECT wake_at FROM states WHERE id = $1', [id]),
    ([row]) => row?.wakeAt === undefined,
  );
}

describeActions(situations, () => ({ world, temporal }));

describe('a payout that has ended, and is compared with the provider for another day', () => {
  it('goes to a person when the provider contradicts it, though its workflow was deleted', async () => {
    const id = await found();
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    await temporal('workflow', 'delete', '--workflow-id', id);
    // A second transaction of the same request, as a gateway makes it that sends one on twice.
    const [first] = world.transactionsOf(id);
    if (first === undefined || first.method === 'link') throw new Error('the provider has not taken it');
    const { service, serviceName, method, amount, medium, externalId, userId } = first;
    add({ fault: 'webhookDrop', rate: 1 });
    world.sandbox.ledger.openPending(
      { service, serviceName, method, amount, medium, externalId, userId },
      { kind: 'settles', status: 'SUCCESSFUL', after: 'atOnce' },
    );
    await world.pass(25 * HOUR);
    expect((await world.untilStatus(id, 'REVIEW')).final).toBe(false);
  });
});
