import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Payment } from '../../src/payments/words/payment.js';
import { eventually } from '../support/eventually.js';
import { MINUTE } from '../support/orders.js';
import { APPROVER, PaymentWorld } from '../support/payment-world.js';
import { someAtOnce } from '../support/some-at-once.js';
import { type TemporalCommand, temporalCommands } from '../support/temporal-commands.js';
import { ACTIONS, AS, describeActions, type Situation, untilPhase } from '../support/workflow-actions.js';

let world: PaymentWorld;
let temporal: TemporalCommand;
beforeAll(async () => {
  world = await PaymentWorld.start({
    // Most of what is asked for here is not answered in time, as somebody holds its payment up.
    answerWithinMs: 3_000,
    terms: { ambiguousGraceMs: 3_000, resolveAfterMs: 0 },
  });
  temporal = await temporalCommands(world.env.address);
});
beforeEach(() => world.sandbox.faults.clear());
afterAll(() => world.stop());

const link = { method: 'link', amount: 5_000 };
const payout = { amount: 900, phone: '670000800' };

/** Payouts whose requests were slow so far. */
let slowOnes = 0;

/** The payout once the provider has taken it. */
const sent = (id: string): Promise<Payment> => world.until(id, ({ transId }) => transId !== undefined);

async function underReview(): Promise<string> {
  world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
  const { id } = (await world.post('/v1/payouts', payout)).body;
  return (await world.untilStatus(id, 'REVIEW')).id;
}

/** Decides on the review, unless the decision that was made before counts. */
async function decide(id: string): Promise<void> {
  const isDecided = async () =>
    (await world.resolve(id, { action: 'fail' })).status === 200 || (await world.get(`/v1/payments/${id}`)).body.final;
  await eventually(isDecided, (is) => is);
}

const situations: readonly Situation[] = [
  {
    name: 'a link that waits for its start',
    begin: async () => (await world.begin('collections', link)).id,
    finish: async (id) => await world.visit((await world.get(`/v1/payments/${id}`)).body, 'pay'),
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a link that a worker has asked about',
    async begin() {
      const { id } = await world.begin('collections', link);
      await world.post(`/v1/payments/${id}/refresh`, {});
      return id;
    },
    finish: async (id) => await world.visit((await world.get(`/v1/payments/${id}`)).body, 'pay'),
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout on its way',
    begin: async () => (await world.begin('payouts', payout)).id,
    finish: (id) => world.settle(id, 'SUCCESSFUL'),
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a collection from a phone',
    begin: async () => (await world.begin('collections', { ...payout, method: 'direct' })).id,
    finish: (id) => world.settle(id, 'FAILED'),
    outcome: 'FAILED',
    transactions: 1,
  },
  {
    name: 'a payout that waits for its approval',
    begin: async () => (await world.post('/v1/payouts', { ...payout, approval: true })).body.id,
    async finish(id) {
      const { held } = (await world.get(`/v1/payments/${id}`)).body;
      const approved = await world.post(`/v1/payouts/${id}/approve`, { digest: held?.digest }, APPROVER);
      expect(approved.status).toBe(200);
      await sent(id);
      await world.settle(id, 'SUCCESSFUL');
    },
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout whose request is on its way',
    async begin() {
      world.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 3_000, count: 1 });
      const amount = 1_000 + ++slowOnes;
      void world.post('/v1/payouts', { ...payout, amount });
      const { externalId } = await world.untilTransaction((one) => one.amount === amount);
      return String(externalId);
    },
    finish: (id) => world.settle(id, 'SUCCESSFUL'),
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout that can not be sent at the moment',
    async begin() {
      world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', count: 1 });
      const { id } = (await world.post('/v1/payouts', payout)).body;
      await eventually(
        () => world.events(id),
        (events) => events.some(({ type }) => type === 'send_failed'),
      );
      return id;
    },
    // The credentials are tried again after a minute.
    laterMs: 2 * MINUTE,
    async finish(id) {
      await sent(id);
      await world.settle(id, 'SUCCESSFUL');
    },
    outcome: 'SUCCESSFUL',
    transactions: 1,
  },
  {
    name: 'a payout under review',
    begin: underReview,
    finish: decide,
    outcome: 'FAILED',
    transactions: 0,
  },
  {
    name: 'a payout on whose review a decision is being checked',
    async begin() {
      const id = await underReview();
      world.sandbox.faults.add({ fault: 'slow', endpoint: 'transaction', userId: id, delayMs: 1_500, count: 1 });
      void world.resolve(id, { action: 'fail' });
      await untilPhase(world, id, 'deciding');
      return id;
    },
    finish: decide,
    outcome: 'FAILED',
    transactions: 0,
  },
  {
    name: 'a payout that has ended',
    async begin() {
      const { id } = await world.begin('payouts', payout);
      await world.settle(id, 'SUCCESSFUL');
      await world.ended(id);
      return id;
    },
    finish: () => Promise.resolve(),
    outcome: 'SUCCESSFUL',
    transactions: 1,
    isOver: true,
  },
];

describeActions(situations, () => ({ world, temporal }));

describe('a payout that has ended', () => {
  it.each([
    ['start', []],
    ['execute', []],
    ['signal-with-start', ['--signal-name', 'bell']],
    ['execute-update-with-start', ['--id-conflict-policy', 'UseExisting', '--update-name', 'resolve']],
  ])('stays what it was when somebody starts something else under its id (%s)', async (command, words) => {
    const key = { 'idempotency-key': randomUUID() };
    const { id } = await world.begin('payouts', payout, key);
    await world.settle(id, 'SUCCESSFUL');
    await world.ended(id);
    const { runId } = await world.client.workflow.getHandle(id).describe();
    await temporal('workflow', command, ...AS, '--workflow-id', id, ...words);
    const isStarted = async () => {
      const now = await world.client.workflow.getHandle(id).describe();
      return now.runId !== runId && now.status.name === 'FAILED';
    };
    await eventually(isStarted, (is) => is);
    const { body } = await world.get(`/v1/payments/${id}`);
    expect(body).toMatchObject({ status: 'SUCCESSFUL', final: true });
    expect((await world.post('/v1/payouts', payout, key)).body).toMatchObject({ id, status: 'SUCCESSFUL' });
    expect((await world.post(`/v1/payments/${id}/refresh`, {})).body).toMatchObject({
      status: 'SUCCESSFUL',
    });
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a payout that waits to be sent once more', () => {
  it('is sent once, whatever is done to its workflow', async () => {
    const begun = await someAtOnce(Object.entries(ACTIONS), async ([action, commands]) => {
      return { action, commands, id: await underReview() };
    });
    const refused = world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', rate: 1 });
    await someAtOnce(begun, async ({ commands, id }) => {
      expect((await world.resolve(id, { action: 'resend', force: true })).status).toBeLessThan(300);
      await untilPhase(world, id, 'waiting');
      for (const command of commands) await temporal('workflow', ...command, '--workflow-id', id);
    });
    world.sandbox.faults.remove(refused.id);
    await Promise.all(
      begun.map(async ({ action, id }) => {
        // The credentials are tried again after a minute, and the keeper begins what was ended by hand.
        await sent(id);
        await world.settle(id, 'SUCCESSFUL');
        await world.untilStatus(id, 'SUCCESSFUL');
        expect({ action, sent: world.transactionsOf(id).length }).toEqual({ action, sent: 1 });
      }),
    );
  });
});

describe('a payment that a signal holds up, which no key decrypts', () => {
  it.each([
    ['reset without signals', ['reset', '--type', 'LastWorkflowTask', '--reapply-exclude', 'Signal']],
    ['terminated', ['terminate']],
  ])('is freed when its workflow is %s', async (_, command) => {
    const { id } = await world.begin('payouts', payout);
    const lost = {
      encoding: Buffer.from('binary/encrypted'),
      'encryption-key-id': Buffer.from('nobodys-key'),
    };
    await world.client.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: id },
      signalName: 'bell',
      input: { payloads: [{ metadata: lost, data: randomBytes(64) }] },
    });
    await eventually(
      () => world.client.workflow.getHandle(id).describe(),
      ({ raw: { pendingWorkflowTask } }) => Number(pendingWorkflowTask?.attempt ?? 0) > 1,
    );
    const done = await temporal('workflow', ...command, '--reason', 'forged', '--workflow-id', id);
    expect(done).toMatchObject({ isDone: true });
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a payment whose workflow is set to a version that no worker has', () => {
  it('waits, and goes on when that is taken back', async () => {
    const { id } = await world.begin('payouts', payout);
    const override = (...to: readonly string[]) =>
      temporal('workflow', 'update-options', '-w', id, '--versioning-override-behavior', ...to);
    await override('pinned', '--versioning-override-deployment-name', 'none', '--versioning-override-build-id', '1');
    await world.settle(id, 'SUCCESSFUL');
    expect(await override('unspecified')).toMatchObject({ isDone: true });
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('a payment that a batch job finds', () => {
  it('comes to its outcome, and to no other', async () => {
    const { id } = await world.begin('payouts', payout);
    const found = ['--query', `WorkflowId = "${id}"`, '--reason', 'tried', '--yes'];
    await eventually(
      () => world.client.workflow.count(`WorkflowId = "${id}"`),
      ({ count }) => count === 1,
    );
    const batches = [
      ['cancel'],
      ['signal', '--name', 'bell'],
      ['update-options', '--versioning-override-behavior', 'auto_upgrade'],
      ['reset', '--type', 'LastWorkflowTask'],
      ['terminate'],
    ];
    for (const batch of batches) {
      // The server refuses one that begins before the last one's end.
      const { isDone, said } = await eventually(
        () => temporal('workflow', ...batch, ...found),
        (came) => !came.said.includes('Max concurrent batch operations'),
      );
      expect({ batch, isDone, said: isDone ? '' : said }).toEqual({ batch, isDone: true, said: '' });
    }
    expect(await temporal('batch', 'list')).toMatchObject({ isDone: true });
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});

describe('an activity that no workflow has asked for', () => {
  it('is not run by this server', async () => {
    const { workflowService } = world.client;
    const asked = { namespace: 'default', activityId: 'by-hand', activityType: { name: 'payOut' } };
    const timeouts = { startToCloseTimeout: { seconds: 10 as never } };
    await expect(
      workflowService.startActivityExecution({
        ...asked,
        ...timeouts,
        taskQueue: { name: 'payments' },
        requestId: randomUUID(),
      }),
    ).rejects.toThrow();
  });

  it('is nothing that a payment can be paused by, as a whole', async () => {
    const { id } = await world.begin('payouts', payout);
    const { workflowService } = world.client;
    const paused = { namespace: 'default', workflowId: id, reason: 'tried', requestId: randomUUID() };
    await expect(workflowService.pauseWorkflowExecution(paused)).rejects.toThrow();
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
  });
});

describe('a deployment that no worker belongs to', () => {
  const version = ['--deployment-name', 'nobodys', '--build-id', '1'];
  const forced = ['--allow-no-pollers', '--ignore-missing-task-queues', '--yes'];

  it.each([
    [['set-current-version', ...version, ...forced]],
    [['set-ramping-version', ...version, '--percentage', '50', ...forced]],
    [['delete-version', ...version]],
    [['delete', '--name', 'nobodys']],
  ])('changes nothing for payments: %j', async (command) => {
    await temporal('worker', 'deployment', ...command);
    const { id } = await world.begin('payouts', payout);
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
  });
});
