import type { ExpiryAnswer, ListAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import { namedIn, type PaymentState } from '../words/payment-state.js';
import type { Ambiguity, Failed, Searching } from '../words/phase.js';
import type { Transaction } from '../words/transaction.js';
import { cannotMoveMoney, markPossiblyDouble, withPossibleDoubles, withTransactions } from './known-transactions.js';
import { listedAfterMs, lookUpDelay } from './look-ups.js';
import {
  aboutToSend,
  askSoon,
  inPhase,
  toEnded,
  toFollowing,
  toReview,
  withEarlierRun,
  withInquiry,
} from './transitions.js';
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
      return expireUnissued(withTransactions(payment, verdict.transactions), searched, verdict.unissued, verdict.next);
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
 * Goes on after an attempt to expire an unissued link: nobody was given its address, so silence holds nothing up. If an
 * earlier run may have given it to the merchant, it was issued: it is looked for once more, and followed. A provider
 * that answers, and hasn't expired it, may be about to show that it is paid after all: nothing is made or said before
 * it has.
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
  if (answer.kind === 'mayBeGiven') return onResetChecked(payment, searching, true, now);
  const isAlive =
    answer.kind === 'refused' || (answer.kind === 'expired' && !cannotMoveMoney(payment, answer.transaction.status));
  if (!isAlive) {
    const unissued = clearing.unissued.filter((link) => link !== transId);
    // This answer shows no transaction. An old one may show it as it was.
    const known =
      answer.kind === 'alreadyExpired' ? withTransactions(payment, [{ transId, status: 'EXPIRED' }]) : payment;
    return expireUnissued(known, searching, unissued, clearing.next);
  }
  const why = `the provider doesn't expire ${transId}, which was made for this payment`;
  return now < searching.ambiguity.since + UNREAD_MS || payment.phase.kind === 'review'
    ? withInquiry(payment, rest)
    : toReview(payment, { why, held: false, inquiry: rest }, now);
}

/**
 * Ends a payment for which no link could be made, unless an earlier run may have given the merchant one: that is looked
 * for, for a grace period of its own, and then a person is asked.
 */
export function onResetChecked(
  payment: PaymentState,
  searching: Searching,
  mayBeReset: boolean,
  now: number,
): PaymentState {
  const { reason } = searching.ambiguity;
  if (mayBeReset) return searchAfterReset(payment, reason, now);
  const failed = `no link could be created: ${reason}`;
  return endUnlessNamed(payment, { status: 'FAILED', reason: failed, failureCode: 'link_not_created' }, now);
}

/**
 * Ends a payment for which no transaction is known, unless a hint says that there is one: then it is looked for
 * first, and if that comes to nothing, a person is asked. For a link, an earlier run may have issued one.
 */
export function endUnlessNamed(payment: PaymentState, outcome: Failed, now: number): PaymentState {
  const [named] = namedIn(payment);
  if (named === undefined) return toEnded(payment, outcome, now);
  const reason = `${outcome.reason}; but a notification names ${named} as its transaction`;
  return payment.order.kind === 'link'
    ? searchAfterReset(payment, reason, now)
    : endIfAbsent(payment, outcome, reason, now);
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
  return inPhase(markPossiblyDouble(payment), { kind: 'searching', ambiguity, lookUps: 0, nextAt: listedBy });
}

/** Looks for a link that an earlier run may have given to the merchant, under review or not. */
export function searchAfterReset(payment: PaymentState, before: string, now: number): PaymentState {
  const reason = `${before}; an earlier run of the workflow may have given the merchant a link`;
  const ambiguity = { reason, since: now, isReset: true } as const;
  const nextAt = now + lookUpDelay(payment, ambiguity, 0, now);
  return withInquiry(withEarlierRun(payment, ambiguity), { kind: 'searching', ambiguity, lookUps: 0, nextAt });
}

function expireUnissued(
  payment: PaymentState,
  searching: Searching,
  unissued: readonly TransId[],
  next: 'send' | 'fail',
): PaymentState {
  // Before it fails, Temporal is asked whether an earlier run may have given a link.
  const isUnderWay = unissued.length > 0 || next === 'fail';
  if (isUnderWay) return withInquiry(payment, { ...searching, clearing: { unissued, next } });
  const { clearing: _done, ...rest } = searching;
  return payment.phase.kind === 'review'
    ? withInquiry(payment, rest)
    : aboutToSend(payment, 'policy', searching.ambiguity);
}
