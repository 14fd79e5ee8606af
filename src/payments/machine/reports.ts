import { isFinal } from '../words/order.js';
import type { StatusAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import { isKnown, type PaymentState, type Report, transIdOf } from '../words/payment-state.js';
import { type Ended, pursuitOf } from '../words/phase.js';

import type { ProviderStatus, Transaction } from '../words/transaction.js';
import { askAgain } from './deciding.js';
import { contradicted, unprovenBy } from './ended.js';
import type { NotificationEvent } from './events.js';
import { knownDifference } from './evidence.js';
import { applyTransaction } from './following.js';
import { canMoveMoney, hasBeenPaid, inDoubt, isOfPayment, withNoted, withOthers } from './known-transactions.js';
import { ownerOf } from './matching.js';
import { CONFIRM_PAUSES_MS, ownReportedPaid, reportedPaidUntil, withPaidReport } from './paid-reports.js';
import { backoff } from './polling.js';
import {
  askSoon,
  checksFrom,
  follow,
  holdForReview,
  inPhase,
  noteOther,
  pursueOn,
  withoutUnnamed,
} from './transitions.js';

/** How many reported transactions can wait to be asked about, however many notifications are forged. */
const MAX_OPEN = 5;

/** The shortest pause between two calls about reported transactions, in ms. */
export const REPORT_PAUSE_MS = 60_000;

/** Unanswered calls after which a transaction is given up, and the longest pause between them. */
const MAX_UNANSWERED = 8;
const MAX_UNANSWERED_PAUSE_MS = 30 * 60_000;

/**
 * When the list is read for a transaction that can't be asked about, after an outcome, in ms: forged notifications
 * don't hurry it.
 */
const LISTED_WITHIN_MS = 10 * 60_000;

/** How many of the transactions are remembered that the provider gave no answer about. */
const MAX_UNCONFIRMED = 5;

/**
 * Handles a notification. If it is about the payment's own transaction, the next call for its status is brought
 * forward; once there is an outcome, the provider is only asked if the notification contradicts it. If it is about
 * another transaction, the provider is asked about that, because it may be this payment's.
 */
export function onNotification(
  payment: PaymentState,
  { transId, status }: Pick<NotificationEvent, 'transId' | 'status'>,
  now: number,
): PaymentState {
  const known = status === 'SUCCESSFUL' ? withPaid(payment, transId, now) : payment;
  if (transId === transIdOf(payment)) {
    const outcome = saidOf(payment);
    if (outcome === undefined) return askSoon(known, now, true);
    if (status === outcome || (status !== undefined && !isFinal(payment.order, status))) return payment;
  }
  const reported = withReport(known, transId, now);
  const pursuit = pursuitOf(reported.phase);
  // Whatever transaction it names, the payment's own may be in the list by now.
  return pursuit?.kind === 'searching' || pursuit?.kind === 'verifying' ? askSoon(reported, now) : reported;
}

/** A link that is about to be expired is looked at again when a notification says that it has been paid. */
function withPaid(payment: PaymentState, transId: TransId, now: number): PaymentState {
  if (hasBeenPaid(payment, transId)) return payment;
  const noted = withPaidReport(payment, transId, now);
  // What was said before puts nothing off again.
  if (noted === payment) return payment;
  const { phase } = noted;
  const isExpiring = phase.kind === 'deciding' && phase.step.kind === 'expire';
  const decided = isExpiring ? askAgain(noted, phase) : noted;
  const pursuit = pursuitOf(phase);
  if (pursuit?.kind === 'closing' && pursuit.next === 'expire') return pursueOn(decided, { ...pursuit, next: 'look' });
  if (pursuit?.kind !== 'searching' || pursuit.clearing === undefined) return decided;
  const { clearing: _cleared, ...searching } = pursuit;
  return pursueOn(decided, searching);
}

/**
 * Has the provider asked about what notifications call SUCCESSFUL, as long as it may yet be confirmed: the payment's
 * own transaction, unless it is followed anyway, and those that it has left.
 */
export function withPaidReportsAsked(payment: PaymentState, followed: TransId | undefined, now: number): PaymentState {
  const { open, unconfirmed } = payment.reports;
  const missing = ownReportedPaid(payment, now).filter(
    (transId) =>
      transId !== followed && !unconfirmed.includes(transId) && !open.some((report) => report.transId === transId),
  );
  return missing.reduce((asked, transId) => withReport(asked, transId, now, 1), payment);
}

/** The outcome that the provider has given for the payment's own transaction, told or still to be verified. */
function saidOf({ phase }: PaymentState): ProviderStatus | undefined {
  const pursuit = pursuitOf(phase);
  if (phase.kind === 'ended') return phase.status;
  return pursuit?.kind === 'verifying' ? pursuit.outcome.status : undefined;
}

/** @param unknown how often the provider has been asked about it, and hasn't confirmed it */
function withReport(payment: PaymentState, transId: TransId, now: number, unknown = 0): PaymentState {
  const { reports } = payment;
  const open = reports.open.find((report) => report.transId === transId);
  if (open !== undefined) {
    // What it says is news: it is asked about as if nobody had before.
    const isNews = reports.paid?.some((one) => one.transId === transId && one.at === now) ?? false;
    const others = reports.open.filter((report) => report !== open);
    return isNews ? withOpen(payment, [...others, { ...open, unknown: 0, unanswered: 0, nextAt: now }]) : payment;
  }
  const nextAt = unknown === 0 ? now : now + CONFIRM_PAUSES_MS[0];
  const added: Report = { transId, nextAt, unanswered: 0, unknown };
  if (reports.open.length < MAX_OPEN) return withOpen(payment, [...reports.open, added]);
  // A report that the provider doesn't know is replaced, so that forged ones can't keep a true one out for good.
  const reportedPaid = ownReportedPaid(payment, now);
  const doubtful =
    reports.open.find((report) => report.unknown > 0 && !reportedPaid.includes(report.transId)) ??
    (isKnown(payment, transId) ? reports.open.find((report) => !isKnown(payment, report.transId)) : undefined);
  if (doubtful === undefined) return keptInMind(payment, transId, now);
  const kept = keptInMind(payment, doubtful.transId, now);
  return withOpen(kept, [...reports.open.filter((report) => report !== doubtful), added]);
}

/**
 * Remembers a notification that says that the payment has a transaction, of which nothing is known. An ended payment
 * has its list read soon, unless that goes with its outcome.
 */
export function withUnnamed(payment: PaymentState, status: ProviderStatus | undefined, now: number): PaymentState {
  const { phase, reports } = payment;
  const known: PaymentState = { ...payment, reports: { ...reports, isNamed: true } };
  if (phase.kind !== 'ended') return inDoubt(known);
  return status === phase.status ? payment : inPhase(inDoubt(known), listedSoon(phase, now));
}

/** What the provider has shown isn't missing its word any more. */
export function withoutSaid(payment: PaymentState, shown: readonly Transaction[]): PaymentState {
  const { reports } = payment;
  const isShown = (named: TransId) => shown.some(({ transId }) => transId === named);
  const isPaid = (reported: TransId) =>
    shown.some(({ transId, status }) => transId === reported && status === 'SUCCESSFUL');
  const unconfirmed = reports.unconfirmed.filter((named) => !isShown(named));
  const paid = reports.paid?.filter(({ transId }) => !isPaid(transId));
  const known = shown.some((one) => isOfPayment(payment, one)) ? withoutUnnamed(payment) : payment;
  return { ...known, reports: { ...known.reports, unconfirmed, paid } };
}

/** The report to ask about next: the one that is due first. */
export function nextReport({ reports }: PaymentState): Report | undefined {
  return reports.open.reduce<Report | undefined>(
    (first, report) => (first === undefined || report.nextAt < first.nextAt ? report : first),
    undefined,
  );
}

/** When the next report can be asked about, in ms since the epoch; `undefined` when there is none. */
export function reportDueAt(payment: PaymentState): number | undefined {
  const next = nextReport(payment);
  return next && Math.max(next.nextAt, payment.reports.notBefore);
}

/** Handles the provider's answer about a reported transaction. */
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
      const owner = ownerIn(payment, answer.transaction);
      if (owner === 'another' || owner === 'disputed') return withOpen(asked, others);
      const next = notKnownYet(report, now);
      const again = withOpen(asked, [...others, ...next]);
      // Whose it is, the list may say.
      if (owner === 'unsaid' && next.length === 0) return unconfirmed(again, transId, now);
      if (owner === 'unsaid' || agrees(payment, answer.transaction, now)) return again;
      const isBehind = reportedPaidUntil(payment, transId, now) !== undefined;
      return confirmed(isBehind ? again : withOpen(asked, others), answer.transaction, now);
    }
    case 'unknown':
      return withOpen(asked, [...others, ...notKnownYet(report, now)]);
    default: {
      const unanswered = report.unanswered + 1;
      if (unanswered >= MAX_UNANSWERED) return unconfirmed(withOpen(asked, others), transId, now);
      const pause = backoff(REPORT_PAUSE_MS, report.unanswered, MAX_UNANSWERED_PAUSE_MS);
      return withOpen(asked, [...others, { ...report, unanswered, nextAt: now + pause }]);
    }
  }
}

/** Whether the answer about the payment's own transaction agrees with its outcome. It may be out of date. */
function agrees(payment: PaymentState, transaction: Transaction, now: number): boolean {
  const { phase } = payment;
  if (transaction.transId !== transIdOf(payment)) return false;
  if (phase.kind === 'ended') return contradicted(payment, phase, transaction, now) === payment;
  return transaction.status === saidOf(payment);
}

/** Whose transaction it is according to the provider; the notification itself proves nothing. */
function ownerIn(payment: PaymentState, transaction: Transaction): ReturnType<typeof ownerOf> {
  return isOfPayment(payment, transaction) ? 'payment' : ownerOf(payment.order.id, transaction);
}

/** The report with its next call, because the provider doesn't confirm it yet; nothing after the last call. */
function notKnownYet(report: Report, now: number): readonly Report[] {
  const pause = CONFIRM_PAUSES_MS[report.unknown];
  return pause === undefined ? [] : [{ ...report, unknown: report.unknown + 1, nextAt: now + pause }];
}

/** Applies a reported transaction that the provider has confirmed as this payment's. */
function confirmed(payment: PaymentState, transaction: Transaction, now: number): PaymentState {
  const { phase } = payment;
  if (transaction.transId === transIdOf(payment)) {
    if (phase.kind === 'ended') return contradicted(payment, phase, transaction, now);
    return pursues(payment) ? applyTransaction(payment, transaction, now) : payment;
  }
  const isOnly = payment.others.every(
    ({ transId, status }) => transId === transaction.transId || !canMoveMoney(payment, status),
  );
  return isOnly && isLookedFor(payment) ? adopt(payment, transaction, now) : noteOther(payment, transaction, now);
}

/** Whether the provider's answers can change the payment without an operator's decision. */
function pursues({ phase }: PaymentState): boolean {
  return phase.kind !== 'review' || !phase.held;
}

function isLookedFor(payment: PaymentState): boolean {
  return pursues(payment) && pursuitOf(payment.phase)?.kind === 'searching';
}

/**
 * Follows the transaction of a request in doubt. A link that nobody was given is only kept in mind, unless it is being
 * paid.
 */
function adopt(payment: PaymentState, transaction: Transaction, now: number): PaymentState {
  const { transId, status } = transaction;
  if (payment.order.kind === 'link' && !canMoveMoney(payment, status)) return withNoted(payment, [transaction]);
  const wrong = knownDifference(payment, transId)?.words;
  if (wrong !== undefined) return holdForReview(withOthers(payment, [transaction]), wrong, now);
  // The list may not have been read. It is read at the end, in case the request was accepted twice.
  return applyTransaction(follow(inDoubt(payment), { transId }, now), transaction, now);
}

/**
 * Gives up a transaction that the provider gives no answer about. It is remembered, and looked for in the provider's
 * list once the payment has ended. If the list can't be read either, the payment goes under review in the end.
 */
function unconfirmed(payment: PaymentState, transId: TransId, now: number): PaymentState {
  const doubtful = remembered(payment, transId);
  const { phase } = doubtful;
  if (phase.kind !== 'ended') return doubtful;
  // Checks that are due stay, because a request may wait for them.
  const checks = [...phase.checks.filter(({ at }) => at <= now), ...checksFrom(now)];
  return sought(doubtful, { ...phase, checks }, transId);
}

/** The list has shown the payment's own before, and may leave them out: of these the provider has to speak. */
function sought(payment: PaymentState, ended: Ended, transId: TransId): PaymentState {
  return inPhase(payment, isKnown(payment, transId) ? unprovenBy(ended, transId) : ended);
}

/**
 * A transaction that can't be asked about, because too many others are: the list is read for it once the payment has
 * ended.
 */
function keptInMind(payment: PaymentState, transId: TransId, now: number): PaymentState {
  const doubtful = remembered(payment, transId);
  const { phase } = doubtful;
  if (phase.kind !== 'ended') return doubtful;
  return sought(doubtful, listedSoon(phase, now), transId);
}

/** The list is read soon, and at once where nothing else is to be checked. */
function listedSoon(ended: Ended, now: number): Ended {
  const [next] = ended.checks;
  const soon = now + LISTED_WITHIN_MS;
  const isSoon = next !== undefined && next.at <= soon;
  const sooner = isSoon ? ended.checks : [{ at: soon, tries: 0 }, ...ended.checks];
  return { ...ended, checks: next === undefined ? checksFrom(now) : sooner };
}

function remembered(payment: PaymentState, transId: TransId): PaymentState {
  const { reports } = payment;
  const kept = [...reports.unconfirmed.filter((one) => one !== transId), transId].slice(-MAX_UNCONFIRMED);
  return inDoubt({ ...payment, reports: { ...reports, unconfirmed: kept } });
}

function withOpen(payment: PaymentState, open: readonly Report[]): PaymentState {
  return { ...payment, reports: { ...payment.reports, open } };
}
