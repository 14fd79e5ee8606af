import { createServer } from 'node:net';
import type { MetricMeter } from '@temporalio/common';
import { Runtime, type RuntimeOptions } from '@temporalio/worker';
import got from 'got';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Book } from '../book/book.js';
import { oldestDue } from '../book/due.js';
import { countGaps, lastBeat } from '../book/gaps.js';
import { countUnacknowledged, type UnacknowledgedCount } from '../book/notifications.js';
import type { MerchantNotifier } from '../delivery/merchant.js';
import { shareAnswers } from '../engine/shared-answers.js';
import type { DeliveryOutcome } from '../payments/words/delivery.js';
import { EVERY_WORKFLOW_TYPE } from '../workflows/messages.js';

/*
 * The worker's metrics beside those of payments and of calls to the provider: deliveries to merchants, and those of
 * Temporal's SDK.
 */

const DELIVERY_RESULTS = {
  delivered: 'delivered',
  failed: 'failed',
  noAddress: 'no_address',
} as const satisfies Record<DeliveryOutcome['kind'], string>;

/** Merchants have at most 9 s to answer. */
const DELIVERY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The notifier, with each of its tries counted and timed. */
export function measuredNotifier({ notifyMerchant }: MerchantNotifier, registry: Registry): MerchantNotifier {
  const registers = [registry];
  const deliveries = new Counter({
    name: 'sanaga_merchant_deliveries_total',
    help: 'Tries to notify a merchant, by how they ended. With several addresses it is one try, which failed if one of them failed',
    labelNames: ['result'],
    registers,
  });
  const durations = new Histogram({
    name: 'sanaga_merchant_delivery_duration_seconds',
    help: 'How long the tries took that were sent',
    buckets: DELIVERY_BUCKETS,
    registers,
  });
  for (const result of Object.values(DELIVERY_RESULTS)) deliveries.inc({ result }, 0);
  return {
    async notifyMerchant(notification) {
      const begun = performance.now();
      const outcome = await notifyMerchant(notification);
      const { kind } = outcome;
      deliveries.inc({ result: DELIVERY_RESULTS[kind] });
      if (kind === 'delivered' || kind === 'failed') durations.observe((performance.now() - begun) / 1_000);
      return outcome;
    },
  };
}

/** Counts the notifications that nobody took: call the result for each. */
export function givenUpCounter(registry: Registry): () => void {
  const givenUp = new Counter({
    name: 'sanaga_merchant_notifications_given_up_total',
    help: 'Notifications that no merchant took for three days',
    registers: [registry],
  });
  return () => givenUp.inc();
}

/** Adds gauges of what the book has waiting. Every worker shows the same: take the maximum. */
export function measureBook(registry: Registry, book: Book): void {
  const registers = [registry];
  // Both gauges are read at once.
  const counts = shareAnswers(() => countUnacknowledged(book).catch(() => []), 0);
  const ofMerchants = (name: string, help: string, countOf: (counted: UnacknowledgedCount) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['merchant'],
      registers,
      async collect() {
        this.reset();
        for (const counted of await counts()) this.set({ merchant: counted.merchant }, countOf(counted));
      },
    });
  ofMerchants(
    'sanaga_merchant_notifications_waiting',
    'Notifications that are due, or tried again later',
    ({ due }) => due,
  );
  ofMerchants(
    'sanaga_merchant_notifications_abandoned',
    'Notifications that were given up, and not sent again by hand',
    ({ abandoned }) => abandoned,
  );
  new Gauge({
    name: 'sanaga_overdue_oldest_age_seconds',
    help: 'How late the payment is that is longest overdue: a minute at most while workers bring payments on; 0 without one, NaN when the book could not be asked',
    registers,
    async collect() {
      const now = book.now();
      const oldest = await oldestDue(book, now).catch(() => Number.NaN);
      this.set((now - (oldest ?? now)) / 1_000);
    },
  });
  new Gauge({
    name: 'sanaga_book_gaps',
    help: 'How often the book was found to have gone back in time: what was ordered before and not sent waits for a person; NaN when the book could not be asked',
    registers,
    async collect() {
      this.set(await countGaps(book).catch(() => Number.NaN));
    },
  });
  new Gauge({
    name: 'sanaga_book_compared_age_seconds',
    help: 'How long ago the book was last compared with what Temporal knows of it: half a minute at most when all is well, and no payout leaves after 90 s; NaN when the book could not be asked',
    registers,
    async collect() {
      const last = await lastBeat(book).catch(() => Number.NaN);
      this.set((book.now() - last) / 1_000);
    },
  });
}

/** Times that a port is looked for, for the SDK's metrics: another process may take one before the SDK does. */
const MAX_PORT_TRIES = 5;

/**
 * Installs Temporal's runtime with the SDK's metrics on: it serves them on a port of its own, at this machine's
 * loopback address.
 *
 * @returns reads them, in Prometheus's text format
 */
export async function installMeasuredRuntime(options: RuntimeOptions): Promise<() => Promise<string>> {
  for (let tries = 1; ; tries++) {
    const bindAddress = `127.0.0.1:${await freePort()}`;
    // Durations in seconds, as Prometheus wants them. The SDK's counters don't end in _total, whatever is set.
    const prometheus = { bindAddress, unitSuffix: true, useSecondsForDurations: true };
    try {
      Runtime.install({
        ...options,
        telemetryOptions: { ...options.telemetryOptions, metrics: { prometheus, attachServiceName: false } },
      });
    } catch (error) {
      if (tries === MAX_PORT_TRIES) throw error;
      continue;
    }
    return () => got(`http://${bindAddress}/metrics`, { retry: { limit: 0 }, timeout: { request: 5_000 } }).text();
  }
}

/**
 * Sets the SDK's counters that alerts use to 0, with the very labels that they will have. By itself, the SDK shows a
 * counter only once it has counted something, so an alert would miss the first.
 */
export function startSdkCounters(meter: MetricMeter, namespace: string, taskQueue: string): void {
  const failed = meter.createCounter('temporal_workflow_task_execution_failed', undefined, FAILED_TASKS);
  for (const workflowType of EVERY_WORKFLOW_TYPE) {
    for (const reason of ['NonDeterminismError', 'WorkflowError']) {
      failed.add(0, {
        namespace,
        task_queue: taskQueue,
        workflow_type: workflowType,
        failure_reason: reason,
      });
    }
  }
}

/** The SDK's own words. */
const FAILED_TASKS = 'Count of workflow task execution failures';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric port');
  return address.port;
}
