import { isFinal } from '../words/order.js';
import type { ListAnswer, StatusAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import { namedIn, type PaymentState, transIdOf } from '../words/payment-state.js';
import type { Check, Ended } from '../words/phase.js';
import type { Transaction } from '../words/transaction.js';
import { canMoveMoney, cannotMoveMoney, isOpen, withShown } from './known-transactions.js';
import { listedAfterMs } from './look-ups.js';
import { disagreement, mayBeOwn, ownAmong } from './matching.js';
import { backoff, pauseAfter } from './polling.js';
import { addOtherTransaction, holdForReview, inPhase } from './transitions.js';

/** First and longest pause before an unanswered check is repeated, in ms. */
const CHECK_AGAIN_MS = 60_000;
const MAX_CHECK_AGAIN_MS = 60 * 60_000;

/** Most tries of a check that another follows, and of the last one. */
const MAX_TRIES = 3;
const MAX_LAST_TRIES = 30;

/** Compares the outcome with the provider's records now, because an operator asked for it. */
export function recheck(payment: PaymentState, ended: Ended, now: number): PaymentState {
  const check: Check = { at: now, tries: 0, isRecheck: true };
  return inPhase(payment, { ...ended, checks: [check, ...ended.checks] });
}

/** Finds the transaction whose status a check asks for next; `undefined` when it is the list's turn. */
export function nextToAsk(payment: PaymentState, ended: Ended, { asked = [], ...check }: Check) {
  return transactionsToAskAbout(payment, ended, check).find((transId) => !asked.includes(transId));
}

/**
 * Lists the transactions that a check asks about: those that the provider hasn't spoken of, and further ones that
 * could still move money when last heard of. A list that leaves one out proves nothing about it.
 */
function transactionsToAskAbout(payment: PaymentState, ended: Ended, { isRecheck }: Check): TransId[] {
  const own = isRecheck && ended.transId !== undefined ? [ended.transId] : [];
  const others = payment.others.filter((other) => other.status !== 'SUCCESSFUL' && isOpen(payment, other));
  return [...new Set([...own, ...(ended.outstanding ?? []), ...others.map(({ transId }) => transId)])];
}

/** Handles the answer about a transaction that a check has asked for. */
export function onCheckedStatus(
  payment: PaymentState,
  ended: Ended,
  transId: TransId,
  answer: StatusAnswer,
  now: number,
): PaymentState {
  const [check, ...later] = ended.checks;
  if (check === undefined) return payment;
  const { asked = [], heard = [] } = check;
  const isAnswered = answer.kind === 'found' || answer.kind === 'unknown';
  const next: Check = {
    ...check,
    asked: [...asked, transId],
    heard: isAnswered ? [...heard, transId] : heard,
  };
  const known: Ended = { ...ended, checks: [next, ...later] };
  if (answer.kind !== 'found') return inPhase(payment, known);
  return compare(inPhase(payment, withoutShown(known, [answer.transaction])), ended, answer.transaction, now);
}

/** Handles the provider's list for an ended payment. */
export function onCheckedList(payment: PaymentState, ended: Ended, answer: ListAnswer, now: number): PaymentState {
  const [check, ...later] = ended.checks;
  if (check === undefined) return payment;
  const own = answer.kind === 'listed' ? ownAmong(payment.order, answer.transactions) : [];
  const shown = withoutShown(ended, own);
  const open = transactionsToAskAbout(payment, shown, check).filter(
    (transId) => !check.heard?.includes(transId) && !own.some((one) => one.transId === transId),
  );
  // Nothing was ever shown, and an operator has decided over that answer already.
  const isNobodys = answer.kind === 'refused' && ended.isUnlisted && isUnknown(payment);
  const isComplete = (answer.kind === 'listed' || isNobodys) && open.length === 0;
  const next = isComplete
    ? inPhase(payment, { ...shown, checks: later })
    : postpone(payment, shown, check, answer, open, now);
  return own.reduce((known, transaction) => compare(known, ended, transaction, now), next);
}

/** Reports whether neither the provider nor a hint has ever shown a transaction of the payment. */
function isUnknown(payment: PaymentState): boolean {
  const isNamed = namedIn(payment).length > 0;
  return transIdOf(payment) === undefined && payment.others.length === 0 && !isNamed;
}

/** Repeats a check later. After the last try of the last check, a person is asked. */
function postpone(
  payment: PaymentState,
  ended: Ended,
  { tries: before, isRecheck, heard = [] }: Check,
  answer: ListAnswer,
  open: readonly TransId[],
  now: number,
): PaymentState {
  const later = ended.checks.slice(1);
  const tries = before + 1;
  const isLast = later.length === 0;
  if (tries < (isLast ? MAX_LAST_TRIES : MAX_TRIES)) {
    const isAnswer = answer.kind === 'listed' || answer.kind === 'refused';
    const pause = Math.max(
      backoff(CHECK_AGAIN_MS, before, MAX_CHECK_AGAIN_MS),
      isAnswer ? 0 : pauseAfter(answer, 0, payment.terms),
    );
    const isHeard = ended.transId !== undefined && heard.includes(ended.transId);
    const again: Check = { at: now + pause, tries, isRecheck: isHeard ? undefined : isRecheck };
    return inPhase(payment, { ...ended, checks: sortChecks([again, ...later]) });
  }
  const unchecked = inPhase(payment, { ...ended, checks: later });
  return isLast && payment.sends.mayBeDouble ? holdForReview(unchecked, openQuestion(ended, open), now) : unchecked;
}

const DECIDED = 'an operator decided that no money has moved';

function isFailedByOperator(ended: Ended): boolean {
  return ended.status === 'FAILED' && ended.failureCode === 'decided_by_operator';
}

function openQuestion(ended: Ended, open: readonly TransId[]): string {
  if (open.length === 0) return "it couldn't be checked whether the payment has more than one transaction";
  const unanswered = `the provider hasn't said what became of ${open.join(', ')}`;
  return isFailedByOperator(ended) ? `${DECIDED}, but ${unanswered}` : unanswered;
}

/** Adds a transaction of which the provider has to speak yet. */
export function withOutstanding(ended: Ended, transId: TransId): Ended {
  return { ...ended, outstanding: [...new Set([...(ended.outstanding ?? []), transId])] };
}

/** Drops outstanding transactions that the provider has shown. Whatever they contradict is judged by itself. */
function withoutShown(ended: Ended, transactions: readonly Transaction[]): Ended {
  const outstanding = ended.outstanding?.filter((open) => !transactions.some(({ transId }) => transId === open));
  return { ...ended, outstanding };
}

function sortChecks(checks: readonly Check[]): Check[] {
  return [...checks].sort((one, other) => one.at - other.at);
}

function compare(payment: PaymentState, ended: Ended, transaction: Transaction, now: number): PaymentState {
  if (transaction.transId === ended.transId) return reviewIfContradicted(payment, ended, transaction, now);
  return addOtherTransaction(payment, transaction, now);
}

/**
 * Reports whether an answer that an end without money is none can't be one of before: somebody has asked for it now, or
 * the provider has had the time to show the end everywhere.
 */
function isNews(payment: PaymentState, { checks: [check] }: Ended, now: number): boolean {
  return check?.isRecheck === true || now >= payment.updatedAt + listedAfterMs(payment);
}

/** Puts an ended payment under review if its transaction contradicts the outcome; otherwise returns it unchanged. */
export function reviewIfContradicted(
  payment: PaymentState,
  ended: Ended,
  transaction: Transaction,
  now: number,
): PaymentState {
  const wrong = disagreement(payment.order, transaction);
  if (wrong !== undefined && wrong !== payment.acceptedDifference) return holdForReview(payment, wrong, now);
  if (!mayBeOwn(payment.order, transaction)) return payment;
  const { transId } = transaction;
  // An old answer says nothing new.
  const status = withShown(payment, transId, transaction.status).lastShown?.status ?? transaction.status;
  const isDecided = isFailedByOperator(ended);
  // Had the provider said so before, the decision would have been refused.
  if (isDecided && status !== 'SUCCESSFUL' && !cannotMoveMoney(payment, status)) {
    const open =
      payment.order.kind === 'link'
        ? `its link ${transId} can still be paid`
        : `the provider says that ${transId} is ${status}`;
    return holdForReview(payment, `${DECIDED}, but ${open}`, now);
  }
  // A link that was expired for the decision has moved no money: EXPIRED goes with FAILED.
  if (isDecided && cannotMoveMoney(payment, status)) return payment;
  const goesOn = canMoveMoney(payment, status) && isNews(payment, ended, now);
  if (status === ended.status || !(isFinal(payment.order, status) || goesOn)) return payment;
  const words = `the payment ended as ${ended.status}, and the provider now says that ${transId} is ${status}`;
  return holdForReview(payment, words, now);
}
