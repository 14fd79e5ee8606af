import { matchedTransId } from '../words/decision.js';
import type { TransId } from '../words/payment-id.js';
import {
  isKnownTransaction,
  type KnownDifference,
  namedIn,
  type PaymentState,
  reviewOf,
  transIdOf,
} from '../words/payment-state.js';
import { type TransactionMention, UNNAMED } from '../words/phase.js';
import type { Transaction } from '../words/transaction.js';
import { withPossibleDoubles } from './known-transactions.js';
import { differenceOf, disagreement, isDisputed, ownAmong } from './matching.js';
import { holdForReview, inPhase } from './transitions.js';

/*
 * The evidence that operators decide on. A decision names the number of the review that it was made on: any change of
 * what the provider has shown makes that another, so that nothing is decided on something else than what its operator
 * was shown.
 */

/** The most differences that are remembered. */
const MAX_DIFFERENCES = 20;

/**
 * Remembers where the provider shows something else than was ordered. An answer that leaves a field out doesn't correct
 * what an earlier one has said in it.
 */
export function withDifferences(payment: PaymentState, shown: readonly Transaction[]): PaymentState {
  return shown.filter((one) => mayKeepDifference(payment, one)).reduce(withDifference, payment);
}

/**
 * Reports whether differences of a transaction are kept: it is the payment's, or a decision names it. A forged hint
 * could name any other.
 */
function mayKeepDifference(payment: PaymentState, transaction: Transaction): boolean {
  const { transId, externalId, userId } = transaction;
  const { phase, order } = payment;
  const isDecided = phase.kind === 'deciding' && matchedTransId(phase.resolution.decision) === transId;
  const isNamed = externalId === order.id || userId === order.id;
  return isDecided || isNamed || isDisputed(order, transaction) || isKnownTransaction(payment, transId);
}

function withDifference(payment: PaymentState, transaction: Transaction): PaymentState {
  const { transId } = transaction;
  const before = knownDifference(payment, transId);
  const now = differenceOf(payment.order, transaction);
  if (now === undefined && (before === undefined || isLeftOut(transaction, before))) return payment;
  if (now?.words === before?.words) return payment;
  const others = (payment.differences ?? []).filter((one) => one !== before);
  const differences = now === undefined ? others : [...others, { transId, ...now }];
  return { ...payment, differences: differences.slice(-MAX_DIFFERENCES) };
}

function isLeftOut(transaction: Transaction, { field }: KnownDifference): boolean {
  // The book leaves nothing out.
  if (field === 'taken') return false;
  return field === 'externalId' || field === 'names'
    ? transaction.externalId === undefined && transaction.userId === undefined
    : transaction[field] === undefined;
}

/** Finds how the provider has last shown a transaction to differ from the order. */
export function knownDifference({ differences }: PaymentState, transId: TransId | undefined) {
  return differences?.find((one) => one.transId === transId);
}

/** Reports whether a difference is that the transaction may be another payment's. */
export function isAnothers({ field }: Pick<KnownDifference, 'field'>): boolean {
  return field === 'externalId' || isInDispute({ field });
}

/** Reports whether a difference is that two payments may have the transaction. */
export function isInDispute({ field }: Pick<KnownDifference, 'field'>): boolean {
  return field === 'names' || field === 'taken';
}

/**
 * Has a person look at a transaction that names the payment and another, or that another goes by, when the provider
 * first shows it, whatever the payment would have gone on to: nothing is sent, and nothing final told. A decision that
 * is being checked goes on; if it is refused, its review is held.
 */
export function withDisputes(
  before: PaymentState,
  after: PaymentState,
  shown: readonly Transaction[],
  now: number,
): PaymentState {
  const isKnown = ({ transId }: Transaction) => isInDispute(knownDifference(before, transId) ?? { field: 'amount' });
  const disputed = shown.find((one) => isDisputed(after.order, one) && !isKnown(one));
  const { phase } = after;
  const isHeld = phase.kind === 'review' && phase.held;
  if (disputed === undefined || isHeld) return after;
  const why = disagreement(after.order, disputed) ?? '';
  const ownId = transIdOf(after);
  const others = ownAmong(after.order, shown).filter(({ transId }) => transId !== ownId);
  const updated = withPossibleDoubles(after, others);
  return phase.kind === 'deciding'
    ? inPhase(updated, { ...phase, review: { ...phase.review, held: true, why } })
    : holdForReview(updated, why, now);
}

/** Gives a review another number once its evidence has changed. What one of two people has decided on it is void. */
export function renumberReview(before: PaymentState, after: PaymentState): PaymentState {
  const review = reviewOf(after);
  if (review === undefined || review.number !== reviewOf(before)?.number) return after;
  if (!isNewEvidence(before, after)) return after;
  const reviews = after.reviews + 1;
  const { phase } = after;
  // Who confirms the decision of another does so until it is refused.
  return phase.kind === 'deciding'
    ? { ...after, reviews, phase: { ...phase, review: { ...phase.review, number: reviews } } }
    : { ...after, reviews, phase: { ...review, number: reviews, proposed: undefined } };
}

/** Reports whether the provider has shown something else, or a hint has named a transaction that nobody knew of. */
function isNewEvidence(before: PaymentState, after: PaymentState): boolean {
  const named = namedIn(before);
  const isNew = (one: TransactionMention) =>
    !named.includes(one) && (one === UNNAMED || !isKnownTransaction(before, one));
  return shownText(before) !== shownText(after) || namedIn(after).some(isNew);
}

/** Sums up what the provider has shown of the payment's transactions. */
function shownText({ phase, others, lastShown, differences = [] }: PaymentState): string {
  const ownId = transIdOf({ phase });
  const own = lastShown?.transId === ownId ? lastShown?.status : 'CREATED';
  return [
    `${ownId} ${own}`,
    ...others.map((other) => `${other.transId} ${other.status}`).sort(),
    ...differences.map(({ words }) => words).sort(),
  ].join('\n');
}
