import type { Actor, Checker, PaymentEvent, RequestEvent } from '../machine/events.js';
import { ownAmong } from '../machine/matching.js';
import type { Reply } from '../machine/replies.js';
import { isForced, matchedTransId, type Resolution } from '../words/decision.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, NoAnswer, StatusAnswer } from '../words/outcome.js';
import type { FailureCode } from '../words/payment.js';
import type { TransId } from '../words/payment-id.js';
import {
  failureCodeOf,
  isFinalPayment,
  type PaymentState,
  reasonOf,
  reviewOf,
  statusOf,
  transIdOf,
} from '../words/payment-state.js';
import { inquiryOf, type Review } from '../words/phase.js';
import type { ProviderStatus } from '../words/transaction.js';
import type { Asker, ChangeSource, ExpiryWord, NoAnswerWord, Occurrence } from './timeline-entry.js';
import { amountPaidOf } from './to-payment.js';

/** The most characters of a reason, and transactions of a list, that an entry keeps. */
const MAX_REASON_LENGTH = 300;

const MAX_LISTED = 5;

/** One step of the payment machine. */
export interface Taken {
  readonly before: PaymentState;
  readonly event: PaymentEvent;
  readonly after: PaymentState;
  readonly replies: readonly Reply[];
}

/** Tells what an event was, and then what came of it. */
export function occurrencesIn(taken: Taken): readonly Occurrence[] {
  const changes = changesIn(taken);
  const cause = causeOf(taken);
  // An answer and the change of status to the one that it gives are told as one.
  const isTold = cause?.type === 'asked' && changes.some((one) => isChangeTo(one, cause.answer));
  return cause === undefined || isTold ? changes : [cause, ...changes];
}

function isChangeTo(change: Occurrence, answer: string): boolean {
  return change.type === 'status_changed' && change.source === 'provider' && change.status === answer;
}

function causeOf(taken: Taken): Occurrence | undefined {
  const { before, event, after } = taken;
  switch (event.kind) {
    case 'sent':
      return sendOutcome(event.outcome);
    case 'listed':
      return { type: 'looked_up', ...listWords(before, event.answer) };
    case 'status':
      return { type: 'asked', answer: statusWord(event.answer), ...about(before, event.transId) };
    case 'expired':
      return { type: 'expiry_answered', answer: expiryWord(event.answer) };
    case 'hint':
    case 'hintWithoutTransaction':
      return {
        type: 'provider_notification',
        ...(event.status !== undefined && { providerStatus: event.status }),
        ...(event.kind === 'hint' && about(before, event.transId)),
      };
    case 'refresh':
      return { type: 'refresh_requested', ...askerOf(event.by) };
    case 'recheck':
      return { type: 'recheck_requested', ...checkerOf(event.by) };
    case 'rejectPayout':
      return isRefused(taken, event)
        ? undefined
        : { type: 'approval_refused', by: event.by, reason: shorten(event.why) };
    case 'expire':
      return before.phase.kind === 'held' && after.phase.kind === 'searching'
        ? { type: 'withdrawal_requested', ...askerOf(event.by) }
        : undefined;
    // Their consequences, if any, are among the changes.
    case 'begin':
    case 'time':
    case 'gap':
    case 'looked':
    case 'approve':
    case 'decide':
    case 'reject':
      return undefined;
  }
}

function askerOf(by: Actor | undefined): Asker {
  if (by === undefined) return { source: 'temporal' };
  return { source: by.role, ...(by.name !== undefined && { by: by.name }) };
}

function checkerOf(by: Checker | undefined) {
  if (by?.role === 'statement') return { source: 'system', by: 'statement' } as const;
  return askerOf(by && { ...by, role: by.role });
}

function isRefused({ replies }: Taken, { request }: RequestEvent): boolean {
  return replies.some((reply) => reply.kind === 'refused' && reply.request === request);
}

/** Names the transaction, unless it is the payment's. */
function about(payment: PaymentState, transId: TransId): { readonly other?: true; readonly transId?: TransId } {
  return transId === transIdOf(payment) ? {} : { other: true, transId };
}

/** Tells what came of a request. An accepted one is told as the change that it is. */
function sendOutcome(outcome: InitiationOutcome): Occurrence | undefined {
  switch (outcome.kind) {
    case 'accepted':
      return undefined;
    case 'rejected':
      return { type: 'rejected' };
    case 'ambiguous':
      return { type: 'unanswered', reason: shorten(outcome.reason) };
    case 'unauthorized':
      return { type: 'send_failed', cause: 'credentials' };
    case 'throttled':
      return { type: 'send_failed', cause: 'throttled' };
    case 'notSent':
      return { type: 'send_failed', cause: outcome.isUnread ? 'unchecked' : 'connection' };
    case 'withheld':
      // What follows tells it: the end of the payment, or its review.
      return undefined;
  }
}

function listWords({ order }: PaymentState, answer: ListAnswer) {
  if (answer.kind === 'refused') return { answer: 'refused' } as const;
  if (answer.kind !== 'listed') return { answer: noAnswerWord(answer) } as const;
  const own = ownAmong(order, answer.transactions).slice(0, MAX_LISTED);
  return { answer: 'listed', transactions: own.map(({ transId, status }) => ({ transId, status })) } as const;
}

function statusWord(answer: StatusAnswer): ProviderStatus | 'unknown' | NoAnswerWord {
  if (answer.kind === 'found') return answer.transaction.status;
  return answer.kind === 'unknown' ? 'unknown' : noAnswerWord(answer);
}

function expiryWord(answer: ExpiryAnswer): ExpiryWord {
  switch (answer.kind) {
    case 'expired':
    case 'refused':
      return answer.kind;
    case 'alreadyExpired':
      return 'already_expired';
    default:
      return noAnswerWord(answer);
  }
}

function noAnswerWord(answer: NoAnswer): NoAnswerWord {
  if (answer.kind === 'throttled' && answer.isOurs) return 'not_asked';
  return answer.kind === 'unauthorized' ? 'credentials_refused' : answer.kind;
}

/** Tells how the payment differs after the event, in the order of cause and effect. */
function changesIn(taken: Taken): readonly Occurrence[] {
  const { before, after, event } = taken;
  const changes: Occurrence[] = [];
  changes.push(...releaseIn(before, after), ...decisionsIn(before, after));
  const transId = transIdOf(after);
  if (transId !== undefined && transId !== transIdOf(before)) changes.push({ type: 'accepted', transId });
  if (isClosing(after) && !isClosing(before)) {
    changes.push({ type: 'expiring', ...(enderIn(taken) ?? { source: 'timer' }) });
  }
  const review = reviewOf(after);
  if (review !== undefined && after.reviews !== before.reviews && !isDecisionAlone(before, after)) {
    changes.push({ type: 'review_opened', review: review.number, reason: shorten(review.why) });
  }
  const status = statusOf(after);
  const final = isFinalPayment(after);
  const isChanged = status !== statusOf(before) || (final && !isFinalPayment(before));
  if (isChanged && status !== 'REVIEW') {
    changes.push({
      type: 'status_changed',
      ...(deciderIn(before, after) ?? enderIn(taken) ?? { source: sourceOf(event, after) }),
      status,
      ...(final && { final }),
      ...paidIn(after),
      ...failureIn(after),
    });
  }
  const { phase } = after;
  if (phase.kind === 'sending' && (before.phase.kind !== 'sending' || event.kind === 'begin')) {
    changes.push({ type: 'sending', ...(phase.cause !== 'order' && { by: phase.cause }) });
  }
  return changes;
}

/** Tells that a payout is held, or that a person has approved it. */
function releaseIn(before: PaymentState, { phase, release, notified }: PaymentState): readonly Occurrence[] {
  const approval = release?.approvals[before.release?.approvals.length ?? 0];
  const isNew = phase.kind === 'held' && before.notified < notified;
  return [
    ...(isNew ? [{ type: 'held', for: phase.for } as const] : []),
    ...(approval === undefined ? [] : [{ type: 'approved', by: approval.by } as const]),
  ];
}

/** Names the actor who had the link ended or the payment withdrawn, if this step carries out that request. */
function enderIn(taken: Taken): Asker | undefined {
  const { event } = taken;
  if ((event.kind !== 'expire' && event.kind !== 'rejectPayout') || isRefused(taken, event)) return undefined;
  return event.kind === 'expire' ? askerOf(event.by) : { source: 'merchant', by: event.by };
}

/** Names the operator of the decision that this step has carried out. */
function deciderIn({ resolved: before }: PaymentState, { resolved }: PaymentState) {
  if (resolved === undefined || resolved === before) return undefined;
  const { by, approval } = resolved;
  return { source: 'operator', by, ...(approval && { approvedBy: approval.by }) } as const;
}

/** Tells what became of operators' decisions, and who made them. */
export function decisionsIn(before: PaymentState, after: PaymentState): readonly DecisionOccurrence[] {
  const { resolved } = after;
  const proposals = proposalsIn(reviewOf(before), reviewOf(after));
  if (resolved === undefined || resolved === before.resolved) return proposals;
  const approvedBy = resolved.approval?.by;
  return [{ type: 'decided', ...decisionWords(resolved), ...(approvedBy && { approvedBy }) }, ...proposals];
}

type DecisionOccurrence = Extract<Occurrence, { readonly type: 'decided' | 'decision_proposed' | 'decision_rejected' }>;

function decisionWords({ decision, review, by, force }: Resolution) {
  const transId = matchedTransId(decision);
  const { action } = decision;
  return {
    review,
    action,
    ...(transId && { transId }),
    by,
    ...(isForced(force) && { forced: true as const }),
  };
}

function proposalsIn(before: Review | undefined, after: Review | undefined): readonly DecisionOccurrence[] {
  const { proposed, rejected } = after ?? {};
  if (proposed !== undefined && proposed !== before?.proposed) {
    return [{ type: 'decision_proposed', ...decisionWords(proposed) }];
  }
  if (rejected === undefined || rejected === before?.rejected) return [];
  const { review, decision, by: proposedBy } = rejected.proposed;
  return [{ type: 'decision_rejected', review, action: decision.action, proposedBy, by: rejected.by }];
}

/** Reports whether a review has a new number only because a decision on it was proposed or rejected. */
function isDecisionAlone(before: PaymentState, after: PaymentState): boolean {
  const review = reviewOf(before);
  return review !== undefined && proposalsIn(review, reviewOf(after)).length > 0;
}

function isClosing({ phase }: PaymentState): boolean {
  return inquiryOf(phase)?.kind === 'closing';
}

function paidIn(payment: PaymentState) {
  const amountPaid = amountPaidOf(payment);
  return amountPaid === undefined || amountPaid === payment.order.amount ? {} : { amountPaid };
}

function failureIn(payment: PaymentState) {
  const failureCode = failureCodeOf(payment);
  const reason = failureCode && reasonOf(payment);
  return { ...(failureCode && { failureCode }), ...(reason && { reason: shorten(reason) }) };
}

function sourceOf(event: PaymentEvent, after: PaymentState): ChangeSource {
  switch (event.kind) {
    case 'expire':
    case 'time':
      return 'timer';
    case 'sent':
    case 'listed':
    case 'status':
    case 'expired':
      // The system gives a payment up, not an answer.
      return GIVEN_UP.includes(failureCodeOf(after)) ? 'system' : 'provider';
    default:
      return 'system';
  }
}

const GIVEN_UP: readonly (FailureCode | undefined)[] = [
  'not_sent',
  'link_not_created',
  'withdrawn',
  'not_approved',
  'not_refundable',
];

/** Shortens a text by code points, so that no character is cut in half. */
function shorten(text: string): string {
  const characters = [...text];
  return characters.length > MAX_REASON_LENGTH ? `${characters.slice(0, MAX_REASON_LENGTH - 1).join('')}…` : text;
}
