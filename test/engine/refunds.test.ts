import { expect, it } from '@jest/globals';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { RecordsUnavailable } from '../../src/engine/errors.js';
import type { FoundPayment, ReadContext } from '../../src/engine/find-payment.js';
import { readRefunds, sumUpRefunds } from '../../src/engine/refunds.js';
import type { StartContext } from '../../src/engine/start-payment.js';
import { startPayment } from '../../src/engine/start-payment.js';
import type { CountedRefund } from '../../src/payments/machine/refunds.js';
import { Shutdown } from '../../src/process/shutdown.js';
import { DAY, directOrder, paymentId, payoutOrder } from '../support/orders.js';
import { paid } from '../support/scenario.js';

const refund = paymentId('pay_1');
const notFound = (id: string) => new WorkflowNotFoundError('none', id, undefined);

/** Without records, and with a Temporal that has no payment; `kept` is what the collection's workflow has. */
function contextWith(kept: readonly CountedRefund[] | undefined): ReadContext {
  const client = {
    options: { namespace: 'default' },
    withDeadline: <T>(_deadline: number, call: () => Promise<T>) => call(),
    workflow: {
      getHandle: (id: string) => ({
        query: async () => {
          if (kept === undefined) throw notFound(id);
          return kept;
        },
      }),
    },
    workflowService: { listWorkflowExecutions: async () => ({ executions: [], nextPageToken: new Uint8Array() }) },
  };
  const descriptions = {
    describe: async (id: string) => {
      throw notFound(id);
    },
  };
  return { client: client as unknown as Client, descriptions: descriptions as unknown as ReadContext['descriptions'] };
}

it('starts nothing a minute after its reservation was asked for', async () => {
  const context = { ...contextWith(undefined), answerWithinMs: 1_000, shutdown: new Shutdown() } as StartContext;
  const order = { ...payoutOrder, refundOf: directOrder.id };
  const request = { order, merchant: 'shop', fingerprint: 'f', httpRequestId: 'r', repeatable: true };
  const late = startPayment(context, { ...request, startBy: Date.now() - 1 });
  await expect(late).rejects.toMatchObject({
    kind: 'startUncertain',
    cause: { message: expect.stringContaining('too late') },
  });
});

const collectedAt = (createdAt: number) =>
  ({ kind: 'recorded', id: directOrder.id, merchant: 'shop', createdAt }) as FoundPayment;
const longAgo = Date.now() - 31 * DAY;

it('can not tell what was refunded of an old collection without records, nor the workflow that keeps its refunds', async () => {
  await expect(readRefunds(contextWith(undefined), collectedAt(longAgo))).rejects.toThrow(RecordsUnavailable);
  await expect(readRefunds(contextWith(undefined), collectedAt(Date.now()))).resolves.toMatchObject({ counted: [] });
  await expect(readRefunds(contextWith([]), collectedAt(longAgo))).resolves.toMatchObject({ counted: [] });
});

it('counts a refund whose payment Temporal has forgotten, and frees only what surely never started', async () => {
  const { payment: collection } = paid(directOrder);
  const read = async (one: CountedRefund) =>
    sumUpRefunds(collection, await readRefunds(contextWith([one]), collectedAt(Date.now())));
  const known = { kind: 'known', id: refund, amount: 600, asOf: longAgo } as const;
  expect(await read(known)).toMatchObject({ collected: 5_000, refunded: 600, refunding: 0, refundable: 4_400 });
  const reserved = { kind: 'reserved', id: refund, amount: 600 } as const;
  expect(await read({ ...reserved, at: Date.now() })).toMatchObject({ refunding: 600, refundable: 4_400 });
  expect(await read({ ...reserved, at: Date.now() - DAY })).toMatchObject({ refunding: 0, refundable: 5_000 });
  // Its payment may have been made, have ended, and have been forgotten since.
  expect(await read({ ...reserved, at: longAgo })).toMatchObject({ refunding: 600, refundable: 4_400 });
});
