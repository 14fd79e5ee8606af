import { contradicted } from './ended.js';
import { applyTransaction } from './following.js';
import { disagreement, isOwn } from './matching.js';
import type { StatusAnswer } from './outcome.js';
import type { TransId } from './payment-id.js';
import { type PaymentState, pursuitOf, type Report, transIdOf } from './payment-state.js';
import { backoff } from './polling.js';
import { isFinal, type Transaction } from './transaction.js';
import {
  askSoon,
  canMoveMoney,
  checksFrom,
  follow,
  holdForReview,
  inDoubt,
  inPhase,
  type NotificationEvent,
  noteOther,
  withOthers,
} from './transitions.js';

/** Transactions that may wait to be asked about; a flood of forged notifications names no more than that. */
const OPEN_MAX = 5;

/** Least time between two questions about transactions that notifications named, in ms. */
export const REPORT_PAUSE_MS = 60_000;

const MINUTE_MS = 60_000;

/**
 * Pauses before the provider is asked again about a transaction that it said it doesn't know, or of which it doesn't
 * confirm what a notification said, in ms: a notification may overtake its records. After the last it is believed.
 */
const UNKNOWN_PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS] as const;

/** Questions about one transaction that may get no answer before it is given up, and the longest pause between them. */
const UNANSWERED_MAX = 8;
const UNANSWERED_PAUSE_MAX_MS = 30 * MINUTE_MS;

/** Transactions remembered that the provider said nothing about. */
const UNCONFIRMED_MAX = 5;

/**
 * What a notification gives reason to ask. One about the payment's own transaction brings the next question forward,
 * unless the payment has ended: then only one that contradicts the outcome is worth a question. One about another
 * transaction makes that worth a question, for it may be this payment's.
 */
export function onNotification(
  payment: PaymentState,
  { transId, status }: Pick<NotificationEvent, 'transId' | 'status'>,
  now: number,
): PaymentState {
  const { phase, order } = payment;
  if (transId === transIdOf(payment)) {
    if (phase.kind !== 'ended') return askSoon(payment, now, true);
    if (status === phase.status || !isFinal(order, status)) return payment;
  }
  const reported = withReport(payment, transId, now);
  // Whatever it names, the payment's own transaction may be in the list by now.
  return pursuitOf(phase)?.kind === 'searching' ? askSoon(reported, now) : reported;
}

function withReport(payment: PaymentState, transId: TransId, now: number): PaymentState {
  const { reports } = payment;
  if (reports.open.some((report) => report.transId === transId)) return payment;
  const added: Report = { transId, nextAt: now, unanswered: 0, unknown: 0 };
  if (reports.open.length < OPEN_MAX) return withOpen(payment, [...reports.open, added]);
  // One that the provider has said it doesn't know makes room: a flood of made-up ones shuts no true one out for good.
  const doubtful = reports.open.find(({ unknown }) => unknown > 0);
  if (doubtful === undefined) return payment;
  return withOpen(payment, [...reports.open.filter((report) => report !== doubtful), added]);
}

/** The report to ask about next: the one that is due first. */
export function nextReport({ reports }: PaymentState): Report | undefined {
  return reports.open.reduce<Report | undefined>(
    (first, report) => (first === undefined || report.nextAt < first.nextAt ? report : first),
    undefined,
  );
}

/** When the next report may be asked about. */
export function reportDueAt(payment: PaymentState): number | undefined {
  const next = nextReport(payment);
  return next && Math.max(next.nextAt, payment.reports.notBefore);
}

/** What the provider says of a transaction that a notification named. */
export function onReportStatus(
  payment: PaymentState,
  transId: TransId,
  answer: StatusAnswer,
  now: number,
): PaymentState {
  const { reports } = payment;
  const asked = { ...payment, reports: { ...reports, notBefore: now + REPORT_PAUSE_MS } };
  const report = reports.open.find((one) => one.transId === transId);
  if (report === undefined) return asked;
  const others = reports.open.filter((one) => one !== report);
  switch (answer.kind) {
    case 'found': {
      const owner = ownerOf(payment, answer.transaction);
      if (owner === 'another') return withOpen(asked, others);
      return owner === 'unsaid' || agrees(payment, answer.transaction, now)
        ? withOpen(asked, [...others, ...notKnownYet(report, now)])
        : confirmed(withOpen(asked, others), answer.transaction, now);
    }
    case 'unknown':
      return withOpen(asked, [...others, ...notKnownYet(report, now)]);
    default: {
      const unanswered = report.unanswered + 1;
      if (unanswered >= UNANSWERED_MAX) return unconfirmed(withOpen(asked, others), transId, now);
      const pause = backoff(REPORT_PAUSE_MS, report.unanswered, UNANSWERED_PAUSE_MAX_MS);
      return withOpen(asked, [...others, { ...report, unanswered, nextAt: now + pause }]);
    }
  }
}

/** Of an ended payment's own transaction only a contradiction is reported: an answer without one may be an old one. */
function agrees(payment: PaymentState, transaction: Transaction, now: number): boolean {
  const { phase } = payment;
  if (phase.kind !== 'ended' || transaction.transId !== phase.transId) return false;
  return contradicted(payment, phase, transaction, now) === payment;
}

/** Whose a transaction is, as far as the provider says: nothing but a notification says that it is this payment's. */
function ownerOf(payment: PaymentState, transaction: Transaction): 'payment' | 'another' | 'unsaid' {
  const { transId, externalId, userId } = transaction;
  const isKnown = transId === transIdOf(payment) || payment.others.some((other) => other.transId === transId);
  if (isKnown || isOwn(payment.order, transaction)) return 'payment';
  return externalId === undefined && userId === undefined ? 'unsaid' : 'another';
}

/** The report when the provider doesn't know of it yet: asked about again, or believed not to be true. */
function notKnownYet(report: Report, now: number): readonly Report[] {
  const pause = UNKNOWN_PAUSES_MS[report.unknown];
  return pause === undefined ? [] : [{ ...report, unknown: report.unknown + 1, nextAt: now + pause }];
}

/** What the provider's word on a reported transaction makes of the payment. */
function confirmed(payment: PaymentState, transaction: Transaction, now: number): PaymentState {
  const { phase } = payment;
  if (transaction.transId === transIdOf(payment)) {
    if (phase.kind === 'ended') return contradicted(payment, phase, transaction, now);
    return pursues(payment) ? applyTransaction(payment, transaction, now) : payment;
  }
  return isLookedFor(payment) ? adopt(payment, transaction, now) : noteOther(payment, transaction, now);
}

/** Whether what the provider says of the payment's transaction may move it on by itself. */
function pursues({ phase }: PaymentState): boolean {
  return phase.kind !== 'review' || !phase.held;
}

function isLookedFor(payment: PaymentState): boolean {
  return pursues(payment) && pursuitOf(payment.phase)?.kind === 'searching';
}

/** It is what a request in doubt has led to. Of a link that nobody was given, only a payment counts. */
function adopt(payment: PaymentState, transaction: Transaction, now: number): PaymentState {
  const { transId, status } = transaction;
  if (payment.order.method === 'link' && !canMoveMoney(payment, status)) return payment;
  const wrong = disagreement(payment.order, transaction);
  if (wrong !== undefined) return holdForReview(withOthers(payment, [transaction]), wrong, now);
  // The list, which would show whether the request was taken twice, may not have been read: it is, at the end.
  return applyTransaction(follow(inDoubt(payment), { transId }, now), transaction, now);
}

/**
 * The provider gives no answer about a transaction. It is remembered, and looked for in the provider's list: when the
 * payment ends, or from now on when it has. When the list can't be read either, a person is asked in the end.
 */
function unconfirmed(payment: PaymentState, transId: TransId, now: number): PaymentState {
  const { reports } = payment;
  const kept = [...reports.unconfirmed.filter((one) => one !== transId), transId].slice(-UNCONFIRMED_MAX);
  const doubtful = inDoubt({ ...payment, reports: { ...reports, unconfirmed: kept } });
  const { phase } = doubtful;
  if (phase.kind !== 'ended') return doubtful;
  // Checks that are due stay: somebody may wait for them.
  const checks = [...phase.checks.filter(({ at }) => at <= now), ...checksFrom(now)];
  return inPhase(doubtful, { ...phase, checks });
}

function withOpen(payment: PaymentState, open: readonly Report[]): PaymentState {
  return { ...payment, reports: { ...payment.reports, open } };
}
