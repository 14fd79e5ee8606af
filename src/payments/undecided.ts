import type { PaymentState } from './payment-state.js';

/** How long a payment may stay undecided before a person is asked, in ms: a day. */
export const UNDECIDED_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Why a person should look at a payment that the provider doesn't decide: a direct payment or a payout a day after it
 * began, a link a day after it should have expired. `undefined` when there is no need. Polling goes on all the same.
 */
export function undecided(
  { final, initiatedAt, expiresAt, status }: PaymentState,
  now: number,
): string | undefined {
  const since = expiresAt ?? initiatedAt;
  if (final || status === 'REVIEW' || since === undefined || now - since < UNDECIDED_AFTER_MS)
    return undefined;
  return expiresAt === undefined
    ? `the provider has given no outcome for a day; it was ${status} when last heard of`
    : `the link should have ended a day ago; it was ${status} when last heard of`;
}
