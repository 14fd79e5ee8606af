import { log, setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { hasGivenUp, nextDue } from '../payments/machine/notification.js';
import { describePayment } from '../payments/views/describe-payment.js';
import { decisionsIn } from '../payments/views/occurrences.js';
import { amountPaidOf, toPayment } from '../payments/views/to-payment.js';
import type { HeldFor } from '../payments/words/order.js';
import {
  isFinalPayment,
  openPayment,
  type PaymentState,
  statusOf,
  transIdOf,
} from '../payments/words/payment-state.js';
import { paymentSearchAttributes as attributes, toTransIdKeyword } from '../temporal/search-attributes.js';
import type { PaymentInput } from './messages.js';
import { countAmbiguous, countChange, countCreated, countGivenUp } from './metrics.js';

/*
 * Shows a payment to operators and lists, beside the payment itself: search attributes, current details, the log and
 * metrics.
 */

/** Shows a payment that was just created, and what has come of the request for its link, if the API has sent that. */
export function showBeginning({ order, terms, requested }: PaymentInput, payment: PaymentState): void {
  const opened = openPayment(order, terms, payment.createdAt);
  countCreated(opened);
  if (requested?.outcome.kind === 'ambiguous') countAmbiguous(opened);
  logChange(opened, payment);
}

/** Shows what has changed. */
export function showChange(before: PaymentState, payment: PaymentState): void {
  indexChange(before, payment);
  logChange(before, payment);
  setCurrentDetails(describePayment(payment));
}

/** Repeats what lists show of a payment, where nothing has changed. */
export function showAgain(payment: PaymentState): void {
  upsertSearchAttributes([{ key: attributes.status, value: statusOf(payment) }]);
}

/** Logs a notification that was given up: it won't reach the merchant unless an operator sends it again. */
export function showGivenUp({ notifications }: PaymentState, number: number): void {
  const delivery = notifications.find((one) => one.number === number)?.delivery;
  if (delivery?.kind !== 'abandoned') return;
  countGivenUp();
  log.error('a notification was given up: the merchant has not taken it for three days', {
    number,
    reason: delivery.lastError,
  });
}

/** Reads the name of the payment's merchant, which the API stores beside the workflow. */
export function merchantOf(): string | undefined {
  const { owner } = workflowInfo().memo ?? {};
  return typeof owner === 'string' ? owner : undefined;
}

/** Returns what a payout waits for before it is sent, from when its merchant is notified of that. */
function heldForOf({ phase, notifications }: PaymentState): readonly HeldFor[] {
  return phase.kind === 'held' && notifications.length > 0 ? phase.for : [];
}

/** Updates the search attributes, with as few commands as possible. */
function indexChange(before: PaymentState, payment: PaymentState): void {
  const [status, transId] = [statusOf(payment), transIdOf(payment)];
  const isFinal = isFinalPayment(payment);
  const isNewStatus = status !== statusOf(before);
  const isNewTransaction = transId !== undefined && transId !== transIdOf(before);
  // From then on, the index knows that its merchant was to be notified of something, whatever status comes next.
  const isNotified = isNewStatus && (status === 'REVIEW' || status === 'FAILED');
  const amountPaid = amountPaidOf(payment);
  // Of an outcome before a review, another amount may be there.
  const isPaid = status === 'SUCCESSFUL' && (amountPaid !== undefined || payment.reviews > 0);
  if (isNewStatus || isNewTransaction) {
    upsertSearchAttributes([
      ...(isNewStatus ? [{ key: attributes.status, value: status }] : []),
      ...(isFinal !== isFinalPayment(before) || isNotified ? [{ key: attributes.final, value: isFinal }] : []),
      ...(isNewTransaction ? [{ key: attributes.transId, value: toTransIdKeyword(transId) }] : []),
      ...(isPaid ? [{ key: attributes.amountPaid, value: amountPaid ?? null }] : []),
    ]);
  }
  const isGivenUp = hasGivenUp(payment.notifications);
  if (isGivenUp !== hasGivenUp(before.notifications)) {
    upsertSearchAttributes([{ key: attributes.givenUp, value: isGivenUp || null }]);
  }
  indexHold(before, payment);
}

/**
 * Updates the search attributes of a payout that is held, or was. Many may be held for weeks: the index knows them as
 * payments with notifications only while one is due.
 */
function indexHold(before: PaymentState, payment: PaymentState): void {
  const heldFor = heldForOf(payment);
  const isDue = isDueWhileHeld(payment);
  const releasedAt = before.release?.at === undefined ? payment.release?.at : undefined;
  const changes = [
    ...(heldFor.length === heldForOf(before).length
      ? []
      : [{ key: attributes.heldFor, value: heldFor.length > 0 ? [...heldFor] : null }]),
    ...(releasedAt === undefined ? [] : [{ key: attributes.releasedAt, value: new Date(releasedAt) }]),
    ...(heldFor.length > 0 && isDue !== isDueWhileHeld(before)
      ? [{ key: attributes.final, value: isDue ? false : null }]
      : []),
  ];
  if (changes.length > 0) upsertSearchAttributes(changes);
}

function isDueWhileHeld(payment: PaymentState): boolean {
  return heldForOf(payment).length > 0 && nextDue(payment.notifications) !== undefined;
}

/** The log's words for operators' decisions; who has decided what, and on which review, stands beside them. */
const DECISIONS = {
  decided: 'a decision is carried out',
  decision_proposed: 'a decision waits for a second person',
  decision_rejected: 'a decision was rejected or withdrawn',
} as const;

/** Logs and counts what has changed. */
function logChange(before: PaymentState, payment: PaymentState): void {
  for (const { type, ...facts } of decisionsIn(before, payment)) log.info(DECISIONS[type], facts);
  logStatus(before, payment);
  countChange(before, payment);
}

function logStatus(before: PaymentState, payment: PaymentState): void {
  const [from, to] = [statusOf(before), statusOf(payment)];
  const isNewTransaction = transIdOf(payment) !== undefined && transIdOf(payment) !== transIdOf(before);
  if (from === to && !isNewTransaction) return;
  const { kind, amount, transId, reason, failureCode, review } = toPayment(payment);
  if (review !== undefined) {
    const facts = { from, to, review: review.number, reason, merchant: merchantOf(), kind, amount, transId };
    log.warn('a person has to decide the payment', facts);
  } else if (from === to) {
    log.info('the provider has taken the payment', { status: to, transId });
  } else {
    log.info('payment changed', { from, to, transId, failureCode });
  }
}
