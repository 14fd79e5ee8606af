import type { TransId } from '../words/payment-id.js';
import { isKnownTransaction, type PaidHint, type PaymentState } from '../words/payment-state.js';
import { MINUTE_MS } from '../words/time.js';

/**
 * Pauses before the provider is asked again about a transaction that it doesn't know or doesn't confirm, in ms: a
 * hint can be ahead of its records. After the last one, what the hint has said counts no more.
 */
export const CONFIRM_PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS] as const;

/** For how long a hint may be ahead of the provider's records, in ms. */
const CONFIRMED_WITHIN_MS = CONFIRM_PAUSES_MS.reduce((sum, pause) => sum + pause, 0);

/** Most times that this period begins for one transaction, however many hints are forged. */
const MAX_TIMES = 3;

/** The most transactions that are remembered at a time, of those that only hints know of. */
const MAX_UNKNOWN = 20;

/** Records a hint that calls a transaction SUCCESSFUL, unless an earlier one may still be confirmed. */
export function withPaidClaim(payment: PaymentState, transId: TransId, now: number): PaymentState {
  const { claims } = payment;
  const before = claims.paid?.find((one) => one.transId === transId);
  const times = (before?.times ?? 0) + 1;
  if (paidClaimUntil(payment, transId, now) !== undefined || times > MAX_TIMES) return payment;
  const kept = (claims.paid ?? []).filter((one) => one !== before);
  const unknown = kept.filter((one) => !isKnownTransaction(payment, one.transId));
  // One that the provider has said nothing of yet is the last to make room.
  const isUnasked = (one: PaidHint) =>
    claims.open.some((claim) => claim.transId === one.transId && claim.unknown === 0);
  const least = unknown.find((one) => !isUnasked(one)) ?? unknown[0];
  const others = unknown.length < MAX_UNKNOWN ? kept : kept.filter((one) => one !== least);
  return { ...payment, claims: { ...claims, paid: [...others, { transId, at: now, times }] } };
}

/**
 * Returns until when the provider may still confirm a hint that called a transaction SUCCESSFUL, in ms since the epoch;
 * `undefined` when there was none, or that is over.
 */
export function paidClaimUntil({ claims }: PaymentState, transId: TransId, now: number): number | undefined {
  const claim = claims.paid?.find((one) => one.transId === transId);
  const until = claim && claim.at + CONFIRMED_WITHIN_MS;
  return until !== undefined && now < until ? until : undefined;
}

/** Lists the transactions that hints have called SUCCESSFUL, and that the provider may still confirm. */
export function claimedPaid(payment: PaymentState, now: number): readonly TransId[] {
  const { paid = [] } = payment.claims;
  return paid.map(({ transId }) => transId).filter((transId) => paidClaimUntil(payment, transId, now) !== undefined);
}

/** Lists the payment's own transactions among {@link claimedPaid}. */
export function ownClaimedPaid(payment: PaymentState, now: number): readonly TransId[] {
  return claimedPaid(payment, now).filter((transId) => isKnownTransaction(payment, transId));
}
