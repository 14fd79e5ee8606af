import type { ListAnswer } from '../words/outcome.js';
import { namedIn, type PaymentState } from '../words/payment-state.js';
import type { Failed, SendCause, Sending, TransactionMention, Unsent, Waiting } from '../words/phase.js';
import { withPossibleDoubles } from './known-transactions.js';
import { LISTED_AFTER_MS, lookUpDelay, whyAmbiguous } from './look-ups.js';
import { findOwn, ownAmong } from './matching.js';
import { backoff } from './polling.js';
import type { Refusal } from './replies.js';
import { adopt, endUnlessNamed, onListed } from './searching.js';
import { inPhase, toReview, toSearching } from './transitions.js';

/** Period in which a request that the provider never got is tried again, in ms. */
export const NOT_SENT_PATIENCE_MS = 5 * 60 * 1000;

const FIRST_PAUSE_MS = 1_000;

const MAX_PAUSE_MS = 60_000;

/** First and longest pause while the provider refuses our credentials, in ms. Only an operator can correct that. */
const CREDENTIALS_PAUSE_MS = 60_000;

const MAX_CREDENTIALS_PAUSE_MS = 10 * 60_000;

/** Returns the pause before an unsent request is tried again, in ms: at least the provider's Retry-After. */
export function sendAgainDelay({ hold, tries }: Pick<Unsent, 'hold' | 'tries'>, retryAfterMs = 0): number {
  return hold === 'credentials'
    ? backoff(CREDENTIALS_PAUSE_MS, tries - 1, MAX_CREDENTIALS_PAUSE_MS)
    : Math.max(retryAfterMs, backoff(FIRST_PAUSE_MS, tries - 1, MAX_PAUSE_MS));
}

export function countSend(payment: PaymentState, now: number): PaymentState {
  const { isThrottled: _answered, ...sends } = payment.sends;
  return { ...payment, sends: { ...sends, count: sends.count + 1, lastAt: now } };
}

export function onUnsent(
  payment: PaymentState,
  { cause, ambiguity, unsent: before }: Sending,
  hold: Unsent['hold'],
  reason: string,
  now: number,
  retryAfterMs?: number,
): PaymentState {
  const isSameKind = before !== undefined && isPatient(payment, before.hold) === isPatient(payment, hold);
  const unsent: Unsent = {
    tries: (before?.tries ?? 0) + 1,
    reason,
    hold,
    ...((hold === 'throttled' || before?.wasThrottled) && { wasThrottled: true }),
    begunAt: before?.begunAt ?? now,
    since: isSameKind ? before.since : now,
  };
  // A throttled request is looked up first. For money, wait until the list should show it.
  const listedAfter = hold === 'throttled' && payment.order.kind !== 'link' ? LISTED_AFTER_MS : 0;
  const until = now + Math.max(sendAgainDelay(unsent, retryAfterMs), listedAfter);
  const waiting: Waiting = { kind: 'waiting', cause, ambiguity, unsent, until };
  return isPatienceOver(payment, unsent, now) && !unsent.wasThrottled
    ? giveUp(payment, waiting, now)
    : inPhase(payment, waiting);
}

function isPatienceOver(payment: PaymentState, unsent: Unsent, now: number): boolean {
  return now >= patienceEnd(payment, unsent);
}

/** Returns until when an unsent request is tried again, in ms since the epoch. */
export function patienceEnd(payment: PaymentState, { hold, begunAt, since }: Unsent): number {
  const sendBy = begunAt + payment.terms.sendByMs;
  return isPatient(payment, hold) ? sendBy : Math.min(sendBy, since + NOT_SENT_PATIENCE_MS);
}

/**
 * Reports whether an unsent request is tried for as long as it may be sent: what an operator has to correct, a list
 * that can't be read, and a payout that was held, since nobody waits for that. A resend goes back to a person sooner.
 */
function isPatient({ release, sends }: PaymentState, hold: Unsent['hold']): boolean {
  return hold === 'credentials' || (sends.count === 0 && (hold === 'unread' || release !== undefined));
}

function giveUp(payment: PaymentState, waiting: Waiting, now: number): PaymentState {
  const { cause, ambiguity, unsent } = waiting;
  const { reason } = unsent;
  // Nobody was given the first link: what was made is expired, and the payment goes on or ends, as the grace period has
  // it.
  if (ambiguity !== undefined && payment.order.kind === 'link') {
    return toSearching(payment, { ...ambiguity, reason }, now);
  }
  if (ambiguity !== undefined) {
    const why = `${whyAmbiguous(ambiguity.reason)}, and it could not be sent once more: ${reason}`;
    return searchUnderReview(withoutDecision(payment, cause), ambiguity, why, now);
  }
  const why = `never sent to the provider: ${reason}`;
  return endUnlessNamed(payment, { status: 'FAILED', failureCode: 'not_sent', reason: why }, now);
}

export function searchUnderReview(
  payment: PaymentState,
  ambiguity: NonNullable<Sending['ambiguity']>,
  why: string,
  now: number,
): PaymentState {
  const nextAt = now + lookUpDelay(payment, ambiguity, 0, now);
  const inquiry = { kind: 'searching', ambiguity, lookUps: 0, nextAt } as const;
  return toReview(payment, { why, held: false, inquiry }, now);
}

/**
 * Reports whether the provider may have taken an earlier request, so that its list is read before another is made: what
 * was decided before the pause may not be so after it, and a hint may name its transaction. Of a link, nobody has the
 * address, and it is safe to make another.
 */
export function isLookedUpFirst(payment: PaymentState, { ambiguity, unsent }: Waiting): boolean {
  const isInQuestion = ambiguity !== undefined || namedIn(payment).length > 0;
  return unsent.wasThrottled === true || (isInQuestion && payment.order.kind !== 'link');
}

/** Sends the payment when its pause is over, unless it is looked up first. */
export function onWaited(payment: PaymentState, waiting: Waiting, now: number): PaymentState {
  return waiting.until > now || isLookedUpFirst(payment, waiting) ? payment : sendAgain(payment, waiting);
}

/**
 * Handles a hint that names a transaction while the payment waits to be looked up before it is sent again. The
 * list may show the transaction by now. If it doesn't, nothing is sent all the same, because one is named. Of a link,
 * another would be made.
 */
export function onHintWhileWaiting(payment: PaymentState, waiting: Waiting, now: number): PaymentState {
  if (payment.order.kind === 'link' || !isLookedUpFirst(payment, waiting)) return payment;
  return inPhase(payment, { ...waiting, until: Math.min(waiting.until, now) });
}

/** Takes back that the payment is sent once more, unless it is a link, whose address nobody has, or the first try. */
export function callOff(
  payment: PaymentState,
  { cause, ambiguity, unsent }: Pick<Sending, 'cause' | 'ambiguity' | 'unsent'>,
  named: TransactionMention,
  now: number,
): PaymentState {
  if (payment.order.kind === 'link') return payment;
  if (cause === 'operator' && ambiguity !== undefined) {
    const why = `a notification names ${named} as its transaction, so it was not sent once more`;
    return searchUnderReview(
      withoutDecision(payment, cause),
      ambiguity,
      `${whyAmbiguous(ambiguity.reason)}; ${why}`,
      now,
    );
  }
  const inQuestion = ambiguity ?? (unsent && { reason: unsent.reason, since: now, unsent });
  return inQuestion === undefined ? payment : toSearching(payment, inQuestion, now);
}

/** Drops an operator's decision that wasn't carried out: nobody is told of it any more. */
export function withoutDecision(payment: PaymentState, cause: SendCause): PaymentState {
  if (cause !== 'operator') return payment;
  const { resolved: _none, ...rest } = payment;
  return rest;
}

function sendAgain(payment: PaymentState, { cause, ambiguity, unsent }: Waiting): PaymentState {
  return inPhase(payment, { kind: 'sending', cause, ambiguity, unsent });
}

/**
 * Handles the look-up before a request is repeated. It is repeated only if the list shows no earlier one, and no hint
 * names one.
 */
export function onListedWhileWaiting(
  payment: PaymentState,
  waiting: Waiting,
  answer: ListAnswer,
  now: number,
): PaymentState {
  const { cause, ambiguity, unsent } = waiting;
  const isOver = isPatienceOver(payment, unsent, now);
  // A throttled request counts when it shows that it was taken; any other that is found has been counted, and is no
  // resend's.
  const found = unsent.wasThrottled ? countSend(payment, now) : withoutDecision(payment, cause);
  if (answer.kind !== 'listed') {
    const reason = `${unsent.reason}, and the payment couldn't be looked up`;
    if (isOver && cause === 'operator' && ambiguity !== undefined) return giveUp(payment, waiting, now);
    if (isOver) return toSearching(payment, ambiguity ?? { reason, since: now }, now);
    const next = { ...unsent, tries: unsent.tries + 1 };
    return inPhase(payment, { ...waiting, unsent: next, until: now + sendAgainDelay(next) });
  }
  const isLink = payment.order.kind === 'link';
  // A link that has expired has been dealt with: another can be made.
  const listed = isLink ? answer.transactions.filter(({ status }) => status !== 'EXPIRED') : answer.transactions;
  const finding = findOwn(payment.order, listed);
  if (isLink && finding.kind !== 'absent') {
    // The list doesn't have a link's address, so the link is expired and another is created.
    const searched = toSearching(found, ambiguity ?? { reason: unsent.reason, since: now }, now);
    return searched.phase.kind === 'searching' ? onListed(searched, searched.phase, answer, now) : searched;
  }
  switch (finding.kind) {
    case 'found':
      return adopt(found, finding.transaction, now);
    case 'absent': {
      const [named] = namedIn(payment);
      const calledOff = named === undefined ? payment : callOff(payment, waiting, named, now);
      if (calledOff !== payment) return calledOff;
      return isOver ? giveUp(payment, waiting, now) : sendAgain(payment, waiting);
    }
    case 'mismatch':
    case 'several': {
      const since = ambiguity?.since ?? now;
      const reason = finding.reason;
      const own = ownAmong(payment.order, answer.transactions);
      const searched = toSearching(withPossibleDoubles(found, own), { reason, since }, now);
      return toReview(searched, { why: reason, held: true, inquiry: searchingOf(searched) }, now);
    }
  }
}

function searchingOf({ phase }: PaymentState) {
  return phase.kind === 'searching' ? phase : undefined;
}

/** Objects to the withdrawal of a payment that the provider may have taken, or that a hint says it has. */
export function objectionToWithdrawal(
  payment: PaymentState,
  { ambiguity, unsent }: Pick<Sending, 'ambiguity' | 'unsent'>,
): Refusal | undefined {
  const isUnsent = ambiguity === undefined && !unsent?.wasThrottled && namedIn(payment).length === 0;
  return isUnsent ? undefined : NOT_KNOWN;
}

/** Refuses to withdraw a payment that may have been sent. */
export const NOT_KNOWN: Refusal = {
  type: 'NotInitiated',
  words: "it isn't known yet whether the provider accepted the payment; try again later",
};

/** The outcome of a payment that its merchant withdraws. */
export const WITHDRAWN = {
  status: 'FAILED',
  reason: 'withdrawn before it was sent',
  failureCode: 'withdrawn',
} as const satisfies Failed;
