import type { Resolution } from './decision.js';
import { applyTransaction } from './following.js';
import { disagreement, findOwn, isOwn, ownAmong } from './matching.js';
import type { ListAnswer, StatusAnswer } from './outcome.js';
import type { TransId } from './payment-id.js';
import {
  type Deciding,
  decideFrom,
  type OtherTransaction,
  type PaymentState,
  type Review,
  transIdOf,
} from './payment-state.js';
import { onListed } from './searching.js';
import type { Transaction } from './transaction.js';
import {
  aboutToSend,
  type Change,
  canMoveMoney,
  end,
  follow,
  followedTransaction,
  inDoubt,
  inPhase,
  isOver,
  matchedTransId,
  noteOther,
  type Refusal,
  refuse,
} from './transitions.js';

/** Longest quiet that the provider may have asked for while a decision waits for its answers, in ms. */
const QUIET_MAX_MS = 60_000;

/** How often links are expired for one decision before it is refused. */
const ROUNDS_MAX = 2;

/** Why a decision can't even be looked into, without asking the provider; `undefined` when it can. */
export function objectionTo(payment: PaymentState, resolution: Resolution, now: number): Refusal | undefined {
  const { phase } = payment;
  if (phase.kind === 'deciding') return no('another decision is being looked into; try again');
  if (phase.kind !== 'review') {
    return { type: 'NotUnderReview', words: 'the payment is not under review' };
  }
  const words =
    objectionToNumber(phase, resolution) ??
    objectionToSending(phase, resolution) ??
    objectionToHaste(payment, resolution, now) ??
    objectionToQuiet(payment, now);
  return words === undefined ? undefined : no(words);
}

function objectionToNumber({ number, why }: Review, { review }: Resolution): string | undefined {
  return review === number
    ? undefined
    : `the review has changed: it is number ${number} now (${why}); look at the payment again`;
}

function objectionToSending({ pursuit, held, why }: Review, { decision }: Resolution): string | undefined {
  if (decision.action !== 'resend') return undefined;
  if (pursuit?.kind === 'following' || pursuit?.kind === 'closing') {
    const { transId } = pursuit.kind === 'closing' ? pursuit.of : pursuit;
    return `the provider has taken it as ${transId}: it can't be sent again`;
  }
  if (held) return `the provider has a transaction for it: match that, or fail it (${why})`;
  return pursuit === undefined ? "it has ended once: it can't be sent again" : undefined;
}

/**
 * The provider's list may lag, and a notification may know more than it: one may even come while a decision waits for
 * its answers. Only an operator who insists goes on.
 */
function objectionToHaste(
  payment: PaymentState,
  { decision, force }: Resolution,
  now: number,
): string | undefined {
  if (force) return undefined;
  const named = payment.reports.open.find(({ transId }) => transId !== matchedTransId(decision));
  if (named !== undefined) {
    return `a notification names ${named.transId} for it, and the provider has yet to say what that is; try again in some minutes, or insist with "force": true`;
  }
  const from = decideFrom(payment);
  return decision.action === 'match' || now >= from
    ? undefined
    : `the provider may show a transaction late: decide after ${new Date(from).toISOString()}, or insist with "force": true`;
}

function objectionToQuiet({ quietUntil }: PaymentState, now: number): string | undefined {
  return quietUntil !== undefined && quietUntil > now + QUIET_MAX_MS
    ? `the provider asks for quiet until ${new Date(quietUntil).toISOString()}; try again then`
    : undefined;
}

/** A decision on the review is looked into: the provider is asked what speaks against it. */
export function onDecide(
  payment: PaymentState,
  request: number,
  resolution: Resolution,
  now: number,
): Change {
  const refusal = objectionTo(payment, resolution, now);
  if (refusal !== undefined || payment.phase.kind !== 'review') {
    return refuse(payment, request, refusal ?? no('the payment is not under review'));
  }
  const isAboutTransaction = resolution.decision.action === 'match' || transIdOf(payment) !== undefined;
  const deciding: Deciding = {
    kind: 'deciding',
    review: payment.phase,
    resolution,
    request,
    next: isAboutTransaction ? 'status' : 'list',
    alive: [],
    rounds: 0,
  };
  return { payment: inPhase(payment, deciding) };
}

/** The transaction that a decision asks about: the one that it names, or else the payment's own. */
export function askedAbout(payment: PaymentState, { resolution }: Deciding): TransId | undefined {
  return matchedTransId(resolution.decision) ?? transIdOf(payment);
}

/** The status of the transaction that the decision is about. */
export function onStatusWhileDeciding(
  payment: PaymentState,
  deciding: Deciding,
  transId: TransId,
  answer: StatusAnswer,
  now: number,
): Change {
  const { decision, force } = deciding.resolution;
  const haste = objectionToHaste(payment, deciding.resolution, now);
  if (haste !== undefined) return back(payment, deciding, haste);
  if (answer.kind !== 'found') {
    // Without an answer now, its earlier word that money has moved is good enough for one who insists.
    const moved = payment.others.find((other) => other.transId === transId && other.status === 'SUCCESSFUL');
    if (decision.action === 'match' && force && moved !== undefined) {
      return match(payment, deciding, { transId, status: moved.status }, now);
    }
    // An operator who insists may fail it without the provider's word, never match or send it.
    if (decision.action === 'fail' && force) return asks(payment, { ...deciding, next: 'list', alive: [] });
    return back(
      payment,
      deciding,
      answer.kind === 'unknown'
        ? `the provider doesn't know ${transId}: ${answer.message}`
        : `${transId} can't be looked up at the moment; try again`,
    );
  }
  const { status } = answer.transaction;
  if (decision.action === 'match') return match(payment, deciding, answer.transaction, now);
  if (isOver(payment, status)) return asks(payment, { ...deciding, next: 'list', alive: [] });
  return status === 'SUCCESSFUL' || payment.order.method !== 'link'
    ? back(payment, deciding, `the provider has it as ${transId}, ${status}`)
    : asks(payment, { ...deciding, next: 'list', alive: [transId] });
}

/** The provider's list, for a decision that no money has moved, or that it is to be sent once more. */
export function onListedWhileDeciding(
  payment: PaymentState,
  deciding: Deciding,
  answer: ListAnswer,
  now: number,
): Change {
  const { decision, force } = deciding.resolution;
  const haste = objectionToHaste(payment, deciding.resolution, now);
  if (haste !== undefined) {
    const seen = answer.kind === 'listed' ? ownAmong(payment.order, answer.transactions) : [];
    return backNoting(payment, deciding, haste, seen, now);
  }
  if (answer.kind !== 'listed') {
    const isInsisted = decision.action === 'fail' && force && deciding.alive.length === 0;
    return isInsisted
      ? fail(payment, deciding, [], now)
      : back(payment, deciding, "the provider's list can't be read at the moment; try again");
  }
  const own = ownAmong(payment.order, answer.transactions);
  if (decision.action === 'resend') {
    const finding = findOwn(payment.order, own);
    if (finding.kind === 'absent') return resend(payment, deciding, now);
    return backNoting(
      payment,
      deciding,
      finding.kind === 'found'
        ? `the provider shows ${finding.transaction.transId} (${finding.transaction.status}) for it: match that`
        : finding.reason,
      own,
      now,
    );
  }
  const moving = own.filter(({ status }) => !isOver(payment, status));
  const shown = moving.map(({ transId, status }) => `${transId} (${status})`).join(', ');
  const isPaid = moving.some(({ status }) => status === 'SUCCESSFUL');
  const alive = [...new Set([...deciding.alive, ...moving.map(({ transId }) => transId)])];
  if (alive.length === 0) {
    const hidden = force ? undefined : payment.others.find((other) => isHidden(payment, other, own));
    return hidden === undefined
      ? fail(payment, deciding, own, now)
      : back(
          payment,
          deciding,
          `${hidden.transId} was ${hidden.status} when last heard of, and the provider's list leaves it out; try again, or insist with "force": true`,
        );
  }
  if (isPaid || payment.order.method !== 'link' || deciding.rounds >= ROUNDS_MAX) {
    return backNoting(payment, deciding, `the provider shows ${shown || alive.join(', ')} for it`, own, now);
  }
  return asks(payment, { ...deciding, next: 'expire', alive });
}

/** A link that could still be paid was expired, or was not: when all have been tried, they are looked at once more. */
export function onExpiredWhileDeciding(payment: PaymentState, deciding: Deciding, transId: TransId): Change {
  const alive = deciding.alive.filter((one) => one !== transId);
  if (alive.length > 0) return asks(payment, { ...deciding, alive });
  const next = transIdOf(payment) === undefined ? 'list' : 'status';
  return asks(payment, { ...deciding, alive, next, rounds: deciding.rounds + 1 });
}

function asks(payment: PaymentState, deciding: Deciding): Change {
  return { payment: inPhase(payment, deciding) };
}

/** Leaves the review as it was, and refuses the decision with the reason. */
function back(payment: PaymentState, { review, request }: Deciding, words: string): Change {
  return refuse(inPhase(payment, review), request, no(words));
}

/** As `back`; a further transaction that the provider has shown meanwhile makes it another review, and isn't forgotten. */
function backNoting(
  payment: PaymentState,
  deciding: Deciding,
  words: string,
  own: readonly Transaction[],
  now: number,
): Change {
  const { payment: before, replies } = back(payment, deciding, words);
  const ownId = transIdOf(payment);
  const { held, pursuit } = deciding.review;
  if (ownId === undefined && !held) {
    // What a search has yet to find is no further one; but what it would ask a person about is known now.
    const isFound = own.length === 0 || findOwn(payment.order, own).kind === 'found';
    if (isFound || pursuit?.kind !== 'searching') return { payment: before, replies };
    return { payment: onListed(before, pursuit, { kind: 'listed', transactions: own }, now), replies };
  }
  const others = own.filter(({ transId }) => transId !== ownId);
  return { payment: others.reduce((known, other) => noteOther(known, other, now), before), replies };
}

/** A further transaction that can move money, and that the list doesn't show any more. */
function isHidden(
  payment: PaymentState,
  { transId, status }: OtherTransaction,
  own: readonly Transaction[],
): boolean {
  return canMoveMoney(payment, status) && !own.some((one) => one.transId === transId);
}

/** The decision can't wait for its answers in this run: the operator has to make it again. */
export function putOff(payment: PaymentState, deciding: Deciding): Change {
  return back(payment, deciding, 'the payment is being handed over to a new run; try again');
}

/** The transaction, where the provider says that it was made for this payment. */
function ownOf({ order }: PaymentState, transaction: Transaction): Transaction[] {
  return isOwn(order, transaction) ? [transaction] : [];
}

function match(payment: PaymentState, deciding: Deciding, transaction: Transaction, now: number): Change {
  const { transId } = transaction;
  const wrong = disagreement(payment.order, transaction);
  const isAnothers = transaction.externalId !== undefined && transaction.externalId !== payment.order.id;
  if (isAnothers) return back(payment, deciding, wrong ?? `${transId} is another payment's`);
  const objection = wrong ?? objectionToNameless(payment, transaction);
  if (objection !== undefined && !deciding.resolution.force) {
    const words = `${objection}; insist with "force": true to take it`;
    return backNoting(payment, deciding, words, ownOf(payment, transaction), now);
  }
  const tolerant = wrong === undefined ? payment : { ...payment, tolerated: wrong };
  // The list may not have been read since the request: whether it was taken twice is seen at the end.
  const isUnread = deciding.review.pursuit?.kind === 'searching';
  const sends = { ...tolerant.sends, isDoubtful: tolerant.sends.isDoubtful || isUnread };
  const known = follow(markJudged(withAbandoned({ ...tolerant, sends }, transId)), { transId }, now);
  return carryOut(applyTransaction(known, transaction, now), deciding, now);
}

/** A transaction that has never been this payment's, and of which the provider doesn't say whose it is. */
function objectionToNameless(payment: PaymentState, transaction: Transaction): string | undefined {
  const { transId } = transaction;
  const isKnown = transIdOf(payment) === transId || payment.others.some((other) => other.transId === transId);
  return isKnown || isOwn(payment.order, transaction)
    ? undefined
    : `the provider doesn't say whose transaction ${transId} is`;
}

/**
 * No money has moved, as far as the provider shows and the operator says. What it has once shown as SUCCESSFUL nobody
 * can call FAILED, however much they insist. A difference that the operator has had in view doesn't bring the review back.
 */
function fail(payment: PaymentState, deciding: Deciding, own: readonly Transaction[], now: number): Change {
  const moved = payment.others.find(({ status }) => status === 'SUCCESSFUL');
  if (moved !== undefined) {
    return back(payment, deciding, `the provider has shown ${moved.transId} (SUCCESSFUL) for it: match that`);
  }
  const { by } = deciding.resolution;
  const followed = own.find(({ transId }) => transId === transIdOf(payment));
  const wrong = followed && disagreement(payment.order, followed);
  const doubtful: PaymentState = {
    ...inDoubt(markJudged(payment)),
    tolerated: wrong ?? payment.tolerated ?? deciding.review.why,
  };
  const reason = `decided by ${by}: no money has moved`;
  return carryOut(end(doubtful, { status: 'FAILED', reason }, now), deciding, now);
}

function resend(payment: PaymentState, deciding: Deciding, now: number): Change {
  const { pursuit } = deciding.review;
  if (pursuit?.kind !== 'searching') {
    return back(payment, deciding, "it has ended once: it can't be sent again");
  }
  return carryOut(aboutToSend(payment, 'operator', pursuit.doubt), deciding, now);
}

function carryOut(payment: PaymentState, { request, resolution }: Deciding, now: number): Change {
  return {
    payment: { ...payment, resolved: { ...resolution, at: now } },
    replies: [{ request, kind: 'done' }],
  };
}

/** The transaction that the payment went by so far becomes a further one: what it does from now on is not lost. */
function withAbandoned(payment: PaymentState, matchedId: TransId): PaymentState {
  const own = followedTransaction(payment);
  if (own === undefined || own.transId === matchedId) return payment;
  const abandoned = { transId: own.transId, status: own.status, isJudged: true };
  return {
    ...inDoubt(payment),
    others: [...payment.others.filter(({ transId }) => transId !== own.transId), abandoned],
  };
}

/** The operator has seen what was known of further transactions. */
function markJudged(payment: PaymentState): PaymentState {
  return { ...payment, others: payment.others.map((other) => ({ ...other, isJudged: true })) };
}

function no(words: string): Refusal {
  return { type: 'ResolutionRefused', words };
}
