import type { ExpiryAnswer, ListAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import { namedIn, type PaymentState } from '../words/payment-state.js';
import { type Ambiguity, type Failed, inquiryOf, isNonEmpty, type Searching } from '../words/phase.js';
import type { Transaction } from '../words/transaction.js';
import { hasUnreadGap, withListRead } from './gap.js';
import { cannotMoveMoney, markPossiblyDouble, withPossibleDoubles, withTransactions } from './known-transactions.js';
import { listedAfterMs, lookUpDelay } from './look-ups.js';
import { aboutToSend, askSoon, inPhase, toEnded, toFollowing, toReview, withInquiry } from './transitions.js';
import { judge, UNREAD_MS } from './verdict.js';

/**
 * Follows the one transaction that the list shows for a request that got no answer. Another may have been made of it,
 * which the list shows later: the outcome is in doubt.
 */
export function adopt(payment: PaymentState, { transId }: Transaction, now: number): PaymentState {
  return askSoon(toFollowing(markPossiblyDouble(payment), { transId }, now), now);
}

/** Handles the answer to a look-up, under review or not. Under review, nothing is sent. */
export function onListed(payment: PaymentState, searching: Searching, answer: ListAnswer, now: number): PaymentState {
  const lookUps = searching.lookUps + 1;
  const nextAt = now + lookUpDelay(payment, searching.ambiguity, lookUps, now);
  const searched: Searching = { ...searching, lookUps, lastAt: now, nextAt };
  const verdict = judge(payment, searched, answer, now);
  switch (verdict.kind) {
    case 'adopt':
      return adopt(payment, verdict.transaction, now);
    case 'expireUnissued':
      // The list may leave them out from now on, or show them as they were.
      return expireUnissued(
        withTransactions(payment, verdict.transactions),
        searched,
        verdict.unissued,
        verdict.next,
        now,
      );
    case 'send':
      return aboutToSend(payment, 'policy', searched.ambiguity);
    case 'end':
      return toEnded(payment, verdict.outcome, now);
    case 'wait':
      return inPhase(payment, { kind: 'waiting', cause: 'order', unsent: verdict.unsent, until: now });
    case 'review':
      // Already under review: only what needs a decision is new. The reason says what is so now.
      return payment.phase.kind === 'review' && !verdict.held
        ? withReason(withInquiry(payment, searched), verdict.why)
        : toReview(
            verdict.transactions === undefined ? payment : withPossibleDoubles(payment, verdict.transactions),
            { why: verdict.why, held: verdict.held, inquiry: searched },
            now,
          );
    case 'lookAgain': {
      const { transactions = [], by = nextAt } = verdict;
      return withInquiry(withTransactions(payment, transactions), { ...searched, nextAt: Math.min(nextAt, by) });
    }
  }
}

/** Gives a review that may end by itself the reason of the latest look-up. */
function withReason(payment: PaymentState, why: string): PaymentState {
  const { phase } = payment;
  return phase.kind === 'review' && !phase.held ? inPhase(payment, { ...phase, why }) : payment;
}

/**
 * Goes on after an attempt to expire an unissued link: nobody was given its address, so silence holds nothing up,
 * unless the book may have lost that somebody was. A provider that answers, and hasn't expired it, may be about to show
 * that it is paid after all: nothing is made or said before it has.
 */
export function onUnissuedExpired(
  payment: PaymentState,
  searching: Searching,
  transId: TransId,
  answer: ExpiryAnswer,
  now: number,
): PaymentState {
  const { clearing, ...rest } = searching;
  if (clearing === undefined) return payment;
  const isAlive =
    answer.kind === 'expired'
      ? !cannotMoveMoney(payment, answer.transaction.status)
      : answer.kind === 'refused' || (answer.kind !== 'alreadyExpired' && hasUnreadGap(payment));
  if (!isAlive) {
    const unissued = clearing.unissued.filter((link) => link !== transId);
    // This answer shows no transaction. An old one may show it as it was.
    const known =
      answer.kind === 'alreadyExpired' ? withTransactions(payment, [{ transId, status: 'EXPIRED' }]) : payment;
    return expireUnissued(known, searching, unissued, clearing.next, now);
  }
  const why = `the provider doesn't expire ${transId}, which was made for this payment`;
  return now < searching.ambiguity.since + UNREAD_MS || payment.phase.kind === 'review'
    ? withInquiry(payment, rest)
    : toReview(payment, { why, held: false, inquiry: rest }, now);
}

/**
 * Ends a payment for which no transaction is known, unless a hint says that there is one: then it is looked for first,
 * and if the hint doesn't come to nothing, a person is asked.
 */
export function endUnlessNamed(payment: PaymentState, outcome: Failed, now: number): PaymentState {
  const [named] = namedIn(payment);
  const isRead = inquiryOf(payment.phase)?.kind === 'searching';
  // Of a link that the book may have lost, the list is read first.
  if (named === undefined && payment.order.kind === 'link' && payment.sends.mayBeDouble && !isRead) {
    return endIfAbsent(payment, outcome, outcome.reason ?? outcome.failureCode, now);
  }
  if (named === undefined) return toEnded(payment, outcome, now);
  return endIfAbsent(payment, outcome, `${outcome.reason}; but a notification names ${named} as its transaction`, now);
}

/**
 * Ends a payment for which no transaction is known, once the list has had the time to show one.
 *
 * @param waitMs that time, in ms
 */
export function endIfAbsent(
  payment: PaymentState,
  outcome: Failed,
  reason: string,
  now: number,
  waitMs = listedAfterMs(payment),
): PaymentState {
  const listedBy = now + waitMs;
  const ambiguity: Ambiguity = { reason, since: now, otherwise: outcome, listedBy };
  return withInquiry(markPossiblyDouble(payment), { kind: 'searching', ambiguity, lookUps: 0, nextAt: listedBy });
}

/** Expires links that nobody was given, one after the other. Then the payment goes on without one. */
function expireUnissued(
  payment: PaymentState,
  searching: Searching,
  unissued: readonly TransId[],
  next: 'send' | 'fail',
  now: number,
): PaymentState {
  if (isNonEmpty(unissued)) return withInquiry(payment, { ...searching, clearing: { unissued, next } });
  const { clearing: _done, ...rest } = searching;
  if (next === 'fail') return endUnlessNamed(payment, outcomeWithoutLink(searching.ambiguity), now);
  return payment.phase.kind === 'review'
    ? withInquiry(payment, rest)
    : aboutToSend(withListRead(payment), 'policy', searching.ambiguity);
}

function outcomeWithoutLink({ otherwise, reason }: Ambiguity): Failed {
  const failed = `no link could be created: ${reason}`;
  return otherwise ?? { status: 'FAILED', reason: failed, failureCode: 'link_not_created' };
}
