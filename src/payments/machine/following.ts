import { isFinal } from '../words/order.js';
import type { ExpiryAnswer, StatusAnswer } from '../words/outcome.js';
import { type Facts, namedIn, type PaymentState } from '../words/payment-state.js';
import {
  type Closing,
  type Following,
  followedBy,
  followedTransaction,
  inquiryOf,
  type Outcome,
} from '../words/phase.js';
import { DAY_MS } from '../words/time.js';
import type { ProviderStatus, Transaction } from '../words/transaction.js';
import { hasBeenPaid, mayBePaid, openOther, whyNotEnded } from './known-transactions.js';
import { disagreement } from './matching.js';
import { paidClaimUntil } from './paid-claims.js';
import { recordPoll, retryDelay } from './polling.js';
import { holdForReview, toEnded, toReview, toVerifying, withInquiry } from './transitions.js';

/** Longest time that a payment stays undecided before a person is asked, in ms: a day. */
const UNDECIDED_AFTER_MS = DAY_MS;

/** Handles an answer about the transaction that is followed or closed, under review or not. */
export function onStatus(
  payment: PaymentState,
  inquiry: Following | Closing,
  answer: StatusAnswer,
  now: number,
): PaymentState {
  const of = inquiry.kind === 'closing' ? inquiry.of : inquiry;
  const polled: Following = { ...of, polling: recordPoll(of.polling, answer, payment.terms, now) };
  const next = inquiry.kind === 'closing' ? afterLook(inquiry, polled, answer, payment, now) : polled;
  const known = withInquiry(payment, next);
  return reviewIfUndecided(answer.kind === 'found' ? applyTransaction(known, answer.transaction, now) : known, now);
}

/**
 * Goes on after a look at a link that is being closed. The first answered look leads to expiring it; a later one leads
 * back to following, since expiring wasn't enough. A link that may have been paid isn't expired: an answer that it
 * isn't may be old.
 */
function afterLook(
  closing: Closing,
  of: Following,
  answer: StatusAnswer,
  payment: PaymentState,
  now: number,
): Following | Closing {
  if (answer.kind !== 'found') return { ...closing, of };
  if (closing.next === 'look' && !mayBePaid(payment, of.transId, now)) return { ...closing, of, next: 'expire' };
  const tries = (of.end?.tries ?? 0) + 1;
  const at = paidClaimUntil(payment, of.transId, now) ?? now + retryDelay(tries - 1, payment.terms);
  return { ...of, end: { at, tries } };
}

/**
 * Handles the answer to expiring the link. Whatever the provider says, `Link already expired` included, the status
 * decides next. When it couldn't be asked, the link is looked at again before the next try.
 */
export function onExpired(payment: PaymentState, closing: Closing, answer: ExpiryAnswer, now: number): PaymentState {
  const { of } = closing;
  const isAnswered = answer.kind === 'expired' || answer.kind === 'alreadyExpired' || answer.kind === 'refused';
  if (isAnswered) {
    const polling = { ...of.polling, nextAt: now };
    return withInquiry(payment, { ...closing, next: 'confirm', of: { ...of, polling } });
  }
  const tries = (of.end?.tries ?? 0) + 1;
  const at = now + retryDelay(tries - 1, payment.terms);
  return reviewIfUndecided(withInquiry(payment, { ...of, end: { at, tries } }), now);
}

/**
 * Starts to end a link, because its end has come or its merchant asks for it. It is looked at first, for it may be
 * paid. A provider that doesn't answer is not asked any sooner for it.
 */
export function startClosing(payment: PaymentState, of: Following, now: number): PaymentState {
  const { polling } = of;
  const nextAt = polling.unanswered > 0 ? Math.max(polling.nextAt, now) : now;
  return withInquiry(payment, { kind: 'closing', of: { ...of, polling: { ...polling, nextAt } }, next: 'look' });
}

/**
 * Applies the provider's word on the payment's own transaction. One that isn't what was ordered, or has a status that
 * its kind can't have, goes to review. One that has moved no money ends the payment; where it may have been accepted
 * twice, the list has to show no other first.
 */
export function applyTransaction(payment: PaymentState, transaction: Transaction, now: number): PaymentState {
  const wrong = disagreement(payment.order, transaction);
  if (wrong !== undefined && wrong !== payment.acceptedDifference) return holdForReview(payment, wrong, now);
  const known = { ...payment, facts: { ...payment.facts, ...factsOf(transaction) } };
  const { transId, status } = transaction;
  const outcome = outcomeOf(payment, transaction);
  if (outcome !== undefined) {
    const open = status === 'SUCCESSFUL' ? undefined : openOther(payment);
    // What an operator has left for this one may be what moves the money.
    if (open !== undefined) return holdForReview(withStatus(known, status), whyNotEnded(transId, status, open), now);
    const of = followedTransaction(known);
    // What a hint says, and the provider hasn't confirmed yet, may be in the list.
    const isHinted = namedIn(payment).length > 0 || paidClaimUntil(payment, transId, now) !== undefined;
    const mayBeDouble = payment.sends.mayBeDouble || isHinted;
    const isSure = outcome.status === 'SUCCESSFUL' || !mayBeDouble;
    if (isSure || of === undefined) return toEnded(known, outcome, now);
    // Why it has failed is told with the failure, and no sooner.
    const facts = { ...known.facts, reason: payment.facts.reason };
    return toVerifying({ ...known, facts }, of, outcome, now);
  }
  return withStatus(known, status);
}

/** Returns the outcome that a transaction's final status means for the payment. */
function outcomeOf({ order }: PaymentState, { status, reason }: Transaction): Outcome | undefined {
  if (!isFinal(order, status)) return undefined;
  switch (status) {
    case 'SUCCESSFUL':
      return { status, reason };
    case 'FAILED':
      return { status, failureCode: 'failed_at_provider', reason };
    case 'EXPIRED':
      return { status, failureCode: 'expired', reason };
    default:
      return undefined;
  }
}

/**
 * Keeps the status of the followed transaction. CREATED after anything else is an old answer: an attempt that was made
 * stays made. So is anything after a final status.
 */
function withStatus(payment: PaymentState, status: ProviderStatus): PaymentState {
  const inquiry = inquiryOf(payment.phase);
  const of = inquiry?.kind === 'verifying' ? undefined : followedBy(inquiry);
  if (of === undefined || status === 'CREATED' || status === 'SUCCESSFUL' || status === 'EXPIRED') {
    return payment;
  }
  // Nor does an old 'unpaid' replace 'paid'.
  if (hasBeenPaid(payment, of.transId)) return payment;
  return followedAs(payment, { ...of, status });
}

function followedAs(payment: PaymentState, of: Following): PaymentState {
  const { phase } = payment;
  const inquiry = phase.kind === 'review' ? phase.inquiry : phase;
  return withInquiry(payment, inquiry?.kind === 'closing' ? { ...inquiry, of } : of);
}

/** Reads what the provider tells beside the status; what it leaves out stays as it was known. */
function factsOf({ status, amount, medium, revenue, reason, financialTransId }: Transaction): Facts {
  return {
    ...(status === 'SUCCESSFUL' && amount !== undefined && { amountPaid: amount }),
    ...(medium && { medium }),
    ...(revenue !== undefined && { revenue }),
    ...(reason && { reason }),
    ...(financialTransId && { financialTransId }),
  };
}

/** Returns when a person is asked about a transaction without an outcome. A link has a day more than it is valid. */
export function undecidedUntil({ facts }: Pick<PaymentState, 'facts'>, of: Following): number {
  return (facts.expiresAt ?? of.since) + UNDECIDED_AFTER_MS;
}

/**
 * Asks a person about a payment that the provider doesn't decide: a direct payment or a payout a day after it began, a
 * link a day after it should have expired. Polling goes on.
 */
function reviewIfUndecided(payment: PaymentState, now: number): PaymentState {
  const { phase, facts } = payment;
  if (phase.kind !== 'following' && phase.kind !== 'closing') return payment;
  const of = phase.kind === 'closing' ? phase.of : phase;
  if (now < undecidedUntil(payment, of)) return payment;
  const why =
    facts.expiresAt === undefined
      ? `the provider has given no outcome of ${of.transId} for a day: it was ${of.status} when last heard of`
      : `the link ${of.transId} should have ended a day ago: it was ${of.status} when last heard of`;
  return toReview(payment, { why, held: false, inquiry: phase }, now);
}
