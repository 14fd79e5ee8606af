import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypedSearchAttributes } from '@temporalio/common';
import PQueue from 'p-queue';
import { countPayments, listOldestFirst } from '../../src/engine/oldest-first.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { NOTIFIABLE_PAYMENTS } from '../../src/records/index-queries.js';
import type { Place } from '../../src/records/places.js';
import { connectClient } from '../../src/temporal/connection.js';
import { paymentSearchAttributes as attributes } from '../../src/temporal/search-attributes.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { testEncryption } from '../support/test-encryption.js';

const BEGIN = Date.now() - 5 * 3_600_000;
const COUNT = 900;

/**
 * The first third at one moment, as when a merchant pays many at once, the others a second apart. They are started in
 * another order.
 */
const createdAt = (number: number) => BEGIN + Math.max(0, number - COUNT / 3) * 1_000;
const idOf = (number: number) => `pay_${String(number).padStart(32, '0')}` as PaymentId;
const inOrder = Array.from({ length: COUNT }, (_, number) => idOf(number));

describe('the open payments, oldest first, with more of them than one call lists', () => {
  let server: DevServer;
  let client: ReturnType<typeof connectClient>;

  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
    client = connectClient(server, testEncryption);
    const numbers = Array.from({ length: COUNT }, (_, index) => COUNT - 1 - index);
    await new PQueue({ concurrency: 25 }).addAll(numbers.map((number) => () => start(number)));
    while ((await countPayments(client, NOTIFIABLE_PAYMENTS)) < COUNT) {}
  });
  afterAll(async () => {
    await client.connection.close();
    await server.stop();
  });

  async function start(number: number): Promise<void> {
    await client.workflow.start('payOut', {
      workflowId: idOf(number),
      taskQueue: 'nobody',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: attributes.createdAt, value: createdAt(number) },
        { key: attributes.merchant, value: 'shop' },
        { key: attributes.amount, value: 500 },
        { key: attributes.final, value: true },
      ]),
    });
  }

  async function allPages(limit: number) {
    const pages: (readonly { readonly id: PaymentId }[])[] = [];
    let after: Place | undefined;
    do {
      const { runs, last } = await listOldestFirst(client, NOTIFIABLE_PAYMENTS, limit, after);
      pages.push(runs);
      after = last;
    } while (after !== undefined);
    return pages;
  }

  it.each([70, 100, 200])('are each on one page, in order, of %d at a time', async (limit) => {
    const pages = await allPages(limit);
    expect(pages.flat().map(({ id }) => id)).toEqual(inOrder);
    expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
    expect(pages.at(-1)).not.toEqual([]);
  });

  it('take few calls', async () => {
    let calls = 0;
    const counting = Object.create(client) as typeof client;
    const workflow = Object.create(client.workflow) as typeof client.workflow;
    workflow.count = async (query) => {
      calls += 1;
      return await client.workflow.count(query);
    };
    Object.defineProperty(counting, 'workflow', { value: workflow });
    await listOldestFirst(counting, NOTIFIABLE_PAYMENTS, 100);
    expect(calls).toBeLessThan(50);
  });
});
