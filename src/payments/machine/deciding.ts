import { matchedTransId, overrules, type Resolution } from '../words/decision.js';
import type { ListAnswer, StatusAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import {
  decideFrom,
  type OtherTransaction,
  otherAmountOf,
  type PaymentState,
  transIdOf,
} from '../words/payment-state.js';
import { type Deciding, type DecisionStep, isNonEmpty, type Review } from '../words/phase.js';
import { isoTime } from '../words/time.js';
import type { Transaction } from '../words/transaction.js';
import {
  carryOutFail,
  carryOutMatch,
  carryOutResend,
  isHidden,
  ownOf,
  refuseAndRecordTransactions,
  refuseDecision,
} from './carrying-out.js';
import { withOutstanding } from './ended.js';
import { isInDispute, knownDifference } from './evidence.js';
import {
  cannotMoveMoney,
  hasBeenPaid,
  markPossiblyDouble,
  mayBePaid,
  whyPaid,
  withPossibleDoubles,
} from './known-transactions.js';
import { findOwn, mayBeOwn, ownAmong } from './matching.js';
import { namedForDecision, objectionToNewEvidence, overrulable } from './objections.js';
import { claimedPaid, paidClaimUntil } from './paid-claims.js';
import type { Change } from './replies.js';
import { isProposal, propose } from './second-person.js';
import { inPhase } from './transitions.js';

/** Number of times that links are expired for one decision before it is refused. */
const MAX_ROUNDS = 2;

type StepOf<Kind extends DecisionStep['kind']> = Extract<DecisionStep, { readonly kind: Kind }>;

/**
 * Begins to check a decision that nothing stands against: the provider is asked whether its records contradict it. The
 * first of two people's is only kept: the provider is asked when the second one decides.
 */
export function onDecide(
  payment: PaymentState,
  review: Review,
  request: number,
  resolution: Resolution,
  now: number,
): Change {
  if (isProposal(payment, review, resolution)) return propose(payment, review, request, resolution, now);
  const matched = matchedTransId(resolution.decision);
  const deciding: Deciding = {
    kind: 'deciding',
    review,
    resolution,
    request,
    step: firstStep(matched ?? transIdOf(payment)),
    moving: [],
    rounds: 0,
    inView: [...namedForDecision(payment, now), ...claimedPaid(payment, now)],
    before: knownDifference(payment, matched)?.words,
  };
  return { payment: inPhase(payment, deciding) };
}

/** Asks the provider about the payment again, because what it has said for a decision may have changed. */
export function askAgain(payment: PaymentState, deciding: Deciding): PaymentState {
  return inPhase(payment, { ...deciding, step: firstStep(transIdOf(payment)) });
}

function firstStep(transId: TransId | undefined): DecisionStep {
  return transId === undefined ? { kind: 'list' } : { kind: 'status', transId };
}

function goOn(payment: PaymentState, deciding: Deciding, step: DecisionStep): Change {
  return { payment: inPhase(payment, { ...deciding, step }) };
}

/** Goes on with a decision after the answer about the status of its transaction. */
export function onStatusWhileDeciding(
  payment: PaymentState,
  deciding: Deciding,
  transId: TransId,
  answer: StatusAnswer,
  now: number,
): Change {
  const news = objectionToNewEvidence(payment, deciding, now);
  if (news !== undefined) {
    const seen = answer.kind === 'found' ? ownOf(payment, answer.transaction) : [];
    return refuseAndRecordTransactions(payment, deciding, news, seen, now);
  }
  if (answer.kind !== 'found') return withoutStatus(payment, deciding, transId, answer, now);
  const { transaction } = answer;
  const { status } = transaction;
  if (deciding.resolution.decision.action === 'match') return carryOutMatch(payment, deciding, transaction, now);
  if (!mayBeOwn(payment.order, transaction)) return onAnothers(payment, deciding, transId);
  if (cannotMoveMoney(payment, status)) return goOn(payment, deciding, { kind: 'list' });
  if (status === 'SUCCESSFUL' || payment.order.kind !== 'link') {
    return refuseDecision(payment, deciding, `the provider says that ${transId} is ${status}`);
  }
  const moving = [...deciding.moving, transId];
  return goOn(payment, { ...deciding, moving }, { kind: 'list', alive: transId });
}

/** Handles the answer that the payment's transaction is another's: it ends nothing, and a `fail` has to be forced. */
function onAnothers(payment: PaymentState, deciding: Deciding, transId: TransId): Change {
  const { resolution } = deciding;
  const words = knownDifference(payment, transId)?.words ?? `${transId} is another payment's`;
  return overrules(resolution.force, 'different_transaction')
    ? goOn(payment, deciding, { kind: 'list' })
    : refuseDecision(payment, deciding, overrulable(words, resolution, 'different_transaction'));
}

/**
 * Goes on with a decision without the status of its transaction. By force, the provider's earlier answer that money has
 * moved is enough for a match, and a payment can be failed without an answer. Nothing is sent without one.
 */
function withoutStatus(
  payment: PaymentState,
  deciding: Deciding,
  transId: TransId,
  answer: Exclude<StatusAnswer, { readonly kind: 'found' }>,
  now: number,
): Change {
  const { resolution } = deciding;
  const { decision, force } = resolution;
  const isEnough = decision.action === 'match' ? hasBeenPaid(payment, transId) : decision.action === 'fail';
  if (!isEnough || !overrules(force, 'no_answer')) {
    const words =
      answer.kind === 'unknown'
        ? `the provider doesn't know ${transId}: ${answer.message}`
        : `${transId} can't be looked up at the moment; try again`;
    return refuseDecision(payment, deciding, isEnough ? overrulable(words, resolution, 'no_answer') : words);
  }
  if (decision.action === 'fail') return goOn(payment, deciding, { kind: 'list', isUnanswered: true });
  const amount = otherAmountOf(payment, transId);
  const shown = { transId, status: 'SUCCESSFUL', ...(amount !== undefined && { amount }) } as const;
  const matched = carryOutMatch(markPossiblyDouble(payment), deciding, shown, now);
  const { phase } = matched.payment;
  // The payment ends by an earlier status: the provider still has to speak of the transaction.
  return phase.kind === 'ended'
    ? { ...matched, payment: inPhase(matched.payment, withOutstanding(phase, transId)) }
    : matched;
}

/** Goes on with a match after the answer about another transaction, which stands in its way. */
export function onOtherWhileDeciding(
  payment: PaymentState,
  deciding: Deciding,
  step: StepOf<'others'>,
  answer: StatusAnswer,
  now: number,
): Change {
  const heard = answer.kind === 'found' ? [...step.heard, answer.transaction] : step.heard;
  const news = objectionToNewEvidence(payment, deciding, now);
  if (news !== undefined) return refuseAndRecordTransactions(payment, deciding, news, heard, now);
  const open = step.open.slice(1);
  return isNonEmpty(open)
    ? goOn(payment, deciding, { ...step, open, heard })
    : carryOutMatch(payment, deciding, step.transaction, now, heard);
}

/** Goes on with a `fail` or a `resend` after the answer to the look-up in the provider's list. */
export function onListedWhileDeciding(
  payment: PaymentState,
  deciding: Deciding,
  step: StepOf<'list'>,
  answer: ListAnswer,
  now: number,
): Change {
  const own = answer.kind === 'listed' ? ownAmong(payment.order, answer.transactions) : [];
  const news = objectionToNewEvidence(payment, deciding, now);
  if (news !== undefined) return refuseAndRecordTransactions(payment, deciding, news, own, now);
  const isResend = deciding.resolution.decision.action === 'resend';
  if (answer.kind === 'listed') {
    return isResend
      ? resendUnlessListed(payment, deciding, answer.transactions, now)
      : failUnlessListed(payment, deciding, step, own, now);
  }
  if (isResend && answer.kind === 'refused') return resendUnlisted(payment, deciding, answer.message, now);
  const words = "the provider's list can't be read at the moment; try again";
  if (isResend || step.alive !== undefined) return refuseDecision(payment, deciding, words);
  const failed = failUnlisted(payment, deciding, step, words, now);
  return answer.kind === 'refused' ? markUnlisted(failed) : failed;
}

/** Remembers that the payment was decided FAILED over the provider's refusal to list it. */
function markUnlisted(change: Change): Change {
  const { payment } = change;
  return payment.phase.kind === 'ended'
    ? { ...change, payment: inPhase(payment, { ...payment.phase, isUnlisted: true }) }
    : change;
}

/** Sends the payment once more, unless the list shows a transaction of it, or has shown one before. */
function resendUnlessListed(
  payment: PaymentState,
  deciding: Deciding,
  transactions: readonly Transaction[],
  now: number,
): Change {
  const finding = findOwn(payment.order, transactions);
  const known = shownBefore(payment);
  if (finding.kind === 'absent') {
    return known === undefined
      ? carryOutResend(payment, deciding, now)
      : refuseDecision(payment, deciding, `${whyMissing(known)}, or match it`);
  }
  const words =
    finding.kind === 'found'
      ? `the provider shows ${finding.transaction.transId} (${finding.transaction.status}) for this payment: match it`
      : finding.reason;
  return refuseAndRecordTransactions(payment, deciding, words, ownAmong(payment.order, transactions), now);
}

/** Finds a transaction that the provider has shown: nothing is sent beside it. A link that has ended doesn't count. */
function shownBefore(payment: PaymentState): OtherTransaction | undefined {
  const { others, order } = payment;
  return others.find(({ status }) => order.kind !== 'link' || !cannotMoveMoney(payment, status));
}

/**
 * Decides on a `resend` where the provider refuses to list the payment. That may be its word that it has none, or that
 * something is wrong with the question: by itself it proves nothing. An operator who has looked elsewhere may insist,
 * but not before the list would show what was taken, nor while anything names a transaction.
 */
function resendUnlisted(payment: PaymentState, deciding: Deciding, message: string, now: number): Change {
  const { resolution } = deciding;
  const known = shownBefore(payment);
  if (known !== undefined) return refuseDecision(payment, deciding, `${whyMissing(known)}, or match it`);
  const [named] = namedForDecision(payment, now);
  if (named !== undefined) return refuseDecision(payment, deciding, `a notification names ${named} for this payment`);
  const from = decideFrom(payment);
  const words = `the provider refuses to list the payment (${message}), so it isn't known whether it has a transaction: look in its portal`;
  if (now < from) return refuseDecision(payment, deciding, `${words}, and decide after ${isoTime(from)}`);
  return overrules(resolution.force, 'no_answer')
    ? carryOutResend(payment, deciding, now)
    : refuseDecision(payment, deciding, overrulable(words, resolution, 'no_answer'));
}

/** Fails the payment without a list, if the operator insists. */
function failUnlisted(
  payment: PaymentState,
  deciding: Deciding,
  step: StepOf<'list'>,
  words: string,
  now: number,
): Change {
  const { resolution } = deciding;
  return overrules(resolution.force, 'no_answer')
    ? failUnlessHidden(payment, deciding, step, [], now)
    : refuseDecision(payment, deciding, overrulable(words, resolution, 'no_answer'));
}

/** Fails the payment, unless something can move money. Unpaid links are expired first. */
function failUnlessListed(
  payment: PaymentState,
  deciding: Deciding,
  step: StepOf<'list'>,
  own: readonly Transaction[],
  now: number,
): Change {
  const { resolution } = deciding;
  const disputed = payment.differences?.find(isInDispute);
  if (disputed !== undefined && !overrules(resolution.force, 'different_transaction')) {
    const objection = overrulable(disputed.words, resolution, 'different_transaction');
    return refuseAndRecordTransactions(payment, deciding, objection, own, now);
  }
  const moving = own.filter(({ status }) => !cannotMoveMoney(payment, status));
  const isShownPaid = moving.some(({ status }) => status === 'SUCCESSFUL');
  const ids = moving.map(({ transId }) => transId);
  const alive = [...new Set(step.alive === undefined ? ids : [step.alive, ...ids])];
  if (!isNonEmpty(alive)) return failUnlessHidden(payment, deciding, step, own, now);
  const isPaid = isShownPaid || alive.some((transId) => mayBePaid(payment, transId, now));
  if (isPaid || payment.order.kind !== 'link' || deciding.rounds >= MAX_ROUNDS) {
    const reported = alive.find((transId) => paidClaimUntil(payment, transId, now) !== undefined);
    const shown = moving.map(({ transId, status }) => `${transId} (${status})`).join(', ');
    const words =
      reported === undefined || isShownPaid
        ? `the provider shows ${shown || alive.join(', ')} for this payment`
        : `${whyPaid(payment, reported)}; try again in a few minutes`;
    return refuseAndRecordTransactions(payment, deciding, words, own, now);
  }
  // The list may not be there to be read again afterwards.
  const others = moving.filter(({ transId }) => transId !== transIdOf(payment));
  const updated = others.length === 0 ? payment : withPossibleDoubles(payment, others);
  return goOn(updated, { ...deciding, moving: [...deciding.moving, ...alive] }, { kind: 'expire', alive });
}

/** Fails the payment, unless the list leaves out what could still move money when last heard of. */
function failUnlessHidden(
  payment: PaymentState,
  deciding: Deciding,
  { isUnanswered }: StepOf<'list'>,
  own: readonly Transaction[],
  now: number,
): Change {
  const { resolution } = deciding;
  const shown = deciding.moving.find((transId) => !hasEnded(payment, transId, own));
  if (shown !== undefined) {
    const words = `the provider has shown ${shown} since this was decided, and not that it has come to its end; try again`;
    return refuseDecision(payment, deciding, words);
  }
  const hidden = payment.others.filter((other) => isHidden(payment, other, own));
  return hidden.length === 0 || overrules(resolution.force, 'missing_transaction')
    ? carryOutFail(payment, deciding, own, isUnanswered === true, now)
    : refuseDecision(
        payment,
        deciding,
        overrulable(hidden.map(whyMissing).join('; '), resolution, 'missing_transaction'),
      );
}

/** Reports whether the provider has last shown a transaction as one that has moved no money, and never will. */
function hasEnded(payment: PaymentState, transId: TransId, own: readonly Transaction[]): boolean {
  const known = [...own, ...payment.others, ...(payment.lastShown ? [payment.lastShown] : [])];
  const last = known.find((one) => one.transId === transId);
  return last !== undefined && cannotMoveMoney(payment, last.status);
}

function whyMissing({ transId, status }: OtherTransaction): string {
  return `${transId} was ${status} when last heard of, and is missing from what the provider lists now; try again`;
}

/** Goes on after an attempt to expire a link, whatever its result. After the last one, the provider is asked again. */
export function onExpiredWhileDeciding(
  payment: PaymentState,
  deciding: Deciding,
  step: StepOf<'expire'>,
  transId: TransId,
): Change {
  const alive = step.alive.filter((one) => one !== transId);
  return isNonEmpty(alive)
    ? goOn(payment, deciding, { ...step, alive })
    : { payment: askAgain(payment, { ...deciding, rounds: deciding.rounds + 1 }) };
}
