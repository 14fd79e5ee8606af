import { overrules, type Rejected, type Rejection } from '../words/decision.js';
import { sendAtOf } from '../words/order.js';
import type { InitiationOutcome } from '../words/outcome.js';
import type { PaymentState } from '../words/payment-state.js';
import type { Sending, TransactionMention, Waiting } from '../words/phase.js';
import { onHintBeforeRelease } from './held.js';
import { withPossibleDoubles } from './known-transactions.js';
import { LISTED_AFTER_MS, whyAmbiguous } from './look-ups.js';
import { ownAmong } from './matching.js';
import { NOT_UNDER_REVIEW, type Refusal, resolutionRefused } from './replies.js';
import { endIfAbsent, endUnlessNamed } from './searching.js';
import { askSoon, inPhase, toFollowing, toSearching } from './transitions.js';
import { callOff, countSend, NOT_KNOWN, onUnsent, searchUnderReview, withoutDecision } from './waiting.js';

/** Time limit for the look at a refund's collection, in ms. After it, the refund isn't sent. */
export const COLLECTION_LOOK_MS = 10_000;

/**
 * Decides when a request for money is sent, by the provider's list right before: never, if that shows the payment.
 *
 * - `refused`: only if it shows nothing, or the provider refuses to list the payment. An operator insists on a resend.
 * - `absent`: only if it shows nothing.
 * - `late`: never. Its time is over, and the list tells whether it was sent before.
 */
export type SentIf = 'refused' | 'absent' | 'late';

export function sentIf(payment: PaymentState, now: number): SentIf {
  const { phase, resolved } = payment;
  if (phase.kind !== 'sending') return 'absent';
  if (isTooLate(payment, phase, now)) return 'late';
  const isInsisted = phase.cause === 'operator' && resolved !== undefined && overrules(resolved.force, 'no_answer');
  return isInsisted ? 'refused' : 'absent';
}

/**
 * Reports whether an order can't be sent any more. `SEND_BY` counts from the order, or from the later of a held
 * payout's date and approval, and not from when a worker got to it.
 */
function isTooLate(
  { order, terms, release, createdAt }: PaymentState,
  { cause, ambiguity }: Sending,
  now: number,
): boolean {
  if (cause !== 'order' || ambiguity !== undefined) return false;
  const approvedAt = release?.approvals.map(({ at }) => at) ?? [];
  return now >= Math.max(createdAt, sendAtOf(order) ?? createdAt, ...approvedAt) + terms.sendByMs;
}

function isFirstTry({ cause, unsent }: Sending): boolean {
  return cause === 'order' && unsent === undefined;
}

/** Handles the outcome of the request. Nothing else ends the phase `sending`. */
export function onSent(payment: PaymentState, phase: Sending, outcome: InitiationOutcome, now: number): PaymentState {
  switch (outcome.kind) {
    case 'accepted':
      return toFollowing(countSend(payment, now), outcome, now);
    case 'rejected':
      return onRejected(payment, phase, outcome.message, now);
    case 'ambiguous':
      return onAmbiguous(countSend(payment, Math.max(now, outcome.leavesBy ?? 0)), phase, outcome, now);
    case 'unauthorized':
      return onUnsent(payment, phase, 'credentials', outcome.message, now);
    case 'throttled': {
      // It may have been taken: one who decides in haste is told from when on the list shows that.
      const { sends, order } = payment;
      const mayBeDouble = sends.mayBeDouble || order.kind !== 'link';
      const known = { ...payment, sends: { ...sends, lastAt: now, mayBeDouble, isThrottled: true as const } };
      return onUnsent(known, phase, 'throttled', outcome.reason, now, outcome.retryAfterMs);
    }
    case 'notSent': {
      const hold = outcome.isUnread ? 'unread' : 'connection';
      return onUnsent(payment, phase, hold, outcome.reason, now, outcome.retryAfterMs);
    }
    case 'withheld':
      return onWithheld(payment, phase, outcome, now);
  }
}

/**
 * Handles a rejection. The rejected request moves no money, but an earlier one may have been taken, and be what the
 * provider rejects the second one for: that is looked for before anything is said. A link of an earlier try was given
 * to nobody.
 */
function onRejected(payment: PaymentState, { ambiguity, unsent }: Sending, message: string, now: number): PaymentState {
  const outcome = { status: 'FAILED', failureCode: 'rejected_by_provider', reason: message } as const;
  const isFirst = ambiguity === undefined && unsent === undefined;
  if (isFirst || payment.order.kind === 'link') return endUnlessNamed(payment, outcome, now);
  if (ambiguity === undefined) {
    const again = `${unsent?.reason}; sent again, and rejected: ${message}`;
    // Where the provider took none of the tries before, nobody waits any longer than that is looked up.
    const isUntaken = !unsent?.wasThrottled;
    return endIfAbsent(payment, outcome, again, now, isUntaken ? LISTED_AFTER_MS : undefined);
  }
  const reason = `${ambiguity.reason}; sent once more, and rejected: ${message}`;
  return searchUnderReview(payment, { ...ambiguity, reason }, whyAmbiguous(reason), now);
}

/**
 * Handles that nothing was sent, and nothing will be. An earlier request may have been taken all the same: that one
 * goes back to a person.
 */
function onWithheld(
  payment: PaymentState,
  { cause, ambiguity, unsent }: Sending,
  { failureCode, reason }: Extract<InitiationOutcome, { readonly kind: 'withheld' }>,
  now: number,
): PaymentState {
  const outcome = { status: 'FAILED', failureCode, reason } as const;
  if (ambiguity === undefined) {
    return unsent === undefined ? endUnlessNamed(payment, outcome, now) : endIfAbsent(payment, outcome, reason, now);
  }
  const why = `${whyAmbiguous(ambiguity.reason)}, and it was not sent once more: ${reason}`;
  return searchUnderReview(withoutDecision(payment, cause), ambiguity, why, now);
}

/**
 * Handles a request that the provider may have taken. All attempts to create a link share one grace period; for a
 * resend of money, another begins. What may still leave is in question from when it can't any more: before that, no
 * list proves that it is absent.
 */
function onAmbiguous(
  payment: PaymentState,
  { cause, ambiguity }: Sending,
  { reason, shown = [], leavesBy = 0 }: Extract<InitiationOutcome, { readonly kind: 'ambiguous' }>,
  now: number,
): PaymentState {
  const known = shown.length === 0 ? payment : withPossibleDoubles(payment, ownAmong(payment.order, shown));
  const since = ambiguity !== undefined && payment.order.kind === 'link' ? ambiguity.since : Math.max(now, leavesBy);
  const lookUps = payment.order.kind === 'link' ? payment.sends.count : 0;
  // What is shown right before it is sent keeps it from being sent: a decision to send it wasn't carried out.
  const undecided = shown.length === 0 ? known : withoutDecision(known, cause);
  return toSearching(undecided, { reason, since }, now, lookUps);
}

/**
 * Handles a hint that comes just before the payment is sent, and names a transaction. An earlier request may
 * have made it: nothing is sent again before that is known.
 */
export function onHintBeforeSending(
  payment: PaymentState,
  sending: Sending,
  named: TransactionMention,
  now: number,
): PaymentState {
  if (payment.release !== undefined && isFirstTry(sending)) return onHintBeforeRelease(payment, named, now);
  return askSoon(callOff(payment, sending, named, now), now);
}

/** Objects to taking back that a payment is sent once more, while that waits or is just about to happen. */
export function objectionToRecall(
  { resolved }: PaymentState,
  { kind, cause, ambiguity, unsent }: Sending | Waiting,
  { review: number }: Rejection,
): Refusal | undefined {
  if (cause !== 'operator' || ambiguity === undefined) {
    return NOT_UNDER_REVIEW;
  }
  if (resolved?.review !== number) {
    return resolutionRefused(`no decision on review ${number} waits to be carried out`);
  }
  // Once it is about to leave, the list has been read for what was throttled.
  const mayHaveLeft = kind === 'waiting' && unsent.hold === 'throttled';
  return mayHaveLeft ? resolutionRefused(NOT_KNOWN.words) : undefined;
}

/** Takes back that the payment is sent once more, as an operator has decided: it is under review again. */
export function onRecall(
  payment: PaymentState,
  { cause, ambiguity }: Pick<Sending, 'cause' | 'ambiguity'>,
  { by, why }: Rejection,
  now: number,
): PaymentState {
  const { resolved } = payment;
  if (ambiguity === undefined || resolved === undefined) return payment;
  const reason = `${whyAmbiguous(ambiguity.reason)}; it was to be sent once more, and an operator has taken that back`;
  const reviewed = searchUnderReview(withoutDecision(payment, cause), ambiguity, reason, now);
  const rejected: Rejected = { proposed: resolved, by, why, at: now };
  return reviewed.phase.kind === 'review' ? inPhase(reviewed, { ...reviewed.phase, rejected }) : reviewed;
}
