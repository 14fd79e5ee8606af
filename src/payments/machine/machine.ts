import { refundOf } from '../words/order.js';
import type { PaymentEventType } from '../words/payment.js';
import {
  isKnownTransaction,
  namedIn,
  type PaymentState,
  reviewOf,
  statusOf,
  transIdOf,
} from '../words/payment-state.js';
import { activeInquiry, polledTransaction, UNNAMED } from '../words/phase.js';
import type { ProviderStatus, Transaction } from '../words/transaction.js';
import { onAnswer } from './answers.js';
import { askAboutPaidClaims, dropShownClaims, onClaimStatus, recordHint, withUnidentified } from './claims.js';
import type { AnswerEvent, HintEvent, PaymentEvent } from './events.js';
import { renumberReview, withDifferences, withDisputes } from './evidence.js';
import { startClosing } from './following.js';
import { searchAfterGap, withGap } from './gap.js';
import { onHeld, onHintBeforeRelease } from './held.js';
import { withShown, withTransaction } from './known-transactions.js';
import { mayBeOwn } from './matching.js';
import { plan, recordLook, type Todo } from './plan.js';
import { recordQuestion } from './polling.js';
import type { Change, Reply } from './replies.js';
import { isAnswered, onRequest, replyTo } from './requests.js';
import { onHintBeforeSending } from './sending.js';
import { askSoon } from './transitions.js';
import { onHintWhileWaiting, onWaited } from './waiting.js';

/** A payment after an event, and what comes of it. */
export interface Step {
  readonly payment: PaymentState;
  /** The one thing to do next. */
  readonly todo: Todo;
  /** What the merchant is notified of; the payment counts it already. */
  readonly notified?: PaymentEventType | undefined;
  /** Answers to those who asked for something. */
  readonly replies: readonly Reply[];
}

/**
 * Takes an event: returns the payment after it, and what to do next. It is pure. `now` is in ms since the epoch. Every
 * event has a meaning in every phase, but for an answer that wasn't asked for: that throws.
 *
 * The caller does that one thing, and passes its answer in before any other event, so that nothing can end or decide a
 * payment while its request is in flight.
 */
export function step(payment: PaymentState, event: PaymentEvent, now: number): Step {
  const { payment: changed, replies = [] } = apply(recordAnswer(payment, event, now), event, now);
  const shown = withDisputes(payment, withStatuses(changed, event), shownBy(event), now);
  const asked = askAboutPaidClaims(shown, polledTransaction(shown.phase)?.transId, now);
  const moved = renumberReview(payment, applyTime(event.kind === 'time' ? searchAfterGap(asked, now) : asked, now));
  const notified = notificationOf(payment, moved);
  const answered = moved.pendingRequests.filter((pending) => isAnswered(pending, moved, event));
  const after: PaymentState = {
    ...moved,
    updatedAt: isNews(payment, moved) ? now : moved.updatedAt,
    notified: moved.notified + (notified === undefined ? 0 : 1),
    pendingRequests: moved.pendingRequests.filter((pending) => !answered.includes(pending)),
  };
  return {
    payment: after,
    todo: plan(after, now),
    notified,
    replies: [...replies, ...answered.map((pending) => replyTo(pending, payment, moved, event))],
  };
}

/** Counts the question that was answered; remembers the quiet that the provider asked for, and what it has shown. */
function recordAnswer(payment: PaymentState, event: PaymentEvent, now: number): PaymentState {
  if (isNotAsked(event)) return payment;
  const recentQuestions =
    event.kind === 'status' ? recordQuestion(payment.recentQuestions, event.transId, now) : payment.recentQuestions;
  const quiet = requestedQuiet(event);
  const quietUntil = quiet === undefined ? payment.quietUntil : Math.max(payment.quietUntil ?? 0, now + quiet);
  const shown = shownBy(event);
  const taken = isAnswer(event) && event.taken ? [{ ...event.taken, status: 'CREATED' as const }] : [];
  return {
    ...dropShownClaims(withDifferences(payment, [...shown, ...taken]), shown),
    recentQuestions,
    ...(quietUntil !== undefined && { quietUntil }),
  };
}

/** Remembers what the provider shows of the payment's transactions, in every phase. */
function withStatuses(payment: PaymentState, event: PaymentEvent): PaymentState {
  return shownBy(event)
    .filter((one) => isKnownTransaction(payment, one.transId) && mayBeOwn(payment.order, one))
    .reduce(
      (known, one) =>
        one.transId === transIdOf(known) ? withShown(known, one.transId, one.status) : withTransaction(known, one),
      payment,
    );
}

function isAnswer(event: PaymentEvent): event is AnswerEvent {
  return 'taken' in event;
}

/** Lists the transactions that an answer of the provider shows. */
function shownBy(event: PaymentEvent): readonly Transaction[] {
  if (event.kind === 'listed' && event.answer.kind === 'listed') return event.answer.transactions;
  if (event.kind === 'status' && event.answer.kind === 'found') return [event.answer.transaction];
  if (event.kind === 'sent' && event.outcome.kind === 'ambiguous') return event.outcome.shown ?? [];
  return event.kind === 'expired' && event.answer.kind === 'expired' ? [event.answer.transaction] : [];
}

/** Reports whether the worker has kept a question back: the provider has said nothing. */
function isNotAsked(event: PaymentEvent): boolean {
  return event.kind === 'status' && event.answer.kind === 'throttled' && event.answer.isOurs === true;
}

/** Returns the pause that the provider asked for with this answer, in ms. */
function requestedQuiet(event: PaymentEvent): number | undefined {
  if (event.kind !== 'status' && event.kind !== 'listed' && event.kind !== 'expired') return undefined;
  return event.answer.kind === 'throttled' ? event.answer.retryAfterMs : undefined;
}

function apply(payment: PaymentState, event: PaymentEvent, now: number): Change {
  switch (event.kind) {
    case 'begin':
    case 'time':
      return { payment };
    case 'gap':
      return { payment: withGap(payment, event.at) };
    case 'looked':
      return { payment: recordLook(payment, event.transId, now) };
    case 'hint':
      return { payment: onHint(payment, event, now) };
    case 'hintWithoutTransaction':
      return { payment: onHintWithoutTransaction(payment, event.status, now) };
    case 'sent':
    case 'listed':
    case 'expired':
      return onAnswer(payment, event, now);
    case 'status':
      return event.isClaim
        ? { payment: onClaimStatus(payment, event.transId, event.answer, now) }
        : onAnswer(payment, event, now);
    case 'expire':
    case 'refresh':
    case 'approve':
    case 'rejectPayout':
    case 'decide':
    case 'reject':
    case 'recheck':
      return onRequest(payment, event, now);
  }
}

/** Handles a hint. One that names a transaction for the first time keeps the payment from being sent again. */
function onHint(payment: PaymentState, event: HintEvent, now: number): PaymentState {
  const updated = recordHint(payment, event, now);
  const { phase } = updated;
  if (namedIn(payment).includes(event.transId)) return updated;
  if (phase.kind === 'held') return onHintBeforeRelease(updated, event.transId, now);
  if (phase.kind === 'sending') return onHintBeforeSending(updated, phase, event.transId, now);
  return phase.kind === 'waiting' ? onHintWhileWaiting(updated, phase, now) : updated;
}

/** Handles a hint that names the payment alone: it is about the known transaction, or one still to be found. */
function onHintWithoutTransaction(
  payment: PaymentState,
  status: ProviderStatus | undefined,
  now: number,
): PaymentState {
  const transId = transIdOf(payment);
  if (transId !== undefined) return onHint(payment, { kind: 'hint', transId, status }, now);
  const updated = withUnidentified(payment, status, now);
  const { phase } = updated;
  if (phase.kind === 'held') return onHintBeforeRelease(updated, UNNAMED, now);
  if (phase.kind === 'sending') return onHintBeforeSending(updated, phase, UNNAMED, now);
  return phase.kind === 'waiting' ? onHintWhileWaiting(updated, phase, now) : askSoon(updated, now, true);
}

/** Applies what time alone brings about. */
function applyTime(payment: PaymentState, now: number): PaymentState {
  const { phase } = payment;
  if (phase.kind === 'held') return onHeld(payment, phase, now);
  if (phase.kind === 'waiting') return onWaited(payment, phase, now);
  const inquiry = activeInquiry(phase);
  return inquiry?.kind === 'following' && inquiry.end !== undefined && inquiry.end.at <= now
    ? startClosing(payment, inquiry, now)
    : payment;
}

/** Returns what notifies the merchant of a change of status; `undefined` when nothing does. */
function notificationOf(before: PaymentState, after: PaymentState): PaymentEventType | undefined {
  const status = statusOf(after);
  const isEnd = after.phase.kind === 'ended' && before.phase.kind !== 'ended';
  if (after.phase.kind === 'held' && after.notified === 0) return 'payment.held';
  if (status === statusOf(before) && !isEnd) return undefined;
  switch (status) {
    case 'SUCCESSFUL':
      return refundOf(after.order) === undefined ? 'payment.succeeded' : 'payment.refunded';
    case 'EXPIRED':
      return 'payment.expired';
    case 'FAILED':
      return after.phase.kind === 'ended' ? 'payment.failed' : 'payment.attempt_failed';
    case 'REVIEW':
      return 'payment.review';
    case 'CREATED':
    case 'PENDING':
      return undefined;
  }
}

function isNews(before: PaymentState, after: PaymentState): boolean {
  return (
    before.phase.kind !== after.phase.kind ||
    statusOf(before) !== statusOf(after) ||
    transIdOf(before) !== transIdOf(after) ||
    before.reviews !== after.reviews ||
    before.release !== after.release ||
    reviewOf(before)?.proposed !== reviewOf(after)?.proposed
  );
}
