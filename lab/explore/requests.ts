import type { PaymentEvent } from '../../src/payments/machine/events.js';
import type { Step } from '../../src/payments/machine/machine.js';
import { isForced } from '../../src/payments/words/decision.js';
import { type PaymentState, transIdOf } from '../../src/payments/words/payment-state.js';
import { expectedNotification, isFinalWord, type Violation, viewOf } from './invariants.js';
import { decided } from './shown.js';
import type { Book, OpenRequest, Situation } from './situation.js';

export const SEND_PATIENCE_MS = 5 * 60 * 1000;

const UNHEARD = { isRechecked: false, isOwnHeard: false } as const;
const HEARD = { isRechecked: true, isOwnHeard: true } as const;

export function withRequest(book: Book, { payment }: Situation, event: PaymentEvent): Book {
  switch (event.kind) {
    case 'expire':
    case 'refresh':
    case 'recheck':
      // One that waits for its outcome is answered by that.
      return opened(event.kind === 'recheck' ? { ...book, ...(book.final ? UNHEARD : HEARD) } : book, {
        request: event.request,
        kind: event.kind,
        isInsisted: false,
        isCurrent: true,
        view: [],
      });
    case 'decide': {
      const { decision, review, force, by } = event.resolution;
      const transId = decision.action === 'match' ? decision.transId : '';
      const isCurrent = payment.phase.kind === 'review' && payment.phase.number === review;
      return opened(book, {
        request: event.request,
        kind: decision.action,
        isInsisted: isForced(force),
        isCurrent,
        view: book.shown,
        made: { what: `${decision.action}${transId}${isForced(force) ? '!' : ''}`, review, by },
      });
    }
    case 'approve':
    case 'rejectPayout':
      return opened(book, { request: event.request, kind: event.kind, isInsisted: false, isCurrent: true, view: [] });
    case 'reject':
      return opened(book, {
        request: event.request,
        kind: event.kind,
        isInsisted: false,
        isCurrent: payment.phase.kind === 'review' && payment.phase.number === event.rejection.review,
        view: [],
      });
    case 'status': {
      const isOwn = event.transId === transIdOf(payment);
      const isAnswered = event.answer.kind === 'found' || event.answer.kind === 'unknown';
      return isOwn && isAnswered && !event.isClaim ? { ...book, isOwnHeard: true } : book;
    }
    case 'listed': {
      if (event.answer.kind !== 'listed') return book;
      const ownId = transIdOf(payment);
      const isListed = event.answer.transactions.some(({ transId }) => transId === ownId);
      return { ...book, isRechecked: book.isOwnHeard || isListed || ownId === undefined };
    }
    default:
      return book;
  }
}

function opened(book: Book, request: OpenRequest): Book {
  return { ...book, requests: Math.max(book.requests, request.request), open: [...book.open, request] };
}

export function withReplies(
  before: Book,
  situation: Situation,
  { replies, payment }: Step,
  violations: Violation[],
): { book: Book; sent: boolean; isRecalled: boolean } {
  let book = before;
  let [sent, isRecalled] = [false, false];
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
    if (request.kind === 'recheck' && !book.isRechecked && payment.phase.kind === 'ended') {
      violations.push({ invariant: 'recheck', what: 'a recheck is answered, and nothing was read for it' });
    }
    const { phase } = payment;
    const own = book.shown.find(({ transId }) => phase.kind === 'ended' && transId === phase.transId);
    const hasFailed = phase.kind === 'ended' && phase.status === 'FAILED' && phase.failureCode === 'failed_at_provider';
    if (request.kind === 'recheck' && hasFailed && own !== undefined && own.status !== 'FAILED') {
      const what = `a recheck of FAILED is answered, and the provider has shown ${own.transId} as ${own.status}`;
      violations.push({ invariant: 'recheck', what });
    }
    if (request.kind === 'reject') {
      book = { ...book, proposed: undefined };
      const { kind } = situation.payment.phase;
      isRecalled ||= kind === 'waiting' || kind === 'sending';
    }
    if (request.kind !== 'resend' && request.kind !== 'fail' && request.kind !== 'match') continue;
    if (!request.isCurrent) {
      violations.push({
        invariant: 'decisions',
        what: `${request.kind} takes effect, and was made on another review`,
      });
    }
    if (takesTwoPeople(payment)) {
      if (payment.phase.kind === 'review' && payment.resolved === situation.payment.resolved) {
        book = { ...book, proposed: request.made && inView(request.made) };
        continue;
      }
      violations.push(...alone(book, request));
    }
    sent ||= request.kind === 'resend';
    book = {
      ...book,
      proposed: undefined,
      insisted:
        request.isInsisted && book.insisted !== 'fail' && request.kind !== 'match' ? request.kind : book.insisted,
      isFailed: request.kind === 'fail',
      shown: decided(book.shown, request, situation),
    };
  }
  return { book, sent, isRecalled };
}

/** Reports whether a decision takes two people by the model's own rule, independently of the machine. */
function takesTwoPeople({ order, terms, facts, differences = [] }: PaymentState): boolean {
  const shown = differences.map(({ amount = 0 }) => amount);
  const largest = Math.max(order.amount, facts.amountPaid ?? 0, ...shown);
  return order.kind === 'payout' && largest > (terms.secondPersonAbove ?? Number.POSITIVE_INFINITY);
}

/**
 * Tells which review a decision has in view. A proposal begins another review: whoever decides the same names that one.
 */
function inView(made: NonNullable<OpenRequest['made']>): NonNullable<Book['proposed']> {
  return { ...made, review: made.review + 1 };
}

/** Finds decisions that are carried out although no second person has decided the same, on the current review. */
function alone({ proposed }: Book, { kind, made }: OpenRequest): Violation[] {
  const isSame = proposed?.what === made?.what && proposed?.review === made?.review;
  if (proposed !== undefined && isSame && proposed.by !== made?.by) return [];
  const before = proposed === undefined ? 'nobody' : `${proposed.by} (${proposed.what})`;
  return [
    {
      invariant: 'secondPerson',
      what: `${kind} takes effect, decided by ${made?.by}, and by ${before} on review ${proposed?.review}`,
    },
  ];
}

export function withNotifications(before: Book, step: Step, violations: Violation[]): Book {
  const { notifications, told } = before;
  const after = viewOf(step.payment);
  const isHeld = step.payment.phase.kind === 'held' && notifications === 0;
  const expected = isHeld ? 'payment.held' : expectedNotification(before, after);
  if (expected !== step.notified) {
    violations.push({
      invariant: 'notified',
      what: `${before.status} became ${after.status}, and the merchant is notified of ${step.notified ?? 'nothing'}`,
    });
  }
  if (expected === undefined) return { ...before, ...after };
  if (isFinalWord(told) && expected !== 'payment.review')
    violations.push({ invariant: 'toldFinal', what: `the merchant was told ${told}, and is told ${expected} now` });
  return { ...before, ...after, notifications: notifications + 1, told: expected };
}
