import { transIdOf } from '../../src/payments/words/payment-state.js';
import { canMove, type Violation } from './invariants.js';
import { AMOUNT, WRONG_AMOUNT } from './setting.js';
import { type Machine, type OwnTransaction, type Situation, transactionOf } from './situation.js';

/*
 * What a payment counts for among a collection's refunds: as a refund, what it has sent or may have; as a collection,
 * what it has collected.
 */

/** Lists the rules that a payment breaks as a refund, or as a collection. */
export function refundViolations(situation: Situation, { sentBy, collectedBy }: Machine): Violation[] {
  const { payment } = situation;
  return payment.order.kind === 'payout'
    ? countViolations(situation, sentBy(payment))
    : collectedViolations(situation, collectedBy(payment));
}

function countViolations({ payment, provider, book, todo }: Situation, counted: number): Violation[] {
  const moving = provider.transactions.filter((one) => canMove(payment.order, one) && !one.hasTurned && !one.isLater);
  // Once a person has decided and the checks are over, nothing is left that could show it.
  const isHidden = book.isFailed && todo.kind === 'end';
  // One request may have made several that nobody knows of yet.
  const requests = isHidden ? 0 : Math.min(moving.length, provider.requests);
  const least = AMOUNT * Math.max(requests, book.final ? 0 : 1);
  const shown = moving.filter(({ transId }) => book.shown.some((one) => one.transId === transId && !one.isAside));
  const sent = shown.reduce((sum, one) => sum + amountOf(one, book), 0);
  if (counted < Math.max(least, sent)) {
    const what = `${book.final ? book.status : payment.phase.kind}, ${moving.length} transactions can move or have moved`;
    return [{ invariant: 'refundCounts', what: `${what} money, and it counts for ${counted} XAF` }];
  }
  const isUnpaid = !provider.transactions.some((one) => canMove(payment.order, one));
  const isFree = todo.kind === 'end' && isUnpaid && book.shown.every(({ status }) => status === 'FAILED');
  if (!isFree || counted === 0) return [];
  return [{ invariant: 'refundFree', what: `it has ended, nothing has moved, and it counts for ${counted} XAF` }];
}

function collectedViolations({ payment, provider, book }: Situation, collected: number | undefined): Violation[] {
  if (collected === undefined) return [];
  // What is taken back later is shown later.
  const paid = provider.transactions.filter(({ status, hasTurned }) => status === 'SUCCESSFUL' || hasTurned);
  const most = paid.reduce((sum, { isWrong }) => sum + (isWrong ? WRONG_AMOUNT : AMOUNT), 0);
  const own = transactionOf(provider, transIdOf(payment) ?? ('' as never));
  const least = own === undefined ? 0 : amountOf(own, book);
  if (least <= collected && collected <= most) return [];
  return [{ invariant: 'collected', what: `${collected} XAF can be refunded; ${least} to ${most} XAF were collected` }];
}

/** The amount of a transaction, as far as the provider has shown it; in XAF. */
function amountOf({ transId, isWrong }: OwnTransaction, { shown }: Situation['book']): number {
  const isKnown = shown.some((one) => one.transId === transId && one.isWrong);
  return isWrong ? (isKnown ? WRONG_AMOUNT : 0) : AMOUNT;
}
