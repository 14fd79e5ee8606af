import { heldUntil } from '../machine/held.js';
import { needsSecondPerson } from '../machine/second-person.js';
import { objectionToRecall } from '../machine/sending.js';
import {
  type Force,
  isForced,
  matchedTransId,
  type Proposal,
  type Rejected,
  type Resolved,
} from '../words/decision.js';
import { CURRENCY } from '../words/limits.js';
import { refundOf, serviceOf } from '../words/order.js';
import { digestOf } from '../words/order-digest.js';
import type {
  Payment,
  PaymentHold,
  PaymentResolution,
  PaymentReview,
  PaymentSummary,
  ProposedDecision,
  RejectedDecision,
} from '../words/payment.js';
import {
  decideFrom,
  failureCodeOf,
  isFinalPayment,
  otherAmountOf,
  type PaymentState,
  reasonOf,
  reviewOf,
  statusOf,
  transIdOf,
} from '../words/payment-state.js';
import type { Review } from '../words/phase.js';
import { isoTime } from '../words/time.js';

/** Shows the payment as the API does to operators. */
export function toPayment(state: PaymentState): Payment {
  const { order, facts } = state;
  const transId = transIdOf(state);
  const review = reviewOf(state);
  return {
    id: order.id,
    object: 'payment',
    kind: serviceOf(order),
    method: order.kind === 'payout' ? undefined : order.kind,
    status: statusOf(state),
    final: isFinalPayment(state),
    amount: order.amount,
    amountPaid: amountPaidOf(state),
    currency: CURRENCY,
    link: facts.link !== undefined && facts.link.transId === transId ? facts.link.url : undefined,
    transId,
    medium: facts.medium,
    revenue: facts.revenue,
    fee: feeOf(state),
    reason: reasonOf(state),
    failureCode: failureCodeOf(state),
    financialTransId: facts.financialTransId,
    held: toHeld(state),
    review: review && toPaymentReview(state, review),
    resolution: state.resolved && toResolution(state, state.resolved),
    phone: order.kind === 'link' ? undefined : maskPhone(order.phone),
    refundOf: refundOf(order),
    refundReason: order.kind === 'payout' ? order.refundReason : undefined,
    refundTo: order.kind === 'link' ? maskPhone(order.refundTo) : undefined,
    message: order.message,
    redirectUrl: order.kind === 'link' ? order.redirectUrl : undefined,
    externalId: order.externalId,
    userId: order.userId,
    orderedBy: order.kind === 'payout' ? order.orderedBy : undefined,
    metadata: order.metadata,
    createdAt: isoTime(state.createdAt),
    updatedAt: isoTime(state.updatedAt),
    expiresAt: facts.expiresAt === undefined ? undefined : isoTime(facts.expiresAt),
  };
}

/** Shows the payment as lists do. */
export function toSummary(state: PaymentState): PaymentSummary {
  const payment = toPayment(state);
  const { id, object, kind, method, status, final, amount, amountPaid, currency } = payment;
  const { transId, externalId, userId, refundOf, metadata, createdAt } = payment;
  const { fee, revenue, medium, failureCode, reason, updatedAt } = payment;
  return {
    ...{ id, object, kind, method, status, final, amount, amountPaid, currency },
    ...{ transId, externalId, userId, refundOf, metadata, createdAt },
    ...{ fee, revenue, medium, failureCode, reason, updatedAt },
  };
}

/** Leaves out what only one of two people has decided, which a merchant could take for the outcome. */
export function forMerchant<Shown extends Pick<Payment, 'id'> & Partial<Pick<Payment, 'review'>>>(
  payment: Shown,
): Shown {
  const { review } = payment;
  if (review?.proposed === undefined && review?.rejected === undefined) return payment;
  const { proposed: _, rejected: __, ...shown } = review;
  return { ...payment, review: shown };
}

function toHeld(state: PaymentState): PaymentHold | undefined {
  const { phase, order, release } = state;
  if (phase.kind !== 'held' || order.kind !== 'payout') return undefined;
  return {
    for: phase.for,
    since: isoTime(phase.since),
    until: isoTime(heldUntil(state, phase, phase.for[0])),
    sendAt: order.sendAt === undefined ? undefined : isoTime(order.sendAt),
    name: order.name,
    email: order.email === undefined ? undefined : maskEmail(order.email),
    approvals: (release?.approvals ?? []).map(({ by, at }) => ({ by, at: isoTime(at) })),
    digest: digestOf(order),
  };
}

function toPaymentReview(state: PaymentState, { number, since, proposed, rejected }: Review): PaymentReview {
  return {
    number,
    since: isoTime(since),
    decideFrom: isoTime(decideFrom(state)),
    secondPerson: needsSecondPerson(state) ? true : undefined,
    proposed: proposed && toProposed(state, proposed),
    rejected: rejected && toRejected(rejected),
  };
}

function toProposed(state: PaymentState, { decision, by, why, force, at }: Proposal): ProposedDecision {
  const transId = matchedTransId(decision);
  return {
    action: decision.action,
    transId,
    transactionAmount: otherAmountOf(state, transId),
    by,
    why,
    ...toForced(force),
    at: isoTime(at),
  };
}

function toForced(force: Force): Pick<ProposedDecision, 'forced' | 'overruled'> {
  if (!isForced(force)) return {};
  return { forced: true, overruled: typeof force === 'boolean' ? undefined : force };
}

function toRejected({ proposed, by, why, at }: Rejected): RejectedDecision {
  const { decision, by: proposedBy } = proposed;
  return { action: decision.action, transId: matchedTransId(decision), proposedBy, by, why, at: isoTime(at) };
}

/** Returns the amount that moved, if the provider has given it; XAF. */
export function amountPaidOf(state: PaymentState): number | undefined {
  return statusOf(state) === 'SUCCESSFUL' ? state.facts.amountPaid : undefined;
}

/**
 * Returns the amount that moved, less `revenue`; XAF. Unknown for a transaction that differs from the order and whose
 * amount isn't known.
 */
function feeOf(state: PaymentState): number | undefined {
  const { order, facts, acceptedDifference } = state;
  const { revenue } = facts;
  const paid = amountPaidOf(state) ?? (acceptedDifference === undefined ? order.amount : undefined);
  const isKnown = statusOf(state) === 'SUCCESSFUL' && revenue !== undefined && paid !== undefined;
  return !isKnown || revenue > paid ? undefined : paid - revenue;
}

/** A phone number is empty once it was erased. */
function maskPhone(phone: string | undefined): string | undefined {
  return phone ? `•••• ${phone.slice(-3)}` : undefined;
}

/** Leaves the first letter and the domain, by which people recognise an address. */
function maskEmail(email: string): string {
  return email.replace(/^(.)[^@]*/u, '$1•••');
}

/** While a request is in flight, nobody knows whether it can be taken back. */
function isRevocable(state: PaymentState, { review, by, why }: Resolved): boolean {
  const { phase } = state;
  return phase.kind === 'waiting' && objectionToRecall(state, phase, { review, by, why }) === undefined;
}

function toResolution(state: PaymentState, resolved: Resolved): PaymentResolution {
  const { decision, review, by, why, force, at, approval } = resolved;
  const transId = matchedTransId(decision);
  return {
    action: decision.action,
    transId,
    review,
    by,
    why,
    ...toForced(force),
    at: isoTime(at),
    revocable: isRevocable(state, resolved) ? true : undefined,
    approval,
  };
}
