import type { PaymentState } from '../words/payment-state.js';
import { inquiryOf } from '../words/phase.js';
import { markPossiblyDouble } from './known-transactions.js';
import { LISTED_AFTER_MS } from './look-ups.js';
import { toSearching, withInquiry } from './transitions.js';

/*
 * Links after the book went back: one that it lacks may have been given to a payer, and be paid. Another is made only
 * once the provider's list was read, and what it shows is known to have expired.
 */

/** Remembers that the book may lack a link of the payment. What its list has shown before is looked up again. */
export function withGap(payment: PaymentState, at: number): PaymentState {
  if (payment.sends.gap?.at === at) return payment;
  const doubtful = markPossiblyDouble(payment);
  const known = { ...doubtful, sends: { ...doubtful.sends, gap: { at } } };
  const inquiry = inquiryOf(known.phase);
  if (inquiry?.kind !== 'searching' || inquiry.clearing === undefined) return known;
  const { clearing: _read, ...searching } = inquiry;
  return withInquiry(known, searching);
}

/** Reports whether a link that somebody was given may be among those that the list shows, or doesn't show yet. */
export function hasUnreadGap({ sends: { gap } }: PaymentState): boolean {
  return gap !== undefined && !gap.isRead;
}

/** Returns when the list shows what was made before the book went back, in ms since the epoch. */
export function listedAfterGap({ sends: { gap } }: PaymentState): number {
  return gap === undefined || gap.isRead ? 0 : gap.at + LISTED_AFTER_MS;
}

/** Remembers that the list was read, and that nothing it shows can be paid. */
export function withListRead(payment: PaymentState): PaymentState {
  const { sends } = payment;
  return sends.gap === undefined ? payment : { ...payment, sends: { ...sends, gap: { ...sends.gap, isRead: true } } };
}

/** Has a link looked for before another is made. Before an operator has one made, the list is read in any case. */
export function searchAfterGap(payment: PaymentState, now: number): PaymentState {
  const { terms, phase, createdAt } = payment;
  if (!hasUnreadGap(payment) || (phase.kind !== 'sending' && phase.kind !== 'waiting')) return payment;
  const { cause, ambiguity = { reason: GONE_BACK, since: Math.max(now, listedAfterGap(payment)) } } = phase;
  // Where it is too late for a link, it ends, once the list was read.
  const isTooLate = phase.ambiguity === undefined && now >= createdAt + terms.sendByMs;
  return cause === 'operator' || isTooLate ? payment : toSearching(payment, ambiguity, now);
}

const GONE_BACK = 'the book of payments went back in time';
