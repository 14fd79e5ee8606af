import type { PaymentState } from '../words/payment-state.js';
import type { Ambiguity } from '../words/phase.js';
import { backoff } from './polling.js';

/** The first pause before a look-up, in ms; it doubles from there. */
const FIRST_LOOK_UP_MS = 1_000;

/** The longest pause between look-ups within the grace period, in ms. */
const MAX_LOOK_UP_PAUSE_MS = 2 * 60 * 1000;

/** Tells an operator why a request is ambiguous. */
export function whyAmbiguous(reason: string): string {
  return `it isn't known whether the provider accepted the payment (${reason})`;
}

/** Returns when the grace period of an ambiguous request is over, in ms since the epoch. */
export function graceEnd(payment: PaymentState, { since }: Pick<Ambiguity, 'since'>): number {
  return since + payment.terms.ambiguousGraceMs;
}

/**
 * Returns the pause before look-up number `lookUps + 1`, in ms, up to the end of the grace period. After that an
 * operator has been asked, and look-ups go on slowly, because the transaction may still appear.
 */
export function lookUpDelay(
  payment: PaymentState,
  ambiguity: { readonly since: number },
  lookUps: number,
  now: number,
): number {
  const grown = backoff(FIRST_LOOK_UP_MS, lookUps, MAX_LOOK_UP_PAUSE_MS);
  const left = graceEnd(payment, ambiguity) - now;
  return left > 0 ? Math.min(grown, left) : Math.max(grown, payment.terms.pollMaxMs);
}

/**
 * Time after a request from which the provider's list is believed to show all that was made of it, in ms. The provider
 * gives no figure: this is several times what its list may usually lag.
 */
export const LISTED_AFTER_MS = 60_000;

/** Returns that time for a payment in doubt, in ms: the provider may list late what it has made of a lost request. */
export function listedAfterMs({ terms }: PaymentState): number {
  return Math.max(LISTED_AFTER_MS, terms.listedAfterMs ?? 0);
}
