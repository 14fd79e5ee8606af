import type { TransId } from '../words/payment-id.js';
import { type Facts, failureCodeOf, type PaymentState, transIdOf } from '../words/payment-state.js';
import {
  type Ambiguity,
  type Check,
  type Following,
  type Inquiry,
  inquiryOf,
  type Outcome,
  type Phase,
  type Review,
  type Searching,
  type SendCause,
  type Verifying,
} from '../words/phase.js';
import { HOUR_MS } from '../words/time.js';
import type { Transaction } from '../words/transaction.js';
import {
  canMoveMoney,
  cannotMoveMoney,
  latestOf,
  markPossiblyDouble,
  openOther,
  withShown,
  withTransaction,
} from './known-transactions.js';
import { listedAfterMs, lookUpDelay } from './look-ups.js';
import { bringForward, startPolling } from './polling.js';

/** Puts the payment in another phase. */
export function inPhase(payment: PaymentState, phase: Phase): PaymentState {
  return { ...payment, phase };
}

/**
 * Prepares the payment to be sent. After a resend of money, no answer can rule out that it was accepted twice: the
 * outcome is checked again afterwards.
 */
export function aboutToSend(payment: PaymentState, cause: SendCause, ambiguity: Ambiguity | undefined): PaymentState {
  const { order } = payment;
  const { isThrottled, ...sends } = payment.sends;
  const mayBeDouble = cause === 'operator' || (cause === 'policy' && order.kind !== 'link');
  // An operator may not have waited until the list shows whether it was taken.
  const count = sends.count + (isThrottled && cause === 'operator' ? 1 : 0);
  return {
    ...payment,
    sends: {
      ...sends,
      count,
      policySpent: sends.policySpent || cause !== 'order',
      mayBeDouble: sends.mayBeDouble || mayBeDouble,
    },
    phase: { kind: 'sending', cause, ambiguity },
  };
}

/** Forgets that a hint spoke of a transaction without naming it: that was examined, or decided over. */
export function withoutUnidentified(payment: PaymentState): PaymentState {
  const { isNamed: _over, ...claims } = payment.claims;
  return { ...payment, claims };
}

/** Starts to look for the transaction of a request that the provider may have accepted. */
export function toSearching(payment: PaymentState, ambiguity: Ambiguity, now: number, lookUps = 0): PaymentState {
  const nextAt = now + lookUpDelay(payment, ambiguity, lookUps, now);
  return inPhase(payment, { kind: 'searching', ambiguity, lookUps, nextAt });
}

/** Starts to follow a transaction. The lifetime of a link begins with its first transaction. */
export function toFollowing(
  payment: PaymentState,
  taken: { readonly transId: TransId; readonly link?: string | undefined },
  now: number,
): PaymentState {
  const { order, terms, claims } = payment;
  const { transId } = taken;
  const before = transIdOf(payment);
  const facts = before === undefined || before === transId ? payment.facts : sharedFacts(payment.facts);
  const isReported = claims.open.some((claim) => claim.transId === transId);
  const lifetime = order.kind === 'link' ? (order.expiresInMs ?? terms.linkLifetimeMs) : undefined;
  const expiresAt = lifetime === undefined ? undefined : (facts.expiresAt ?? now + lifetime);
  const known = payment.others.find((other) => other.transId === transId);
  return {
    ...(known === undefined ? payment : withShown(payment, transId, known.status)),
    facts: {
      ...facts,
      expiresAt,
      link: taken.link === undefined ? facts.link : { url: taken.link, transId },
    },
    claims: { ...claims, open: claims.open.filter((claim) => claim.transId !== transId) },
    others: payment.others.filter((other) => other.transId !== transId),
    phase: {
      kind: 'following',
      transId,
      since: now,
      status: 'CREATED',
      polling: startPolling(isReported, terms, now),
      end: expiresAt === undefined ? undefined : { at: expiresAt, tries: 0 },
    },
  };
}

/**
 * Starts to verify that no money has moved, unless that is under way: the payment ends when the list shows no other
 * transaction.
 */
export function toVerifying(
  payment: PaymentState,
  of: Following,
  outcome: Verifying['outcome'],
  now: number,
): PaymentState {
  if (inquiryOf(payment.phase)?.kind === 'verifying') return payment;
  // What the book knows no sending of, a book that it was restored from has sent: when, nobody knows.
  const listedAt = Math.max(now, (payment.sends.lastAt ?? of.since) + listedAfterMs(payment));
  return withInquiry(payment, {
    kind: 'verifying',
    of: outcome.status === 'FAILED' ? { ...of, status: 'FAILED' } : of,
    interimStatus: of.status,
    outcome,
    since: listedAt,
    lookUps: 0,
    nextAt: listedAt,
  });
}

/** Selects the facts that hold for any transaction of the payment: none that the provider gave of the one before. */
function sharedFacts({ link, expiresAt }: Facts): Facts {
  return { link, expiresAt };
}

/** Brings the next call to the provider forward, as far as the budget allows. */
export function askSoon(payment: PaymentState, now: number, hinted = false): PaymentState {
  const sooner = inquirySooner(inquiryOf(payment.phase), hinted, now);
  return sooner === undefined ? payment : withInquiry(payment, sooner);
}

/** Replaces the payment's inquiry, under review or not. */
export function withInquiry(payment: PaymentState, inquiry: Inquiry): PaymentState {
  const { phase } = payment;
  if (phase.kind === 'review') return inPhase(payment, { ...phase, inquiry });
  return phase.kind === 'deciding'
    ? inPhase(payment, { ...phase, review: { ...phase.review, inquiry } })
    : inPhase(payment, inquiry);
}

/** The shortest pause between two look-ups, whatever the reason for them, in ms. */
const LOOK_UP_PAUSE_MIN_MS = 10_000;

function inquirySooner(inquiry: Inquiry | undefined, hinted: boolean, now: number): Inquiry | undefined {
  switch (inquiry?.kind) {
    case 'searching':
      return lookUpSooner(inquiry, now);
    case 'verifying':
      // The first look-up is as soon as it may be.
      return inquiry.lastAt === undefined ? inquiry : lookUpSooner(inquiry, now);
    case 'following':
      return { ...inquiry, polling: bringForward(inquiry.polling, hinted, now) };
    case 'closing':
      return { ...inquiry, of: { ...inquiry.of, polling: bringForward(inquiry.of.polling, hinted, now) } };
    default:
      return undefined;
  }
}

function lookUpSooner<Looked extends Searching | Verifying>(inquiry: Looked, now: number): Looked {
  const earliest = Math.max(now, (inquiry.lastAt ?? 0) + LOOK_UP_PAUSE_MIN_MS);
  return { ...inquiry, nextAt: Math.min(inquiry.nextAt, earliest) };
}

/**
 * Puts the payment under review. If it already is, new evidence gives the review a new number, so that decisions on the
 * old one are refused. A held review stays held.
 */
export function toReview(
  payment: PaymentState,
  { why, held, inquiry }: Pick<Review, 'why' | 'held' | 'inquiry'>,
  now: number,
): PaymentState {
  const { phase, reviews } = payment;
  const before = phase.kind === 'review' ? phase : undefined;
  if (before !== undefined && before.why === why && before.held === held) {
    return inPhase(payment, { ...before, inquiry });
  }
  return {
    ...payment,
    reviews: reviews + 1,
    phase: {
      kind: 'review',
      number: reviews + 1,
      why,
      since: before?.since ?? now,
      held: held || (before?.held ?? false),
      inquiry,
    },
  };
}

/** Puts the payment under a review that only a decision ends: the provider contradicts its outcome or its order. */
export function holdForReview(payment: PaymentState, why: string, now: number): PaymentState {
  return toReview(payment, { why, held: true, inquiry: inquiryFor(payment, now) }, now);
}

/** Returns the payment's inquiry; for an ended payment, to follow its transaction again if an operator decides so. */
function inquiryFor({ phase, createdAt, terms }: PaymentState, now: number): Inquiry | undefined {
  if (phase.kind !== 'ended') return inquiryOf(phase);
  if (phase.transId === undefined) return undefined;
  return {
    kind: 'following',
    transId: phase.transId,
    since: createdAt,
    status: 'CREATED',
    polling: startPolling(false, terms, now),
  };
}

/** Times of the checks of an outcome in doubt, in ms after the end. */
export const CHECKS_AFTER_MS = [0, HOUR_MS, 24 * HOUR_MS] as const;

/** Ends the payment. */
export function toEnded(
  payment: PaymentState,
  outcome: Outcome,
  now: number,
  unanswered: readonly TransId[] = [],
): PaymentState {
  const known = openOther(payment) === undefined ? payment : markPossiblyDouble(payment);
  const checks = known.sends.mayBeDouble ? checksFrom(now) : [];
  const unconfirmed = payment.claims.unconfirmed.filter((named) =>
    payment.others.some(({ transId }) => transId === named),
  );
  const outstanding = [...new Set([...unanswered, ...unconfirmed])];
  return inPhase(known, { kind: 'ended', ...outcome, transId: transIdOf(payment), checks, outstanding });
}

/** Plans the checks of an outcome that may be doubled, from `now` on. */
export function checksFrom(now: number): Check[] {
  return CHECKS_AFTER_MS.map((after) => ({ at: now + after, tries: 0 }));
}

/**
 * Records a further transaction of the payment. Because money may move twice, the payment goes under review, unless an
 * operator has already seen the transaction with this status.
 */
export function addOtherTransaction(
  payment: PaymentState,
  { transId, status }: Transaction,
  now: number,
): PaymentState {
  const known = payment.others.find((other) => other.transId === transId);
  const latest = latestOf(payment, known, status);
  if (known?.status === latest && payment.phase.kind === 'review' && payment.phase.held) return payment;
  const updated = withTransaction(payment, { transId, status });
  const isFailed = failureCodeOf(payment) === 'decided_by_operator';
  const isGiven = payment.facts.link?.transId === transId;
  const mayBePaid = isGiven && !cannotMoveMoney(payment, latest) && (known === undefined || isFailed);
  if ((!canMoveMoney(payment, latest) && !mayBePaid) || known?.decidedAs === latest) return updated;
  return holdForReview(
    markPossiblyDouble(updated),
    `the provider has another transaction for this payment: ${transId} (${latest})`,
    now,
  );
}
