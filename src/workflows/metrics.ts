import { proxySinks, type Sinks } from '@temporalio/workflow';
import { serviceOf } from '../payments/words/order.js';
import type { PaymentStatus } from '../payments/words/payment.js';
import type { PaymentKind } from '../payments/words/payment-id.js';
import { isFinalPayment, type PaymentState, statusOf } from '../payments/words/payment-state.js';

/**
 * Reports from workflows to their worker, for its metrics. They aren't in the history. Nothing is reported
 * during a replay, but a workflow task that fails or is lost reports its part again when it is repeated.
 */
export interface PaymentSinks extends Sinks {
  readonly payments: {
    readonly changed: (change: PaymentChange) => void;
    /** Nobody knows whether the provider took the request that makes or sends the payment. */
    readonly becameAmbiguous: (request: PaymentRequest) => void;
    /** A question to the provider waits until the status budget has room. */
    readonly waitsForBudget: (kind: PaymentKind) => void;
    /** The merchant didn't take a notification for three days. */
    readonly gaveUpNotification: () => void;
  };
}

/** A payment has come to a status, to its outcome, or to both at once. */
export interface PaymentChange {
  readonly kind: PaymentKind;
  readonly status: PaymentStatus;
  readonly isNewStatus: boolean;
  /** Time from its creation to its outcome, in ms. */
  readonly outcomeAfterMs?: number;
}

/** The requests that make or send payments, as the provider calls them. */
export type PaymentRequest = 'initiate-pay' | 'direct-pay' | 'payout';

const REQUESTS = { link: 'initiate-pay', direct: 'direct-pay', payout: 'payout' } as const;

const { payments } = proxySinks<PaymentSinks>();

/** Counts a payment that was just created. */
export function countCreated(payment: PaymentState): void {
  payments.changed({ kind: serviceOf(payment.order), status: statusOf(payment), isNewStatus: true });
}

/** Counts what has become of a payment, if it has another status now, or an outcome. */
export function countChange(before: PaymentState, payment: PaymentState): void {
  const status = statusOf(payment);
  const isNewStatus = status !== statusOf(before);
  const hasOutcome = isFinalPayment(payment) && !isFinalPayment(before);
  if (!isNewStatus && !hasOutcome) return;
  const { order, createdAt } = payment;
  payments.changed({
    kind: serviceOf(order),
    status,
    isNewStatus,
    ...(hasOutcome && { outcomeAfterMs: Date.now() - createdAt }),
  });
}

/** Counts a request that ended ambiguously. */
export function countAmbiguous({ order }: PaymentState): void {
  payments.becameAmbiguous(REQUESTS[order.kind]);
}

/** Counts a wait for the status budget. */
export function countBudgetWait({ order }: PaymentState): void {
  payments.waitsForBudget(serviceOf(order));
}

/** Counts a notification that was given up. */
export function countGivenUp(): void {
  payments.gaveUpNotification();
}
