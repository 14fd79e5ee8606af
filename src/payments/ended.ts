import { disagreement, ownAmong } from './matching.js';
import type { ListAnswer, StatusAnswer } from './outcome.js';
import type { Check, Ended, PaymentState } from './payment-state.js';
import { backoff, pauseAfter } from './polling.js';
import { isFinal, type Transaction } from './transaction.js';
import { firstQuestion, holdForReview, inPhase, isOver, noteOther } from './transitions.js';

/** First and longest pause before an unanswered check is repeated, in ms. */
const CHECK_AGAIN_MS = 60_000;
const MAX_CHECK_AGAIN_MS = 60 * 60_000;

/** How often a check is tried if another follows, and if it is the last. */
const MAX_TRIES = 3;
const MAX_LAST_TRIES = 30;

/** Compares the outcome with the provider's records now, because an operator asked for it. */
export function recheck(payment: PaymentState, ended: Ended, now: number): PaymentState {
  const check: Check = { at: now, next: ended.transId === undefined ? 'list' : 'status', tries: 0 };
  return inPhase(payment, { ...ended, checks: [check, ...ended.checks] });
}

/** Handles the answer about the transaction that the payment ended with. */
export function onCheckedStatus(
  payment: PaymentState,
  ended: Ended,
  answer: StatusAnswer,
  now: number,
): PaymentState {
  const [check, ...later] = ended.checks;
  if (check === undefined) return payment;
  const isAnswered = answer.kind === 'found' || answer.kind === 'unknown';
  const next: Ended = { ...ended, checks: [{ ...check, next: 'list', isAnswered }, ...later] };
  if (answer.kind !== 'found') return inPhase(payment, next);
  return contradicted(inPhase(payment, proven(next, [answer.transaction])), ended, answer.transaction, now);
}

/** Handles the provider's list for an ended payment. */
export function onCheckedList(
  payment: PaymentState,
  ended: Ended,
  answer: ListAnswer,
  now: number,
): PaymentState {
  const [check, ...later] = ended.checks;
  if (check === undefined) return payment;
  const own = answer.kind === 'listed' ? ownAmong(payment.order, answer.transactions) : [];
  const shown = proven(ended, own);
  const isComplete = answer.kind === 'listed' && !leavesOpen(shown, check);
  const next = isComplete
    ? inPhase(payment, { ...shown, checks: later })
    : postpone(payment, shown, check, answer, now);
  return own.reduce((known, transaction) => compared(known, ended, transaction, now), next);
}

/** Makes a check again later, as it was left open; after the last try of the last one a person is asked. */
function postpone(
  payment: PaymentState,
  ended: Ended,
  check: Check,
  answer: ListAnswer,
  now: number,
): PaymentState {
  const later = ended.checks.slice(1);
  const tries = check.tries + 1;
  const isLast = later.length === 0;
  if (tries < (isLast ? MAX_LAST_TRIES : MAX_TRIES)) {
    const isAnswer = answer.kind === 'listed' || answer.kind === 'refused';
    const pause = Math.max(
      backoff(CHECK_AGAIN_MS, check.tries, MAX_CHECK_AGAIN_MS),
      isAnswer ? 0 : pauseAfter(answer, 0, payment.terms),
    );
    const again: Check = { at: now + pause, next: firstQuestion(ended), tries };
    return inPhase(payment, { ...ended, checks: sorted([again, ...later]) });
  }
  const unchecked = inPhase(payment, { ...ended, checks: later });
  return isLast && payment.sends.isDoubtful ? holdForReview(unchecked, openQuestion(ended), now) : unchecked;
}

function openQuestion({ unproven = [] }: Ended): string {
  return unproven.length === 0
    ? "it couldn't be checked whether the payment has more than one transaction"
    : `it was decided that no money has moved, but the provider hasn't said what became of ${unproven.join(', ')}`;
}

/** The outcome after the provider has shown transactions: whatever they contradict is judged by itself. */
function proven(ended: Ended, transactions: readonly Transaction[]): Ended {
  const unproven = ended.unproven?.filter((open) => !transactions.some(({ transId }) => transId === open));
  return { ...ended, unproven };
}

/** Whether a list has left out a transaction of which the provider has to speak. */
function leavesOpen({ unproven = [], transId }: Ended, { isAnswered }: Check): boolean {
  return unproven.some((open) => open !== transId || !isAnswered);
}

function sorted(checks: readonly Check[]): Check[] {
  return [...checks].sort((one, other) => one.at - other.at);
}

function compared(payment: PaymentState, ended: Ended, transaction: Transaction, now: number): PaymentState {
  if (transaction.transId === ended.transId) return contradicted(payment, ended, transaction, now);
  return noteOther(payment, transaction, now);
}

/** Puts an ended payment under review if its transaction contradicts the outcome; otherwise returns it unchanged. */
export function contradicted(
  payment: PaymentState,
  ended: Ended,
  transaction: Transaction,
  now: number,
): PaymentState {
  const wrong = disagreement(payment.order, transaction);
  if (wrong !== undefined && wrong !== payment.tolerated) return holdForReview(payment, wrong, now);
  const { transId, status } = transaction;
  const isDecided = ended.failureCode === 'decided_by_operator';
  // Had the provider said so before, the decision would have been refused.
  if (isDecided && status !== 'SUCCESSFUL' && !isOver(payment, status)) {
    const open =
      payment.order.method === 'link'
        ? 'its link can still be paid'
        : `the provider says that ${transId} is ${status}`;
    return holdForReview(payment, `it was decided that no money has moved, but ${open}`, now);
  }
  // A link that was expired for the decision has moved no money: EXPIRED goes with FAILED.
  if (isDecided && isOver(payment, status)) return payment;
  if (status === ended.status || !isFinal(payment.order, status)) return payment;
  return holdForReview(payment, `it was ${ended.status}, and the provider now says ${status}`, now);
}
