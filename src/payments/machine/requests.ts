import type { PaymentState, PendingRequest } from '../words/payment-state.js';
import {
  activeInquiry,
  type Following,
  followedBy,
  type Phase,
  polledTransaction,
  type Sending,
  type Waiting,
} from '../words/phase.js';
import { onDecide } from './deciding.js';
import { recheck } from './ended.js';
import type { PaymentEvent, RequestEvent } from './events.js';
import { startClosing } from './following.js';
import { isStopping, notApproved, objectionToApproval, objectionToStop, onApprove, stop } from './held.js';
import { mayBePaid, whyPaid } from './known-transactions.js';
import { objectionToDecision } from './objections.js';
import { type Change, done, NOT_UNDER_REVIEW, type Refusal, type Reply, refuse } from './replies.js';
import { objectionToRejection, onReject } from './second-person.js';
import { objectionToRecall, onRecall } from './sending.js';
import { askSoon, toEnded } from './transitions.js';
import { NOT_KNOWN, objectionToWithdrawal, WITHDRAWN } from './waiting.js';

/** Requests that may wait at a time; more are answered at once, so that the payment's state doesn't grow with them. */
const MAX_PENDING_REQUESTS = 4;

/**
 * Returns why a request can't be met, as far as the payment knows without asking; `undefined` when it can be looked
 * into.
 */
export function objectionTo(payment: PaymentState, event: RequestEvent, now: number): Refusal | undefined {
  switch (event.kind) {
    case 'expire':
      return objectionToExpiry(payment, now);
    case 'approve':
      return objectionToApproval(payment, event, now);
    case 'rejectPayout':
      return isStopping(payment) ? undefined : objectionToStop(payment, now);
    case 'decide':
      return objectionToDecision(payment, event.resolution, now);
    case 'reject':
      return isToBeSent(payment.phase)
        ? objectionToRecall(payment, payment.phase, event.rejection)
        : objectionToRejection(payment, event.rejection);
    case 'refresh':
    case 'recheck':
      return undefined;
  }
}

function objectionToExpiry(payment: PaymentState, now: number): Refusal | undefined {
  const { phase, order } = payment;
  if (phase.kind === 'ended') {
    return { type: 'NotExpirable', words: `the payment is ${phase.status} already` };
  }
  if (phase.kind === 'held') {
    const objection = objectionToStop(payment, now);
    return objection && { ...objection, type: 'NotExpirable' };
  }
  // Its request isn't on its way: its outcome would come first.
  if (isToBeSent(phase)) return objectionToWithdrawal(payment, phase);
  if (isStopping(payment)) return undefined;
  if (order.kind !== 'link') return { type: 'NotALink', words: 'only a payment link can be expired' };
  if (phase.kind === 'searching') {
    return { type: 'NotInitiated', words: 'the provider has not made the link yet' };
  }
  if (askedAbout(phase) === undefined)
    return { type: 'NotExpirable', words: 'the payment is under review, and a person has to decide it' };
  const of = polledTransaction(phase);
  return of !== undefined && mayBePaid(payment, of.transId, now)
    ? {
        type: 'NotExpirable',
        words: `${whyPaid(payment, of.transId)}: read the payment again in a few minutes`,
      }
    : undefined;
}

export function onRequest(payment: PaymentState, event: RequestEvent, now: number): Change {
  const refusal = objectionTo(payment, event, now);
  if (refusal !== undefined) return refuse(payment, event.request, refusal);
  switch (event.kind) {
    case 'expire':
      return onExpireRequest(payment, event, now);
    case 'approve':
      return done(onApprove(payment, event, now), event.request);
    case 'rejectPayout':
      if (isStopping(payment)) return answerOnceEnded(payment, event.request);
      return answerOnceEnded(stop(payment, notApproved(event.why), now, event.mayHaveBeenSent), event.request);
    case 'refresh':
      return askedAbout(payment.phase) !== undefined
        ? answerLater(askSoon(payment, now), event.request, 'poll')
        : done(askSoon(payment, now), event.request);
    case 'decide':
      return payment.phase.kind === 'review'
        ? onDecide(payment, payment.phase, event.request, event.resolution, now)
        : refuse(payment, event.request, NOT_UNDER_REVIEW);
    case 'reject':
      return isToBeSent(payment.phase)
        ? done(onRecall(payment, payment.phase, event.rejection, now), event.request)
        : onReject(payment, event.request, event.rejection, now);
    case 'recheck':
      return payment.phase.kind === 'ended'
        ? answerLater(recheck(payment, payment.phase, now), event.request, 'check')
        : onRequest(payment, { kind: 'refresh', request: event.request }, now);
  }
}

function onExpireRequest(
  payment: PaymentState,
  { request, mayHaveBeenSent }: Extract<RequestEvent, { readonly kind: 'expire' }>,
  now: number,
): Change {
  const { phase } = payment;
  if (phase.kind === 'held') return answerOnceEnded(stop(payment, WITHDRAWN, now, mayHaveBeenSent), request);
  if (isToBeSent(phase)) {
    return mayHaveBeenSent ? refuse(payment, request, NOT_KNOWN) : done(toEnded(payment, WITHDRAWN, now), request);
  }
  if (isStopping(payment)) return answerOnceEnded(payment, request);
  const of = askedAbout(phase);
  if (of === undefined) return done(payment, request);
  const expiresAt = Math.min(payment.facts.expiresAt ?? now, now);
  const ending = { ...payment, facts: { ...payment.facts, expiresAt } };
  // One that is being verified has come to its end.
  const isOver = activeInquiry(phase)?.kind === 'verifying';
  return answerLater(isOver ? askSoon(ending, now) : startClosing(ending, of, now), request, 'closing');
}

/** Reports whether the payment waits to be sent or is just about to be, so that an operator may take that back. */
function isToBeSent(phase: Phase): phase is Sending | Waiting {
  return phase.kind === 'waiting' || phase.kind === 'sending';
}

/**
 * Finds the transaction that the provider is going to be asked about without anybody's decision. A link can be expired
 * by it.
 */
function askedAbout(phase: Phase): Following | undefined {
  return followedBy(activeInquiry(phase));
}

function answerOnceEnded(payment: PaymentState, request: number): Change {
  return payment.phase.kind === 'ended' ? done(payment, request) : answerLater(payment, request, 'ending');
}

function answerLater(payment: PaymentState, request: number, what: PendingRequest['for']): Change {
  return payment.pendingRequests.length < MAX_PENDING_REQUESTS
    ? { payment: { ...payment, pendingRequests: [...payment.pendingRequests, { request, for: what }] } }
    : done(payment, request);
}

export function isAnswered(pending: PendingRequest, { phase }: PaymentState, event: PaymentEvent): boolean {
  switch (pending.for) {
    case 'poll':
      if (askedAbout(phase) === undefined || event.kind === 'listed') return true;
      return event.kind === 'status' && !event.isClaim && activeInquiry(phase)?.kind !== 'verifying';
    case 'closing':
      return activeInquiry(phase)?.kind !== 'closing' && activeInquiry(phase)?.kind !== 'verifying';
    case 'ending':
      return phase.kind !== 'searching';
    case 'check':
      return phase.kind !== 'ended' || event.kind === 'listed';
  }
}

/**
 * Answers a pending request. Refuses a recheck for which the provider's list couldn't be read: silence isn't its word
 * that all is well.
 */
export function replyTo(
  pending: PendingRequest,
  before: PaymentState,
  { phase }: PaymentState,
  event: PaymentEvent,
): Reply {
  const { request } = pending;
  const wasComplete =
    before.phase.kind === 'ended' && phase.kind === 'ended' && phase.checks.length < before.phase.checks.length;
  const isChecked =
    phase.kind !== 'ended' || (wasComplete && event.kind === 'listed' && event.answer.kind === 'listed');
  if (pending.for !== 'check' || isChecked) return { request, kind: 'done' };
  return {
    request,
    kind: 'refused',
    type: 'NotChecked',
    words: "the payment couldn't be compared with the provider's records; that is tried again by itself",
  };
}
