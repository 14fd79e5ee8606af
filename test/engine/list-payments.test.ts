import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypedSearchAttributes } from '@temporalio/common';
import type { ListPart } from '../../src/engine/list-in-temporal.js';
import { listPayments } from '../../src/engine/list-payments.js';
import type { PaymentSummary } from '../../src/payments/words/payment.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import type { PaymentFilter } from '../../src/records/index-queries.js';
import { compareNewest, compareOldest, type Place } from '../../src/records/places.js';
import { connectClient } from '../../src/temporal/connection.js';
import { paymentSearchAttributes as attributes, toTransIdKeyword } from '../../src/temporal/search-attributes.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { testEncryption } from '../support/test-encryption.js';

const DAY = 24 * 60 * 60 * 1_000;
const NOW = Date.now();

/** A burst of an hour ago, a crowd within one ms, some of the last days, and a few of long ago. */
const times = [
  ...Array.from({ length: 260 }, (_, index) => NOW - 3_600_000 + index * 7),
  ...Array.from({ length: 230 }, () => NOW - 2 * DAY),
  ...Array.from({ length: 20 }, (_, index) => NOW - index * DAY),
  ...Array.from({ length: 5 }, (_, index) => NOW - 400 * DAY - index),
];
const all = times
  .map((createdAt, index): Place => ({ createdAt, id: `col_${index}` as PaymentId }))
  .sort(compareNewest);

describe('payments, newest first', () => {
  let server: DevServer;
  let client: ReturnType<typeof connectClient>;
  let calls = 0;

  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
    client = connectClient(server, testEncryption);
    const list = client.workflowService.listWorkflowExecutions;
    client.workflowService.listWorkflowExecutions = (...request: unknown[]) => {
      calls += 1;
      return Reflect.apply(list, client.workflowService, request);
    };
    await startAll([...all].reverse());
    // Some have ended, which visibility puts last; some were opened again, and have two runs.
    for (const place of all.slice(100, 160)) await client.workflow.getHandle(place.id).terminate();
    for (const place of all.slice(120, 140)) await start(place, 'reopenPayment', 'SUCCESSFUL');
    await start({ createdAt: NOW, id: 'col_other' as PaymentId }, 'keepUnmatched');
    while ((await client.workflow.count('WorkflowId STARTS_WITH "col_"')).count < all.length + 21) {}
  });

  afterAll(async () => {
    await client.connection.close();
    await server.stop();
  });

  async function startAll(places: readonly Place[], merchant?: string): Promise<void> {
    for (let next = 0; next < places.length; next += 25) {
      const batch = places.slice(next, next + 25);
      await Promise.all(batch.map((place) => start(place, undefined, undefined, merchant)));
    }
  }

  async function start(
    { createdAt, id }: Place,
    type = 'collectByLink',
    status = 'PENDING',
    merchant = 'shop',
    transId?: string,
  ): Promise<void> {
    await client.workflow.start(type, {
      workflowId: id,
      taskQueue: 'nobody',
      memo: { owner: merchant, fingerprint: 'f', requestId: 'r', method: 'link', metadata: { order: id } },
      typedSearchAttributes: new TypedSearchAttributes([
        { key: attributes.createdAt, value: createdAt },
        { key: attributes.merchant, value: merchant },
        { key: attributes.kind, value: 'collection' },
        { key: attributes.amount, value: 500 },
        { key: attributes.status, value: status },
        ...(transId === undefined ? [] : [{ key: attributes.transId, value: toTransIdKeyword(transId) }]),
      ]),
    });
  }

  const idsOf = (places: readonly Pick<Place, 'id'>[]) => places.map(({ id }) => id);

  /** Every page, one after the other. */
  async function walk(
    filter: PaymentFilter,
    pageSize: number,
    from?: Place,
    order: ListPart['order'] = 'newest first',
  ): Promise<PaymentSummary[]> {
    const payments: PaymentSummary[] = [];
    for (let after = from; ; ) {
      const { payments: page, unreadable, last } = await listPayments({ client }, filter, { pageSize, after, order });
      expect(page.length).toBeLessThanOrEqual(pageSize);
      expect(unreadable).toEqual([]);
      payments.push(...page.map(({ payment }) => payment));
      if (last === undefined) return payments;
      expect(last.id).toBe(page.at(-1)?.payment.id);
      after = last;
    }
  }

  const newest = (filter: PaymentFilter, pageSize: number, after?: Place) =>
    listPayments({ client }, filter, { pageSize, after, order: 'newest first' });

  it.each([100, 250])('come in order, each once, however many and however close: %i a page', async (size) => {
    expect(idsOf(await walk({}, size))).toEqual(idsOf(all));
  });

  it.each([100, 250])('come oldest first, too, each once: %i a page', async (size) => {
    const inOrder = [...all].sort(compareOldest);
    expect(idsOf(await walk({}, size, undefined, 'oldest first'))).toEqual(idsOf(inOrder));
    // The latest run of those that were opened again.
    const successful = inOrder.filter(({ id }) => idsOf(all.slice(120, 140)).includes(id));
    expect(idsOf(await walk({ status: 'SUCCESSFUL' }, size, undefined, 'oldest first'))).toEqual(idsOf(successful));
  });

  it('cost a call or two for a page of 100, and a third at most when they are many and have a status', async () => {
    for (const after of [undefined, all[99]]) {
      calls = 0;
      expect((await newest({ merchant: 'shop' }, 100, after)).payments).toHaveLength(100);
      expect(calls).toBeLessThanOrEqual(2);
    }
    calls = 0;
    await newest({ merchant: 'shop', status: 'PENDING' }, 100);
    expect(calls).toBeLessThanOrEqual(3);
  });

  it('are shown as their latest run is', async () => {
    const reopened = all.slice(120, 140);
    const stopped = [...all.slice(100, 120), ...all.slice(140, 160)];
    expect(idsOf(await walk({ status: 'SUCCESSFUL' }, 7))).toEqual(idsOf(reopened));
    expect(idsOf(await walk({ status: 'REVIEW' }, 100))).toEqual(idsOf(stopped));
    const [first] = await walk({ status: 'REVIEW' }, 100);
    expect(first).toEqual({
      id: all[100]?.id,
      object: 'payment',
      kind: 'collection',
      method: 'link',
      status: 'REVIEW',
      final: false,
      amount: 500,
      currency: 'XAF',
      transId: undefined,
      externalId: undefined,
      userId: undefined,
      metadata: { order: all[100]?.id },
      createdAt: new Date(all[100]?.createdAt ?? 0).toISOString(),
    });
  });

  it('go on after any of them', async () => {
    for (const index of [0, 99, 270, 300, all.length - 2, all.length - 1]) {
      expect(idsOf(await walk({ merchant: 'shop' }, 200, all[index]))).toEqual(idsOf(all.slice(index + 1)));
    }
  });

  it('can be limited to a time', async () => {
    const filter = { createdFrom: NOW - 2 * DAY, createdBefore: NOW - 3_600_000 };
    const within = all.filter(({ createdAt }) => createdAt >= filter.createdFrom && createdAt < filter.createdBefore);
    expect(within.length).toBeGreaterThan(200);
    expect(idsOf(await walk(filter, 100))).toEqual(idsOf(within));
    expect(await walk({ createdFrom: NOW + DAY, createdBefore: NOW }, 100)).toEqual([]);
  });

  it('cost a few calls where those that began last were created first', async () => {
    const now = Date.now();
    const late = Array.from({ length: 500 }, (_, index) => ({
      createdAt: now - index * 1_000,
      id: `col_late_${index}` as PaymentId,
    }));
    await startAll(late, 'late');
    while ((await client.workflow.count('Merchant = "late"')).count < late.length) {}
    calls = 0;
    // Until a time that starting them all doesn't move: how often that is halved depends on how far away it is.
    const filter = { merchant: 'late', createdBefore: now + 1 };
    const { payments } = await newest(filter, 20);
    expect(payments.map(({ payment }) => payment.id)).toEqual(idsOf(late.slice(0, 20)));
    expect(calls).toBeLessThanOrEqual(8);
    expect(idsOf(await walk({ merchant: 'late' }, 20))).toEqual(idsOf(late));
  });

  it("are found by the provider's transaction, whatever the form of its id", async () => {
    const transIds = ['TX#17', 'a" OR Merchant != "', "100% (é)'*\\"] as const;
    for (const [index, transId] of transIds.entries()) {
      await start({ createdAt: NOW, id: `col_form_${index}` as PaymentId }, undefined, 'SUCCESSFUL', 'forms', transId);
    }
    while ((await client.workflow.count('Merchant = "forms"')).count < transIds.length) {}
    for (const [index, transId] of transIds.entries()) {
      expect(await walk({ merchant: 'forms', transId }, 20)).toMatchObject([{ id: `col_form_${index}`, transId }]);
    }
    expect(await walk({ merchant: 'forms', transId: 'TX%2317' }, 20)).toEqual([]);
  });

  it('are none where none are', async () => {
    expect(await walk({ merchant: 'rival' }, 100)).toEqual([]);
  });
});

describe('the places of a list', () => {
  const place = (createdAt: number, id: string): Place => ({ createdAt, id: id as PaymentId });

  it('are in order, the newest first, and by id at the same moment', () => {
    const places = [place(1, 'col_b'), place(2, 'pay_a'), place(1, 'col_a'), place(3, 'col_c')];
    const ids = [...places].sort(compareNewest).map(({ createdAt, id }) => `${createdAt} ${id}`);
    expect(ids).toEqual(['3 col_c', '2 pay_a', '1 col_a', '1 col_b']);
  });

  it('are in order, the oldest first, and by id at the same moment', () => {
    const places = [place(1, 'col_b'), place(2, 'pay_a'), place(1, 'col_a'), place(3, 'col_c')];
    const ids = [...places].sort(compareOldest).map(({ createdAt, id }) => `${createdAt} ${id}`);
    expect(ids).toEqual(['1 col_a', '1 col_b', '2 pay_a', '3 col_c']);
  });
});
