import type { ListAnswer } from '../words/outcome.js';
import type { PaymentState } from '../words/payment-state.js';
import type { Verifying } from '../words/phase.js';
import { applyTransaction } from './following.js';
import {
  canMoveMoney,
  cannotMoveMoney,
  markPossiblyDouble,
  openOther,
  whyNotEnded,
  withTransaction,
} from './known-transactions.js';
import { graceEnd, lookUpDelay } from './look-ups.js';
import { disagreement, ownAmong } from './matching.js';
import { askSoon, holdForReview, toEnded, toReview, withInquiry } from './transitions.js';

/**
 * Handles the list that is read before a payment in doubt ends without money, under review or not. Another transaction
 * that has moved money, or still can, is put before a person, whether it is listed now or was known before.
 */
export function onListedWhileVerifying(
  payment: PaymentState,
  verifying: Verifying,
  answer: ListAnswer,
  now: number,
): PaymentState {
  if (answer.kind !== 'listed') return lookAgain(payment, verifying, UNREAD, now);
  const { of, outcome, interimStatus } = verifying;
  const own = ownAmong(payment.order, answer.transactions);
  const followed = own.find(({ transId }) => transId === of.transId);
  const known = own.filter((one) => one !== followed).reduce(withTransaction, payment);
  const isPaid = followed?.status === 'SUCCESSFUL';
  // A link that the book doesn't know may have been given before the book was restored.
  const left = isPaid ? undefined : own.find((one) => one !== followed && !cannotMoveMoney(known, one.status));
  const open = openOther(known) ?? left;
  if (open !== undefined) {
    return holdForReview(
      markPossiblyDouble(known),
      whyNotEnded(of.transId, isPaid ? followed.status : outcome.status, open),
      now,
    );
  }
  // The answer by which it ends may have left that out.
  const wrong = followed && disagreement(payment.order, followed);
  if (wrong !== undefined && wrong !== payment.acceptedDifference) return holdForReview(known, wrong, now);
  // It has been shown since as one that moves money, and the list leaves it out: it is asked about itself.
  const { lastShown } = payment;
  if (followed === undefined && lastShown?.transId === of.transId && canMoveMoney(payment, lastShown.status))
    return askSoon(withInquiry(known, { ...of, status: interimStatus }), now);
  // It was not final, after all, or the list is behind.
  if (followed !== undefined && !isPaid && canMoveMoney(payment, followed.status)) {
    return lookAgain(known, verifying, `the provider's list shows it as ${followed.status}`, now);
  }
  return isPaid ? applyTransaction(known, followed, now) : toEnded(known, outcome, now);
}

const UNREAD = "it couldn't be looked up whether the provider has another transaction for this payment";

/** Looks again: the payment doesn't end meanwhile, and after the grace period a person is asked. */
function lookAgain(payment: PaymentState, verifying: Verifying, but: string, now: number): PaymentState {
  const lookUps = verifying.lookUps + 1;
  const nextAt = now + lookUpDelay(payment, verifying, lookUps, now);
  const inquiry: Verifying = { ...verifying, lookUps, lastAt: now, nextAt };
  // Under review, a person has been asked already.
  const isOver = now >= graceEnd(payment, verifying) && payment.phase.kind === 'verifying';
  if (!isOver) return withInquiry(payment, inquiry);
  const { of, outcome } = verifying;
  const why = `${of.transId} is ${outcome.status}, and ${but}`;
  return toReview(payment, { why, held: false, inquiry }, now);
}
