import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { temporal } from '@temporalio/proto';
import type { Payment } from '../../src/payments/words/payment.js';
import { hintSignal } from '../../src/workflows/messages.js';
import { eventually } from '../support/eventually.js';
import { MINUTE, transId } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

let world: PaymentWorld;
/** A link that has expired before its workflow was reset, before all tests: it takes a minute to expire again. */
let expired: Payment;
beforeAll(async () => {
  world = await PaymentWorld.start({ realServer: true, terms: { ambiguousGraceMs: 3_000 } });
  expired = await world.begin('collections', { method: 'link', amount: 5_000 });
  await world.post(`/v1/collections/${expired.id}/expire`, {});
  await world.untilStatus(expired.id, 'EXPIRED');
  await resetToTheStart(expired.id);
});
afterAll(() => world.stop());

describe("a link collection's history on a real server", () => {
  it('does not grow when the same request is made again', async () => {
    const body = { method: 'link', amount: 5_000 };
    const key = { 'idempotency-key': 'again-and-again' };
    const first = await world.post('/v1/collections', body, key);
    const length = async () => (await world.client.workflow.getHandle(first.body.id).describe()).historyLength;
    const before = await length();
    for (let copy = 0; copy < 5; copy++) {
      const again = await world.post('/v1/collections', body, key);
      expect([again.status, again.body.id]).toEqual([200, first.body.id]);
      const other = await world.post('/v1/collections', { ...body, amount: 5_001 }, key);
      expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
    }
    expect(await length()).toBe(before);
    expect(world.transactionsOf(first.body.id)).toHaveLength(1);
    await world.post(`/v1/collections/${first.body.id}/expire`, {});
  });

  // The time-skipping server never answers a query that comes while a workflow ends.
  it('answers those who wait for its end as soon as it ends', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    const waiting = [1, 2, 3].map(() => world.get(`/v1/payments/${payment.id}?wait=50`));
    await eventually(
      () => world.historyOf(payment.id),
      (events) => events.includes('WORKFLOW_EXECUTION_UPDATE_ACCEPTED'),
    );
    await world.visit(payment, 'pay');
    const answers = await Promise.all(waiting);
    expect(answers.map(({ body }) => body.status)).toEqual(['SUCCESSFUL', 'SUCCESSFUL', 'SUCCESSFUL']);
    const events = await world.ended(payment.id, 'link-waited-for');
    expect(events.filter((event) => event === 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED')).toHaveLength(1);
  });

  // The time-skipping server refuses to continue a workflow as new that somebody has canceled.
  it('is carried on in a new run when it is long, although somebody has pressed Cancel', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    const handle = world.client.workflow.getHandle(payment.id);
    const { runId: firstRun } = await handle.describe();
    await handle.cancel();
    const hint = { transId: transId(String(payment.transId)), status: 'PENDING' } as const;
    for (let batch = 0; batch < 40; batch++) {
      await Promise.all(Array.from({ length: 40 }, () => handle.signal(hintSignal, hint)));
    }
    await eventually(
      () => handle.describe(),
      ({ runId, status }) => runId !== firstRun && status.name === 'RUNNING',
    );
    expect((await world.get(`/v1/payments/${payment.id}`)).body.final).toBe(false);
  });
});

type Events = temporal.api.history.v1.IHistoryEvent[];

async function eventsOf(id: string): Promise<Events> {
  return (await world.client.workflow.getHandle(id).fetchHistory()).events ?? [];
}

const endedActivities = (events: Events) => events.filter(({ activityTaskCompletedEventAttributes: ended }) => ended);

async function untilActivities(id: string, count: number): Promise<void> {
  while (endedActivities(await eventsOf(id)).length < count) await pause(20);
}

/**
 * Makes a workflow forget what its first workflow task led to, or the first one after so many activities.
 */
async function resetToBefore(id: string, { activities }: { activities: number }): Promise<void> {
  const events = await eventsOf(id);
  const after = Number(endedActivities(events)[activities - 1]?.eventId ?? 0);
  await resetTo(
    id,
    events.find((event) => event.workflowTaskCompletedEventAttributes && Number(event.eventId) > after),
  );
}

/** Makes a workflow forget what a workflow task led to, counted from 1. */
async function resetToTask(id: string, number: number): Promise<void> {
  const tasks = (await eventsOf(id)).filter((event) => event.workflowTaskCompletedEventAttributes);
  await resetTo(id, tasks[number - 1]);
}

async function resetTo(id: string, task: Events[number] | undefined): Promise<void> {
  await world.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: id },
    reason: 'a mistake in the Web UI',
    requestId: `reset-${id}`,
    workflowTaskFinishEventId: task?.eventId ?? null,
  });
}

const resetToTheStart = (id: string) => resetToBefore(id, { activities: 0 });

describe('a link whose workflow somebody resets to before it was made', () => {
  it('is not made a second time, but found, and its payer can pay it', async () => {
    // The API could not ask for it, so the workflow does.
    await world.refuseConnections(true);
    const { body: ordered } = await world.post('/v1/collections', { method: 'link', amount: 5_000 });
    await world.refuseConnections(false);
    const payment = await world.until(ordered.id, ({ link }) => link !== undefined);
    await resetToTheStart(payment.id);
    const found = await world.until(payment.id, ({ transId }) => transId !== undefined);
    expect(found.transId).toBe(payment.transId);
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });
});

describe('a link that the API has made, whose workflow somebody resets to its start', () => {
  it('keeps its link, and asks for no other', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    await world.post(`/v1/payments/${payment.id}/refresh`, {});
    await resetToTheStart(payment.id);
    await world.visit(payment, 'pay');
    const paid = await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(paid).toMatchObject({ link: payment.link, transId: payment.transId });
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });
});

describe('a link whose workflow somebody resets to when it was still looked for', () => {
  it('is not expired as one that nobody has: its payer can pay it', async () => {
    world.sandbox.faults.add({ fault: 'resetBeforeCommit', endpoint: 'initiate-pay' });
    const { body: ordered } = await world.post('/v1/collections', { method: 'link', amount: 5_000 });
    const payment = await world.until(ordered.id, ({ link }) => link !== undefined);
    await resetToTask(payment.id, 2);
    const found = await world.until(payment.id, ({ transId }) => transId !== undefined);
    expect(found).toMatchObject({ transId: payment.transId, final: false });
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });
});

describe('a link that took a second request, whose workflow somebody resets to its start when its grace period is over', () => {
  it('is not called FAILED because the list doesn’t show it yet: a person is asked, and its payer can pay it', async () => {
    // The API's request is in doubt, so the workflow makes the link, which the list shows late.
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'initiate-pay' });
    world.sandbox.faults.add({ fault: 'listLag', endpoint: 'initiate-pay', delayMs: 15_000 });
    const { body: ordered } = await world.post('/v1/collections', { method: 'link', amount: 5_000 });
    const payment = await world.until(ordered.id, ({ link }) => link !== undefined);
    await pause(Date.parse(payment.createdAt) + 4_000 - Date.now());
    await resetToTheStart(payment.id);
    const reviewed = await world.until(payment.id, ({ status, final }) => final || status === 'REVIEW');
    expect(reviewed).toMatchObject({
      status: 'REVIEW',
      reason: expect.stringContaining('an earlier run of the workflow may have given the merchant a link'),
    });
    await world.visit(payment, 'pay');
    const paid = await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(paid.transId).toBe(payment.transId);
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });
});

describe('a payout whose workflow somebody resets to before it was sent', () => {
  it('is not sent a second time, but found', async () => {
    const payment = await world.begin('payouts', { amount: 900, phone: '670000800' });
    await resetToTheStart(payment.id);
    const found = await world.until(payment.id, ({ transId }) => transId !== undefined);
    expect(found.transId).toBe(payment.transId);
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
    await world.settle(payment.id, 'SUCCESSFUL');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
  });
});

describe('a payout whose workflow somebody resets to when it still waited to be sent', () => {
  it('is looked up before it is canceled, since it may have been sent meanwhile, and is found', async () => {
    await world.refuseConnections(true);
    const { body: payment } = await world.post('/v1/payouts', { amount: 900, phone: '670000800' });
    await untilActivities(payment.id, 3);
    await world.refuseConnections(false);
    const sent = await world.until(payment.id, ({ transId }) => transId !== undefined);
    await resetToBefore(payment.id, { activities: 3 });
    expect((await world.post(`/v1/payouts/${payment.id}/cancel`, {})).status).toBe(202);
    await world.post(`/v1/payments/${payment.id}/refresh`, {});
    const found = await world.until(payment.id, ({ transId }) => transId !== undefined);
    expect(found).toMatchObject({ transId: sent.transId, final: false });
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });
});

describe('a payment that its merchant keeps refreshing', () => {
  it('leaves room for an operator’s decision', async () => {
    world.sandbox.faults.add({ fault: 'resetBeforeCommit', endpoint: 'payout' });
    const { body: payment } = await world.post('/v1/payouts', { amount: 900, phone: '670000800' });
    await world.untilStatus(payment.id, 'REVIEW');
    const refresh = () => world.post(`/v1/payments/${payment.id}/refresh`, {});
    const refreshed = await Promise.all(Array.from({ length: 12 }, refresh));
    expect(new Set(refreshed.map(({ status }) => status))).toEqual(new Set([200]));
    const { status, body } = await world.resolve(payment.id, { action: 'fail' });
    expect([status, body.status]).toEqual([200, 'FAILED']);
  });

  it('answers all of many refreshes while the provider doesn’t answer', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payment-status', rate: 1 });
    const calls = Array.from({ length: 12 }, () => world.post(`/v1/collections/${payment.id}/expire`, {}));
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const { status } = await world.post(`/v1/payments/${payment.id}/refresh`, {});
    expect([200, 202]).toContain(status);
    world.sandbox.faults.clear();
  });
});

describe('a link that had expired when somebody resets its workflow to before it was made', () => {
  it('expires again, once the list is believed to show all that was made of the request', async () => {
    await pause(Date.parse(expired.createdAt) + MINUTE - Date.now());
    await world.untilStatus(expired.id, 'EXPIRED');
    expect(world.transactionsOf(expired.id)).toHaveLength(1);
  });
});
