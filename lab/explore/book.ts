import type { Step } from '../../src/payments/machine.js';
import { transIdOf } from '../../src/payments/payment-state.js';
import type { PaymentEvent } from '../../src/payments/transitions.js';
import { deliveryViolations, expectedNotification, type Violation, viewOf } from './invariants.js';
import { decided, shownBy } from './shown.js';
import type { Book, OpenRequest, Provider, Situation } from './situation.js';
import { transactionOf } from './situation.js';

/** A payment of which nothing was said or heard yet. */
export const EMPTY_BOOK: Book = {
  status: 'CREATED',
  final: false,
  outbox: [],
  notifications: 0,
  requests: 0,
  open: [],
  shown: [],
  quietUntil: 0,
  isMatched: false,
  orphans: [],
  unconfirmed: 0,
  isRechecked: true,
};

interface Recorded {
  readonly book: Book;
  readonly decisionsToSend: number;
  readonly violations: readonly Violation[];
}

/** Delivery is given up three days after its first try. */
const PATIENCE_MS = 72 * 60 * 60 * 1000;
const SEND_PATIENCE_MS = 5 * 60 * 1000;

/** The book after one step of the machine, and what was wrong about the step. */
export function record(before: Situation, event: PaymentEvent, step: Step, now: number): Recorded {
  const violations: Violation[] = [];
  const shown = shownBy(before, event);
  let book: Book = { ...before.book, shown: shown.all, quietUntil: quietAfter(before.book, event, now) };
  book = withRequest(book, before, event);
  const replied = withReplies(book, before, event, step, violations);
  book = replied.book;
  book = withNotifications(book, before, event, step, now, violations);
  book = withSends(book, before, event, step, now, violations);
  book = withLinks(book, before, event, step, violations);
  if (event.kind === 'status') book = { ...book, unconfirmed: book.unconfirmed + 1 };
  // One that repeats what is being asked about already gives no reason to ask any longer.
  const isAsked = before.payment.reports.open.length > 0;
  if (event.kind === 'notification' && !isAsked) book = { ...book, unconfirmed: 0 };
  book = withToAsk(book, before, event, now, violations);
  checkReview(before, event, step, shown.news, replied.sent, violations);
  checkJudged(before, event, step, shown.isKnown, violations);
  const { todo } = step;
  if (todo.kind === 'deliver' || todo.kind === 'redeliver')
    violations.push(...deliveryViolations(todo, book));
  return { book, decisionsToSend: replied.sent ? 1 : 0, violations };
}

/** A contradiction isn't kept waiting by other notifications, of which the provider says nothing. */
function withToAsk(
  book: Book,
  { provider, book: before }: Situation,
  event: PaymentEvent,
  now: number,
  violations: Violation[],
): Book {
  const { toAsk } = book;
  if (event.kind === 'status' && event.transId === toAsk?.transId) return { ...book, toAsk: undefined };
  if (event.kind === 'listed') return { ...book, toAsk: undefined };
  const isLate = toAsk !== undefined && now > toAsk.since + ASKED_WITHIN_MS && now > book.quietUntil;
  if (isLate && book.final) {
    violations.push({ invariant: 'confirmed', what: `nobody has asked about ${toAsk.transId} for too long` });
  }
  if (event.kind !== 'notification' || !before.final || event.status === before.status) return book;
  const isOwn = transactionOf(provider, event.transId) !== undefined;
  return isOwn && toAsk === undefined ? { ...book, toAsk: { transId: event.transId, since: now } } : book;
}

/** Within this time a notification of an ended payment's is asked about, in ms. */
const ASKED_WITHIN_MS = 35 * 60 * 1000;

function quietAfter({ quietUntil }: Book, event: PaymentEvent, now: number): number {
  if (event.kind !== 'status' && event.kind !== 'listed' && event.kind !== 'expired') return quietUntil;
  return event.answer.kind === 'throttled'
    ? Math.max(quietUntil, now + (event.answer.retryAfterMs ?? 0))
    : quietUntil;
}

function withRequest(book: Book, { payment }: Situation, event: PaymentEvent): Book {
  switch (event.kind) {
    case 'expire':
    case 'refresh':
    case 'recheck':
    case 'resendNotification':
      return opened(event.kind === 'recheck' && book.final ? { ...book, isRechecked: false } : book, {
        request: event.request,
        kind: event.kind,
        isInsisted: false,
        isCurrent: true,
        view: [],
      });
    case 'decide': {
      const { decision, review, force } = event.resolution;
      const isCurrent = payment.phase.kind === 'review' && payment.phase.number === review;
      return opened(book, {
        request: event.request,
        kind: decision.action,
        isInsisted: force,
        isCurrent,
        view: book.shown,
      });
    }
    case 'listed':
      return { ...book, isRechecked: true };
    default:
      return book;
  }
}

function opened(book: Book, request: OpenRequest): Book {
  return { ...book, requests: Math.max(book.requests, request.request), open: [...book.open, request] };
}

function withReplies(
  before: Book,
  situation: Situation,
  event: PaymentEvent,
  { replies, payment }: Step,
  violations: Violation[],
): { book: Book; sent: boolean } {
  let book = before;
  let sent = false;
  for (const reply of replies) {
    const request = book.open.find((one) => one.request === reply.request);
    if (request === undefined) {
      violations.push({
        invariant: 'replies',
        what: `request ${reply.request} is answered twice, or was never made`,
      });
      continue;
    }
    book = { ...book, open: book.open.filter((one) => one !== request) };
    if (reply.kind === 'refused') continue;
    if (
      request.kind === 'recheck' &&
      event.kind !== 'handOver' &&
      !book.isRechecked &&
      payment.phase.kind === 'ended'
    ) {
      violations.push({ invariant: 'recheck', what: 'a recheck is answered, and nothing was read for it' });
    }
    if (request.kind !== 'resend' && request.kind !== 'fail' && request.kind !== 'match') continue;
    if (!request.isCurrent) {
      violations.push({
        invariant: 'decisions',
        what: `${request.kind} takes effect, and was made on another review`,
      });
    }
    sent ||= request.kind === 'resend';
    book = {
      ...book,
      insisted:
        request.isInsisted && book.insisted !== 'fail' && request.kind !== 'match'
          ? request.kind
          : book.insisted,
      isMatched: book.isMatched || request.kind === 'match',
      shown: decided(book.shown, request, situation),
    };
  }
  return { book, sent };
}

function withNotifications(
  before: Book,
  { payment }: Situation,
  event: PaymentEvent,
  step: Step,
  now: number,
  violations: Violation[],
): Book {
  let { outbox, notifications } = before;
  if (event.kind === 'delivered' || event.kind === 'redelivered') {
    outbox = outbox.flatMap((one) => {
      if (one.number !== event.number) return [one];
      const at = payment.notifications.find(({ number }) => number === event.number)?.delivery.at;
      if (at !== event.at) return [one];
      const since = one.since ?? now;
      return event.outcome.kind === 'failed' && now < since + PATIENCE_MS ? [{ ...one, since }] : [];
    });
  }
  if (
    event.kind === 'resendNotification' &&
    step.replies.some(({ request, kind }) => request === event.request && kind === 'done')
  ) {
    const type = payment.notifications.find(({ number }) => number === event.number)?.type;
    const others = outbox.filter(({ number }) => number !== event.number);
    if (type !== undefined)
      outbox = [...others, { number: event.number, type }].sort((one, other) => one.number - other.number);
  }
  const after = viewOf(step.payment);
  const expected = expectedNotification(before, after);
  if (expected !== step.notified) {
    violations.push({
      invariant: 'notified',
      what: `${before.status} became ${after.status}, and the merchant is notified of ${step.notified ?? 'nothing'}`,
    });
  }
  if (expected !== undefined) {
    notifications += 1;
    outbox = [...outbox, { number: notifications, type: expected }];
  }
  return { ...before, ...after, outbox, notifications };
}

function withSends(
  before: Book,
  situation: Situation,
  event: PaymentEvent,
  step: Step,
  now: number,
  violations: Violation[],
): Book {
  let { refusedSince, unsentSince } = before;
  if (event.kind === 'sent') {
    const { kind } = event.outcome;
    const isUnsent =
      kind === 'unauthorized' || kind === 'notSent' || kind === 'throttled' || kind === 'unchecked';
    refusedSince = isUnsent ? (refusedSince ?? now) : undefined;
    unsentSince = !isUnsent || kind === 'unauthorized' ? undefined : (unsentSince ?? now);
  }
  if (
    refusedSince !== undefined &&
    step.payment.phase.kind === 'ended' &&
    !situation.book.final &&
    event.kind !== 'expire'
  ) {
    const isOver =
      now >= refusedSince + step.payment.terms.sendByMs ||
      (unsentSince !== undefined && now >= unsentSince + SEND_PATIENCE_MS);
    if (!isOver)
      violations.push({
        invariant: 'patience',
        what: `given up after ${now - (unsentSince ?? refusedSince)} ms`,
      });
  }
  const isWaiting = step.payment.phase.kind === 'waiting' || step.payment.phase.kind === 'sending';
  return isWaiting
    ? { ...before, refusedSince, unsentSince }
    : { ...before, refusedSince: undefined, unsentSince: undefined };
}

function withLinks(
  before: Book,
  { payment: asked }: Situation,
  event: PaymentEvent,
  { payment }: Step,
  violations: Violation[],
): Book {
  if (payment.order.method !== 'link') return before;
  const { expiresAt } = payment.facts;
  if (before.expiresAt !== undefined && (expiresAt === undefined || expiresAt > before.expiresAt)) {
    violations.push({ invariant: 'linkEnd', what: 'the end of the link is put off' });
  }
  let { orphans } = before;
  if (event.kind === 'expired') orphans = orphans.filter((one) => one !== event.transId);
  const isSearch = asked.phase.kind === 'searching' || asked.phase.kind === 'waiting';
  if (isSearch && event.kind === 'listed' && event.answer.kind === 'listed') {
    const unpaid = event.answer.transactions
      .filter(({ status }) => status === 'CREATED')
      .map(({ transId }) => transId);
    orphans = [...new Set([...orphans, ...unpaid])];
  }
  if (payment.phase.kind !== 'searching' && payment.phase.kind !== 'sending') orphans = [];
  return { ...before, expiresAt, orphans };
}

/** In a review, nothing is sent undecided, and new evidence makes it another review. */
function checkReview(
  { book, payment }: Situation,
  event: PaymentEvent,
  step: Step,
  news: boolean,
  isDecided: boolean,
  violations: Violation[],
): void {
  if (book.status !== 'REVIEW') return;
  if (step.todo.kind === 'send' && !isDecided) {
    violations.push({ invariant: 'reviewSends', what: 'it is sent in review, and nobody has decided so' });
  }
  const isAnswerToDecision = payment.phase.kind === 'deciding' && event.kind !== 'notification';
  const after = step.payment;
  if (
    news &&
    !isAnswerToDecision &&
    after.phase.kind === 'review' &&
    after.phase.number === payment.reviews
  ) {
    violations.push({
      invariant: 'decisions',
      what: 'the provider has shown another transaction, and the review is still the same',
    });
  }
}

/** An ended payment stays ended when all that was shown has been decided on, or is its outcome. */
function checkJudged(
  { book, payment }: Situation,
  event: PaymentEvent,
  { payment: after }: Step,
  isKnown: boolean,
  violations: Violation[],
): void {
  if (payment.phase.kind !== 'ended' || after.phase.kind === 'ended' || !isKnown) return;
  const isAnswer =
    (event.kind === 'listed' && event.answer.kind === 'listed' && event.answer.transactions.length > 0) ||
    (event.kind === 'status' && event.answer.kind === 'found');
  if (isAnswer && book.shown.length > 0) {
    violations.push({
      invariant: 'judgedOnce',
      what: 'it is under review again for what a decision has judged',
    });
  }
}

/** Links count as given out once their workflow task is recorded. */
export function given(provider: Provider, { payment, book }: Situation): Provider {
  const transId = payment.facts.link?.transId;
  if (payment.order.method !== 'link' || transId === undefined || transId !== transIdOf(payment))
    return provider;
  const own = transactionOf(provider, transId);
  if (own === undefined || own.isGiven || book.final) return provider;
  return {
    ...provider,
    transactions: provider.transactions.map((one) => (one === own ? { ...one, isGiven: true } : one)),
  };
}
