import type { TransId } from '../words/payment-id.js';
import { isKnown, type PaidReport, type PaymentState } from '../words/payment-state.js';
import { MINUTE_MS } from '../words/time.js';

/**
 * Pauses before the provider is asked again about a transaction that it doesn't know or doesn't confirm, in ms: a
 * notification can be ahead of its records. After the last one, what the notification has said counts no more.
 */
export const CONFIRM_PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS] as const;

/** For how long a notification may be ahead of the provider's records, in ms. */
const CONFIRMED_WITHIN_MS = CONFIRM_PAUSES_MS.reduce((sum, pause) => sum + pause, 0);

/** How often that time begins for one transaction, however many notifications are forged. */
const MAX_TIMES = 3;

/** How many transactions are remembered at a time that only notifications know of. */
const MAX_UNKNOWN = 20;

/** Remembers a notification that calls a transaction SUCCESSFUL, unless an earlier one may still be confirmed. */
export function withPaidReport(payment: PaymentState, transId: TransId, now: number): PaymentState {
  const { reports } = payment;
  const before = reports.paid?.find((one) => one.transId === transId);
  const times = (before?.times ?? 0) + 1;
  if (reportedPaidUntil(payment, transId, now) !== undefined || times > MAX_TIMES) return payment;
  const kept = (reports.paid ?? []).filter((one) => one !== before);
  const unknown = kept.filter((one) => !isKnown(payment, one.transId));
  // One that the provider has said nothing of yet is the last to make room.
  const isUnasked = (one: PaidReport) =>
    reports.open.some((report) => report.transId === one.transId && report.unknown === 0);
  const least = unknown.find((one) => !isUnasked(one)) ?? unknown[0];
  const others = unknown.length < MAX_UNKNOWN ? kept : kept.filter((one) => one !== least);
  return { ...payment, reports: { ...reports, paid: [...others, { transId, at: now, times }] } };
}

/**
 * Until when the provider may still confirm that a transaction is SUCCESSFUL, as a notification has said, in ms since
 * the epoch; `undefined` when none has, or that is over.
 */
export function reportedPaidUntil({ reports }: PaymentState, transId: TransId, now: number): number | undefined {
  const report = reports.paid?.find((one) => one.transId === transId);
  const until = report && report.at + CONFIRMED_WITHIN_MS;
  return until !== undefined && now < until ? until : undefined;
}

/** The transactions that notifications have called SUCCESSFUL, and that the provider may still confirm. */
export function allReportedPaid(payment: PaymentState, now: number): readonly TransId[] {
  const { paid = [] } = payment.reports;
  return paid.map(({ transId }) => transId).filter((transId) => reportedPaidUntil(payment, transId, now) !== undefined);
}

/** Those of them that are the payment's, by what the provider has said. */
export function ownReportedPaid(payment: PaymentState, now: number): readonly TransId[] {
  return allReportedPaid(payment, now).filter((transId) => isKnown(payment, transId));
}
