import type { ListAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import { isUnreleased, namedIn, type PaymentState } from '../words/payment-state.js';
import type { Ambiguity, Failed, Searching, Unsent } from '../words/phase.js';
import { HOUR_MS } from '../words/time.js';
import type { Transaction } from '../words/transaction.js';
import { listedAfterGap } from './gap.js';
import { cannotMoveMoney, hasBeenPaid, latestOf, mayBePaid } from './known-transactions.js';
import { graceEnd, LISTED_AFTER_MS, whyAmbiguous } from './look-ups.js';
import { findOwn, ownAmong } from './matching.js';

/** The next step for an ambiguous request after a look-up. */
type Verdict =
  /** The provider accepted it: follow the transaction. */
  | { readonly kind: 'adopt'; readonly transaction: Transaction }
  /** Expire the links that were created but given to nobody; then send once more, or fail. */
  | {
      readonly kind: 'expireUnissued';
      readonly unissued: readonly TransId[];
      readonly next: 'send' | 'fail';
      readonly transactions: readonly Transaction[];
    }
  /** Send once more. */
  | { readonly kind: 'send' }
  /** There is none: the payment ends as it would have without the ambiguity. */
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
  /** Nothing is known yet, but for these links: a hint says that one has been paid. */
  | { readonly kind: 'lookAgain'; readonly transactions?: readonly Transaction[]; readonly by?: number };

/** Longest time that the provider may leave a request open before a person is asked, in ms. */
export const UNREAD_MS = 24 * HOUR_MS;

/**
 * Judges an ambiguous request after one more look-up.
 *
 * A resend of money needs all of these: the policy allows it and has not been used before, the grace period is over,
 * the look-up was answered and shows nothing, nothing has been shown before, and no hint names a transaction.
 */
export function judge(payment: PaymentState, { ambiguity }: Searching, answer: ListAnswer, now: number): Verdict {
  const isGraceOver = now >= graceEnd(payment, ambiguity);
  const isLink = payment.order.kind === 'link';
  if (answer.kind !== 'listed') {
    const why = `${whyAmbiguous(ambiguity.reason)}, and the payment couldn't be looked up`;
    // Nobody has such a link: it ends, or is made again, by itself once the provider can be read. So does what surely
    // wasn't sent.
    const endsByItself = ambiguity.otherwise ? namedIn(payment).length === 0 : isLink;
    const isAsked = endsByItself ? now >= ambiguity.since + UNREAD_MS : isGraceOver;
    return isAsked ? { kind: 'review', why, held: false } : { kind: 'lookAgain' };
  }
  const listed = answer.transactions.map((one) => asKnown(payment, one));
  const transactions = [...listed, ...leftOut(payment, answer.transactions)];
  if (isLink) return judgeLink(payment, ambiguity, transactions, now);

  const finding = findOwn(payment.order, transactions);
  switch (finding.kind) {
    case 'found':
      return isUnreleased(payment)
        ? { kind: 'review', why: sentUnreleased(finding.transaction), held: true, transactions: [finding.transaction] }
        : { kind: 'adopt', transaction: finding.transaction };
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
      const { otherwise, unsent } = ambiguity;
      const next =
        (otherwise && ({ kind: 'end', outcome: otherwise } as const)) ??
        (unsent && ({ kind: 'wait', unsent } as const));
      if (next && isNothing) {
        const by = listedBy(ambiguity);
        return now >= by ? next : { kind: 'lookAgain', by };
      }
      if (!isGraceOver) return { kind: 'lookAgain' };
      const isResend = payment.terms.ambiguousPolicy === 'resend' && !payment.sends.policySpent;
      return isResend && isNothing
        ? { kind: 'send' }
        : { kind: 'review', why: whyNotShown(payment, ambiguity), held: false };
    }
  }
}

function listedBy({ listedBy, since }: Ambiguity): number {
  return listedBy ?? since + LISTED_AFTER_MS;
}

function whyNotShown(payment: PaymentState, { reason }: Ambiguity): string {
  const named = namedIn(payment);
  const [seen] = payment.others;
  const claim = named.length === 0 ? '' : `; a notification names ${named.join(', ')} as its transaction`;
  const before = seen === undefined ? '' : `, but has shown ${seen.transId} (${seen.status})`;
  return `${whyAmbiguous(reason)}, and the provider doesn't show it${before}${claim}`;
}

/** Tells why a person has to look at a payout that was sent, though nothing has released it, as far as is known. */
function sentUnreleased({ transId, status }: Transaction): string {
  return `the provider has ${transId} (${status}) for this payout, which was held and not released, as far as is known`;
}

/** Corrects an old answer about a transaction that was paid once, or has ended. */
function asKnown(payment: PaymentState, transaction: Transaction): Transaction {
  const { transId, status } = transaction;
  const isPaid = hasBeenPaid(payment, transId) && !cannotMoveMoney(payment, status);
  const known = payment.others.find((other) => other.transId === transId);
  return { ...transaction, status: isPaid ? 'SUCCESSFUL' : latestOf(payment, known, status) };
}

/** Lists what the provider has shown before and doesn't list now: it is there all the same. */
function leftOut(payment: PaymentState, listed: readonly Transaction[]): readonly Transaction[] {
  return payment.others
    .filter(
      ({ transId, status }) => !cannotMoveMoney(payment, status) && !listed.some((one) => one.transId === transId),
    )
    .map(({ transId, status }) => ({ transId, status }));
}

/**
 * Judges the request for a link. The list doesn't have a link's address, so nobody can have been given the link or pay
 * it: it is safe to create another, after those that were found unpaid have been expired. If one has been paid all the
 * same, it is followed; none is expired while a hint says so. A payment that is to end waits for what hints name.
 */
function judgeLink(
  payment: PaymentState,
  ambiguity: Ambiguity,
  transactions: readonly Transaction[],
  now: number,
): Verdict {
  const { order } = payment;
  const isGraceOver = now >= graceEnd(payment, ambiguity);
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
  const unissued = usable.map(({ transId }) => transId);
  if (unissued.some((transId) => mayBePaid(payment, transId, now))) return { kind: 'lookAgain', transactions: usable };
  const listedBefore = listedAfterGap(payment);
  if (now < listedBefore) return { kind: 'lookAgain', transactions: usable, by: listedBefore };
  if (ambiguity.otherwise !== undefined) {
    const by = listedBy(ambiguity);
    const isNamed = namedIn(payment).length > 0;
    if (now < by) return { kind: 'lookAgain', transactions: usable, by };
    if (isNamed && !isGraceOver) return { kind: 'lookAgain', transactions: usable };
    if (isNamed) return { kind: 'review', why: whyNotShown(payment, ambiguity), held: false, transactions: usable };
  }
  const isOver = isGraceOver || ambiguity.otherwise !== undefined;
  return { kind: 'expireUnissued', unissued, next: isOver ? 'fail' : 'send', transactions: own };
}
