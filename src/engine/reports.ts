import type { Logger } from 'pino';
import type { Turn } from '../book/turn.js';
import { decisionsIn } from '../payments/views/occurrences.js';
import { toPayment } from '../payments/views/to-payment.js';
import { serviceOf } from '../payments/words/order.js';
import type { PaymentStatus } from '../payments/words/payment.js';
import type { PaymentKind } from '../payments/words/payment-id.js';
import { isFinalPayment, type PaymentState, statusOf, transIdOf } from '../payments/words/payment-state.js';
import type { Tracing } from '../telemetry/tracing.js';

/** A payment has come to a status, to its outcome, or to both at once. */
export interface PaymentChange {
  readonly kind: PaymentKind;
  readonly status: PaymentStatus;
  readonly isNewStatus: boolean;
  /** Time from its creation to its outcome, in ms. */
  readonly outcomeAfterMs?: number | undefined;
}

/** The requests that make or send payments, as the provider calls them. */
export type PaymentRequest = 'initiate-pay' | 'direct-pay' | 'payout';

/** Counts what turns bring about. */
export interface PaymentMeasures {
  readonly changed: (change: PaymentChange) => void;
  /** Nobody knows whether the provider took the request that makes or sends the payment. */
  readonly becameAmbiguous: (request: PaymentRequest) => void;
}

/** Tells of turns: each is told once, by the process that has taken it. */
export interface PaymentReports {
  readonly report: (turn: Turn) => void;
}

const REQUESTS = { link: 'initiate-pay', direct: 'direct-pay', payout: 'payout' } as const;

/** The log's words for operators' decisions; who has decided what, and on which review, stands beside them. */
const DECISIONS = {
  decided: 'a decision is carried out',
  decision_proposed: 'a decision waits for a second person',
  decision_rejected: 'a decision was rejected or withdrawn',
} as const;

/** Makes the reports of a process: its log, its metrics, and the roots of payments' traces. */
export function paymentReports(logger: Logger, measures: PaymentMeasures, tracing?: Tracing): PaymentReports {
  return {
    report({ before, after, version }) {
      if (before === after) return;
      const isFirst = version <= 2;
      logChange(logger, before, after);
      countChange(measures, before, after, isFirst);
      if (tracing !== undefined && isFinalPayment(after) && !isFinalPayment(before)) traceOutcome(tracing, after);
    },
  };
}

function countChange(measures: PaymentMeasures, before: PaymentState, after: PaymentState, isFirst: boolean): void {
  const status = statusOf(after);
  const kind = serviceOf(after.order);
  if (isFirst) measures.changed({ kind, status: statusOf(before), isNewStatus: true });
  const isNewStatus = status !== statusOf(before);
  const hasOutcome = isFinalPayment(after) && !isFinalPayment(before);
  if (isNewStatus || hasOutcome) {
    const outcomeAfterMs = hasOutcome ? after.updatedAt - after.createdAt : undefined;
    measures.changed({ kind, status, isNewStatus, outcomeAfterMs });
  }
  if (before.phase.kind === 'sending' && after.phase.kind === 'searching') {
    measures.becameAmbiguous(REQUESTS[after.order.kind]);
  }
}

/** Puts a payment that has reached its outcome at the root of its trace. */
function traceOutcome(tracing: Tracing, payment: PaymentState): void {
  const { order, createdAt, updatedAt } = payment;
  const kind = serviceOf(order);
  tracing.recordPayment(order.id, {
    name: `payment ${kind}`,
    begunAt: createdAt,
    endedAt: updatedAt,
    attributes: { 'sanaga.payment.kind': kind, 'sanaga.payment.status': statusOf(payment) },
  });
}

function logChange(logger: Logger, before: PaymentState, after: PaymentState): void {
  const paymentId = after.order.id;
  for (const { type, ...facts } of decisionsIn(before, after)) logger.info({ paymentId, ...facts }, DECISIONS[type]);
  const [from, to] = [statusOf(before), statusOf(after)];
  const isNewTransaction = transIdOf(after) !== undefined && transIdOf(after) !== transIdOf(before);
  if (from === to && !isNewTransaction) return;
  const { kind, amount, transId, reason, failureCode, review } = toPayment(after);
  if (review !== undefined) {
    const facts = { paymentId, from, to, review: review.number, reason, kind, amount, transId };
    logger.warn(facts, 'a person has to decide the payment');
  } else if (from === to) {
    logger.info({ paymentId, status: to, transId }, 'the provider has taken the payment');
  } else {
    logger.info({ paymentId, from, to, transId, failureCode }, 'payment changed');
  }
}
