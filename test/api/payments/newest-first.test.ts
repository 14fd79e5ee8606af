import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypedSearchAttributes } from '@temporalio/common';
import { compare, type Place } from '../../../src/api/page-cursor.js';
import { newestFirst } from '../../../src/api/payments/newest-first.js';
import type { PaymentFilter } from '../../../src/api/payments/visibility-query.js';
import type { PaymentId } from '../../../src/payments/payment-id.js';
import { connectClient } from '../../../src/temporal/connection.js';
import { paymentSearchAttributes as attributes } from '../../../src/temporal/search-attributes.js';
import { type DevServer, startDevServer } from '../../../stack/temporal/start-dev-server.js';

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
  .sort(compare);

describe('payments, newest first', () => {
  let server: DevServer;
  let client: ReturnType<typeof connectClient>;

  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
    client = connectClient(server);
    for (let next = 0; next < all.length; next += 25) {
      await Promise.all(all.slice(next, next + 25).map((place) => start(place)));
    }
    // Some have ended, which visibility puts last; some were opened again, and have two runs.
    for (const place of all.slice(100, 160)) await client.workflow.getHandle(place.id).terminate();
    for (const place of all.slice(120, 140)) await start(place, 'reopenPayment');
    await start({ createdAt: NOW, id: 'col_other' as PaymentId }, 'keepUnmatched');
    while ((await client.workflow.count('WorkflowId STARTS_WITH "col_"')).count < all.length + 21) {}
  }, 120_000);

  afterAll(async () => {
    await client.connection.close();
    await server.stop();
  });

  async function start({ createdAt, id }: Place, type = 'collectByLink'): Promise<void> {
    await client.workflow.start(type, {
      workflowId: id,
      taskQueue: 'nobody',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: attributes.createdAt, value: createdAt },
        { key: attributes.merchant, value: 'shop' },
      ]),
    });
  }

  async function walk(filter: PaymentFilter, after?: Place): Promise<Place[]> {
    const places: Place[] = [];
    for await (const batch of newestFirst({ client }, filter, after)) places.push(...batch);
    return places;
  }

  it('come in order, each once, however many there are and however close', async () => {
    expect(await walk({})).toEqual(all);
  });

  it('go on after any of them', async () => {
    for (const index of [0, 99, 270, 300, all.length - 2, all.length - 1]) {
      expect(await walk({ owner: 'shop' }, all[index])).toEqual(all.slice(index + 1));
    }
  });

  it('can be limited to a time', async () => {
    const filter = { createdFrom: NOW - 2 * DAY, createdBefore: NOW - 3_600_000 };
    const within = all.filter(
      ({ createdAt }) => createdAt >= filter.createdFrom && createdAt < filter.createdBefore,
    );
    expect(within.length).toBeGreaterThan(200);
    expect(await walk(filter)).toEqual(within);
    expect(await walk({ createdFrom: NOW + DAY, createdBefore: NOW })).toEqual([]);
  });

  it('are none where none are', async () => {
    expect(await walk({ owner: 'rival' })).toEqual([]);
  });
});
