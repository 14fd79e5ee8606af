import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporal } from '@temporalio/proto';
import { startNow } from '../../src/engine/workflow-start.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { approveUpdate } from '../../src/workflows/messages.js';
import { paymentId, terms as usualTerms } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const { RESET_REAPPLY_EXCLUDE_TYPE_UPDATE: UPDATES } = temporal.api.enums.v1.ResetReapplyExcludeType;

const terms = { ...usualTerms, approveAbove: 899, ambiguousGraceMs: 3_000 };

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ realServer: true, terms });
});
afterAll(() => world.stop());

/** A payout of 900 XAF that ann has ordered, bob has approved and the provider has taken. */
async function approved(id: string): Promise<Payment> {
  const order = {
    id: paymentId(id),
    kind: 'payout',
    amount: 900,
    phone: '670000000',
    orderedBy: 'ann',
    metadata: {},
  } as const;
  const input = { v: 1, order, terms, fingerprint: 'f', requestId: 'r' } as const;
  await startNow(world.client, { input, merchant: 'shop', taskQueue: 'payments', createdAt: Date.now() });
  const payment = await world.until(id, ({ held }) => held !== undefined);
  await approve(payment);
  return { ...(await world.until(id, ({ transId }) => transId !== undefined)), held: payment.held };
}

const approve = ({ id, held }: Payment) =>
  world.client.workflow
    .getHandle(id)
    .executeUpdate(approveUpdate, { args: [{ by: 'bob', digest: held?.digest ?? '' }] });

/** Makes a workflow forget what its first task led to, and the updates since, unless Temporal applies them again. */
async function reset(id: string, without: readonly (typeof UPDATES)[]): Promise<void> {
  const { events } = await world.client.workflow.getHandle(id).fetchHistory();
  await world.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: id },
    reason: 'a mistake in the Web UI',
    requestId: `reset-${id}`,
    workflowTaskFinishEventId: events?.find((one) => one.workflowTaskCompletedEventAttributes)?.eventId ?? null,
    resetReapplyExcludeTypes: [...without],
  });
}

describe('a held payout that was approved and sent, whose workflow somebody resets to before that', () => {
  it('is held again when its approval is lost, and is found, not sent again, once it is approved anew', async () => {
    const sent = await approved('pay_lost');
    await reset(sent.id, [UPDATES]);
    const again = await world.until(sent.id, ({ held }) => held !== undefined);
    expect(again.held).toMatchObject({ for: ['approval'], approvals: [] });
    expect(again.held?.digest).toBe(sent.held?.digest);
    await approve(again);
    const found = await world.until(sent.id, ({ transId }) => transId !== undefined);
    expect(found.transId).toBe(sent.transId);
    expect(world.transactionsOf(sent.id)).toHaveLength(1);
  });

  it('is not sent again either when Temporal brings its approval back', async () => {
    const sent = await approved('pay_back');
    await reset(sent.id, []);
    await world.untilStatus(sent.id, 'SUCCESSFUL');
    expect(world.transactionsOf(sent.id)).toHaveLength(1);
  });
});
