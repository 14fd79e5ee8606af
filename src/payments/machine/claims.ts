import { isFinal } from '../words/order.js';
import type { StatusAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import {
  type Claim,
  type Claims,
  isKnownTransaction,
  isUnreleased,
  type PaymentState,
  transIdOf,
} from '../words/payment-state.js';
import { type Ended, inquiryOf } from '../words/phase.js';
import type { ProviderStatus, Transaction } from '../words/transaction.js';
import { askAgain } from './deciding.js';
import { reviewIfContradicted, withOutstanding } from './ended.js';
import type { HintEvent } from './events.js';
import { knownDifference } from './evidence.js';
import { applyTransaction } from './following.js';
import {
  canMoveMoney,
  hasBeenPaid,
  isOfPayment,
  markPossiblyDouble,
  withPossibleDoubles,
  withTransactions,
} from './known-transactions.js';
import { ownerOf } from './matching.js';
import { CONFIRM_PAUSES_MS, ownClaimedPaid, paidClaimUntil, withPaidClaim } from './paid-claims.js';
import { backoff } from './polling.js';
import {
  addOtherTransaction,
  askSoon,
  checksFrom,
  holdForReview,
  inPhase,
  toFollowing,
  withInquiry,
  withoutUnidentified,
} from './transitions.js';

/** The most claims that wait to be asked about, however many hints are forged. */
const MAX_OPEN = 5;

/** The shortest pause between two questions about claims, in ms. */
export const CLAIM_PAUSE_MS = 60_000;

/** Unanswered questions after which a claim is given up, and the longest pause between them, in ms. */
const MAX_UNANSWERED = 8;
const MAX_UNANSWERED_PAUSE_MS = 30 * 60_000;

/**
 * Time after an outcome until the list is read for a transaction that can't be asked about, in ms: forged hints
 * don't hurry it.
 */
const LISTED_WITHIN_MS = 10 * 60_000;

/** The most transactions without an answer that are remembered by their ids. */
const MAX_UNCONFIRMED = 5;

/**
 * Records a hint that names a transaction. If that is the payment's own, the next call for its status is brought
 * forward; once there is an outcome, the provider is only asked if the hint contradicts it. If it is another, the
 * provider is asked about it, because it may be this payment's.
 */
export function recordHint(
  payment: PaymentState,
  { transId, status }: Pick<HintEvent, 'transId' | 'status'>,
  now: number,
): PaymentState {
  const known = status === 'SUCCESSFUL' ? recordPaidClaim(payment, transId, now) : payment;
  if (transId === transIdOf(payment)) {
    const outcome = providersOutcome(payment);
    if (outcome === undefined) return askSoon(known, now, true);
    if (status === outcome || (status !== undefined && !isFinal(payment.order, status))) return payment;
  }
  const reported = addClaim(known, transId, now);
  const inquiry = inquiryOf(reported.phase);
  // Whatever transaction it names, the payment's own may be in the list by now.
  return inquiry?.kind === 'searching' || inquiry?.kind === 'verifying' ? askSoon(reported, now) : reported;
}

/** Records that a hint calls a transaction SUCCESSFUL. A link that is about to be expired is looked at again. */
function recordPaidClaim(payment: PaymentState, transId: TransId, now: number): PaymentState {
  if (hasBeenPaid(payment, transId)) return payment;
  const updated = withPaidClaim(payment, transId, now);
  // What was said before puts nothing off again.
  if (updated === payment) return payment;
  const { phase } = updated;
  const isExpiring = phase.kind === 'deciding' && phase.step.kind === 'expire';
  const decided = isExpiring ? askAgain(updated, phase) : updated;
  const inquiry = inquiryOf(phase);
  if (inquiry?.kind === 'closing' && inquiry.next === 'expire')
    return withInquiry(decided, { ...inquiry, next: 'look' });
  if (inquiry?.kind !== 'searching' || inquiry.clearing === undefined) return decided;
  const { clearing: _cleared, ...searching } = inquiry;
  return withInquiry(decided, searching);
}

/**
 * Has the provider asked about what hints call SUCCESSFUL, as long as it may yet be confirmed: the payment's
 * own transaction, unless it is followed anyway, and those that it has left.
 */
export function askAboutPaidClaims(payment: PaymentState, followed: TransId | undefined, now: number): PaymentState {
  const { open, unconfirmed } = payment.claims;
  const missing = ownClaimedPaid(payment, now).filter(
    (transId) =>
      transId !== followed && !unconfirmed.includes(transId) && !open.some((claim) => claim.transId === transId),
  );
  return missing.reduce((asked, transId) => addClaim(asked, transId, now, 1), payment);
}

/** Returns the outcome that the provider has given for the payment's own transaction, told or still to be verified. */
function providersOutcome({ phase }: PaymentState): ProviderStatus | undefined {
  const inquiry = inquiryOf(phase);
  if (phase.kind === 'ended') return phase.status;
  return inquiry?.kind === 'verifying' ? inquiry.outcome.status : undefined;
}

/** Adds a claim. @param unknown how often the provider has been asked about it, and hasn't confirmed it */
function addClaim(payment: PaymentState, transId: TransId, now: number, unknown = 0): PaymentState {
  const { claims } = payment;
  const open = claims.open.find((claim) => claim.transId === transId);
  if (open !== undefined) {
    // What it says is news: it is asked about as if nobody had before.
    const isNews = claims.paid?.some((one) => one.transId === transId && one.at === now) ?? false;
    const others = claims.open.filter((claim) => claim !== open);
    return isNews ? withOpen(payment, [...others, { ...open, unknown: 0, unanswered: 0, nextAt: now }]) : payment;
  }
  const nextAt = unknown === 0 ? now : now + CONFIRM_PAUSES_MS[0];
  const added: Claim = { transId, nextAt, unanswered: 0, unknown };
  if (claims.open.length < MAX_OPEN) return withOpen(payment, [...claims.open, added]);
  // A claim that the provider doesn't know is replaced, so that forged ones can't keep a true one out for good.
  const reportedPaid = ownClaimedPaid(payment, now);
  const doubtful =
    claims.open.find((claim) => claim.unknown > 0 && !reportedPaid.includes(claim.transId)) ??
    (isKnownTransaction(payment, transId)
      ? claims.open.find((claim) => !isKnownTransaction(payment, claim.transId))
      : undefined);
  if (doubtful === undefined) return leaveToList(payment, transId, now);
  const kept = leaveToList(payment, doubtful.transId, now);
  return withOpen(kept, [...claims.open.filter((claim) => claim !== doubtful), added]);
}

/**
 * Records a hint that names the payment and no transaction, while none is known. An ended payment has its list read
 * soon, unless the hint agrees with its outcome.
 */
export function withUnidentified(payment: PaymentState, status: ProviderStatus | undefined, now: number): PaymentState {
  const { phase, claims } = payment;
  const known: PaymentState = { ...payment, claims: { ...claims, isNamed: true } };
  if (phase.kind !== 'ended') return markPossiblyDouble(known);
  return status === phase.status ? payment : inPhase(markPossiblyDouble(known), listedSoon(phase, now));
}

/** Drops claims about transactions that the provider has shown since. */
export function dropShownClaims(payment: PaymentState, shown: readonly Transaction[]): PaymentState {
  const { claims } = payment;
  const isShown = (named: TransId) => shown.some(({ transId }) => transId === named);
  // One that is shown without a payment isn't remembered as paid: what the hint says counts on.
  const isPaid = (reported: TransId) =>
    shown.some((one) => one.transId === reported && one.status === 'SUCCESSFUL' && ownerIn(payment, one) !== 'unnamed');
  const unconfirmed = claims.unconfirmed.filter((named) => !isShown(named));
  const paid = claims.paid?.filter(({ transId }) => !isPaid(transId));
  const known = shown.some((one) => isOfPayment(payment, one)) ? withoutUnidentified(payment) : payment;
  return { ...known, claims: { ...known.claims, unconfirmed, paid } };
}

/** Finds the claim to ask about next: the one that is due first. */
export function nextClaim({ claims }: PaymentState): Claim | undefined {
  return claims.open.reduce<Claim | undefined>(
    (first, claim) => (first === undefined || claim.nextAt < first.nextAt ? claim : first),
    undefined,
  );
}

/** Returns when the next claim can be asked about, in ms since the epoch; `undefined` when there is none. */
export function claimDueAt(payment: PaymentState): number | undefined {
  const next = nextClaim(payment);
  return next && Math.max(next.nextAt, payment.claims.notBefore);
}

/** Handles the provider's answer about a claimed transaction. */
export function onClaimStatus(
  payment: PaymentState,
  transId: TransId,
  answer: StatusAnswer,
  now: number,
): PaymentState {
  const { claims } = payment;
  const asked = { ...payment, claims: { ...claims, notBefore: now + CLAIM_PAUSE_MS } };
  const claim = claims.open.find((one) => one.transId === transId);
  if (claim === undefined) return asked;
  const others = claims.open.filter((one) => one !== claim);
  switch (answer.kind) {
    case 'found': {
      const owner = ownerIn(payment, answer.transaction);
      if (owner === 'another' || owner === 'disputed') return withOpen(asked, others);
      if (owner === 'unnamed') return askOnceMore(asked, { ...claim, isShown: true }, now);
      const again = withOpen(asked, [...others, ...nextQuestion(claim, now)]);
      if (agrees(payment, answer.transaction, now)) return again;
      const isBehind = paidClaimUntil(payment, transId, now) !== undefined;
      return applyConfirmed(isBehind ? again : withOpen(asked, others), answer.transaction, now);
    }
    case 'unknown':
      return askOnceMore(asked, claim, now);
    default: {
      const unanswered = claim.unanswered + 1;
      if (unanswered >= MAX_UNANSWERED) return giveUpClaim(withOpen(asked, others), transId, now);
      const pause = backoff(CLAIM_PAUSE_MS, claim.unanswered, MAX_UNANSWERED_PAUSE_MS);
      return withOpen(asked, [...others, { ...claim, unanswered, nextAt: now + pause }]);
    }
  }
}

/** Reports whether the answer about the payment's own transaction agrees with its outcome. It may be out of date. */
function agrees(payment: PaymentState, transaction: Transaction, now: number): boolean {
  const { phase } = payment;
  if (transaction.transId !== transIdOf(payment)) return false;
  if (phase.kind === 'ended') return reviewIfContradicted(payment, phase, transaction, now) === payment;
  return transaction.status === providersOutcome(payment);
}

/** Tells whose a transaction is by the provider's word; the hint itself proves nothing. */
function ownerIn(payment: PaymentState, transaction: Transaction): ReturnType<typeof ownerOf> {
  return isOfPayment(payment, transaction) ? 'payment' : ownerOf(payment.order.id, transaction);
}

/**
 * Asks about a claim again that the provider hasn't confirmed. After the last question, one that it has never shown is
 * dropped; of one that it has shown without a payment, the list may tell whose it is, whatever the last answer was.
 */
function askOnceMore(payment: PaymentState, claim: Claim, now: number): PaymentState {
  const others = payment.claims.open.filter(({ transId }) => transId !== claim.transId);
  const next = nextQuestion(claim, now);
  const asked = withOpen(payment, [...others, ...next]);
  return next.length === 0 && claim.isShown ? giveUpClaim(asked, claim.transId, now) : asked;
}

/** Schedules another question about a claim that the provider hasn't confirmed; none after the last pause. */
function nextQuestion(claim: Claim, now: number): readonly Claim[] {
  const pause = CONFIRM_PAUSES_MS[claim.unknown];
  return pause === undefined ? [] : [{ ...claim, unknown: claim.unknown + 1, nextAt: now + pause }];
}

/** Applies a claimed transaction that the provider has confirmed as this payment's. */
function applyConfirmed(payment: PaymentState, transaction: Transaction, now: number): PaymentState {
  const { phase } = payment;
  if (transaction.transId === transIdOf(payment)) {
    if (phase.kind === 'ended') return reviewIfContradicted(payment, phase, transaction, now);
    return isOpenToAnswers(payment) ? applyTransaction(payment, transaction, now) : payment;
  }
  const isOnly = payment.others.every(
    ({ transId, status }) => transId === transaction.transId || !canMoveMoney(payment, status),
  );
  return isOnly && isSearched(payment) && !isUnreleased(payment)
    ? followClaimed(payment, transaction, now)
    : addOtherTransaction(payment, transaction, now);
}

/** Reports whether the provider's answers can change the payment without an operator's decision. */
function isOpenToAnswers({ phase }: PaymentState): boolean {
  return phase.kind !== 'review' || !phase.held;
}

function isSearched(payment: PaymentState): boolean {
  return isOpenToAnswers(payment) && inquiryOf(payment.phase)?.kind === 'searching';
}

/**
 * Follows the transaction of a request in doubt. A link that nobody was given is only remembered, unless it is being
 * paid.
 */
function followClaimed(payment: PaymentState, transaction: Transaction, now: number): PaymentState {
  const { transId, status } = transaction;
  if (payment.order.kind === 'link' && !canMoveMoney(payment, status)) return withTransactions(payment, [transaction]);
  const wrong = knownDifference(payment, transId)?.words;
  if (wrong !== undefined) return holdForReview(withPossibleDoubles(payment, [transaction]), wrong, now);
  // The list may not have been read. It is read at the end, in case the request was accepted twice.
  return applyTransaction(toFollowing(markPossiblyDouble(payment), { transId }, now), transaction, now);
}

/**
 * Gives up a transaction that the provider gives no answer about. It is remembered, and looked for in the provider's
 * list once the payment has ended. If the list can't be read either, the payment goes under review in the end.
 */
function giveUpClaim(payment: PaymentState, transId: TransId, now: number): PaymentState {
  return leaveInDoubt(payment, transId, (phase) => {
    // Checks that are due stay, because a request may wait for them.
    const checks = [...phase.checks.filter(({ at }) => at <= now), ...checksFrom(now)];
    return { ...phase, checks };
  });
}

/**
 * Leaves a transaction to the list, which is read once the payment has ended: too many others wait to be asked about.
 */
function leaveToList(payment: PaymentState, transId: TransId, now: number): PaymentState {
  return leaveInDoubt(payment, transId, (phase) => listedSoon(phase, now));
}

/**
 * Remembers a transaction that isn't confirmed. The checks of an ended payment change as given. The provider has to
 * speak of a transaction that it has shown before: its list may leave that out.
 */
function leaveInDoubt(payment: PaymentState, transId: TransId, change: (phase: Ended) => Ended): PaymentState {
  const doubtful = rememberUnconfirmed(payment, transId);
  const { phase } = doubtful;
  if (phase.kind !== 'ended') return doubtful;
  const ended = change(phase);
  return inPhase(doubtful, isKnownTransaction(doubtful, transId) ? withOutstanding(ended, transId) : ended);
}

/** Has the list read soon. Where no check is due, all of them begin now. */
function listedSoon(ended: Ended, now: number): Ended {
  const [next] = ended.checks;
  const soon = now + LISTED_WITHIN_MS;
  const isSoon = next !== undefined && next.at <= soon;
  const sooner = isSoon ? ended.checks : [{ at: soon, tries: 0 }, ...ended.checks];
  return { ...ended, checks: next === undefined ? checksFrom(now) : sooner };
}

function rememberUnconfirmed(payment: PaymentState, transId: TransId): PaymentState {
  const { claims } = payment;
  const all = [...claims.unconfirmed.filter((one) => one !== transId), transId];
  const kept: Claims = { ...claims, unconfirmed: all.slice(-MAX_UNCONFIRMED) };
  // Of one that forged hints have pushed out, there is still known that there was one.
  return markPossiblyDouble({ ...payment, claims: all.length > MAX_UNCONFIRMED ? { ...kept, isNamed: true } : kept });
}

function withOpen(payment: PaymentState, open: readonly Claim[]): PaymentState {
  return { ...payment, claims: { ...payment.claims, open } };
}
