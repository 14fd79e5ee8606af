import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { Activities } from '../../src/activities/activities.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { eventually } from '../support/eventually.js';
import { PaymentWorld } from '../support/payment-world.js';

/** A number that stays PENDING until it is settled. */
const PENDING = '670000800';
/** Longer than any test. */
const AN_HOUR_MS = 3_600_000;

/**
 * The moment at which the next payout loses its worker: before its request went out, or when the provider has taken it.
 */
let lost: 'before' | 'after' | undefined;
/** Number of times that workers were given the payout's activity, by its payment. */
const tries = new Map<string, number>();

/** A worker that is gone never reports: Temporal only sees that its time is over. */
function losing(send: Activities['payOut']): Activities['payOut'] {
  return async (order, when) => {
    tries.set(order.id, (tries.get(order.id) ?? 0) + 1);
    const where = lost;
    lost = undefined;
    if (where === undefined) return await send(order, when);
    if (where === 'after') await send(order, when);
    return await Context.current().cancelled;
  };
}

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({
    realServer: true,
    answerWithinMs: 1_000,
    // What is paused is given up after ten minutes: here after ten seconds.
    workflows: { code: await withShortWaits() },
    terms: { providerTimeoutMs: 3_000, ambiguousGraceMs: 3_000, resolveAfterMs: 0 },
    activities: (usual) => ({ ...usual, payOut: losing(usual.payOut) }),
  });
});
beforeEach(() => {
  lost = undefined;
});
afterAll(() => world.stop());

async function withShortWaits(): Promise<string> {
  const code = await readFile(workflowBundle().codePath, 'utf8');
  const short = code.replace('START_TIMEOUT_MS = 10 * 60000', 'START_TIMEOUT_MS = 10000');
  expect(short).not.toBe(code);
  return short;
}

/** Begins a payout whose worker is lost. */
async function losePayout(where: NonNullable<typeof lost>, key?: string): Promise<string> {
  lost = where;
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const { body } = await world.post('/v1/payouts', { amount: 900, phone: PENDING }, headers);
  await isLost(body.id, where);
  return body.id;
}

/** Waits until the payout's worker is lost. */
async function isLost(id: string, where: NonNullable<typeof lost>): Promise<void> {
  if (where === 'after') await world.untilTransaction(({ externalId }) => externalId === id);
  await eventually(
    async () => lost,
    (one) => one === undefined,
  );
}

/** The provider's list shows the next transaction too late to keep it from being sent again. */
const hideFromList = () => world.sandbox.faults.add({ fault: 'listLag', endpoint: 'payout', delayMs: AN_HOUR_MS });

const temporal = () => world.client.workflowService;
const namespace = 'default';

/** The payout's activity, as an operator's commands name it. */
async function activityOf(id: string) {
  const { raw } = await world.client.workflow.getHandle(id).describe();
  const [activity] = raw.pendingActivities ?? [];
  return {
    namespace,
    execution: { workflowId: id },
    id: activity?.activityId ?? '',
    identity: 'an operator',
  };
}

async function allowAnyAttempts(id: string, pauseMs = 0): Promise<void> {
  const initialInterval = msToTs(pauseMs);
  await temporal().updateActivityOptions({
    ...(await activityOf(id)),
    activityOptions: { retryPolicy: { maximumAttempts: 0, ...(pauseMs > 0 && { initialInterval }) } },
    updateMask: {
      paths: ['retry_policy.maximum_attempts', ...(pauseMs > 0 ? ['retry_policy.initial_interval'] : [])],
    },
  });
}

/**
 * Has Temporal make another attempt of the payout's activity, once its first has come to nothing, and counts it as its
 * first.
 */
async function attemptAnew(id: string, reset: (id: string) => Promise<unknown>): Promise<void> {
  await allowAnyAttempts(id);
  await eventually(
    () => world.client.workflow.getHandle(id).describe(),
    ({ raw }) => raw.pendingActivities?.[0]?.attempt === 2,
  );
  await reset(id);
}

const RESETS = [
  ['resets its activity', async (id: string) => await temporal().resetActivity(await activityOf(id))],
  [
    'pauses its activity, and has it go on from its first attempt',
    async (id: string) => {
      await temporal().pauseActivity(await activityOf(id));
      await temporal().unpauseActivity({ ...(await activityOf(id)), resetAttempts: true });
    },
  ],
] as const;

/**
 * The payment, of which the provider has one transaction once workers were given its activity so often, though its list
 * doesn't show it.
 */
async function isPaidOnceAfterTries(id: string, times: number): Promise<void> {
  await eventually(
    async () => tries.get(id),
    (count) => count === times,
  );
  await world.settle(id, 'SUCCESSFUL');
  await until(id, ({ status }) => status === 'SUCCESSFUL');
  expect(world.transactionsOf(id)).toHaveLength(1);
}

/** The payment once it is found at the provider, which has one transaction of it, and no matter what comes. */
async function isPaidOnce(id: string): Promise<void> {
  const found = await until(id, ({ transId }) => transId !== undefined);
  const [first] = world.transactionsOf(id);
  expect(found.transId).toBe(first?.transId);
  await world.settle(id, 'SUCCESSFUL');
  await until(id, ({ status }) => status === 'SUCCESSFUL');
  expect(world.transactionsOf(id)).toHaveLength(1);
}

const until = (id: string, expected: (payment: Payment) => boolean) =>
  eventually(
    async () => (await world.get(`/v1/payments/${id}`)).body,
    (payment) => payment.id === id && expected(payment),
  );

/** Completes the payout's activity as one that sent nothing, as `temporal activity complete` does. */
async function completeAsUnsent(id: string): Promise<void> {
  const { id: activityId } = await activityOf(id);
  const result = defaultPayloadConverter.toPayload({ kind: 'notSent', reason: 'it looked like it' });
  await temporal().respondActivityTaskCompletedById({
    namespace,
    workflowId: id,
    activityId,
    result: { payloads: [result] },
  });
}

/** Deletes a payment's workflow, as `temporal workflow delete` does. */
async function forget(id: string): Promise<void> {
  const handle = world.client.workflow.getHandle(id);
  await temporal().deleteWorkflowExecution({ namespace, workflowExecution: { workflowId: id } });
  const isThere = () =>
    handle.describe().then(
      () => true,
      () => false,
    );
  await eventually(isThere, (there) => !there);
}

describe('a payout whose worker died when the provider had taken it', () => {
  it('is not sent again when somebody has allowed its activity any number of attempts', async () => {
    const id = await losePayout('after');
    await allowAnyAttempts(id);
    await isPaidOnce(id);
    expect(tries.get(id)).toBe(2);
  });

  it.each([...RESETS])(
    'is not sent again when somebody %s while another attempt waits, so that it counts as the first',
    async (_, reset) => {
      hideFromList();
      const id = await losePayout('after');
      await attemptAnew(id, reset);
      await isPaidOnceAfterTries(id, 2);
    },
  );

  it('is not sent a third time when its second request is lost, and its activity is reset like that', async () => {
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    const { body } = await world.post('/v1/payouts', { amount: 900, phone: PENDING });
    await until(body.id, ({ status }) => status === 'REVIEW');
    hideFromList();
    lost = 'after';
    void world.resolve(body.id, { action: 'resend', force: true });
    await isLost(body.id, 'after');
    await attemptAnew(body.id, RESETS[0][1]);
    await isPaidOnceAfterTries(body.id, 3);
  });

  it('is not sent again when somebody completes its activity by hand as one that sent nothing', async () => {
    const id = await losePayout('after');
    await completeAsUnsent(id);
    await isPaidOnce(id);
    expect(tries.get(id)).toBe(2);
  });

  it('is not sent again then either while the provider’s list cannot be read, nor withdrawn before it was looked up', async () => {
    const id = await losePayout('after');
    const { id: unread } = world.sandbox.faults.add({
      fault: 'errorBeforeCommit',
      endpoint: 'transaction',
      rate: 1,
    });
    await completeAsUnsent(id);
    await eventually(
      async () => tries.get(id) ?? 0,
      (count) => count > 2,
    );
    expect((await world.post(`/v1/payouts/${id}/cancel`, {})).status).toBe(202);
    expect(world.transactionsOf(id)).toHaveLength(1);
    world.sandbox.faults.remove(unread);
    await isPaidOnce(id);
  });

  it('is not sent again when somebody has allowed another attempt, which no worker takes in time', async () => {
    hideFromList();
    const id = await losePayout('after');
    await temporal().updateActivityOptions({
      ...(await activityOf(id)),
      activityOptions: { taskQueue: { name: 'nobodys' }, retryPolicy: { maximumAttempts: 0 } },
      updateMask: { paths: ['task_queue.name', 'retry_policy.maximum_attempts'] },
    });
    await until(id, ({ status }) => status === 'REVIEW');
    await isPaidOnceAfterTries(id, 1);
  });

  it('is not sent again when somebody deletes its workflow, and the merchant repeats the request', async () => {
    const id = await losePayout('after', 'deleted');
    await forget(id);
    const headers = { 'idempotency-key': 'deleted' };
    const { body } = await world.post('/v1/payouts', { amount: 900, phone: PENDING }, headers);
    expect(body.id).toBe(id);
    await isPaidOnce(id);
    expect(tries.get(id)).toBe(2);
  });

  it('is not sent again when somebody terminates its workflow, and starts another like it', async () => {
    const id = await losePayout('after');
    const { events } = await world.client.workflow.getHandle(id).fetchHistory();
    const { workflowType, taskQueue, input, memo, searchAttributes } =
      events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
    await world.client.workflow.getHandle(id).terminate('a mistake');
    await temporal().startWorkflowExecution({
      namespace,
      workflowId: id,
      requestId: 'by hand',
      workflowType: workflowType ?? null,
      taskQueue: taskQueue ?? null,
      input: input ?? null,
      memo: memo ?? null,
      searchAttributes: searchAttributes ?? null,
    });
    await isPaidOnce(id);
    expect(tries.get(id)).toBe(2);
  });
});

describe('a payout whose activity somebody pauses, and whose worker then dies', () => {
  it('is looked for once its time is over, though Temporal keeps no limit of what was paused', async () => {
    const [taken, unsent] = [await losePayout('after'), await losePayout('before')];
    for (const id of [taken, unsent]) await temporal().pauseActivity(await activityOf(id));
    await isPaidOnce(taken);
    const review = await until(unsent, ({ status }) => status === 'REVIEW');
    expect(review.reason).toContain('Temporal did not say in time what became of the request');
    const { status } = await world.resolve(unsent, { action: 'fail', force: true });
    expect(status).toBeLessThan(300);
    await until(unsent, (payment) => payment.status === 'FAILED');
    expect(world.transactionsOf(unsent)).toEqual([]);
  });
});
