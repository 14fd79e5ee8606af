import type { MetricMeter } from '@temporalio/common';
import { metricMeter } from '@temporalio/workflow';
import { PAYMENT_STATUSES } from '../payments/payment.js';
import type { PaymentKind } from '../payments/payment-id.js';
import { type PaymentState, statusOf } from '../payments/payment-state.js';
import type { PaymentWorkflowType } from './messages.js';

/** The workflow types that a payment of each kind can be run by. */
const WORKFLOW_TYPES_OF: Readonly<Record<PaymentKind, readonly PaymentWorkflowType[]>> = {
  collection: ['collectByLink', 'collectDirect', 'reopenPayment'],
  payout: ['payOut', 'reopenPayment'],
};

const payments = (meter: MetricMeter) =>
  meter.createCounter('sanaga_payments_total', undefined, 'Payments that came to this status');

const refusedCredentials = (meter: MetricMeter) =>
  meter.createCounter(
    'sanaga_credentials_refused',
    undefined,
    'Calls that the provider refused our credentials for',
  );

/** Counts the payment under the status that it has just come to. Nothing is counted during a replay. */
export function countPayment(payment: PaymentState): void {
  payments(metricMeter).add(1, { kind: payment.order.kind, status: statusOf(payment) });
}

/** Counts a call that the provider has refused our credentials for. */
export function countRefusedCredentials(): void {
  refusedCredentials(metricMeter).add(1);
}

/**
 * Puts every counter at 0, with the very labels that it will have, so that an alarm notices the first increase and can be
 * tried before there is one.
 *
 * @param meter the worker process's own, with the labels that the SDK gives to what workflows count
 */
export function startCounters(meter: MetricMeter): void {
  for (const kind of ['collection', 'payout'] as const) {
    for (const workflowType of WORKFLOW_TYPES_OF[kind]) {
      refusedCredentials(meter).add(0, { workflowType });
      for (const status of PAYMENT_STATUSES) payments(meter).add(0, { workflowType, kind, status });
    }
  }
}
