import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TypedSearchAttributes } from '@temporalio/common';
import PQueue from 'p-queue';
import { Registry } from 'prom-client';
import { Descriptions } from '../../src/engine/descriptions.js';
import { measureWaiting } from '../../src/engine/waiting.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { isoTime } from '../../src/payments/words/time.js';
import { connectClient } from '../../src/temporal/connection.js';
import { paymentSearchAttributes as attributes } from '../../src/temporal/search-attributes.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { sumOf } from '../support/metrics-page.js';
import { testEncryption } from '../support/test-encryption.js';

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
    const starts = Array.from({ length: COUNT }, (_, number) => () => start(number));
    await new PQueue({ concurrency: 25 }).addAll(starts);
    while ((await client.workflow.count('WorkflowId STARTS_WITH "pay_"')).count < COUNT) {}
  });
  afterAll(async () => {
    await client.connection.close();
    await server.stop();
  });

  interface Indexed {
    readonly status: string;
    readonly createdAt: number;
    readonly heldFor?: string[];
    /** In ms since the epoch. */
    readonly sendAt?: number;
  }

  async function start(
    number: number,
    as: Indexed = { status: 'REVIEW', createdAt: createdAt(number) },
  ): Promise<void> {
    await client.workflow.start('payOut', {
      workflowId: idOf(number),
      taskQueue: 'nobody',
      memo: { owner: 'shop', fingerprint: 'f', requestId: 'r' },
      typedSearchAttributes: new TypedSearchAttributes([
        { key: attributes.merchant, value: 'shop' },
        { key: attributes.amount, value: 500 },
        { key: attributes.createdAt, value: as.createdAt },
        { key: attributes.status, value: as.status },
        { key: attributes.final, value: false },
        ...(as.heldFor === undefined ? [] : [{ key: attributes.heldFor, value: as.heldFor }]),
        ...(as.sendAt === undefined ? [] : [{ key: attributes.sendAt, value: new Date(as.sendAt) }]),
      ]),
    });
  }

  /**
   * Returns the metrics of an API that has just started, and the number of payments that it has asked. @param sinceOf
   * when a payment came under review
   */
  async function shown(
    sinceOf: (number: number) => number | undefined,
    dueAt?: (number: number) => number,
    heldAs: (number: number) => object | undefined = () => undefined,
  ) {
    let asked = 0;
    const dueSince = (number: number) =>
      dueAt === undefined ? [] : [{ at: dueAt(number), delivery: { kind: 'due' } }];
    const asking = Object.create(client) as typeof client;
    const workflow = Object.create(client.workflow) as typeof client.workflow;
    Object.defineProperty(asking, 'workflow', { value: workflow });
    workflow.getHandle = (id: string) => {
      const handle = client.workflow.getHandle(id);
      const query = async () => {
        asked += 1;
        const since = sinceOf(Number(id.slice(4)));
        const held = heldAs(Number(id.slice(4)));
        const payment = { ...(since !== undefined && { review: { since: new Date(since).toISOString() } }), held };
        return { payment, state: { notifications: dueSince(Number(id.slice(4))) } };
      };
      return Object.assign(handle, { query }) as never;
    };
    const descriptions = new Descriptions(client);
    descriptions.untilIdle = async () => undefined;
    const registry = new Registry();
    measureWaiting(registry, { client: asking, descriptions });
    await registry.getSingleMetricAsString('sanaga_review_oldest_age_seconds');
    // The payments are asked about their notifications from here on.
    const askedForReviews = asked;
    const page = await registry.metrics();
    return {
      open: sumOf(page, 'sanaga_reviews_open'),
      ageMs: sumOf(page, 'sanaga_review_oldest_age_seconds') * 1_000,
      asked: askedForReviews,
      dueMs: sumOf(page, 'sanaga_delivery_oldest_age_seconds') * 1_000,
      unfinished: sumOf(page, 'sanaga_payments_unfinished'),
      held: ['approval', 'date'].map((waitsFor) => sumOf(page, 'sanaga_held_payouts', { for: waitsFor })),
      approvalAge: sumOf(page, 'sanaga_approval_oldest_age_seconds'),
      approvalEnd: sumOf(page, 'sanaga_approval_nearest_end_seconds'),
    };
  }

  it('is measured beside that of the oldest notification that no merchant has taken', async () => {
    const dueAt = (number: number) => createdAt(number) + (number === 20 ? 21_000 : HOUR_MS);
    let late: number;
    // A busy machine doesn't ask all of them within the time of one reading.
    do {
      const { dueMs } = await shown(createdAt, dueAt);
      late = Date.now() - createdAt(41) - dueMs;
    } while (!(late < 20_000));
    expect(late).toBeGreaterThanOrEqual(0);
  });

  it('is exact, and takes few questions when payments come under review at once', async () => {
    const begun = Date.now();
    const { open, ageMs, asked } = await shown((number) => createdAt(number) + 10_000);
    expect(open).toBe(COUNT);
    const since = createdAt(0) + 10_000;
    expect(ageMs).toBeLessThanOrEqual(Date.now() - since);
    expect(ageMs).toBeGreaterThanOrEqual(begun - since);
    expect(asked).toBe(11);
  });

  it('is that of a later payment which came under review first', async () => {
    const begun = Date.now();
    const { ageMs } = await shown((number) => createdAt(number) + (number === 20 ? 1_000 : HOUR_MS));
    const since = createdAt(20) + 1_000;
    expect(ageMs).toBeLessThanOrEqual(Date.now() - since);
    expect(ageMs).toBeGreaterThanOrEqual(begun - since);
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

  it('stands beside the held payouts, of which the first to end is not the oldest', async () => {
    const none = await shown(createdAt);
    expect(none).toMatchObject({ held: [0, 0], approvalAge: 0, approvalEnd: Number.POSITIVE_INFINITY });
    const since = NOW - 26 * HOUR_MS;
    const waits = [['approval'], ['approval', 'date'], ['date'], ['approval']];
    const held = waits.map((heldFor, index) => ({ heldFor, createdAt: since + index * HOUR_MS, status: 'CREATED' }));
    for (const [index, one] of held.entries()) await start(COUNT + 10 + index, one);
    while ((await client.workflow.count('HeldFor IS NOT NULL')).count < 4) {}
    const hours = [50, 2, 1, 9];
    const read = await shown(createdAt, undefined, (number) => {
      const [one, until] = [held[number - COUNT - 10], NOW + (hours[number - COUNT - 10] ?? 0) * HOUR_MS];
      return one && { for: one.heldFor, since: isoTime(one.createdAt), until: isoTime(until) };
    });
    expect(read).toMatchObject({ held: [3, 2], unfinished: 0 });
    expect(Math.round(read.approvalAge / 3_600)).toBe(26);
    expect(Math.round(read.approvalEnd / 3_600)).toBe(2);
    for (const [index] of held.entries()) await client.workflow.getHandle(idOf(COUNT + 10 + index)).terminate();
    while ((await client.workflow.count('HeldFor IS NOT NULL AND ExecutionStatus = "Running"')).count > 0) {}
    expect((await shown(createdAt)).held).toEqual([0, 0]);
  });

  it('is no matter of payouts that are held for a date an hour past, which are unfinished', async () => {
    const hours = [-2, -2, -2, 2, -0.5];
    const waits = [['date'], ['approval', 'date'], ['approval'], ['date'], ['date']];
    const ids = waits.map((_, index) => idOf(COUNT + 20 + index));
    for (const [index, heldFor] of waits.entries()) {
      const sendAt = NOW + (hours[index] ?? 0) * HOUR_MS;
      await start(COUNT + 20 + index, { heldFor, sendAt, createdAt: NOW - 26 * HOUR_MS, status: 'CREATED' });
    }
    const running = 'HeldFor IS NOT NULL AND ExecutionStatus = "Running"';
    while ((await client.workflow.count(running)).count < waits.length) {}
    expect((await shown(createdAt)).unfinished).toBe(2);
    for (const id of ids) await client.workflow.getHandle(id).terminate();
    while ((await client.workflow.count(running)).count > 0) {}
  });

  it('leaves out what is in REVIEW of the payments that have no outcome after 25 hours', async () => {
    expect((await shown(createdAt)).unfinished).toBe(0);
    await start(COUNT, { status: 'PENDING', createdAt: NOW - 26 * HOUR_MS });
    await start(COUNT + 1, { status: 'REVIEW', createdAt: NOW - 26 * HOUR_MS });
    await start(COUNT + 2, { status: 'PENDING', createdAt: NOW - 24 * HOUR_MS });
    while ((await client.workflow.count('WorkflowId STARTS_WITH "pay_"')).count < COUNT + 3) {}
    expect((await shown(createdAt)).unfinished).toBe(1);
    for (const number of [COUNT, COUNT + 1, COUNT + 2]) await client.workflow.getHandle(idOf(number)).terminate();
  });
});
