import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { RecordsUnavailable } from '../../src/engine/errors.js';
import type { FoundPayment, ReadContext } from '../../src/engine/find-payment.js';
import { knownSums, readRefunds, sumUpRefunds } from '../../src/engine/refunds.js';
import type { StartContext } from '../../src/engine/start-payment.js';
import { startPayment } from '../../src/engine/start-payment.js';
import type { CountedRefund } from '../../src/payments/machine/refunds.js';
import { toPayment } from '../../src/payments/views/to-payment.js';
import { derivePaymentId } from '../../src/payments/words/derive-payment-id.js';
import { Shutdown } from '../../src/process/shutdown.js';
import { DAY, directOrder, paymentId, payoutOrder } from '../support/orders.js';
import { paid } from '../support/scenario.js';

const refund = paymentId('pay_1');
const notFound = (id: string) => new WorkflowNotFoundError('none', id, undefined);

/**
 * Without records, and with a Temporal that has no payment; `kept` is what the collection's workflow has.
 *
 * @param asked called before each answer of Temporal's
 */
function contextWith(
  kept: readonly CountedRefund[] | undefined,
  asked: (what: 'list' | 'describe') => Promise<void> = async () => undefined,
): ReadContext {
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
    workflowService: {
      listWorkflowExecutions: async () => {
        await asked('list');
        return { executions: [], nextPageToken: new Uint8Array() };
      },
    },
  };
  const descriptions = {
    describe: async (id: string) => {
      await asked('describe');
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

describe('the sums that a paid collection is shown with', () => {
  const { payment: state } = paid(directOrder);
  const shown = { payment: toPayment(state), state };

  it('are read without the index, which a refund asks', async () => {
    const asked: string[] = [];
    const ask = async (what: string) => void asked.push(what);
    const kept = [{ kind: 'known', id: refund, amount: 600, asOf: longAgo }] as const;
    const sums = await knownSums(contextWith(kept, ask), collectedAt(Date.now()), shown);
    expect(sums).toEqual({ refunded: 600, refunding: 0, refundable: 4_400 });
    const none = await knownSums(contextWith(undefined, ask), collectedAt(Date.now()), shown);
    expect(none).toEqual({ refunded: 0, refunding: 0, refundable: 5_000 });
    expect(asked).toEqual(['describe']);
    await readRefunds(contextWith(kept, ask), collectedAt(Date.now()));
    expect(asked).toContain('list');
  });

  it('are left out when it takes long to read them, and nothing is read any more', async () => {
    let described = 0;
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const ask = async () => {
      described++;
      await answered;
    };
    const kept = Array.from({ length: 100 }, (_, index) => {
      const id = derivePaymentId('payout', 'shop', String(index));
      return { kind: 'known', id, amount: 1, asOf: longAgo } as const;
    });
    await expect(knownSums(contextWith(kept, ask), collectedAt(Date.now()), shown)).resolves.toBeUndefined();
    const before = described;
    answer();
    for (let turns = 0; turns < 100; turns++) await turn();
    expect(before).toBeGreaterThan(0);
    expect(described).toBe(before);
  });
});
