import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { encodeUnifiedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import proto from '@temporalio/proto';
import { DAY_MS, dayAfter, startOf } from '../../src/payments/words/time.js';
import { paymentsOfDay } from '../../src/records/day-payments.js';
import type { PaymentRun } from '../../src/records/payment-record.js';
import type { Records } from '../../src/records/records.js';
import { paymentSearchAttributes as attributes } from '../../src/temporal/search-attributes.js';
import { idOf } from '../support/ended-runs.js';

const { WorkflowExecutionStatus: Status } = proto.temporal.api.enums.v1;

const DAY = '2026-11-20';
const PERIOD = { from: startOf(DAY), before: startOf(dayAfter(DAY)) };
const PER_PAGE = 50;

/** Two payments are created in each ms of the day. */
const createdAt = (number: number) => startOf(DAY) + Math.floor(number / 2);

/** A payment's run; `releasedAt` is of a payout that was held. */
interface Run {
  readonly startedAt: number;
  readonly status: 'SUCCESSFUL' | 'FAILED';
  readonly releasedAt?: number;
}

function toInfo(number: number, run: Run) {
  const indexed = new TypedSearchAttributes([
    { key: attributes.merchant, value: 'shop' },
    { key: attributes.kind, value: 'collection' },
    { key: attributes.amount, value: 500 },
    { key: attributes.createdAt, value: createdAt(number) },
    { key: attributes.status, value: run.status },
    { key: attributes.final, value: true },
    ...(run.releasedAt === undefined ? [] : [{ key: attributes.releasedAt, value: new Date(run.releasedAt) }]),
  ]);
  const at = { seconds: Math.floor(run.startedAt / 1_000), nanos: (run.startedAt % 1_000) * 1e6 };
  return {
    execution: { workflowId: idOf(number), runId: `run-at-${run.startedAt}` },
    status: Status.WORKFLOW_EXECUTION_STATUS_COMPLETED,
    startTime: at,
    closeTime: at,
    searchAttributes: { indexedFields: encodeUnifiedSearchAttributes(undefined, indexed) },
  };
}

/**
 * Lists the newest first, as Temporal does. Each payment has two runs; the later one, which comes first, was
 * SUCCESSFUL.
 */
function temporalOf(numbers: readonly number[]): Client {
  const infos = [1_000, 0].flatMap((later) =>
    numbers.toReversed().map((number) =>
      toInfo(number, {
        startedAt: createdAt(number) + later,
        status: later > 0 ? 'SUCCESSFUL' : 'FAILED',
      }),
    ),
  );
  return clientListing(infos);
}

function clientListing(infos: readonly object[]): Client {
  const listWorkflowExecutions = async ({ nextPageToken }: { nextPageToken: Uint8Array | null }) => {
    const first = Number(Buffer.from(nextPageToken ?? []).toString());
    const next = first + PER_PAGE;
    return {
      executions: infos.slice(first, next),
      nextPageToken: Buffer.from(next < infos.length ? String(next) : ''),
    };
  };
  const stub = {
    options: { namespace: 'default' },
    withDeadline: <T>(_: unknown, call: () => T) => call(),
    workflowService: { listWorkflowExecutions },
  };
  return stub as unknown as Client;
}

/** Records say of what they have that it was FAILED. */
function recordsOf(numbers: readonly number[]): Records {
  const runs = numbers.map(
    (number): PaymentRun => ({
      id: idOf(number),
      merchant: 'shop',
      runId: 'run-1',
      startedAt: createdAt(number),
      closedAt: createdAt(number),
      stopped: false,
      indexed: {
        kind: 'collection',
        status: 'FAILED',
        final: true,
        amount: 500,
        createdAt: createdAt(number),
      },
    }),
  );
  const runsBegun: Records['runsBegun'] = async (_from, _before, after, limit) =>
    runs.filter(({ id }) => id > after).slice(0, limit);
  return { runsBegun } as unknown as Records;
}

const numbers = (from: number, before: number) => Array.from({ length: before - from }, (_, index) => from + index);

const read = async (inTemporal: readonly number[], inRecords: readonly number[], max: number) => {
  const { payments, cutOff } = await paymentsOfDay(
    temporalOf(inTemporal),
    recordsOf(inRecords),
    PERIOD,
    max,
    () => undefined,
  );
  return { payments: payments.map(({ id, status }) => `${id} ${status}`), cutOff };
};

const successful = (number: number) => `${idOf(number)} SUCCESSFUL`;
const failed = (number: number) => `${idOf(number)} FAILED`;

describe('the payments of a day', () => {
  it('are in the order of their creation, as their latest runs have left them', async () => {
    const { payments, cutOff } = await read(numbers(100, 300), numbers(0, 300), 300);
    expect(payments).toEqual([...numbers(0, 100).map(failed), ...numbers(100, 300).map(successful)]);
    expect(cutOff).toBe(false);
  });

  it('hold of each nothing but what a statement needs', async () => {
    const client = temporalOf([7]);
    const { payments } = await paymentsOfDay(client, recordsOf([8]), PERIOD, 10, () => undefined);
    const fields = { merchant: 'shop', kind: 'collection', final: true, amount: 500 };
    expect(payments).toStrictEqual([
      {
        ...{ ...fields, id: idOf(7), status: 'SUCCESSFUL', createdAt: createdAt(7) },
        ...{ amountPaid: undefined, transId: undefined, externalId: undefined, refundOf: undefined },
      },
      {
        ...{ ...fields, id: idOf(8), status: 'FAILED', createdAt: createdAt(8) },
        ...{ amountPaid: undefined, transId: undefined, externalId: undefined, refundOf: undefined },
      },
    ]);
  });

  it('leave out a payout that was released on another day, whatever was recorded before its release', async () => {
    const released = { startedAt: createdAt(7), status: 'SUCCESSFUL', releasedAt: startOf(DAY) + DAY_MS } as const;
    const beforeRelease = { startedAt: createdAt(7), status: 'FAILED' } as const;
    for (const runs of [[released], [released, beforeRelease], [beforeRelease, released]]) {
      const client = clientListing(runs.map((run) => toInfo(7, run)));
      const { payments } = await paymentsOfDay(client, recordsOf([7, 8]), PERIOD, 10, () => undefined);
      expect(payments.map(({ id }) => id)).toEqual([idOf(8)]);
    }
  });

  it.each([
    ['Temporal has them all', numbers(0, 3_000), [], numbers(0, 101).map(successful)],
    ['the records have them all', [], numbers(0, 3_000), numbers(0, 101).map(failed)],
    [
      'the records have the first of them',
      numbers(60, 3_000),
      numbers(0, 3_000),
      [...numbers(0, 60).map(failed), ...numbers(60, 101).map(successful)],
    ],
    ['both have all', numbers(0, 3_000), numbers(0, 3_000), numbers(0, 101).map(successful)],
  ])('are the first of many more, when %s', async (_, inTemporal, inRecords, first) => {
    await expect(read(inTemporal, inRecords, 101)).resolves.toEqual({ payments: first, cutOff: true });
  });

  it('are cut off as soon as there is one more', async () => {
    expect((await read(numbers(0, 101), [], 101)).cutOff).toBe(false);
    expect((await read(numbers(0, 102), [], 101)).cutOff).toBe(true);
    expect((await read(numbers(0, 101), numbers(0, 102), 101)).cutOff).toBe(true);
  });
});
