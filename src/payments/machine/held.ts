import { xaf } from '../words/limits.js';
import { approveBy, type HeldFor, needsApproval, type PayoutOrder, sendAtOf } from '../words/order.js';
import { digestOf } from '../words/order-digest.js';
import { isUnreleased, type PaymentState } from '../words/payment-state.js';
import { isOneName, isOnePerson } from '../words/person.js';
import { type Failed, type Held, isNonEmpty, type TransactionMention } from '../words/phase.js';
import { isoTime } from '../words/time.js';
import type { Approve } from './events.js';
import type { Refusal } from './replies.js';
import { endIfAbsent } from './searching.js';
import { aboutToSend, holdForReview, inPhase, toEnded } from './transitions.js';

/*
 * Payouts that wait before they are sent: for the approval of another person than the one who ordered them, for their
 * date, or for both. Whatever ends the wait without a release, nothing is sent any more, not even by an operator's
 * decision: a book that was restored may have lost that the payout was released, and an approval that is lost is none.
 */

/** Returns when a wait is over, in ms since the epoch: an approval's without one, a date's by its coming. */
export function heldUntil({ order, terms }: PaymentState, { since }: Held, waitsFor: HeldFor): number {
  return waitsFor === 'approval' ? approveBy(terms, since) : (sendAtOf(order) ?? since);
}

/** Applies what time alone brings about: the release, or the end of the time for an approval. */
export function onHeld(payment: PaymentState, held: Held, now: number): PaymentState {
  const isWaited = (one: HeldFor) => heldUntil(payment, held, one) > now;
  if (held.for.includes('approval') && !isWaited('approval')) {
    return stop(payment, notApproved('nobody approved it in time'), now);
  }
  const waitsFor = held.for.filter((one) => one === 'approval' || isWaited(one));
  if (waitsFor.length === held.for.length) return payment;
  return isNonEmpty(waitsFor) ? inPhase(payment, { ...held, for: waitsFor }) : release(payment, now);
}

function release(payment: PaymentState, now: number): PaymentState {
  const { approvals = [] } = payment.release ?? {};
  return aboutToSend({ ...payment, release: { approvals, at: now } }, 'order', undefined);
}

/** Objects to an approval that can't release the payout. */
export function objectionToApproval(payment: PaymentState, approve: Approve, now: number): Refusal | undefined {
  const { order, terms } = payment;
  const stopped = objectionToStop(payment, now);
  if (stopped !== undefined) return stopped;
  if (order.kind !== 'payout' || !needsApproval(order, terms)) {
    return { type: 'NotHeld', words: 'nobody has to approve the payout: it waits for its date' };
  }
  const same = objectionToApprover(order, approve) ?? objectionToNewcomer(approve);
  if (same !== undefined) return { type: 'SamePerson', words: `${same}: another person has to approve it` };
  if (approve.digest === digestOf(order)) return undefined;
  const words = `the digest is that of another payout than this one of ${xaf(order.amount)}: read the payment again`;
  return { type: 'OtherDigest', words };
}

/** Objects to whoever has ordered the payout, and to everybody while nobody knows who has. */
function objectionToApprover({ orderedBy, orderedByKeys }: PayoutOrder, { by, keys }: Approve): string | undefined {
  if (orderedBy === undefined) return "it isn't known who ordered the payout";
  if (!isOnePerson({ name: orderedBy, keys: orderedByKeys }, { name: by, keys })) return undefined;
  return isOneName(orderedBy, by)
    ? `${by} has ordered the payout`
    : `${by} has a key that was that of ${orderedBy}, who has ordered the payout`;
}

/** Objects to whom nobody knew when the payout was ordered: it may be the same person under a new name. */
function objectionToNewcomer({ by, isNew }: Approve): string | undefined {
  return isNew ? `no key was that of ${by} when the payout was ordered` : undefined;
}

/** Records an approval. A second one changes nothing. */
export function onApprove(payment: PaymentState, { by, at }: Approve, now: number): PaymentState {
  const { phase } = payment;
  if (phase.kind !== 'held' || !phase.for.includes('approval')) return payment;
  const approved = { ...payment, release: { approvals: [{ by, at: Math.min(at ?? now, now) }] } };
  const waitsFor = phase.for.filter((one) => one !== 'approval');
  return isNonEmpty(waitsFor) ? inPhase(approved, { ...phase, for: waitsFor }) : release(approved, now);
}

/** Objects to stopping a payout that isn't held, or no longer. */
export function objectionToStop(
  { phase, release: released, ...payment }: PaymentState,
  now: number,
): Refusal | undefined {
  if (phase.kind === 'held') {
    const isLate = phase.for.includes('approval') && approveBy(payment.terms, phase.since) <= now;
    return isLate ? { type: 'NotHeld', words: 'the time for the approval is over' } : undefined;
  }
  if (released === undefined) return { type: 'NotHeld', words: 'the payment was never held' };
  return released.at === undefined
    ? { type: 'NotHeld', words: 'the payout is held no longer, and was not released' }
    : { type: 'NotHeld', words: `the payout was released already, at ${isoTime(released.at)}` };
}

/** Tells why a payout ends that a person has rejected, or that nobody has approved in time. */
export function notApproved(why: string): Failed {
  return { status: 'FAILED', failureCode: 'not_approved', reason: `not approved: ${why}` };
}

/**
 * Ends a payout that was not released. The provider's list is read first, unless it is known that nothing of it has
 * left.
 */
export function stop(payment: PaymentState, outcome: Failed, now: number, mayHaveBeenSent = true): PaymentState {
  return mayHaveBeenSent
    ? endIfAbsent(payment, outcome, outcome.reason ?? outcome.failureCode, now)
    : toEnded(payment, outcome, now);
}

/** Reports whether a payout that was not released, or a withdrawn payment, is being ended: the list is read first. */
export function isStopping(payment: PaymentState): boolean {
  const { phase } = payment;
  const end = phase.kind === 'searching' ? phase.ambiguity.otherwise : undefined;
  return end !== undefined && (isUnreleased(payment) || end.failureCode === 'withdrawn');
}

/**
 * Handles a hint while the payout is held, or just before it is sent. Nobody has made a transaction of it, as far as is
 * known: the hint is forged, or a book that was restored has lost that the payout was sent.
 */
export function onHintBeforeRelease(payment: PaymentState, named: TransactionMention, now: number): PaymentState {
  const why = `a notification names ${named} as its transaction, and the payout was not sent, as far as is known`;
  return holdForReview(payment, why, now);
}

/** Objects to a decision to send a payout that was held, and never released. */
export function objectionToUnreleased(payment: PaymentState): string | undefined {
  if (!isUnreleased(payment)) return undefined;
  return "the payout was held and not released, so it can't be sent: fail it, and have it ordered again";
}
