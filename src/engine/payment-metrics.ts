import { Counter, Histogram, type Registry } from 'prom-client';
import { PAYMENT_STATUSES } from '../payments/words/payment.js';
import { PAYMENT_KINDS } from '../payments/words/payment-id.js';
import type { PaymentMeasures, PaymentRequest } from './reports.js';

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

/** The metrics of what payments' turns bring about. */
export function paymentMetrics(registry: Registry): PaymentMeasures {
  const registers = [registry];
  const payments = new Counter({
    name: 'sanaga_payments_total',
    help: 'Payments that came to this status',
    labelNames: ['kind', 'status'],
    registers,
  });
  const outcomes = new Histogram({
    name: 'sanaga_payment_outcome_seconds',
    help: "Time from a payment's creation to its outcome; a payment that is opened again and ends again is measured again",
    labelNames: ['kind', 'status'],
    buckets: OUTCOME_BUCKETS,
    registers,
  });
  const ambiguous = new Counter({
    name: 'sanaga_ambiguous_requests_total',
    help: 'Requests to make or send a payment that the provider may or may not have accepted',
    labelNames: ['endpoint'],
    registers,
  });
  for (const kind of PAYMENT_KINDS) {
    for (const status of PAYMENT_STATUSES) payments.inc({ kind, status }, 0);
    for (const status of OUTCOMES) outcomes.zero({ kind, status });
  }
  for (const endpoint of REQUESTS) ambiguous.inc({ endpoint }, 0);

  return {
    changed({ kind, status, isNewStatus, outcomeAfterMs }) {
      if (isNewStatus) payments.inc({ kind, status });
      if (outcomeAfterMs !== undefined) outcomes.observe({ kind, status }, outcomeAfterMs / 1_000);
    },
    becameAmbiguous: (endpoint) => ambiguous.inc({ endpoint }),
  };
}
