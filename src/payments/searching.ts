import { findOwn, ownAmong } from './matching.js';
import type { ListAnswer } from './outcome.js';
import type { TransId } from './payment-id.js';
import type { PaymentState, Searching } from './payment-state.js';
import type { Transaction } from './transaction.js';
import {
  aboutToSend,
  askSoon,
  describeDoubt,
  end,
  follow,
  graceEnd,
  lookUpDelay,
  pursueOn,
  review,
  withOthers,
} from './transitions.js';

/** What a look-up makes of a request in doubt. */
type Verdict =
  /** It was taken: go on as if it had answered. */
  | { readonly kind: 'adopt'; readonly transaction: Transaction }
  /** Send once more, or fail, when the links that were made and given to nobody have been expired. */
  | { readonly kind: 'clear'; readonly orphans: readonly TransId[]; readonly next: 'send' | 'fail' }
  /** Send once more. */
  | { readonly kind: 'send' }
  /** A person must look. Unless only a decision ends the review, look-ups go on. */
  | {
      readonly kind: 'review';
      readonly why: string;
      readonly held: boolean;
      readonly transactions?: readonly Transaction[];
    }
  /** Nothing is known yet. */
  | { readonly kind: 'lookAgain' };

/**
 * The verdict on a request in doubt after one more look-up.
 *
 * Money that may have moved is never sent again on a doubt: a resend needs an answered look-up at the end of the
 * grace period that shows nothing, no notification that says otherwise, the policy that allows it, and that it wasn't
 * used before.
 */
function judge(payment: PaymentState, { doubt }: Searching, answer: ListAnswer, now: number): Verdict {
  const isOver = now >= graceEnd(payment, doubt);
  const unknown = describeDoubt(doubt.reason);
  if (answer.kind !== 'listed') {
    const why = `${unknown}, and it couldn't be looked up`;
    return isOver ? { kind: 'review', why, held: false } : { kind: 'lookAgain' };
  }
  const isLink = payment.order.method === 'link';
  if (isLink && !doubt.isReset) return judgeLink(payment, answer.transactions, isOver);

  const listed = isLink ? withoutExpired(payment, answer.transactions) : answer.transactions;
  const finding = findOwn(payment.order, listed);
  switch (finding.kind) {
    case 'found':
      return { kind: 'adopt', transaction: finding.transaction };
    case 'mismatch':
    case 'several':
      return {
        kind: 'review',
        why: finding.reason,
        held: true,
        transactions: ownAmong(payment.order, answer.transactions),
      };
    case 'absent': {
      if (!isOver) return { kind: 'lookAgain' };
      const named = reportedIn(payment);
      const isResend = payment.terms.ambiguousPolicy === 'resend' && !payment.sends.byPolicy;
      if (isResend && named.length === 0) return { kind: 'send' };
      const report = named.length === 0 ? '' : `; a notification names ${named.join(', ')} for it`;
      return { kind: 'review', why: `${unknown}, and the provider doesn't show it${report}`, held: false };
    }
  }
}

/**
 * A link is different: a transaction doesn't tell the link's address, so that nobody can have been given it, and
 * nobody can pay it. Making another is safe, and the ones found unpaid are expired. Should one have been paid after
 * all, it is the payment.
 */
function judgeLink(payment: PaymentState, transactions: readonly Transaction[], isOver: boolean): Verdict {
  const { order } = payment;
  const usable = ownAmong(order, transactions).filter(({ status }) => status !== 'EXPIRED');
  const finding = findOwn(
    order,
    usable.filter(({ status }) => status !== 'CREATED'),
  );
  if (finding.kind === 'found') return { kind: 'adopt', transaction: finding.transaction };
  if (finding.kind !== 'absent') {
    return { kind: 'review', why: finding.reason, held: true, transactions: usable };
  }
  const orphans = usable.map(({ transId }) => transId);
  return { kind: 'clear', orphans, next: isOver ? 'fail' : 'send' };
}

/**
 * The links of a payment whose workflow was reset, one of which the merchant may have been given: those that can still be
 * paid, or have been, or else one that has expired.
 */
function withoutExpired(payment: PaymentState, transactions: readonly Transaction[]): readonly Transaction[] {
  const own = ownAmong(payment.order, transactions);
  const usable = own.filter(({ status }) => status !== 'EXPIRED');
  return usable.length > 0 ? usable : own.slice(-1);
}

function reportedIn({ reports }: PaymentState): readonly TransId[] {
  return [...reports.open.map(({ transId }) => transId), ...reports.unconfirmed];
}

/** An answer to the look-up of a search, under review or not. In a review nothing is sent. */
export function onListed(
  payment: PaymentState,
  searching: Searching,
  answer: ListAnswer,
  now: number,
): PaymentState {
  const lookUps = searching.lookUps + 1;
  const nextAt = now + lookUpDelay(payment, searching.doubt, lookUps, now);
  const searched: Searching = { ...searching, lookUps, lastAt: now, nextAt };
  const verdict = judge(payment, searched, answer, now);
  switch (verdict.kind) {
    case 'adopt':
      return askSoon(follow(payment, { transId: verdict.transaction.transId }, now), now);
    case 'clear':
      return clear(payment, searched, verdict.orphans, verdict.next, now);
    case 'send':
      return payment.phase.kind === 'review'
        ? pursueOn(payment, searched)
        : aboutToSend(payment, 'policy', searched.doubt);
    case 'review':
      // Under review already, the search's own worries are no news.
      return payment.phase.kind === 'review' && !verdict.held
        ? pursueOn(payment, searched)
        : review(
            verdict.transactions === undefined ? payment : withOthers(payment, verdict.transactions),
            { why: verdict.why, held: verdict.held, pursuit: searched },
            now,
          );
    case 'lookAgain':
      return pursueOn(payment, searched);
  }
}

/** One orphan is dealt with, expired or not: nobody was given its address. */
export function onOrphanExpired(
  payment: PaymentState,
  searching: Searching,
  transId: TransId,
  now: number,
): PaymentState {
  const { clearing } = searching;
  if (clearing === undefined) return payment;
  const orphans = clearing.orphans.filter((orphan) => orphan !== transId);
  return clear(payment, searching, orphans, clearing.next, now);
}

function clear(
  payment: PaymentState,
  searching: Searching,
  orphans: readonly TransId[],
  next: 'send' | 'fail',
  now: number,
): PaymentState {
  if (orphans.length > 0) return pursueOn(payment, { ...searching, clearing: { orphans, next } });
  const { clearing: _done, ...rest } = searching;
  if (next === 'fail') {
    const reason = `no link could be made: ${searching.doubt.reason}`;
    return end(payment, { status: 'FAILED', reason }, now);
  }
  return payment.phase.kind === 'review'
    ? pursueOn(payment, rest)
    : aboutToSend(payment, 'policy', searching.doubt);
}
