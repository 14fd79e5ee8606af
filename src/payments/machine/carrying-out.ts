import { overrules, type Resolution, type Resolved } from '../words/decision.js';
import type { TransId } from '../words/payment-id.js';
import { type OtherTransaction, type PaymentState, transIdOf } from '../words/payment-state.js';
import { type Deciding, followedTransaction, isNonEmpty, type NonEmpty } from '../words/phase.js';
import type { Transaction } from '../words/transaction.js';
import { isAnothers, knownDifference } from './evidence.js';
import { applyTransaction } from './following.js';
import {
  cannotMoveMoney,
  hasBeenPaid,
  isOfPayment,
  isOpen,
  markPossiblyDouble,
  whyNotEnded,
  whyPaid,
  withTransaction,
  withTransactions,
} from './known-transactions.js';
import { findOwn } from './matching.js';
import { ENDED_ONCE, overrulable, withTransactionAmount } from './objections.js';
import { type Change, type Refusal, refuse, resolutionRefused } from './replies.js';
import { onListed } from './searching.js';
import { objectionToSinglePerson } from './second-person.js';
import { aboutToSend, addOtherTransaction, inPhase, toEnded, toFollowing, withoutUnidentified } from './transitions.js';

/** Refuses the decision; the review stays as it was. */
export function refuseDecision(
  payment: PaymentState,
  { review, request, resolution }: Deciding,
  objection: string | Refusal,
): Change {
  const refusal = typeof objection === 'string' ? resolutionRefused(objection) : objection;
  const isSame = review.number === resolution.review;
  const kept = isSame ? review : { ...review, proposed: undefined };
  return refuse(inPhase(payment, kept), request, withTransactionAmount(payment, resolution, refusal));
}

/** Refuses the decision, and keeps what the provider has shown meanwhile: a further transaction begins a new review. */
export function refuseAndRecordTransactions(
  payment: PaymentState,
  deciding: Deciding,
  objection: string | Refusal,
  own: readonly Transaction[],
  now: number,
): Change {
  const { payment: before, replies } = refuseDecision(payment, deciding, objection);
  const ownId = transIdOf(payment);
  const { held, inquiry } = deciding.review;
  if (ownId === undefined && !held) {
    if (own.length === 0 || inquiry?.kind !== 'searching') return { payment: before, replies };
    // The search itself will find a single transaction: it is kept in mind until then, for a list may leave it out
    // again.
    if (findOwn(payment.order, own).kind === 'found') return { payment: withTransactions(before, own), replies };
    // What the search would put in review is noted now.
    return { payment: onListed(before, inquiry, { kind: 'listed', transactions: own }, now), replies };
  }
  const others = own.filter(({ transId }) => transId !== ownId);
  return { payment: others.reduce((known, other) => addOtherTransaction(known, other, now), before), replies };
}

/** Returns the transaction if it is this payment's; otherwise nothing. */
export function ownOf(payment: PaymentState, transaction: Transaction): Transaction[] {
  return isOfPayment(payment, transaction) ? [transaction] : [];
}

/**
 * Matches a transaction, unless it differs from the order, or others could still move money beside it.
 *
 * @param heard what the provider has said of others that stood in its way; missing when it wasn't asked
 */
export function carryOutMatch(
  payment: PaymentState,
  deciding: Deciding,
  transaction: Transaction,
  now: number,
  heard?: readonly Transaction[],
): Change {
  const { transId } = transaction;
  // What was shown of it counts, though the answer leaves that out.
  const difference = knownDifference(payment, transId);
  const wrong = difference?.words;
  if (difference !== undefined && isAnothers(difference)) return refuseDecision(payment, deciding, difference.words);
  const { before } = deciding;
  if (wrong !== undefined && before !== undefined && before !== wrong) {
    return refuseDecision(payment, deciding, `it has changed since this was decided: ${wrong}; decide again`);
  }
  const objection = objectionToTransaction(payment, deciding.resolution, transaction, wrong);
  if (objection !== undefined) {
    return refuseAndRecordTransactions(payment, deciding, objection, ownOf(payment, transaction), now);
  }
  // One that was accepted before was another transaction's.
  const tolerant = { ...payment, acceptedDifference: wrong };
  // The list may not have been read since the request. It is read at the end, in case the payment was accepted twice.
  const { inquiry } = deciding.review;
  const isUnread = inquiry === undefined || inquiry.kind === 'searching';
  const doubtful = isUnread ? markPossiblyDouble(tolerant) : tolerant;
  const others = (heard ?? []).reduce(withTransaction, withAbandoned(doubtful, transId));
  const known = toFollowing(markDecided(others), { transId }, now);
  const open = cannotMoveMoney(payment, transaction.status) ? known.others.filter((one) => isOpen(known, one)) : [];
  const seen = [...ownOf(payment, transaction), ...(heard ?? [])];
  if (isNonEmpty(open)) {
    // What was heard of the others may be out of date, and nobody else asks about them while a review is held.
    if (heard === undefined) {
      const [first, ...more] = open;
      const ids: NonEmpty<TransId> = [first.transId, ...more.map((one) => one.transId)];
      return {
        payment: inPhase(payment, { ...deciding, step: { kind: 'others', transaction, open: ids, heard: [] } }),
      };
    }
    return refuseAndRecordTransactions(payment, deciding, whyNotEnded(transId, transaction.status, open[0]), seen, now);
  }
  return carryOut(payment, deciding, applyTransaction(known, transaction, now), seen, now);
}

/**
 * Objects to a transaction that differs from the order, and then to one that the provider has assigned to no payment.
 *
 * @param wrong how it differs
 */
function objectionToTransaction(
  payment: PaymentState,
  resolution: Resolution,
  transaction: Transaction,
  wrong: string | undefined,
): Refusal | undefined {
  const { force } = resolution;
  if (wrong !== undefined && !overrules(force, 'different_transaction')) {
    return overrulable(wrong, resolution, 'different_transaction', MATCH_ANYWAY);
  }
  if (isOfPayment(payment, transaction) || overrules(force, 'unassigned_transaction')) return undefined;
  return overrulable(
    `the provider doesn't say whose transaction ${transaction.transId} is`,
    resolution,
    'unassigned_transaction',
    MATCH_ANYWAY,
  );
}

const MATCH_ANYWAY = '; match it anyway';

/**
 * Ends the payment as FAILED: no money has moved, according to the provider and the operator. It is refused, even with
 * `force`, if the provider has ever shown a transaction as SUCCESSFUL. A difference that the operator has seen doesn't
 * begin another review; a transaction that can still move money does, as soon as the provider shows it again.
 */
export function carryOutFail(
  payment: PaymentState,
  deciding: Deciding,
  own: readonly Transaction[],
  isUnanswered: boolean,
  now: number,
): Change {
  const ownId = transIdOf(payment);
  const unanswered = isUnanswered && !own.some(({ transId }) => transId === ownId) ? ownId : undefined;
  // What has ended is kept in mind, too: an old answer may show it as it was.
  const seen = withTransactions(
    payment,
    own.filter(({ transId }) => transId !== ownId),
  );
  // Unless the provider takes that back now.
  const moved =
    seen.others.find(({ status }) => status === 'SUCCESSFUL')?.transId ??
    (unanswered && hasBeenPaid(payment, unanswered) ? unanswered : undefined);
  if (moved !== undefined) {
    return refuseDecision(payment, deciding, `${whyPaid(payment, moved)}: match it`);
  }
  const difference = knownDifference(payment, ownId);
  // A link can still be paid after FAILED.
  const unpaid = payment.order.kind === 'link' ? 'EXPIRED' : 'FAILED';
  const doubtful: PaymentState = {
    ...markPossiblyDouble(markDecided(seen, (other) => (isOpen(payment, other) ? unpaid : other.status))),
    acceptedDifference: difference?.words ?? payment.acceptedDifference ?? deciding.review.why,
  };
  const { by, approval } = resolvedBy(deciding, now);
  const reason = `decided by ${approval === undefined ? by : `${by} and ${approval.by}`}: no money has moved`;
  const hidden = payment.others.filter((other) => isHidden(payment, other, own)).map(({ transId }) => transId);
  const outstanding = unanswered === undefined ? hidden : [unanswered, ...hidden];
  const outcome = { status: 'FAILED', failureCode: 'decided_by_operator', reason } as const;
  return carryOut(payment, deciding, toEnded(doubtful, outcome, now, outstanding), own, now);
}

/** Reports whether the list leaves out a further transaction that has moved money, or still may. */
export function isHidden(
  payment: PaymentState,
  { transId, status }: OtherTransaction,
  own: readonly Transaction[],
): boolean {
  return !cannotMoveMoney(payment, status) && !own.some((one) => one.transId === transId);
}

/** Sends the payment once more. */
export function carryOutResend(payment: PaymentState, deciding: Deciding, now: number): Change {
  const { inquiry } = deciding.review;
  if (inquiry?.kind !== 'searching') {
    return refuseDecision(payment, deciding, ENDED_ONCE);
  }
  return carryOut(payment, deciding, aboutToSend(payment, 'operator', inquiry.ambiguity), [], now);
}

/**
 * Carries a decision out, unless what the provider has shown meanwhile takes a second person.
 *
 * @param decided the payment as the decision makes it
 * @param seen the transactions that were shown for it
 */
function carryOut(
  payment: PaymentState,
  deciding: Deciding,
  decided: PaymentState,
  seen: readonly Transaction[],
  now: number,
): Change {
  const objection = objectionToSinglePerson(payment, deciding);
  if (objection !== undefined) return refuseAndRecordTransactions(payment, deciding, objection, seen, now);
  return {
    payment: { ...withoutUnidentified(decided), resolved: resolvedBy(deciding, now) },
    replies: [{ request: deciding.request, kind: 'done' }],
  };
}

/** Records who decided. A decision of two people is the first one's, with the second's approval. */
function resolvedBy({ resolution, review: { proposed } }: Deciding, now: number): Resolved {
  if (proposed === undefined) return { ...resolution, at: now };
  const { by, why } = resolution;
  return { ...proposed, at: now, approval: { by, why } };
}

/** Keeps the transaction that the payment followed so far as a further one, so that its changes are still noticed. */
function withAbandoned(payment: PaymentState, matchedId: TransId): PaymentState {
  const own = followedTransaction(payment);
  if (own === undefined || own.transId === matchedId) return payment;
  const status = payment.lastShown?.transId === own.transId ? payment.lastShown.status : own.status;
  const abandoned: OtherTransaction = { transId: own.transId, status, decidedAs: status };
  return {
    ...markPossiblyDouble(payment),
    others: [...payment.others.filter(({ transId }) => transId !== own.transId), abandoned],
  };
}

/**
 * Marks further transactions as seen by the operator, and left: for what they are, or for what the decision says that
 * they are.
 */
function markDecided(payment: PaymentState, decidedAs = ({ status }: OtherTransaction) => status): PaymentState {
  return { ...payment, others: payment.others.map((other) => ({ ...other, decidedAs: decidedAs(other) })) };
}
