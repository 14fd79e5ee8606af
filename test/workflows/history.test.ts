import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WithStartWorkflowOperation } from '@temporalio/client';
import {
  countPayoutsUpdate,
  hintSignal,
  PAYOUT_LIMIT_WORKFLOW_TYPE,
  type PayoutLimitInput,
  REFUNDS_WORKFLOW_TYPE,
  type RefundsInput,
  refundsQuery,
  refundsWorkflowId,
  reserveRefundUpdate,
  UNMATCHED_WORKFLOW,
  unmatchedQuery,
  unmatchedSignal,
} from '../../src/workflows/messages.js';
import { HOUR, MINUTE, paymentId, transId } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';
import { saveHistory } from './saved-histories.js';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start();
});
afterAll(() => world.stop());

describe("a link collection's history", () => {
  it('has 1 workflow task and 7 events up to its outcome when the notification comes, and 7 more to tell the merchant', async () => {
    const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
    await world.visit(payment, 'pay');
    const events = await world.ended(payment.id);
    expect(events).toEqual([
      'WORKFLOW_EXECUTION_STARTED', // with the link
      'WORKFLOW_EXECUTION_SIGNALED', // the notification
      'WORKFLOW_TASK_SCHEDULED',
      'WORKFLOW_TASK_STARTED',
      'WORKFLOW_TASK_COMPLETED',
      'MARKER_RECORDED', // the status
      'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', // the outcome
      'ACTIVITY_TASK_SCHEDULED', // the merchant is told
      'ACTIVITY_TASK_STARTED',
      'ACTIVITY_TASK_COMPLETED',
      'WORKFLOW_TASK_SCHEDULED',
      'WORKFLOW_TASK_STARTED',
      'WORKFLOW_TASK_COMPLETED',
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
      { type: 'created' },
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
    expect(notified).toEqual([`evt_${payment.id}_succeeded_1 payment.succeeded`]);
  });
});

describe('a workflow beside payments', () => {
  it('counts the payouts of a day', async () => {
    const workflowId = 'payouts-of-shop-on-2026-11-21';
    const now = world.clock.now();
    const count = (amount: number) =>
      world.client.workflow.executeUpdateWithStart(countPayoutsUpdate, {
        args: [{ payouts: [{ id: paymentId(`pay_${amount}`), amount }], max: 1_000 }],
        startWorkflowOperation: new WithStartWorkflowOperation<(input: PayoutLimitInput) => Promise<void>>(
          PAYOUT_LIMIT_WORKFLOW_TYPE,
          {
            workflowId,
            taskQueue: 'payments',
            args: [{ v: 1, merchant: 'shop', day: '2026-11-21', until: now + HOUR }],
            workflowIdConflictPolicy: 'USE_EXISTING',
          },
        ),
      });
    expect(await count(600)).toEqual({ isAccepted: [true], total: 600 });
    expect(await count(500)).toEqual({ isAccepted: [false], total: 600 });
    await world.pass(2 * HOUR);
    expect((await world.ended(workflowId, 'payouts-of-a-day')).at(-1)).toBe('WORKFLOW_EXECUTION_COMPLETED');
  });

  it('keeps the refunds of a collection, whatever becomes of the requests for them', async () => {
    const collection = paymentId('col_refunded');
    const workflowId = refundsWorkflowId(collection);
    const reserve = async (amount: number, none: readonly number[] = []) => {
      const id = (given: number) => paymentId(`pay_${given}`);
      const readings = none.map((given) => ({ kind: 'none', id: id(given) }) as const);
      const reservation = { id: id(amount), amount, collected: 1_000, readings, readAt: world.clock.now() };
      return await world.client.workflow.executeUpdateWithStart(reserveRefundUpdate, {
        args: [reservation],
        startWorkflowOperation: new WithStartWorkflowOperation<(input: RefundsInput) => Promise<void>>(
          REFUNDS_WORKFLOW_TYPE,
          {
            workflowId,
            taskQueue: 'payments',
            args: [{ v: 1, collection }],
            workflowIdConflictPolicy: 'USE_EXISTING',
          },
        ),
      });
    };
    expect(await reserve(600)).toEqual({ kind: 'reserved' });
    expect(await reserve(500, [600])).toEqual({ kind: 'noRoom', counted: 600 });
    const handle = world.client.workflow.getHandle(workflowId);
    await handle.cancel();
    await world.pass(HOUR);
    expect(await reserve(500, [600])).toEqual({ kind: 'reserved' });
    expect(await handle.query(refundsQuery)).toMatchObject([{ kind: 'reserved', id: 'pay_500', amount: 500 }]);
    await saveHistory('refunds-of-a-collection', await handle.fetchHistory());
    await handle.terminate();
  });

  it('keeps notifications that match no payment', async () => {
    const { type, id: workflowId } = UNMATCHED_WORKFLOW;
    const notification = {
      transId: transId('T404'),
      status: 'SUCCESSFUL',
      at: '2026-11-21T10:00:00.000Z',
    } as const;
    const handle = await world.client.workflow.signalWithStart(type, {
      workflowId,
      taskQueue: 'payments',
      signal: unmatchedSignal,
      signalArgs: [notification],
    });
    expect(await handle.query(unmatchedQuery)).toEqual([notification]);
    await handle.signal(unmatchedSignal, { ...notification, externalId: 'by-hand' });
    expect(await handle.query(unmatchedQuery)).toHaveLength(2);
    await saveHistory('unmatched-notifications', await handle.fetchHistory());
  });
});
