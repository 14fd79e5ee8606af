import { heeded, type MadeDecision, type PaymentRecord, wasReviewedSince } from '../payment-record.js';
import { agrees } from './agrees.js';
import { auditNotices } from './audit-notices.js';
import { type BookedAtLast, inWords } from './booked.js';
import type { Case, Found, Violation } from './case.js';
import { isExcused, isOverruled } from './excuses.js';

/** Compares what happened at the provider with what Sanaga shows and what the merchant was told. */
export function audit(subject: Case): Violation[] {
  const about = subject.record.planned.id;
  return [
    ...doublePaid(subject),
    ...oversent(subject),
    ...lost(subject),
    ...wrongOutcome(subject),
    ...unnoticed(subject),
    ...overLimit(subject),
    ...stuck(subject),
    ...decidedWrongly(subject.record),
    ...auditNotices(subject),
  ].map((violation) => ({ about, ...violation }));
}

/** Decisions to send: the order, and each time that an operator had it sent again. */
function decisionsToSend(record: PaymentRecord): number {
  return 1 + heeded(record).filter(({ action }) => action === 'resend').length;
}

/**
 * A link moves money when it is paid; what goes straight to a phone may move money as soon as it is there. What the
 * provider doubles by itself is not ours.
 */
function doublePaid({ record, transactions }: Case): Found[] {
  const own = transactions.filter(({ isStray }) => !isStray);
  const moving = record.planned.way === 'link' ? own.filter(isPaid) : own;
  if (moving.length <= decisionsToSend(record)) return [];
  return [{ invariant: 'doublePaid', what: `${moving.length} transactions: ${inWords(transactions)}` }];
}

/** Money is sent once for each decision to send it. Making a link again harms nobody. */
function oversent({ record, posts }: Case): Found[] {
  const decisions = decisionsToSend(record);
  if (record.planned.way === 'link' || posts <= decisions) return [];
  return [{ invariant: 'oversent', what: `${posts} requests for ${decisions} decisions to send it` }];
}

function lost({ record, shown, transactions }: Case): Found[] {
  if (shown === undefined) {
    const isKnown = record.taken || transactions.length > 0;
    return isKnown
      ? [{ invariant: 'lost', what: `the API doesn't know it; the ledger has ${inWords(transactions)}` }]
      : [];
  }
  const wasPaid = transactions.some((booked) => isPaid(booked) && !booked.isStray);
  if (!wasPaid || shown.status === 'SUCCESSFUL' || shown.status === 'REVIEW' || isOverruled(record))
    return [];
  return [{ invariant: 'lost', what: `it was paid, and is ${shown.status}` }];
}

function wrongOutcome({ record, shown, transactions }: Case): Found[] {
  const { way } = record.planned;
  const said = [
    ...record.wrongAnswers,
    ...record.shownEnds
      .filter(({ at, status, truth }) => !agrees(way, status, truth) && !isExcused(record, at))
      .map(({ status, truth }) => `shown as ${status} when the ledger had ${inWords(truth)}`),
  ].map((what): Found => ({ invariant: 'wrongOutcome', what }));
  if (shown === undefined || !shown.final || isOverruled(record)) return said;
  if (agrees(way, shown.status, transactions)) return said;
  const what = `it ended ${shown.status}; the ledger has ${inWords(transactions)}`;
  return [...said, { invariant: 'wrongOutcome', what }];
}

/** Two transactions that move money are put before a person, unless nothing could tell Sanaga of the second. */
function unnoticed({ record, shown, transactions }: Case): Found[] {
  if (shown === undefined || shown.status === 'REVIEW' || record.terminated) return [];
  const isLink = record.planned.way === 'link';
  const [, second] = transactions
    .filter((booked) => (isLink ? isPaid(booked) : booked.status !== 'FAILED'))
    .filter(({ isStray, isKnown }) => !isStray || isKnown)
    .sort((one, other) => one.createdAt - other.createdAt);
  if (second === undefined || wasReviewedSince(record, second.createdAt)) return [];
  return [{ invariant: 'unnoticed', what: `it has ${inWords(transactions)}, and nobody was asked` }];
}

/** Whatever the ledger's own limit refused, and whatever came too fast and was answered otherwise. */
function overLimit({ transactions, tooManyQuestions = [] }: Case): Found[] {
  const throttled = transactions.reduce((sum, { statusCalls }) => sum + statusCalls.throttled, 0);
  const found = tooManyQuestions.map((what): Found => ({ invariant: 'overLimit', what }));
  return throttled === 0
    ? found
    : [...found, { invariant: 'overLimit', what: `${throttled} status calls were too many` }];
}

/**
 * At the end operators have gone through every review many times over: nobody is left to wait for. What somebody has
 * terminated is under review for good, unless it had ended.
 */
function stuck({ record, shown, transactions }: Case): Found[] {
  if (shown === undefined || shown.final || (record.terminated && shown.status === 'REVIEW')) return [];
  return [{ invariant: 'stuck', what: `it is ${shown.status}; the ledger has ${inWords(transactions)}` }];
}

/** Each review is decided once. */
function decidedWrongly({ decisions }: PaymentRecord): Found[] {
  const done = new Map<number, MadeDecision>();
  return decisions.flatMap((decision): Found[] => {
    if (decision.outcome !== 'done') return [];
    const before = done.get(decision.review);
    done.set(decision.review, decision);
    if (before === undefined) return [];
    const what = `review ${decision.review} was decided twice: ${before.action}, ${decision.action}`;
    return [{ invariant: 'wrongOutcome', what }];
  });
}

function isPaid({ status }: Pick<BookedAtLast, 'status'>): boolean {
  return status === 'SUCCESSFUL';
}
