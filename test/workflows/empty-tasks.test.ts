import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNow } from '../../src/engine/workflow-start.js';
import { STATUS_CALLS_BUDGETED } from '../../src/payments/machine/polling.js';
import { hintSignal, initiationUpdate } from '../../src/workflows/messages.js';
import { eventually } from '../support/eventually.js';
import { HOUR, paymentId, terms as usualTerms } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';
import { expectReplayable } from '../support/replayable.js';

const terms = { ...usualTerms, pollFirstMs: HOUR, pollMaxMs: HOUR, linkLifetimeMs: 20_000 };

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ realServer: true });
});
afterAll(() => world.stop());

const eventsOf = async (id: string, type: string) => (await world.historyOf(id)).filter((each) => each === type).length;

/** Waits until the history has as many events of a type. */
const untilEvents = (id: string, type: string, count: number) =>
  eventually(
    () => eventsOf(id, type),
    (events) => events >= count,
  );

describe('a worker that begins with a payment after a task in which nothing was to do', () => {
  it('leaves a history that replays, when an order is repeated just as a timer is over', async () => {
    const id = paymentId('col_hinted');
    const order = { id, kind: 'link', amount: 5_000, metadata: {} } as const;
    const input = { v: 1, order, terms, fingerprint: 'f', requestId: 'r' } as const;
    const handle = world.client.workflow.getHandle(id);
    await startNow(world.client, { input, merchant: 'shop', taskQueue: 'payments', createdAt: Date.now() });
    const { transId } = await world.until(id, (payment) => payment.transId !== undefined);
    // The provider may be asked this often; of two more hints comes nothing.
    for (let hints = 1; hints <= STATUS_CALLS_BUDGETED + 2; hints += 1) {
      await handle.signal(hintSignal, { transId, status: 'PENDING' });
      await untilEvents(id, 'WORKFLOW_TASK_COMPLETED', await eventsOf(id, 'WORKFLOW_TASK_SCHEDULED'));
    }

    await world.stopWorker();
    const repeated = handle.executeUpdate(initiationUpdate, { args: [{ fingerprint: 'f' }], updateId: 'repeated' });
    await untilEvents(id, 'TIMER_FIRED', 1);
    await world.startWorker();
    expect((await repeated).payment.transId).toBe(transId);
    await expectReplayable(world, [id]);
  });
});
