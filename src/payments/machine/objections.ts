import { allOf, matchedTransId, type Objection, overrules, type Resolution } from '../words/decision.js';
import { isErased } from '../words/order.js';
import type { TransId } from '../words/payment-id.js';
import {
  type Claim,
  decideFrom,
  namedIn,
  otherAmountOf,
  type PaymentState,
  transIdOf,
} from '../words/payment-state.js';
import { type Deciding, followedBy, type Review, type TransactionMention, UNNAMED } from '../words/phase.js';
import { isoTime } from '../words/time.js';
import { objectionToUnreleased } from './held.js';
import { whyPaid } from './known-transactions.js';
import { claimedPaid, ownClaimedPaid, paidClaimUntil } from './paid-claims.js';
import { NOT_UNDER_REVIEW, type Refusal, refusedUnless, resolutionRefused } from './replies.js';
import { changedReview, isProposal, objectionToPerson } from './second-person.js';

/** A decision is refused if the provider has asked not to be called for longer than this, in ms. */
const MAX_QUIET_MS = 60_000;

/** Returns why a decision is refused without asking the provider; `undefined` when it has to be asked. */
export function objectionToDecision(payment: PaymentState, resolution: Resolution, now: number): Refusal | undefined {
  const { phase } = payment;
  if (phase.kind === 'deciding') return resolutionRefused('another decision is being checked; try again in a moment');
  if (phase.kind !== 'review') return NOT_UNDER_REVIEW;
  const refusal =
    objectionToNumber(phase, resolution) ??
    objectionToPerson(phase, resolution) ??
    objectionToSending(payment, phase, resolution) ??
    objectionWhileLeaving(payment, now) ??
    objectionToTiming(payment, resolution, now) ??
    (isProposal(payment, phase, resolution) ? undefined : objectionDuringQuiet(payment, now));
  return refusal && withTransactionAmount(payment, resolution, refusal);
}

/** Adds the amount of a match's transaction to a refusal that can be overruled. */
export function withTransactionAmount(payment: PaymentState, { decision }: Resolution, refusal: Refusal): Refusal {
  const transactionAmount = otherAmountOf(payment, matchedTransId(decision));
  return refusal.force === undefined || transactionAmount === undefined ? refusal : { ...refusal, transactionAmount };
}

function objectionToNumber(phase: Review, { review }: Resolution): Refusal | undefined {
  return review === phase.number ? undefined : resolutionRefused(changedReview(phase));
}

function objectionToSending(
  payment: PaymentState,
  { inquiry, held, why }: Review,
  { decision }: Resolution,
): Refusal | undefined {
  if (decision.action !== 'resend') return undefined;
  if (isErased(payment.order)) return resolutionRefused("its payer's data was erased: it can't be sent");
  const unreleased = objectionToUnreleased(payment);
  if (unreleased !== undefined) return resolutionRefused(unreleased);
  if (inquiry?.kind === 'searching' && inquiry.ambiguity.otherwise?.failureCode === 'withdrawn') {
    return resolutionRefused("its merchant has withdrawn the payment: it can't be sent");
  }
  const followed = followedBy(inquiry);
  if (followed !== undefined) {
    return resolutionRefused(`the provider has accepted it as ${followed.transId}: it can't be sent again`);
  }
  if (held) {
    return resolutionRefused(`the provider has a transaction for this payment: match it, or fail the payment (${why})`);
  }
  return inquiry === undefined ? resolutionRefused(ENDED_ONCE) : undefined;
}

export const ENDED_ONCE = "the payment has already ended once: it can't be sent again";

/** Objects while a request of a worker that is lost may still leave: whatever is decided, that wouldn't stop it. */
function objectionWhileLeaving({ sends: { lastAt = 0 } }: PaymentState, now: number): Refusal | undefined {
  if (lastAt <= now) return undefined;
  return resolutionRefused(`its latest request may still be on its way: decide after ${isoTime(lastAt)}`);
}

/** Refuses a decision for an objection that the operator can overrule, besides those that it overrules already. */
export function overrulable(words: string, { force }: Resolution, objection: Objection, insist?: string): Refusal {
  return refusedUnless(words, allOf(force, [objection]), insist);
}

/** Lists the transactions that hints name and that the provider hasn't explained yet. */
function unconfirmedClaims(payment: PaymentState, now: number): readonly TransId[] {
  const { claims, others } = payment;
  const ownId = transIdOf(payment);
  const isShown = ({ transId, unknown }: Claim) => unknown > 0 && others.some((other) => other.transId === transId);
  const isLapsed = ({ transId }: Claim) => transId === ownId && paidClaimUntil(payment, transId, now) === undefined;
  return claims.open.filter((claim) => !isShown(claim) && !isLapsed(claim)).map(({ transId }) => transId);
}

/**
 * Lists named transactions, and the payment's own where a hint calls it paid. A decision asks about its own
 * itself.
 */
export function namedForDecision(payment: PaymentState, now: number): readonly TransactionMention[] {
  const ownId = transIdOf(payment);
  const named = namedIn(payment).filter((transId) => transId !== ownId);
  return [...named, ...ownClaimedPaid(payment, now)];
}

/** Objects to a decision that is being checked, because of hints since: who insists hasn't seen them. */
export function objectionToNewEvidence(
  payment: PaymentState,
  { resolution, inView }: Deciding,
  now: number,
): Refusal | undefined {
  const untimely = objectionToTiming(payment, resolution, now);
  if (untimely !== undefined) return untimely;
  const [named] = transactionsAgainst(payment, resolution, now).filter((transId) => !inView.includes(transId));
  return named === undefined
    ? undefined
    : resolutionRefused(`a notification has named ${named} for this payment since this was decided; decide again`);
}

/**
 * Lists what counts against a decision: for a resend whatever is named, since money could go out twice; for a `fail`
 * what is called paid, since it would be lost. A match loses nothing.
 */
function transactionsAgainst(
  payment: PaymentState,
  { decision }: Resolution,
  now: number,
): readonly TransactionMention[] {
  switch (decision.action) {
    case 'resend':
      return namedForDecision(payment, now);
    case 'fail':
      return [...claimedPaid(payment, now), ...namedIn(payment).filter((one) => one === UNNAMED)];
    case 'match':
      return [];
  }
}

/**
 * Objects to a decision that comes too early: the provider's list can lag behind, and a hint can be ahead of
 * it, even one that comes while a decision is being checked. `force` overrides it.
 */
function objectionToTiming(payment: PaymentState, resolution: Resolution, now: number): Refusal | undefined {
  const { decision, force } = resolution;
  const named: readonly TransactionMention[] =
    decision.action === 'match' ? unconfirmedClaims(payment, now) : namedForDecision(payment, now);
  const allNamed = named.filter((one) => one !== matchedTransId(decision));
  const [first] = allNamed;
  if (first !== undefined && !overrules(force, 'reported_transaction')) {
    // No force expires such a link.
    if (
      decision.action === 'fail' &&
      payment.order.kind === 'link' &&
      first !== UNNAMED &&
      ownClaimedPaid(payment, now).includes(first)
    ) {
      return resolutionRefused(`${whyPaid(payment, first)}; try again in a few minutes`);
    }
    const advice =
      first === UNNAMED || payment.claims.unconfirmed.includes(first)
        ? "hasn't said what it is: look for it in the provider's portal, and match it"
        : "hasn't confirmed that yet; try again in a few minutes";
    return overrulable(
      `a notification names ${allNamed.join(', ')} for this payment, and the provider ${advice}`,
      resolution,
      'reported_transaction',
    );
  }
  const from = decideFrom(payment);
  return decision.action === 'match' || now >= from || overrules(force, 'too_early')
    ? undefined
    : overrulable(`the provider may list a transaction late: decide after ${isoTime(from)}`, resolution, 'too_early');
}

function objectionDuringQuiet({ quietUntil }: PaymentState, now: number): Refusal | undefined {
  return quietUntil !== undefined && quietUntil > now + MAX_QUIET_MS
    ? resolutionRefused(`the provider has asked not to be called until ${isoTime(quietUntil)}; try again then`)
    : undefined;
}
