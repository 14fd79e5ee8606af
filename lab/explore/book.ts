import type { PaymentEvent } from '../../src/payments/machine/events.js';
import type { Step } from '../../src/payments/machine/machine.js';
import { isDisputed } from '../../src/payments/machine/matching.js';
import { isForced } from '../../src/payments/words/decision.js';
import type { TransId } from '../../src/payments/words/payment-id.js';
import { type PaymentState, transIdOf } from '../../src/payments/words/payment-state.js';
import type { ProviderStatus } from '../../src/payments/words/transaction.js';
import { withHeld } from './held-book.js';
import type { Violation } from './invariants.js';
import { SEND_PATIENCE_MS, withNotifications, withReplies, withRequest } from './requests.js';
import { cannotMoveMoney, checkJudged, checkReview, shownBy, transactionsIn } from './shown.js';
import { type Book, type Provider, type Situation, transactionOf } from './situation.js';

/** The book of a payment at its start. */
export const EMPTY_BOOK: Book = {
  status: 'CREATED',
  final: false,
  notifications: 0,
  requests: 0,
  open: [],
  isNamed: false,
  named: [],
  reportedPaid: [],
  disputed: [],
  isSearched: true,
  shown: [],
  quietUntil: 0,
  isFailed: false,
  unissued: [],
  unconfirmed: 0,
  isRechecked: true,
  isOwnHeard: true,
};

interface Recorded {
  readonly book: Book;
  /** Decisions to send that were made, less those that were taken back. */
  readonly decisionsToSend: number;
  readonly violations: readonly Violation[];
}

/** Keeps the book after one step of the machine, and lists the step's errors. */
export function record(before: Situation, event: PaymentEvent, step: Step, now: number): Recorded {
  const violations: Violation[] = [];
  const shown = shownBy(before, event);
  let book: Book = { ...before.book, shown: shown.all, quietUntil: quietAfter(before.book, event, now) };
  book = withLook(book, before, event, now);
  book = withNamed(book, before, event, step, violations);
  book = withRequest(book, before, event);
  const replied = withReplies(book, before, step, violations);
  book = replied.book;
  book = withHeld(book, before, event, step, now, violations);
  book = withNotifications(book, step, violations);
  book = withSends(book, before, event, step, now, violations);
  book = withLinks(book, before, event, step, violations);
  if (event.kind === 'status') book = { ...book, unconfirmed: book.unconfirmed + 1 };
  // One that repeats what is being asked about already gives no reason to ask any longer.
  const isAsked = before.payment.claims.open.length > 0;
  const isOwn = event.kind === 'hint' && transactionOf(before.provider, event.transId) !== undefined;
  if (isOwn && !isAsked) book = { ...book, unconfirmed: 0 };
  book = withToAsk(book, before, event, now, violations);
  book = withPaidReport(book, before, event, now);
  checkReview(before, step, shown.news, replied.sent, violations);
  checkJudged(before, event, step, shown.isKnown, violations);
  return { book, decisionsToSend: (replied.sent ? 1 : 0) - (replied.isRecalled ? 1 : 0), violations };
}

function withLook(book: Book, { payment, todo }: Situation, event: PaymentEvent, now: number): Book {
  if (event.kind === 'listed' && event.answer.kind === 'listed') {
    return { ...book, lookedAt: now, isNamed: false, isSearched: true };
  }
  // An operator who insists takes a list that is refused for an empty one.
  const { phase } = payment;
  const isInsisted = phase.kind === 'deciding' && isForced(phase.resolution.force);
  if (event.kind === 'listed' && event.answer.kind === 'refused' && isInsisted) {
    return { ...book, lookedAt: now, isNamed: false, isSearched: true };
  }
  if (event.kind === 'sent' && (event.outcome.kind === 'ambiguous' || event.outcome.kind === 'throttled')) {
    return { ...book, isSearched: false };
  }
  if (event.kind === 'hintWithoutTransaction' && todo.kind === 'send') return { ...book, isNamed: true };
  if (event.kind !== 'hint' || todo.kind !== 'send') return book;
  const { open, unconfirmed } = payment.claims;
  const isKnown = open.some(({ transId }) => transId === event.transId) || unconfirmed.includes(event.transId);
  return isKnown ? book : { ...book, isNamed: true };
}

/**
 * Notes what a notification names: it may have moved money, and the payment doesn't end without money before the
 * provider was asked for it.
 */
function withNamed(
  book: Book,
  situation: Situation,
  event: PaymentEvent,
  { payment: after }: Step,
  violations: Violation[],
): Book {
  const { payment, book: before } = situation;
  let { named } = book;
  if (event.kind === 'hint') named = [...named.filter((one) => one !== event.transId), event.transId].sort();
  const isSaid = event.kind === 'status' && (event.answer.kind === 'found' || event.answer.kind === 'unknown');
  if (isSaid && named.includes(event.transId)) named = named.filter((one) => one !== event.transId);
  if (event.kind === 'listed' && event.answer.kind === 'listed' && named.length > 0) named = [];
  const isUnnamed = isLeftUnnamed(situation, event, after) ? true : undefined;
  const isDecided = payment.phase.kind === 'deciding' && !['deciding', 'review'].includes(after.phase.kind);
  const seen = transactionsIn(event).filter((one) => isDisputed(payment.order, one));
  const isNew = seen.some(({ transId }) => !before.disputed.includes(transId));
  const disputed = isNew ? [...new Set([...before.disputed, ...seen.map(({ transId }) => transId)])] : before.disputed;
  const isInDispute = !isDecided && (isNew || book.isDisputed) ? true : undefined;
  const isEnded = !before.final && after.phase.kind === 'ended' && after.phase.status !== 'SUCCESSFUL';
  const isByItself = payment.phase.kind !== 'deciding';
  const [other] = [...named.filter((one) => one !== transIdOf(after)), ...(isUnnamed ? ['the payment'] : [])];
  if (isEnded && isByItself && isInDispute)
    violations.push({ invariant: 'failedNamed', what: 'a transaction names the payment, and another' });
  if (isEnded && isByItself && other !== undefined)
    violations.push({ invariant: 'failedNamed', what: `a notification names ${other}` });
  const isSame =
    named === book.named &&
    isUnnamed === book.isUnnamed &&
    isInDispute === book.isDisputed &&
    disputed === book.disputed;
  return isSame ? book : { ...book, named, isUnnamed, isDisputed: isInDispute, disputed };
}

/** Reports whether a notification has named the payment without a transaction, and no known transaction explains it. */
function isLeftUnnamed({ book, payment, provider }: Situation, event: PaymentEvent, { phase }: PaymentState): boolean {
  if (event.kind === 'hintWithoutTransaction')
    return book.isUnnamed === true || (transIdOf(payment) === undefined && event.status !== book.status);
  const isDecided = payment.phase.kind === 'deciding' && phase.kind !== 'deciding' && phase.kind !== 'review';
  const isShown = transactionsIn(event).some(({ transId }) => transactionOf(provider, transId));
  const isAnswered = event.kind === 'listed' && ['listed', 'refused'].includes(event.answer.kind);
  return book.isUnnamed === true && !isDecided && !isShown && !(book.final && isAnswered);
}

/**
 * Notes a notification that calls one of the payment's transactions SUCCESSFUL. The first counts, until the provider
 * says so, too.
 */
function withPaidReport(book: Book, { provider, payment }: Situation, event: PaymentEvent, now: number): Book {
  const isNotification = event.kind === 'hint' || event.kind === 'hintWithoutTransaction';
  if (book.reportedPaid.length === 0 && !isNotification) return book;
  const open = book.reportedPaid.filter(({ transId }) => !isShownPaid(book, transId));
  // One that names the payment alone is about its only transaction.
  const about = event.kind === 'hint' ? event.transId : transIdOf(payment);
  const isNew =
    isNotification &&
    event.status === 'SUCCESSFUL' &&
    about !== undefined &&
    transactionOf(provider, about)?.hasTurned === false &&
    !isShownPaid(book, about) &&
    !open.some(({ transId }) => transId === about);
  return { ...book, reportedPaid: isNew ? [...open, { transId: about, at: now }] : open };
}

function isShownPaid({ shown }: Book, transId: TransId): boolean {
  return shown.some((one) => one.transId === transId && one.isPaid);
}

/**
 * Notes a notification that contradicts the outcome: it must not wait behind others about which the provider says
 * nothing.
 */
function withToAsk(
  book: Book,
  { provider, payment, book: before }: Situation,
  event: PaymentEvent,
  now: number,
  violations: Violation[],
): Book {
  const { toAsk } = book;
  if (event.kind === 'status' && event.transId === toAsk?.transId) return { ...book, toAsk: undefined };
  if (event.kind === 'listed') return { ...book, toAsk: undefined };
  // Under review, a person decides, and the list is read after that.
  if (!before.final) return book.final && toAsk ? { ...book, toAsk: { ...toAsk, since: now } } : book;
  const isLate = toAsk !== undefined && now > toAsk.since + ASKED_WITHIN_MS && now > book.quietUntil;
  if (isLate && book.final) {
    violations.push({ invariant: 'confirmed', what: `${toAsk.transId} was not asked about for too long` });
  }
  if (event.kind !== 'hint' || event.status === before.status) return book;
  // What isn't final of the payment's own transaction contradicts no outcome: it is an old notification.
  const isOld = event.transId === transIdOf(payment) && !isOutcome(payment, event.status);
  if (isOld) return book;
  const isOwn = transactionOf(provider, event.transId) !== undefined;
  return isOwn && toAsk === undefined ? { ...book, toAsk: { transId: event.transId, since: now } } : book;
}

function isOutcome(payment: PaymentState, status: ProviderStatus | undefined): boolean {
  return status === undefined || status === 'SUCCESSFUL' || cannotMoveMoney(payment, status);
}

/**
 * Time within which a notification for an ended payment must be asked about, in ms: the longest pause, and the list's
 * when others crowd it out.
 */
const ASKED_WITHIN_MS = 45 * 60 * 1000;

function quietAfter({ quietUntil }: Book, event: PaymentEvent, now: number): number {
  if (event.kind !== 'status' && event.kind !== 'listed' && event.kind !== 'expired') return quietUntil;
  return event.answer.kind === 'throttled' && !event.answer.isOurs
    ? Math.max(quietUntil, now + (event.answer.retryAfterMs ?? 0))
    : quietUntil;
}

function withSends(
  before: Book,
  situation: Situation,
  event: PaymentEvent,
  step: Step,
  now: number,
  violations: Violation[],
): Book {
  let { refusedSince, unsentSince, isThrottled } = before;
  if (event.kind === 'sent') {
    const { kind } = event.outcome;
    const isUnsent = kind === 'unauthorized' || kind === 'notSent' || kind === 'throttled';
    const isUnread = kind === 'notSent' && event.outcome.isUnread === true && situation.payment.sends.count === 0;
    isThrottled = kind === 'throttled' || (isUnsent && isThrottled) ? true : undefined;
    refusedSince = isUnsent ? (refusedSince ?? now) : undefined;
    unsentSince = !isUnsent || isUnread || kind === 'unauthorized' ? undefined : (unsentSince ?? now);
  }
  if (
    refusedSince !== undefined &&
    isToBeSent(situation.payment) &&
    step.payment.phase.kind === 'ended' &&
    !situation.book.final &&
    event.kind !== 'expire'
  ) {
    const wasHeld = situation.payment.release !== undefined && situation.payment.sends.count === 0;
    const isOver =
      now >= refusedSince + step.payment.terms.sendByMs ||
      (!wasHeld && unsentSince !== undefined && now >= unsentSince + SEND_PATIENCE_MS);
    if (!isOver)
      violations.push({
        invariant: 'patience',
        what: `given up after ${now - (unsentSince ?? refusedSince)} ms`,
      });
  }
  const isWaiting = isToBeSent(step.payment);
  const isNothing =
    before.refusedSince === undefined && before.unsentSince === undefined && before.isThrottled === undefined;
  if (!isWaiting && isNothing) return before;
  if (isWaiting) return { ...before, refusedSince, unsentSince, isThrottled };
  // A notification can interrupt the wait by a search, which changes nothing about when it began.
  const isSearched = step.payment.phase.kind === 'searching';
  return {
    ...before,
    refusedSince: isSearched ? refusedSince : undefined,
    unsentSince: isSearched ? unsentSince : undefined,
    isThrottled: undefined,
  };
}

function isToBeSent({ phase }: PaymentState): boolean {
  return phase.kind === 'waiting' || phase.kind === 'sending';
}

function withLinks(
  before: Book,
  { payment: asked }: Situation,
  event: PaymentEvent,
  { payment }: Step,
  violations: Violation[],
): Book {
  if (payment.order.kind !== 'link') return before;
  const { expiresAt } = payment.facts;
  if (before.expiresAt !== undefined && (expiresAt === undefined || expiresAt > before.expiresAt)) {
    violations.push({ invariant: 'linkEnd', what: 'the end of the link is put off' });
  }
  let { unissued } = before;
  if (event.kind === 'expired') unissued = unissued.filter((one) => one !== event.transId);
  const isSearch = asked.phase.kind === 'searching' || asked.phase.kind === 'waiting';
  if (isSearch && event.kind === 'listed' && event.answer.kind === 'listed') {
    const unpaid = event.answer.transactions.filter(({ status }) => status === 'CREATED').map(({ transId }) => transId);
    const over = event.answer.transactions.filter(({ status }) => status === 'EXPIRED');
    unissued = [...new Set([...unissued, ...unpaid])].filter((link) => !over.some(({ transId }) => transId === link));
  }
  const isOpen = payment.phase.kind === 'searching' || payment.phase.kind === 'sending';
  if (!isOpen && unissued.length > 0) unissued = [];
  return expiresAt === before.expiresAt && unissued === before.unissued ? before : { ...before, expiresAt, unissued };
}

/** Marks a link as given to the merchant, once its turn is committed. */
export function given(provider: Provider, { payment, book }: Situation): Provider {
  const transId = payment.facts.link?.transId;
  if (payment.order.kind !== 'link' || transId === undefined || transId !== transIdOf(payment)) return provider;
  const own = transactionOf(provider, transId);
  if (own === undefined || own.isGiven || book.final) return provider;
  return {
    ...provider,
    transactions: provider.transactions.map((one) => (one === own ? { ...one, isGiven: true } : one)),
  };
}
