import {
  allOf,
  type Decision,
  matchedTransId,
  overrulesAllOf,
  type Rejection,
  type Resolution,
} from '../words/decision.js';
import { xaf } from '../words/limits.js';
import type { PaymentState } from '../words/payment-state.js';
import { isOnePerson } from '../words/person.js';
import type { Deciding, Review } from '../words/phase.js';
import {
  type Change,
  done,
  NOT_UNDER_REVIEW,
  type Refusal,
  refuse,
  refusedUnless,
  resolutionRefused,
} from './replies.js';

/*
 * Decisions that take two people. The first person's is kept with the review as a proposal, and does nothing. It is
 * carried out when a second person makes the same decision on the same review. A review that changes is another one,
 * without it.
 */

/**
 * Reports whether a decision on the payment takes two people: it is a payout above the limit that it began with, or the
 * provider has shown a transaction above it, which a decision could book.
 */
export function needsSecondPerson({ order, terms, differences = [] }: Decided): boolean {
  const { secondPersonAbove = Number.POSITIVE_INFINITY } = terms;
  const amounts = [order.amount, ...differences.map(({ amount = 0 }) => amount)];
  return order.kind === 'payout' && amounts.some((amount) => amount > secondPersonAbove);
}

type Decided = Pick<PaymentState, 'order' | 'terms' | 'differences'>;

/** Reports whether a decision would only be kept, and wait for a second person. */
export function isProposal(payment: PaymentState, review: Review, resolution: Resolution): boolean {
  return needsSecondPerson(payment) && !isApproval(review, resolution);
}

/** Reports whether a decision is the very one that waits for a second person, made by somebody else. */
function isApproval({ proposed }: Review, resolution: Resolution): boolean {
  if (proposed === undefined || areOnePersons(proposed, resolution)) return false;
  return isSame(proposed.decision, resolution.decision) && overrulesTheSame(proposed, resolution);
}

function overrulesTheSame({ force }: Resolution, other: Resolution): boolean {
  return overrulesAllOf(force, other.force) && overrulesAllOf(other.force, force);
}

/** A person may have several keys, and a key another person's name by now. */
function areOnePersons(one: Resolution, other: Resolution): boolean {
  return isOnePerson({ name: one.by, keys: one.keys }, { name: other.by, keys: other.keys });
}

function isSame(one: Decision, other: Decision): boolean {
  return one.action === other.action && matchedTransId(one) === matchedTransId(other);
}

/** Objects to a decision that neither approves nor replaces the one that waits for a second person. */
export function objectionToPerson({ proposed }: Review, resolution: Resolution): Refusal | undefined {
  if (proposed === undefined || !isSame(proposed.decision, resolution.decision)) return undefined;
  const { by, force } = proposed;
  if (areOnePersons(proposed, resolution)) {
    const you = resolution.by === by ? `you (${by})` : `you (as ${by})`;
    return overrulesTheSame(proposed, resolution)
      ? resolutionRefused(
          `${you} have decided this already, and it waits for a second person: another person has to decide the same`,
        )
      : undefined;
  }
  return overrulesAllOf(resolution.force, force)
    ? undefined
    : refusedUnless(`the decision of ${by}, which waits, overrules more: reject it`, allOf(force, resolution.force));
}

/** Objects to one person's decision, when the provider has shown for it what takes two people. */
export function objectionToSinglePerson(
  payment: PaymentState,
  { review, resolution }: Pick<Deciding, 'review' | 'resolution'>,
): Refusal | undefined {
  const above = payment.terms.secondPersonAbove;
  if (above === undefined || !isProposal(payment, review, resolution)) return undefined;
  return resolutionRefused(
    `the provider shows a transaction of more than ${xaf(above)}, so that a decision takes two people: read the payment again, and decide again`,
  );
}

/** Keeps a decision until a second person makes the same, or rejects it. It replaces another one that waits. */
export function propose(
  payment: PaymentState,
  review: Review,
  request: number,
  resolution: Resolution,
  now: number,
): Change {
  const proposed = { ...resolution, at: now };
  return done(withNextNumber(payment, { ...review, proposed, rejected: undefined }), request);
}

function withNextNumber(payment: PaymentState, review: Review): PaymentState {
  const reviews = payment.reviews + 1;
  return { ...payment, reviews, phase: { ...review, number: reviews } };
}

/** Objects to the rejection of a decision, when none waits for a second person. */
export function objectionToRejection({ phase }: PaymentState, { review }: Rejection): Refusal | undefined {
  if (phase.kind === 'deciding') return resolutionRefused('a decision is being checked; try again in a moment');
  if (phase.kind !== 'review') return NOT_UNDER_REVIEW;
  if (review !== phase.number) return resolutionRefused(changedReview(phase));
  return phase.proposed === undefined ? resolutionRefused('no decision waits for a second person') : undefined;
}

/** Voids the decision that waits for a second person: who made it withdraws it, anybody else rejects it. */
export function onReject(payment: PaymentState, request: number, { by, why }: Rejection, now: number): Change {
  const { phase } = payment;
  if (phase.kind !== 'review' || phase.proposed === undefined) {
    return refuse(payment, request, resolutionRefused('no decision waits for a second person'));
  }
  const rejected = { proposed: phase.proposed, by, why, at: now };
  return done(withNextNumber(payment, { ...phase, proposed: undefined, rejected }), request);
}

/** Tells why a decision on an earlier review is refused. */
export function changedReview({ number, why, proposed }: Review): string {
  const waits = proposed === undefined ? '' : `; a decision of ${proposed.by} waits for a second person`;
  return `the review has changed: it is now number ${number} (${why}${waits}); read the payment again`;
}
