import type { ListAnswer, StatusAnswer } from '../words/outcome.js';
import type { PaymentEventType } from '../words/payment.js';
import type { TransId } from '../words/payment-id.js';
import {
  type Closing,
  type Deciding,
  type DecisionStep,
  type Ended,
  type Following,
  followedBy,
  isKnown,
  namedIn,
  type PaymentState,
  type Phase,
  type Pursuit,
  pursuitOf,
  reviewOf,
  type Sending,
  statusOf,
  transIdOf,
  UNNAMED,
  type Waiter,
  type Waiting,
} from '../words/payment-state.js';
import type { ProviderStatus, Transaction } from '../words/transaction.js';
import {
  onDecide,
  onExpiredWhileDeciding,
  onListedWhileDeciding,
  onOtherWhileDeciding,
  onStatusWhileDeciding,
  putOff,
} from './deciding.js';
import { nextAsked, onCheckedList, onCheckedStatus, recheck } from './ended.js';
import { renumbered, withDifferences, withDisputes } from './evidence.js';
import { onExpired, onStatus, startClosing } from './following.js';
import { mayBeOwn } from './matching.js';
import { afterTry, newDelivery, nextDue, withDelivery, withNotification } from './notification.js';
import { objectionToDecision } from './objections.js';
import { LOOKS_BUDGETED, nextFreeAt, recordQuestion, STATUS_CALLS_BUDGETED } from './polling.js';
import {
  nextReport,
  onNotification,
  onReportStatus,
  reportDueAt,
  withoutSaid,
  withPaidReportsAsked,
  withUnnamed,
} from './reports.js';
import { onListed, onOrphanExpired, onResetChecked } from './searching.js';
import { objectionToRejection, onReject } from './second-person.js';
import {
  isLookedUpFirst,
  NOT_KNOWN,
  objectionToRecall,
  objectionToWithdrawal,
  onListedWhileWaiting,
  onNamedBeforeSending,
  onNamedWhileWaiting,
  onRecall,
  onResetCheckedWhileWaiting,
  onSent,
  onWaited,
  withdraw,
} from './sending.js';
import {
  type AnswerEvent,
  askSoon,
  type Change,
  type DeliveryEvent,
  done,
  mayBePaid,
  NOT_UNDER_REVIEW,
  type NotificationEvent,
  type PaymentEvent,
  type Refusal,
  type Reply,
  type RequestEvent,
  refuse,
  type Todo,
  whyPaid,
  withOther,
  withShown,
} from './transitions.js';
import { onListedWhileVerifying } from './verifying.js';

/** What an event has made of a payment. */
export interface Step {
  readonly payment: PaymentState;
  /** The one thing to do next. */
  readonly todo: Todo;
  /** What the merchant is to be notified of; it is among the payment's notifications already. */
  readonly notified?: PaymentEventType | undefined;
  /** Answers to those who asked for something. */
  readonly replies: readonly Reply[];
}

/**
 * The payment machine: what an event makes of a payment, and what is to be done next. It is pure and total: every
 * event has a meaning in every phase. `now` is in ms since the epoch.
 *
 * Its caller does the one thing that is to be done, and passes its answer in before any other event, so nothing can end
 * or decide a payment while its request is in flight.
 */
export function step(payment: PaymentState, event: PaymentEvent, now: number): Step {
  const { payment: changed, replies = [] } = apply(noted(payment, event, now), event, now);
  const shown = withDisputes(payment, withStatuses(changed, event), shownBy(event), now);
  const asked = withPaidReportsAsked(shown, polled(shown.phase)?.transId, now);
  const moved = renumbered(payment, inTime(asked, now));
  const notified = eventOf(payment, moved);
  const released = moved.waiters.filter((waiter) => isReleased(waiter, moved, event));
  const after: PaymentState = {
    ...moved,
    updatedAt: isNews(payment, moved) ? now : moved.updatedAt,
    notifications: notified === undefined ? moved.notifications : withNotification(moved.notifications, notified, now),
    waiters: moved.waiters.filter((waiter) => !released.includes(waiter)),
  };
  const todo = plan(after, now);
  return {
    payment: todo.kind === 'deliver' ? { ...after, delivering: { number: todo.number, at: todo.at } } : after,
    todo,
    notified,
    replies: [...replies, ...released.map((waiter) => replyTo(waiter, payment, moved, event))],
  };
}

/** Requests that may wait at a time; more are answered at once. Temporal takes ten updates of a workflow at a time. */
const MAX_WAITERS = 4;

/**
 * What every answer leaves behind, whatever it is about: the question counted, and the quiet that the provider asked
 * for.
 */
function noted(payment: PaymentState, event: PaymentEvent, now: number): PaymentState {
  if (isNotAsked(event)) return payment;
  const recentQuestions =
    event.kind === 'status' ? recordQuestion(payment.recentQuestions, event.transId, now) : payment.recentQuestions;
  const quiet = quietAfter(event);
  const quietUntil = quiet === undefined ? payment.quietUntil : Math.max(payment.quietUntil ?? 0, now + quiet);
  const shown = shownBy(event);
  return {
    ...withoutSaid(withDifferences(payment, shown), shown),
    recentQuestions,
    ...(quietUntil !== undefined && { quietUntil }),
  };
}

/** What the provider shows of the payment's transactions is remembered, in every phase. */
function withStatuses(payment: PaymentState, event: PaymentEvent): PaymentState {
  return shownBy(event)
    .filter((one) => isKnown(payment, one.transId) && mayBeOwn(payment.order, one))
    .reduce(
      (known, one) =>
        one.transId === transIdOf(known) ? withShown(known, one.transId, one.status) : withOther(known, one),
      payment,
    );
}

/** The transactions that an answer of the provider shows. */
function shownBy(event: PaymentEvent): readonly Transaction[] {
  if (event.kind === 'listed' && event.answer.kind === 'listed') return event.answer.transactions;
  if (event.kind === 'status' && event.answer.kind === 'found') return [event.answer.transaction];
  if (event.kind === 'sent' && event.outcome.kind === 'ambiguous') return event.outcome.shown ?? [];
  return event.kind === 'expired' && event.answer.kind === 'expired' ? [event.answer.transaction] : [];
}

/** The worker has kept a question back: it wasn't asked, and the provider has said nothing. */
function isNotAsked(event: PaymentEvent): boolean {
  return event.kind === 'status' && event.answer.kind === 'throttled' && event.answer.isOurs === true;
}

function quietAfter(event: PaymentEvent): number | undefined {
  if (event.kind !== 'status' && event.kind !== 'listed' && event.kind !== 'expired') return undefined;
  return event.answer.kind === 'throttled' ? event.answer.retryAfterMs : undefined;
}

function apply(payment: PaymentState, event: PaymentEvent, now: number): Change {
  switch (event.kind) {
    case 'begin':
      // What was to be delivered when this run was asked for, no run has begun to deliver.
      return { payment: withoutDelivery(payment) };
    case 'time':
      return { payment };
    case 'handOver':
      return payment.phase.kind === 'deciding' ? putOff(payment, payment.phase, now) : { payment };
    case 'notification':
      return { payment: onNamed(payment, event, now) };
    case 'named':
      return { payment: onNamedAlone(payment, event.status, now) };
    case 'sent':
    case 'listed':
    case 'expired':
    case 'resetChecked':
      return onAnswer(payment, event, now);
    case 'status':
      return event.isReport
        ? { payment: onReportStatus(payment, event.transId, event.answer, now) }
        : onAnswer(payment, event, now);
    case 'delivered':
      return { payment: onDelivered(payment, event, now) };
    case 'expire':
    case 'refresh':
    case 'decide':
    case 'reject':
    case 'recheck':
    case 'resendNotification':
      return onRequest(payment, event, now);
  }
}

/** A notification that names a transaction for the first time keeps the payment from being sent again. */
function onNamed(payment: PaymentState, event: NotificationEvent, now: number): PaymentState {
  const noted = onNotification(payment, event, now);
  const { phase } = noted;
  if (namedIn(payment).includes(event.transId)) return noted;
  if (phase.kind === 'sending') return onNamedBeforeSending(noted, phase, event.transId, now);
  return phase.kind === 'waiting' ? onNamedWhileWaiting(noted, phase, now) : noted;
}

/** A notification that names the payment alone is about its own transaction, or about one that is still to be found. */
function onNamedAlone(payment: PaymentState, status: ProviderStatus | undefined, now: number): PaymentState {
  const transId = transIdOf(payment);
  if (transId !== undefined) return onNamed(payment, { kind: 'notification', transId, status }, now);
  const noted = withUnnamed(payment, status, now);
  const { phase } = noted;
  if (phase.kind === 'sending') return onNamedBeforeSending(noted, phase, UNNAMED, now);
  return phase.kind === 'waiting' ? onNamedWhileWaiting(noted, phase, now) : askSoon(noted, now, true);
}

/** Answers go to the phase that asked. Since one question is asked at a time, there is no other. */
function onAnswer(payment: PaymentState, event: AnswerEvent, now: number): Change {
  const { phase } = payment;
  switch (phase.kind) {
    case 'sending':
      return event.kind === 'sent' ? { payment: onSent(payment, phase, event.outcome, now) } : notAsked(phase, event);
    case 'waiting':
      if (event.kind === 'resetChecked')
        return { payment: onResetCheckedWhileWaiting(payment, phase, event.mayBeReset, now) };
      return event.kind === 'listed'
        ? { payment: onListedWhileWaiting(payment, phase, event.answer, now) }
        : notAsked(phase, event);
    case 'searching':
    case 'following':
    case 'closing':
    case 'verifying':
      return { payment: onPursuitAnswer(payment, phase, event, now) };
    case 'review':
      return phase.pursuit === undefined
        ? notAsked(phase, event)
        : { payment: onPursuitAnswer(payment, phase.pursuit, event, now) };
    case 'deciding':
      return onDecisionAnswer(payment, phase, event, now);
    case 'ended':
      if (event.kind === 'status')
        return { payment: onCheckedStatus(payment, phase, event.transId, event.answer, now) };
      if (event.kind === 'listed') return { payment: onCheckedList(payment, phase, event.answer, now) };
      return notAsked(phase, event);
  }
}

function onDecisionAnswer(payment: PaymentState, deciding: Deciding, event: AnswerEvent, now: number): Change {
  const { step } = deciding;
  switch (step.kind) {
    case 'status':
      return event.kind === 'status'
        ? onStatusWhileDeciding(payment, deciding, event.transId, event.answer, now)
        : notAsked(deciding, event);
    case 'others':
      return event.kind === 'status'
        ? onOtherWhileDeciding(payment, deciding, step, event.answer, now)
        : notAsked(deciding, event);
    case 'list':
      return event.kind === 'listed'
        ? onListedWhileDeciding(payment, deciding, step, event.answer, now)
        : notAsked(deciding, event);
    case 'expire':
      return event.kind === 'expired'
        ? onExpiredWhileDeciding(payment, deciding, step, event.transId)
        : notAsked(deciding, event);
  }
}

function onPursuitAnswer(payment: PaymentState, pursuit: Pursuit, event: AnswerEvent, now: number): PaymentState {
  switch (pursuit.kind) {
    case 'searching':
      if (event.kind === 'listed') return onListed(payment, pursuit, event.answer, now);
      if (event.kind === 'expired') return onOrphanExpired(payment, pursuit, event.transId, event.answer, now);
      if (event.kind === 'resetChecked') return onResetChecked(payment, pursuit, event.mayBeReset, now);
      return notAsked(pursuit, event);
    case 'following':
      return event.kind === 'status' ? onStatus(payment, pursuit, event.answer, now) : notAsked(pursuit, event);
    case 'closing':
      if (event.kind === 'status') return onStatus(payment, pursuit, event.answer, now);
      if (event.kind === 'expired') return onExpired(payment, pursuit, event.answer, now);
      return notAsked(pursuit, event);
    case 'verifying':
      return event.kind === 'listed'
        ? onListedWhileVerifying(payment, pursuit, event.answer, now)
        : notAsked(pursuit, event);
  }
}

/** @throws Error always: a caller that brings an answer which wasn't asked for is broken, and must not go on. */
function notAsked({ kind }: Phase | Pursuit, event: PaymentEvent): never {
  throw new Error(`a payment that is ${kind} has not asked for what came as ${event.kind}`);
}

function withoutDelivery({ delivering: _over, ...payment }: PaymentState): PaymentState {
  return payment;
}

/** The delivery that an outcome belongs to; one that was begun anew meanwhile has another time. */
function onDelivered(payment: PaymentState, { number, at, outcome }: DeliveryEvent, now: number): PaymentState {
  const free = withoutDelivery(payment);
  const delivery = payment.notifications.find((one) => one.number === number)?.delivery;
  if (delivery?.kind !== 'due' || delivery.at !== at) return free;
  const next = afterTry(delivery, outcome, payment.order.id, now);
  return {
    ...free,
    notifications: withDelivery(payment.notifications, number, next) ?? payment.notifications,
  };
}

/**
 * Why something that is asked of a payment can't be done, as far as the payment knows without asking; `undefined` when
 * it can be looked into.
 */
export function objectionTo(payment: PaymentState, event: RequestEvent, now: number): Refusal | undefined {
  switch (event.kind) {
    case 'expire':
      return objectionToExpiry(payment, now);
    case 'decide':
      return objectionToDecision(payment, event.resolution, now);
    case 'reject':
      return isToBeSent(payment.phase)
        ? objectionToRecall(payment, payment.phase, event.rejection)
        : objectionToRejection(payment, event.rejection);
    case 'resendNotification':
      return payment.notifications.some(({ number }) => number === event.number)
        ? undefined
        : {
            type: 'NoSuchNotification',
            words: `the payment has no notification ${event.number}`,
          };
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
  if (phase.kind === 'waiting') return objectionToWithdrawal(payment, phase);
  if (order.kind !== 'link') return { type: 'NotALink', words: 'only a payment link can be expired' };
  if (phase.kind === 'sending' || phase.kind === 'searching') {
    return { type: 'NotInitiated', words: 'the provider has not made the link yet' };
  }
  if (closable(phase) === undefined)
    return { type: 'NotExpirable', words: 'the payment is under review, and a person has to decide it' };
  const of = polled(phase);
  return of !== undefined && mayBePaid(payment, of.transId, now)
    ? {
        type: 'NotExpirable',
        words: `${whyPaid(payment, of.transId)}: read the payment again in a few minutes`,
      }
    : undefined;
}

function onRequest(payment: PaymentState, event: RequestEvent, now: number): Change {
  const refusal = objectionTo(payment, event, now);
  if (refusal !== undefined) return refuse(payment, event.request, refusal);
  switch (event.kind) {
    case 'expire':
      return onExpireRequest(payment, event, now);
    case 'refresh':
      return runs(payment.phase)
        ? waits(askSoon(payment, now), event.request, 'poll')
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
        ? waits(recheck(payment, payment.phase, now), event.request, 'check')
        : onRequest(payment, { kind: 'refresh', request: event.request }, now);
    case 'resendNotification': {
      const notifications = withDelivery(payment.notifications, event.number, newDelivery(now));
      return done({ ...payment, notifications: notifications ?? payment.notifications }, event.request);
    }
  }
}

function onExpireRequest(
  payment: PaymentState,
  { request, mayHaveBeenSent }: Extract<RequestEvent, { readonly kind: 'expire' }>,
  now: number,
): Change {
  if (payment.phase.kind === 'waiting') {
    return mayHaveBeenSent ? refuse(payment, request, NOT_KNOWN) : done(withdraw(payment, now), request);
  }
  const of = closable(payment.phase);
  if (of === undefined) return done(payment, request);
  const expiresAt = Math.min(payment.facts.expiresAt ?? now, now);
  const ending = { ...payment, facts: { ...payment.facts, expiresAt } };
  // One that is being verified has come to its end.
  const isOver = running(payment.phase)?.kind === 'verifying';
  return waits(isOver ? askSoon(ending, now) : startClosing(ending, of, now), request, 'closing');
}

/** Whether the payment waits to be sent or is just about to be, so that an operator may take that back. */
function isToBeSent(phase: Phase): phase is Sending | Waiting {
  return phase.kind === 'waiting' || phase.kind === 'sending';
}

/** The transaction that a link can be expired by, where nothing stands in the way. */
function closable(phase: Phase): Following | undefined {
  return followedBy(running(phase));
}

function waits(payment: PaymentState, request: number, what: Waiter['for']): Change {
  return payment.waiters.length < MAX_WAITERS
    ? { payment: { ...payment, waiters: [...payment.waiters, { request, for: what }] } }
    : done(payment, request);
}

/** The provider is going to be asked about the payment's transaction, without anybody's decision. */
function runs(phase: Phase): boolean {
  return followedBy(running(phase)) !== undefined;
}

/** The transaction whose status is asked for without anybody's decision. */
function polled(phase: Phase): Following | undefined {
  // While a decision is looked into, that is only put off.
  const pursuit = running(phase.kind === 'deciding' ? phase.review : phase);
  return pursuit?.kind === 'verifying' ? undefined : followedBy(pursuit);
}

/** What goes on at the provider by itself; nothing does while a review is held. */
function running(phase: Phase): Pursuit | undefined {
  if (phase.kind === 'review') return phase.held ? undefined : phase.pursuit;
  return phase.kind === 'deciding' ? undefined : pursuitOf(phase);
}

function isReleased(waiter: Waiter, { phase }: PaymentState, event: PaymentEvent): boolean {
  if (event.kind === 'handOver') return true;
  switch (waiter.for) {
    case 'poll':
      if (!runs(phase) || event.kind === 'listed') return true;
      return event.kind === 'status' && !event.isReport && running(phase)?.kind !== 'verifying';
    case 'closing':
      return running(phase)?.kind !== 'closing' && running(phase)?.kind !== 'verifying';
    case 'check':
      return phase.kind !== 'ended' || event.kind === 'listed';
  }
}

/** Anybody who has an outcome checked must not take the provider's silence for its word that nothing is wrong. */
function replyTo(waiter: Waiter, before: PaymentState, { phase }: PaymentState, event: PaymentEvent): Reply {
  const { request } = waiter;
  const wasComplete =
    before.phase.kind === 'ended' && phase.kind === 'ended' && phase.checks.length < before.phase.checks.length;
  const isChecked =
    phase.kind !== 'ended' || (wasComplete && event.kind === 'listed' && event.answer.kind === 'listed');
  if (waiter.for !== 'check' || isChecked) return { request, kind: 'done' };
  return {
    request,
    kind: 'refused',
    type: 'NotChecked',
    words: "the payment couldn't be compared with the provider's records; that is tried again by itself",
  };
}

/** What time alone brings about. */
function inTime(payment: PaymentState, now: number): PaymentState {
  const { phase } = payment;
  if (phase.kind === 'waiting') return onWaited(payment, phase, now);
  const pursuit = running(phase);
  return pursuit?.kind === 'following' && pursuit.end !== undefined && pursuit.end.at <= now
    ? startClosing(payment, pursuit, now)
    : payment;
}

/** The event that notifies the merchant of a change of status; `undefined` when there is none. */
function eventOf(before: PaymentState, after: PaymentState): PaymentEventType | undefined {
  const status = statusOf(after);
  const isEnd = after.phase.kind === 'ended' && before.phase.kind !== 'ended';
  if (status === statusOf(before) && !isEnd) return undefined;
  switch (status) {
    case 'SUCCESSFUL':
      return 'payment.succeeded';
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
    reviewOf(before)?.proposed !== reviewOf(after)?.proposed
  );
}

interface Task {
  readonly at: number;
  readonly todo: Exclude<Todo, { readonly kind: 'wait' | 'end' }>;
  readonly summary: string;
}

/**
 * What is due: the payment's own task first, then reported transactions, then notifications; or the wait until one is
 * due.
 */
function plan(payment: PaymentState, now: number): Todo {
  const tasks = [phaseTask(payment, now), reportTask(payment, now), deliveryTask(payment)].filter(
    (task) => task !== undefined,
  );
  const ready = tasks.find(({ at }) => at <= now);
  if (ready !== undefined) return ready.todo;
  const waiting = [...tasks, ...timerOf(payment)].sort((one, other) => one.at - other.at)[0];
  if (waiting !== undefined) return { kind: 'wait', until: waiting.at, summary: waiting.summary };
  return payment.phase.kind === 'ended' && payment.delivering === undefined
    ? { kind: 'end' }
    : { kind: 'wait', summary: 'Until something happens' };
}

/**
 * Whether the payment would ask the provider for a status earlier than it does, if the budget of questions had room:
 * see {@link nextFreeAt}.
 */
export function waitsForBudget(payment: PaymentState, now: number): boolean {
  if (payment.recentQuestions.length < STATUS_CALLS_BUDGETED) return false;
  const todo = plan(payment, now);
  if (todo.kind !== 'wait' || todo.until === undefined) return false;
  const unlimited = plan({ ...payment, recentQuestions: [] }, now);
  if (unlimited.kind === 'wait') return unlimited.until !== undefined && unlimited.until < todo.until;
  return unlimited.kind === 'askStatus';
}

/** Times at which nothing is asked, but the payment moves on by itself. */
function timerOf(payment: PaymentState): { at: number; summary: string }[] {
  const { phase } = payment;
  if (phase.kind === 'waiting') {
    const { hold, reason } = phase.unsent;
    // It waits for its look-up, which the provider may have asked to put off for longer.
    if (isLookedUpFirst(payment, phase)) return [];
    const summary =
      hold === 'credentials' ? `The provider refuses our credentials: ${reason}` : `Send again: ${reason}`;
    return [{ at: phase.until, summary }];
  }
  const pursuit = running(phase);
  if (pursuit?.kind !== 'following' || pursuit.end === undefined) return [];
  return [{ at: pursuit.end.at, summary: 'End of the link, unless the provider notifies before' }];
}

function phaseTask(payment: PaymentState, now: number): Task | undefined {
  const { phase } = payment;
  switch (phase.kind) {
    case 'sending':
      return { at: now, todo: { kind: 'send', cause: phase.cause }, summary: 'Send' };
    case 'waiting':
      if (phase.isGivenUp) return resetTask(now);
      return isLookedUpFirst(payment, phase)
        ? { at: quiet(payment, phase.until), todo: { kind: 'lookUp' }, summary: 'Look whether it was taken' }
        : undefined;
    case 'deciding':
      return decisionTask(payment, phase.step, now);
    case 'ended':
      return checkTask(payment, phase, now);
    default: {
      const pursuit = running(phase);
      return pursuit === undefined ? undefined : pursuitTask(payment, pursuit, now);
    }
  }
}

function pursuitTask(payment: PaymentState, pursuit: Pursuit, now: number): Task {
  switch (pursuit.kind) {
    case 'searching': {
      const { clearing } = pursuit;
      const orphan = clearing?.orphans[0];
      if (clearing !== undefined && orphan === undefined) return resetTask(now);
      return orphan === undefined
        ? {
            at: quiet(payment, pursuit.nextAt),
            todo: { kind: 'lookUp' },
            summary: 'Look for the transaction again',
          }
        : {
            at: quiet(payment, now),
            todo: { kind: 'expire', transId: orphan, isOrphan: true },
            summary: 'Expire the link',
          };
    }
    case 'following':
      return pollTask(payment, pursuit, now);
    case 'closing':
      return closingTask(payment, pursuit, now);
    case 'verifying':
      return {
        at: quiet(payment, pursuit.nextAt),
        todo: { kind: 'lookUp' },
        summary: 'Look for another transaction',
      };
  }
}

/** Nothing of the provider's is asked for. */
function resetTask(now: number): Task {
  return { at: now, todo: { kind: 'checkReset' }, summary: 'Find out whether the workflow was reset' };
}

function pollTask(payment: PaymentState, { transId, polling }: Following, now: number): Task {
  return {
    at: quiet(payment, Math.max(polling.nextAt, nextFreeAt(payment.recentQuestions, transId, now))),
    todo: { kind: 'askStatus', transId, isReport: false },
    summary: 'Ask the provider, unless it notifies before',
  };
}

function closingTask(payment: PaymentState, { of, next }: Closing, now: number): Task {
  if (next !== 'expire') return pollTask(payment, of, now);
  return {
    at: quiet(payment, now),
    todo: { kind: 'expire', transId: of.transId },
    summary: 'Expire the link',
  };
}

function decisionTask(payment: PaymentState, step: DecisionStep, now: number): Task {
  const summary = "Wait for the provider's limit on questions";
  switch (step.kind) {
    case 'status':
    case 'others': {
      const transId = step.kind === 'status' ? step.transId : step.open[0];
      const at = quiet(payment, nextFreeAt(payment.recentQuestions, transId, now));
      return { at, todo: { kind: 'askStatus', transId, isReport: false }, summary };
    }
    case 'list':
      return { at: quiet(payment, now), todo: { kind: 'lookUp' }, summary };
    case 'expire':
      return { at: quiet(payment, now), todo: { kind: 'expire', transId: step.alive[0] }, summary };
  }
}

function checkTask(payment: PaymentState, ended: Ended, now: number): Task | undefined {
  const [check] = ended.checks;
  if (check === undefined) return undefined;
  const summary = "Compare the outcome with the provider's records";
  const transId = nextAsked(payment, ended, check);
  return transId === undefined
    ? { at: quiet(payment, check.at), todo: { kind: 'lookUp' }, summary }
    : {
        at: quiet(payment, Math.max(check.at, nextFreeAt(payment.recentQuestions, transId, now))),
        todo: { kind: 'askStatus', transId, isReport: false },
        summary,
      };
}

/** Reported transactions wait until it is known what the payment's own request came to. */
function reportTask(payment: PaymentState, now: number): Task | undefined {
  const { phase } = payment;
  if (phase.kind === 'sending' || phase.kind === 'waiting' || phase.kind === 'deciding') return undefined;
  const report = nextReport(payment);
  const at = reportDueAt(payment);
  if (report === undefined || at === undefined) return undefined;
  return {
    at: quiet(payment, Math.max(at, nextFreeAt(payment.recentQuestions, report.transId, now))),
    todo: { kind: 'askStatus', transId: report.transId, isReport: true },
    summary: 'Ask about a transaction that a notification named',
  };
}

function deliveryTask({ notifications, delivering }: PaymentState): Task | undefined {
  const next = nextDue(notifications);
  if (next === undefined || delivering !== undefined) return undefined;
  const { number, type, delivery } = next;
  const { at, tries } = delivery;
  return {
    at,
    todo: { kind: 'deliver', number, at, tries },
    summary: `Notify the merchant again: ${type}`,
  };
}

/** The time, or the end of the quiet that the provider has asked for. */
function quiet({ quietUntil = 0 }: PaymentState, at: number): number {
  return Math.max(at, quietUntil);
}

/**
 * When an operator who looks may have the status of a transaction asked for: now, or once there is room, in ms since
 * the epoch.
 */
export function lookableAt(payment: PaymentState, transId: TransId, now: number): number {
  return quiet(payment, nextFreeAt(payment.recentQuestions, transId, now, LOOKS_BUDGETED));
}

/**
 * What an operator's look leaves behind: the question counted, and the quiet that the provider has asked for. It
 * decides nothing.
 *
 * @param transId of which the status was asked
 */
export function looked(
  payment: PaymentState,
  answer: StatusAnswer | ListAnswer,
  now: number,
  transId?: TransId,
): PaymentState {
  if (answer.kind === 'throttled' && answer.isOurs) return payment;
  const { recentQuestions } = payment;
  const retryAfterMs = answer.kind === 'throttled' ? answer.retryAfterMs : undefined;
  return {
    ...payment,
    ...(transId !== undefined && { recentQuestions: recordQuestion(recentQuestions, transId, now) }),
    ...(retryAfterMs !== undefined && { quietUntil: quiet(payment, now + retryAfterMs) }),
  };
}
