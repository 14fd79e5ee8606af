import { createServer } from 'node:net';
import type { MetricMeter } from '@temporalio/common';
import { Runtime, type RuntimeOptions } from '@temporalio/worker';
import got from 'got';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { MerchantNotifier, TryOutcome } from '../activities/merchant.js';
import { PAYMENT_STATUSES } from '../payments/words/payment.js';
import { PAYMENT_KINDS } from '../payments/words/payment-id.js';
import { EVERY_WORKFLOW_TYPE } from '../workflows/messages.js';
import type { PaymentRequest, PaymentSinks } from '../workflows/metrics.js';

/*
 * The worker's metrics beside those of calls to the provider: payments, deliveries to merchants, and the metrics of
 * Temporal's SDK.
 */

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** From a payer who confirms at once to a payment that a person decides days later, in seconds. */
const OUTCOME_BUCKETS = [
  ...[5, 15, 30],
  ...[1, 2, 5, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 3, 6, 12, 24, 25, 48, 168].map((hours) => hours * HOUR),
];

/** The statuses that are outcomes. A link's FAILED attempt isn't final, and isn't measured. */
const OUTCOMES = ['SUCCESSFUL', 'FAILED', 'EXPIRED'] as const;

const REQUESTS: readonly PaymentRequest[] = ['initiate-pay', 'direct-pay', 'payout'];

const REPEATED = 'A workflow task that is repeated, after a worker was lost for example, counts again';

/** The metrics of what workflows report. */
export function paymentMetrics(registry: Registry): PaymentSinks['payments'] {
  const registers = [registry];
  const payments = new Counter({
    name: 'sanaga_payments_total',
    help: `Payments that came to this status. ${REPEATED}`,
    labelNames: ['kind', 'status'],
    registers,
  });
  const outcomes = new Histogram({
    name: 'sanaga_payment_outcome_seconds',
    help: `Time from a payment's creation to its outcome; a payment that is opened again and ends again is measured again. ${REPEATED}`,
    labelNames: ['kind', 'status'],
    buckets: OUTCOME_BUCKETS,
    registers,
  });
  const ambiguous = new Counter({
    name: 'sanaga_ambiguous_requests_total',
    help: `Requests to make or send a payment that the provider may or may not have accepted. ${REPEATED}`,
    labelNames: ['endpoint'],
    registers,
  });
  const budgetWaits = new Counter({
    name: 'sanaga_status_budget_waits_total',
    help: `Questions about a payment's status that had to wait, because the provider answers only so many in a minute. ${REPEATED}`,
    labelNames: ['kind'],
    registers,
  });
  const givenUp = new Counter({
    name: 'sanaga_merchant_notifications_given_up_total',
    help: `Notifications that no merchant took for three days. ${REPEATED}`,
    registers,
  });

  for (const kind of PAYMENT_KINDS) {
    for (const status of PAYMENT_STATUSES) payments.inc({ kind, status }, 0);
    for (const status of OUTCOMES) outcomes.zero({ kind, status });
    budgetWaits.inc({ kind }, 0);
  }
  for (const endpoint of REQUESTS) ambiguous.inc({ endpoint }, 0);

  return {
    changed({ kind, status, isNewStatus, outcomeAfterMs }) {
      if (isNewStatus) payments.inc({ kind, status });
      if (outcomeAfterMs !== undefined) outcomes.observe({ kind, status }, outcomeAfterMs / 1_000);
    },
    becameAmbiguous: (endpoint) => ambiguous.inc({ endpoint }),
    waitsForBudget: (kind) => budgetWaits.inc({ kind }),
    gaveUpNotification: () => givenUp.inc(),
  };
}

const DELIVERY_RESULTS = {
  delivered: 'delivered',
  failed: 'failed',
  noAddress: 'no_address',
  heldBack: 'held_back',
} as const satisfies Record<TryOutcome['kind'], string>;

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
