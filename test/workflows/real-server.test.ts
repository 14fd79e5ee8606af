import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentWorld } from './payment-world.js';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ realServer: true, terms: { ambiguousGraceMs: 3_000 } });
}, 300_000);
afterAll(() => world.stop(), 30_000);

describe("a link collection's history on a real server", () => {
  it('does not grow when the same request is made again', async () => {
    const body = { method: 'link', amount: 5_000 };
    const key = { 'idempotency-key': 'again-and-again' };
    const first = await world.post('/v1/collections', body, key);
    const length = async () =>
      (await world.client.workflow.getHandle(first.body.id).describe()).historyLength;
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

  it('has 2 workflow tasks and 17 events when the notification comes', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    await world.visit(payment, 'pay');
    const events = await world.ended(payment.id);
    expect(events).toHaveLength(17);
    expect(events.filter((event) => event === 'WORKFLOW_TASK_COMPLETED')).toHaveLength(2);
  });
});

/** Makes a workflow forget everything that its first workflow task led to. */
async function resetToTheStart(id: string): Promise<void> {
  const { events } = await world.client.workflow.getHandle(id).fetchHistory();
  const [firstTask] = events?.filter(({ workflowTaskCompletedEventAttributes: task }) => task) ?? [];
  await world.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: id },
    reason: 'a mistake in the Web UI',
    requestId: `reset-${id}`,
    workflowTaskFinishEventId: firstTask?.eventId ?? null,
  });
}

describe('a link whose workflow somebody resets to before it was made', () => {
  it('is not made a second time, but found, and its payer can pay it', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    await resetToTheStart(payment.id);
    const found = await world.until(payment.id, ({ transId }) => transId !== undefined);
    expect(found.transId).toBe(payment.transId);
    await world.visit(payment, 'pay');
    await world.untilStatus(payment.id, 'SUCCESSFUL');
    expect(world.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('ends as it had ended before', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    await world.post(`/v1/collections/${payment.id}/expire`, {});
    await world.untilStatus(payment.id, 'EXPIRED');
    await resetToTheStart(payment.id);
    await world.ended(payment.id);
    await world.untilStatus(payment.id, 'EXPIRED');
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
  });
});
