import type { ExpiryAnswer, ListAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import {
  type Doubt,
  type Failed,
  namedIn,
  type PaymentState,
  type Searching,
  type Unsent,
} from '../words/payment-state.js';
import { HOUR_MS } from '../words/time.js';
import type { Transaction } from '../words/transaction.js';
import { findOwn, ownAmong } from './matching.js';
import {
  aboutToSend,
  askSoon,
  describeDoubt,
  end,
  follow,
  graceEnd,
  hasBeenPaid,
  inDoubt,
  inPhase,
  isOver,
  LISTED_AFTER_MS,
  latestOf,
  lookUpDelay,
  mayBePaid,
  pursueOn,
  review,
  withEarlierRun,
  withNoted,
  withOthers,
} from './transitions.js';

/** What to do about a request in doubt after a look-up. */
type Verdict =
  /** The provider accepted it: follow the transaction. */
  | { readonly kind: 'adopt'; readonly transaction: Transaction }
  /** Expire the links that were created but given to nobody; then send once more, or fail. */
  | {
      readonly kind: 'clear';
      readonly orphans: readonly TransId[];
      readonly next: 'send' | 'fail';
      readonly transactions: readonly Transaction[];
    }
  /** Send once more. */
  | { readonly kind: 'send' }
  /** There is none: the payment ends as it would have, but for the doubt. */
  | { readonly kind: 'end'; readonly outcome: Failed }
  /** There is none: the payment waits to be sent, as it did before. */
  | { readonly kind: 'wait'; readonly unsent: Unsent }
  /** Put the payment under review. Unless it is held, look-ups go on. */
  | {
      readonly kind: 'review';
      readonly why: string;
      readonly held: boolean;
      readonly transactions?: readonly Transaction[];
    }
  /** Nothing is known yet, but for these links: a notification says that one has been paid. */
  | { readonly kind: 'lookAgain'; readonly transactions?: readonly Transaction[]; readonly by?: number };

/** How long the provider may leave open what ends by itself once it says more, before a person is asked, in ms. */
const UNREAD_MS = 24 * HOUR_MS;

/**
 * The verdict on a request in doubt after one more look-up.
 *
 * A resend of money needs all of these: the policy allows it and has not been used before, the grace period is over,
 * the look-up was answered and shows nothing, nothing has been shown before, and no notification names a transaction.
 */
function judge(payment: PaymentState, { doubt }: Searching, answer: ListAnswer, now: number): Verdict {
  const isOver = now >= graceEnd(payment, doubt);
  const unknown = describeDoubt(doubt.reason);
  const isLink = payment.order.kind === 'link';
  if (answer.kind !== 'listed') {
    const why = `${unknown}, and the payment couldn't be looked up`;
    // Nobody has such a link: it ends, or is made again, by itself once the provider can be read. So does what surely
    // wasn't sent.
    const endsByItself = doubt.otherwise ? namedIn(payment).length === 0 : isLink && !doubt.isReset;
    const isAsked = endsByItself ? now >= doubt.since + UNREAD_MS : isOver;
    return isAsked ? { kind: 'review', why, held: false } : { kind: 'lookAgain' };
  }
  const listed = answer.transactions.map((one) => asKnown(payment, one));
  const transactions = [...listed, ...leftOut(payment, answer.transactions)];
  if (isLink && !doubt.isReset) return judgeLink(payment, transactions, isOver, now);

  const usable = isLink ? withoutExpired(payment, transactions) : transactions;
  const finding = findOwn(payment.order, usable);
  switch (finding.kind) {
    case 'found':
      return { kind: 'adopt', transaction: finding.transaction };
    case 'mismatch':
    case 'several':
      return {
        kind: 'review',
        why: finding.reason,
        held: true,
        transactions: ownAmong(payment.order, transactions),
      };
    case 'absent': {
      const named = namedIn(payment);
      const [seen] = payment.others;
      const isNothing = named.length === 0 && seen === undefined && payment.phase.kind !== 'review';
      const { otherwise, unsent } = doubt;
      const next =
        (otherwise && ({ kind: 'end', outcome: otherwise } as const)) ??
        (unsent && ({ kind: 'wait', unsent } as const));
      if (next && isNothing) {
        const listedBy = doubt.since + LISTED_AFTER_MS;
        return now >= listedBy ? next : { kind: 'lookAgain', by: listedBy };
      }
      if (!isOver) return { kind: 'lookAgain' };
      const isResend = payment.terms.ambiguousPolicy === 'resend' && !payment.sends.byPolicy;
      if (isResend && isNothing) return { kind: 'send' };
      const report = named.length === 0 ? '' : `; a notification names ${named.join(', ')} as its transaction`;
      const before = seen === undefined ? '' : `, but has shown ${seen.transId} (${seen.status})`;
      return {
        kind: 'review',
        why: `${unknown}, and the provider doesn't show it${before}${report}`,
        held: false,
      };
    }
  }
}

/** A transaction that was paid once, or has ended, is shown by an old answer when it isn't so now. */
function asKnown(payment: PaymentState, transaction: Transaction): Transaction {
  const { transId, status } = transaction;
  const isPaid = hasBeenPaid(payment, transId) && !isOver(payment, status);
  const known = payment.others.find((other) => other.transId === transId);
  return { ...transaction, status: isPaid ? 'SUCCESSFUL' : latestOf(payment, known, status) };
}

/** What the provider has shown before, and doesn't list now: it is there all the same. */
function leftOut(payment: PaymentState, listed: readonly Transaction[]): readonly Transaction[] {
  return payment.others
    .filter(({ transId, status }) => !isOver(payment, status) && !listed.some((one) => one.transId === transId))
    .map(({ transId, status }) => ({ transId, status }));
}

/**
 * The verdict for a link. A transaction doesn't have the link's address, so nobody can have been given the link or pay
 * it: it is safe to create another, after those that were found unpaid have been expired. If one has been paid all the
 * same, it is followed; none is expired while a notification says so.
 */
function judgeLink(payment: PaymentState, transactions: readonly Transaction[], isOver: boolean, now: number): Verdict {
  const { order } = payment;
  const own = ownAmong(order, transactions);
  const usable = own.filter(({ status }) => status !== 'EXPIRED');
  const finding = findOwn(
    order,
    usable.filter(({ status }) => status !== 'CREATED'),
  );
  if (finding.kind === 'found') return { kind: 'adopt', transaction: finding.transaction };
  if (finding.kind !== 'absent') {
    return { kind: 'review', why: finding.reason, held: true, transactions: usable };
  }
  const orphans = usable.map(({ transId }) => transId);
  if (orphans.some((transId) => mayBePaid(payment, transId, now))) return { kind: 'lookAgain', transactions: usable };
  return { kind: 'clear', orphans, next: isOver ? 'fail' : 'send', transactions: own };
}

/**
 * The links of a payment whose workflow was reset, one of which the merchant may have been given: those that have not
 * expired, or otherwise the last one.
 */
function withoutExpired(payment: PaymentState, transactions: readonly Transaction[]): readonly Transaction[] {
  const own = ownAmong(payment.order, transactions);
  const usable = own.filter(({ status }) => status !== 'EXPIRED');
  return usable.length > 0 ? usable : own.slice(-1);
}

/**
 * Follows the one transaction that the list shows for a request that got no answer. Another may have been made of it,
 * which the list shows later: the outcome is in doubt.
 */
export function adopt(payment: PaymentState, { transId }: Transaction, now: number): PaymentState {
  return askSoon(follow(inDoubt(payment), { transId }, now), now);
}

/** Handles the answer to a look-up, under review or not. Under review, nothing is sent. */
export function onListed(payment: PaymentState, searching: Searching, answer: ListAnswer, now: number): PaymentState {
  const lookUps = searching.lookUps + 1;
  const nextAt = now + lookUpDelay(payment, searching.doubt, lookUps, now);
  const searched: Searching = { ...searching, lookUps, lastAt: now, nextAt };
  const verdict = judge(payment, searched, answer, now);
  switch (verdict.kind) {
    case 'adopt':
      return adopt(payment, verdict.transaction, now);
    case 'clear':
      // The list may leave them out from now on, or show them as they were.
      return clear(withNoted(payment, verdict.transactions), searched, verdict.orphans, verdict.next);
    case 'send':
      return aboutToSend(payment, 'policy', searched.doubt);
    case 'end':
      return end(payment, verdict.outcome, now);
    case 'wait':
      return inPhase(payment, { kind: 'waiting', cause: 'order', unsent: verdict.unsent, until: now });
    case 'review':
      // Already under review: only what needs a decision is new. The reason says what is so now.
      return payment.phase.kind === 'review' && !verdict.held
        ? withReason(pursueOn(payment, searched), verdict.why)
        : review(
            verdict.transactions === undefined ? payment : withOthers(payment, verdict.transactions),
            { why: verdict.why, held: verdict.held, pursuit: searched },
            now,
          );
    case 'lookAgain': {
      const { transactions = [], by = nextAt } = verdict;
      return pursueOn(withNoted(payment, transactions), { ...searched, nextAt: Math.min(nextAt, by) });
    }
  }
}

/** A review that may end by itself, with what the latest look-up has come to. */
function withReason(payment: PaymentState, why: string): PaymentState {
  const { phase } = payment;
  return phase.kind === 'review' && !phase.held ? inPhase(payment, { ...phase, why }) : payment;
}

/**
 * Goes on after an attempt to expire an orphan: nobody was given its address, so silence holds nothing up. If an
 * earlier run may have given it to the merchant, it is no orphan: it is looked for once more, and followed. A provider
 * that answers, and hasn't expired it, may be about to show that it is paid after all: nothing is made or said before
 * it has.
 */
export function onOrphanExpired(
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
    answer.kind === 'refused' || (answer.kind === 'expired' && !isOver(payment, answer.transaction.status));
  if (!isAlive) {
    const orphans = clearing.orphans.filter((orphan) => orphan !== transId);
    // This answer shows no transaction. An old one may show it as it was.
    const known = answer.kind === 'alreadyExpired' ? withNoted(payment, [{ transId, status: 'EXPIRED' }]) : payment;
    return clear(known, searching, orphans, clearing.next);
  }
  const why = `the provider doesn't expire ${transId}, which was made for this payment`;
  return now < searching.doubt.since + UNREAD_MS || payment.phase.kind === 'review'
    ? pursueOn(payment, rest)
    : review(payment, { why, held: false, pursuit: rest }, now);
}

/**
 * Ends a payment of which no link could be made, unless an earlier run may have given the merchant one: that is looked
 * for, for a grace period of its own, and then a person is asked.
 */
export function onResetChecked(
  payment: PaymentState,
  searching: Searching,
  mayBeReset: boolean,
  now: number,
): PaymentState {
  const { reason } = searching.doubt;
  if (mayBeReset) return searchAfterReset(payment, reason, now);
  const failed = `no link could be created: ${reason}`;
  return endUnlessNamed(payment, { status: 'FAILED', reason: failed, failureCode: 'link_not_created' }, now);
}

/**
 * Ends a payment of which no transaction is known, unless a notification says that there is one: then it is looked for
 * first, and if that comes to nothing, a person is asked. Of a link, an earlier run has been given it.
 */
export function endUnlessNamed(payment: PaymentState, outcome: Failed, now: number): PaymentState {
  const [named] = namedIn(payment);
  if (named === undefined) return end(payment, outcome, now);
  const reason = `${outcome.reason}; but a notification names ${named} as its transaction`;
  return payment.order.kind === 'link'
    ? searchAfterReset(payment, reason, now)
    : endIfAbsent(payment, outcome, reason, now);
}

/** Ends a payment of which no transaction is known, once the list has had the time to show one. */
export function endIfAbsent(payment: PaymentState, outcome: Failed, reason: string, now: number): PaymentState {
  const doubt: Doubt = { reason, since: now, otherwise: outcome };
  return inPhase(inDoubt(payment), {
    kind: 'searching',
    doubt,
    lookUps: 0,
    nextAt: now + LISTED_AFTER_MS,
  });
}

/** Looks for a link that an earlier run may have given to the merchant, under review or not. */
export function searchAfterReset(payment: PaymentState, before: string, now: number): PaymentState {
  const reason = `${before}; an earlier run of the workflow may have given the merchant a link`;
  const doubt = { reason, since: now, isReset: true } as const;
  const nextAt = now + lookUpDelay(payment, doubt, 0, now);
  return pursueOn(withEarlierRun(payment, doubt), { kind: 'searching', doubt, lookUps: 0, nextAt });
}

function clear(
  payment: PaymentState,
  searching: Searching,
  orphans: readonly TransId[],
  next: 'send' | 'fail',
): PaymentState {
  // Before it fails, Temporal is asked whether an earlier run may have given a link.
  const isUnderWay = orphans.length > 0 || next === 'fail';
  if (isUnderWay) return pursueOn(payment, { ...searching, clearing: { orphans, next } });
  const { clearing: _done, ...rest } = searching;
  return payment.phase.kind === 'review' ? pursueOn(payment, rest) : aboutToSend(payment, 'policy', searching.doubt);
}
