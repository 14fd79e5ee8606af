import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DefaultLogger, Worker } from '@temporalio/worker';
import { stopTracingPromises } from '../../lab/explore/workflow-vm.js';
import { paymentSinks } from '../../src/payment-worker.js';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import { hintSignal } from '../../src/workflows/messages.js';
import { MINUTE, transId } from '../payments/orders.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { testEncryption } from '../support/test-encryption.js';
import { PaymentWorld } from './payment-world.js';
import { savedHistories } from './saved-histories.js';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start();
}, 60_000);
afterAll(() => world.stop(), 30_000);

describe("a link collection's history", () => {
  it('has 2 workflow tasks and 17 events when the notification comes', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    await world.visit(payment, 'pay');
    const events = await world.ended(payment.id);
    expect(events).toEqual([
      'WORKFLOW_EXECUTION_STARTED',
      'WORKFLOW_TASK_SCHEDULED',
      'WORKFLOW_TASK_STARTED',
      'WORKFLOW_TASK_COMPLETED',
      'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
      'MARKER_RECORDED', // the link
      'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', // its transId
      'TIMER_STARTED',
      'WORKFLOW_EXECUTION_UPDATE_COMPLETED',
      'WORKFLOW_EXECUTION_SIGNALED', // the notification
      'WORKFLOW_TASK_SCHEDULED',
      'WORKFLOW_TASK_STARTED',
      'WORKFLOW_TASK_COMPLETED',
      'MARKER_RECORDED', // the status
      'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', // the outcome
      'MARKER_RECORDED', // the merchant is told
      'WORKFLOW_EXECUTION_COMPLETED',
    ]);
  });

  it('is carried on in a new run before it has 2,000 events, with no notification and nobody who waits lost', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    const handle = world.client.workflow.getHandle(payment.id);
    const { runId: firstRun } = await handle.describe();
    const waiting = world.get(`/v1/payments/${payment.id}?wait=50`);
    const hint = { transId: transId(String(payment.transId)), status: 'PENDING' } as const;
    for (let batch = 0; batch < 40; batch++) {
      await Promise.all(Array.from({ length: 40 }, () => handle.signal(hintSignal, hint)));
    }
    await world.pass(2 * MINUTE);
    const { runId, historyLength } = await handle.describe();
    expect(runId).not.toBe(firstRun);
    expect(historyLength).toBeLessThan(2_000);
    const first = await world.client.workflow.getHandle(payment.id, firstRun).fetchHistory();
    expect(first.events?.length).toBeLessThan(2_000);

    const before = (await world.events(payment.id)).slice(0, 4);
    expect(before).toMatchObject([
      { type: 'created', at: payment.createdAt },
      { type: 'sending' },
      { type: 'accepted', transId: payment.transId },
      { type: 'provider_notification', count: 1_600 },
    ]);

    await world.visit(payment, 'pay');
    expect((await waiting).body).toMatchObject({
      id: payment.id,
      status: 'SUCCESSFUL',
      createdAt: payment.createdAt,
    });
    await world.ended(payment.id);
    const after = await world.events(payment.id);
    expect(after.slice(0, 4)).toEqual(before);
    expect(after.at(-1)).toMatchObject({ type: 'merchant_notification', event: 'payment.succeeded' });
    const [transaction] = world.transactionsOf(payment.id);
    expect(transaction?.statusCalls.throttled).toBe(0);
    const notified = world.notifications
      .filter((event) => event.payment.id === payment.id)
      .map(({ id, type }) => `${id} ${type}`);
    expect(new Set(notified)).toEqual(new Set([`evt_${payment.id}_succeeded_1 payment.succeeded`]));
  });
});

describe('the saved histories', () => {
  it('are replayed by the workflows as they are today', async () => {
    const histories = await savedHistories();
    expect(histories.length).toBeGreaterThan(20);
    const failed: string[] = [];
    const reported: string[] = [];
    const report = (name: string) => () => void reported.push(name);
    const replay = {
      workflowBundle: workflowBundle(),
      dataConverter: dataConverterOf(testEncryption),
      logger: new DefaultLogger('ERROR'),
      sinks: paymentSinks({
        changed: report('changed'),
        becameAmbiguous: report('becameAmbiguous'),
        waitsForBudget: report('waitsForBudget'),
        gaveUpNotification: report('gaveUpNotification'),
      }),
    };
    try {
      for await (const { workflowId, error } of Worker.runReplayHistories(replay, histories)) {
        if (error !== undefined) failed.push(`${workflowId}: ${error.message}`);
      }
    } finally {
      stopTracingPromises();
    }
    expect(failed).toEqual([]);
    // The metrics count nothing twice that is only replayed.
    expect(reported).toEqual([]);
  });
});
