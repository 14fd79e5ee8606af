import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypedSearchAttributes } from '@temporalio/common';
import { Registry } from 'prom-client';
import { Descriptions } from '../../../src/api/payments/descriptions.js';
import { measureOpenReviews } from '../../../src/api/payments/open-reviews.js';
import type { PaymentId } from '../../../src/payments/payment-id.js';
import { connectClient } from '../../../src/temporal/connection.js';
import { paymentSearchAttributes as attributes } from '../../../src/temporal/search-attributes.js';
import { type DevServer, startDevServer } from '../../../stack/temporal/start-dev-server.js';
import { sumOf } from '../../support/metrics-page.js';
import { testEncryption } from '../../support/test-encryption.js';

const HOUR_MS = 3_600_000;
const NOW = Date.now();
const COUNT = 1_100;

/** An incident: each payment was created a second after the one before, five hours ago. */
const createdAt = (number: number) => NOW - 5 * HOUR_MS + number * 1_000;
const idOf = (number: number) => `pay_${String(number).padStart(32, '0')}` as PaymentId;

describe('the age of the oldest review, with more of them than one call lists', () => {
  let server: DevServer;
  let client: ReturnType<typeof connectClient>;

  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
    client = connectClient(server, testEncryption);
    for (let next = 0; next < COUNT; next += 25) {
      const numbers = Array.from({ length: 25 }, (_, index) => next + index);
      await Promise.all(numbers.map(start));
    }
    while ((await client.workflow.count('WorkflowId STARTS_WITH "pay_"')).count < COUNT) {}
  }, 120_000);
  afterAll(async () => {
    await client.connection.close();
    await server.stop();
  });

  async function start(number: number): Promise<void> {
    await client.workflow.start('payOut', {
      workflowId: idOf(number),
      taskQueue: 'nobody',
      memo: { owner: 'shop', fingerprint: 'f', requestId: 'r' },
      typedSearchAttributes: new TypedSearchAttributes([
        { key: attributes.createdAt, value: createdAt(number) },
        { key: attributes.status, value: 'REVIEW' },
      ]),
    });
  }

  /** What an API that has just started shows, and how many payments it has asked. @param sinceOf when a payment came under review */
  async function shown(sinceOf: (number: number) => number | undefined) {
    let asked = 0;
    const asking = Object.create(client) as typeof client;
    const workflow = Object.create(client.workflow) as typeof client.workflow;
    Object.defineProperty(asking, 'workflow', { value: workflow });
    workflow.getHandle = (id: string) => {
      const handle = client.workflow.getHandle(id);
      const query = async () => {
        asked += 1;
        const since = sinceOf(Number(id.slice(4)));
        return { payment: since !== undefined && { review: { since: new Date(since).toISOString() } } };
      };
      return Object.assign(handle, { query }) as never;
    };
    const descriptions = new Descriptions(client);
    descriptions.untilIdle = async () => undefined;
    const registry = new Registry();
    measureOpenReviews(registry, { client: asking, descriptions });
    const page = await registry.metrics();
    return {
      open: sumOf(page, 'sanaga_reviews_open'),
      ageMs: sumOf(page, 'sanaga_review_oldest_age_seconds') * 1_000,
      asked,
    };
  }

  it('is exact, and takes few questions when payments come under review at once', async () => {
    const { open, ageMs, asked } = await shown((number) => createdAt(number) + 10_000);
    expect(open).toBe(COUNT);
    const expected = Date.now() - createdAt(0) - 10_000;
    expect(ageMs).toBeLessThanOrEqual(expected);
    expect(ageMs).toBeGreaterThan(expected - 5_000);
    expect(asked).toBe(11);
  });

  it('is that of a later payment which came under review first', async () => {
    const { ageMs } = await shown((number) => createdAt(number) + (number === 20 ? 1_000 : HOUR_MS));
    const expected = Date.now() - createdAt(20) - 1_000;
    expect(ageMs).toBeLessThanOrEqual(expected);
    expect(ageMs).toBeGreaterThan(expected - 10_000);
  });

  it('is that of the oldest that can answer', async () => {
    const { ageMs } = await shown((number) => {
      if (number === 0) throw new Error('its history is damaged');
      return createdAt(number) + 1_000;
    });
    const expected = Date.now() - createdAt(1) - 1_000;
    expect(ageMs).toBeLessThanOrEqual(expected);
    expect(ageMs).toBeGreaterThan(expected - 10_000);
  });

  it('is found by 200 questions at most', async () => {
    const { ageMs, asked } = await shown((number) => createdAt(number) + 2 * HOUR_MS);
    expect(asked).toBeLessThanOrEqual(200);
    expect(ageMs).toBeGreaterThan(Date.now() - createdAt(0) - 2 * HOUR_MS - 20_000);
  });
});
