import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundleFromSource } from '../support/bundle-workflows.js';
import { PATIENCE_MS } from '../support/eventually.js';
import { DEPLOYMENT, PaymentWorld } from '../support/payment-world.js';

/** A number that stays PENDING until it is settled. */
const PENDING = '670000800';

let world: PaymentWorld;
let isShopUp = true;
let guarded: Bundle;
let unguarded: Bundle;
beforeAll(async () => {
  world = await PaymentWorld.start({
    realServer: true,
    version: { buildId: '1' },
    shutdownGraceMs: 20_000,
    terms: { providerTimeoutMs: 20_000 },
    notify: async () => (isShopUp ? { kind: 'delivered' } : { kind: 'failed', reason: 'down' }),
  });
  await makeCurrent('1');
  guarded = await bundle('guarded-change');
  unguarded = await bundle('unguarded-change');
});
afterAll(() => world.stop());

type Bundle = Awaited<ReturnType<typeof bundleFromSource>>;

const bundle = (name: string): Promise<Bundle> =>
  bundleFromSource([fileURLToPath(new URL(`./versions/${name}.ts`, import.meta.url))]);

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error('it did not come to that');
    await pause(50);
  }
}

/** As `temporal worker deployment set-current-version` does. Temporal must have seen a worker of the version before. */
async function makeCurrent(buildId: string): Promise<void> {
  await eventually(async () => {
    const request = { namespace: 'default', deploymentName: DEPLOYMENT, buildId, identity: 'an operator' };
    return await world.client.workflowService.setWorkerDeploymentCurrentVersion(request).catch(() => undefined);
  });
}

/** As `temporal workflow update-options --versioning-override-behavior pinned` does. */
async function pin(workflowId: string, buildId: string): Promise<void> {
  await world.client.workflowService.updateWorkflowExecutionOptions({
    namespace: 'default',
    workflowExecution: { workflowId },
    workflowExecutionOptions: {
      versioningOverride: {
        pinned: {
          behavior: 1, // PINNED_OVERRIDE_BEHAVIOR_PINNED
          version: { deploymentName: DEPLOYMENT, buildId },
        },
      },
    },
    updateMask: { paths: ['versioning_override'] },
  });
}

async function eventsOf(id: string) {
  return (await world.client.workflow.getHandle(id).fetchHistory()).events ?? [];
}

/** The versions that have run the payment's workflow, in order. */
async function versionsOf(id: string): Promise<string[]> {
  const builds = (await eventsOf(id)).flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
    task ? [task.deploymentVersion?.buildId ?? 'none'] : [],
  );
  return builds.filter((build, index) => build !== builds[index - 1]);
}

async function memoOf(id: string): Promise<unknown> {
  return (await world.client.workflow.getHandle(id).describe()).memo?.version;
}

/** Its status is final, and its workflow has ended. */
async function untilPaid(id: string): Promise<void> {
  await eventually(async () => {
    const { status, body } = await world.get(`/v1/payments/${id}`);
    return status === 200 && body.status === 'SUCCESSFUL' && body.final ? body : undefined;
  });
  await world.ended(id);
}

/** Has a worker begin with a payment whose link waits to be paid. */
const refresh = (id: string) => world.post(`/v1/payments/${id}/refresh`, {});

/** A link that a worker has begun to work on. */
async function link() {
  const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
  await refresh(payment.id);
  return payment;
}

/** Waits for the failure of the payment's workflow task, and returns its reason. */
const untilStuck = (id: string) =>
  eventually(async () => {
    const failed = (await eventsOf(id)).findLast(({ workflowTaskFailedEventAttributes: task }) => task);
    return failed?.workflowTaskFailedEventAttributes?.failure?.message ?? undefined;
  });

describe('when the next version of the worker is made current', () => {
  it('payments in flight move to it and come to their ends, one being sent meanwhile, and the last version can stop', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const order = { method: 'link', amount: 5_000 };
    const waiting = await world.begin('collections', order, key);
    await refresh(waiting.id);
    world.sandbox.faults.add({ fault: 'slow', endpoint: 'payout', delayMs: 3_000 });
    const answered = world.post('/v1/payouts', { amount: 900, phone: PENDING });
    await world.untilTransaction(({ method }) => method === 'payout');

    await world.startWorker({ buildId: '2', bundle: guarded });
    await makeCurrent('2');
    await world.stopWorker('1');
    const { body: payout } = await answered;
    await world.visit(waiting, 'pay');
    await world.settle(payout.id, 'SUCCESSFUL');
    for (const { id } of [waiting, payout]) {
      await untilPaid(id);
      expect(await versionsOf(id)).toEqual(['1', '2']);
      expect(world.transactionsOf(id)).toHaveLength(1);
      // What comes behind patched() is left out for payments that began before it.
      expect(await memoOf(id)).toBeUndefined();
    }
    const repeated = await world.post('/v1/collections', order, key);
    expect([repeated.status, repeated.body.id]).toEqual([200, waiting.id]);
    // The request that was under way was answered, and nothing had to be looked for.
    const activities = (await eventsOf(payout.id)).map(
      ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name,
    );
    expect(activities.filter(Boolean)).toEqual(['payOut', 'notifyMerchant']);
  });

  it('new payments begin on it, with its changes', async () => {
    const payment = await link();
    expect(await memoOf(payment.id)).toBe('guarded');
    await world.visit(payment, 'pay');
    await world.ended(payment.id);
    expect(await versionsOf(payment.id)).toEqual(['2']);
  });

  it('a later try to notify the merchant is still made, on the queue that has no versions', async () => {
    isShopUp = false;
    const payment = await link();
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    isShopUp = true;
    const again = await world.post(`/v1/payments/${payment.id}/notifications/1/resend`, {});
    expect([200, 202]).toContain(again.status);
    await world.ended(payment.id);
    expect(world.notifications.filter((told) => told.payment.id === payment.id).length).toBeGreaterThan(1);
  });
});

describe('a version whose change is not behind patched()', () => {
  it('stops payments in flight without losing them, until the last version is current again', async () => {
    const begunBefore = await link();
    await world.startWorker({ buildId: '3', bundle: unguarded });
    await makeCurrent('3');
    const begunOnIt = await link();
    expect(await memoOf(begunOnIt.id)).toBe('unguarded');
    await world.visit(begunBefore, 'pay');
    expect(await untilStuck(begunBefore.id)).toMatch(/[Nn]ondeterminis/);

    // Payments that began on it can't be replayed by another: they stay where they are.
    await pin(begunOnIt.id, '3');
    await makeCurrent('2');
    await world.visit(begunOnIt, 'pay');
    for (const { id } of [begunBefore, begunOnIt]) {
      await untilPaid(id);
      expect(world.transactionsOf(id)).toHaveLength(1);
    }
    expect(await versionsOf(begunOnIt.id)).toEqual(['3']);
    expect((await versionsOf(begunBefore.id)).at(-1)).toBe('2');
  });
});

describe('a version that no worker has', () => {
  /** As `temporal worker deployment set-ramping-version` does; to none with the percentage 0. */
  const ramp = (buildId: string, percentage: number) =>
    world.client.workflowService.setWorkerDeploymentRampingVersion({
      namespace: 'default',
      deploymentName: DEPLOYMENT,
      buildId,
      percentage,
      identity: 'an operator',
    });

  it('has new payments wait while it ramps up, and sent once when that is taken back', async () => {
    await world.stopWorker('3');
    await ramp('3', 100);
    const { body: payout } = await world.post('/v1/payouts', { amount: 900, phone: PENDING });
    expect(world.transactionsOf(payout.id)).toEqual([]);
    await ramp('', 0);
    await world.untilTransaction(({ externalId }) => externalId === payout.id);
    await world.settle(payout.id, 'SUCCESSFUL');
    await untilPaid(payout.id);
    expect(world.transactionsOf(payout.id)).toHaveLength(1);
  });
});
