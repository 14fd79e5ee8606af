import { allOf, type Objection, overrules, type Resolution, type Resolved } from '../words/decision.js';
import type { ListAnswer, StatusAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import {
  type Deciding,
  decideFrom,
  followedBy,
  type Matching,
  type Named,
  namedIn,
  type OtherTransaction,
  otherAmountOf,
  type PaymentState,
  type Report,
  type Review,
  transIdOf,
  UNNAMED,
} from '../words/payment-state.js';
import type { Transaction } from '../words/transaction.js';
import { unprovenBy } from './ended.js';
import { knownDifference } from './evidence.js';
import { applyTransaction } from './following.js';
import { findOwn, mayBeOwn, ownAmong } from './matching.js';
import { allReportedPaid, ownReportedPaid, reportedPaidUntil } from './paid-reports.js';
import { onListed } from './searching.js';
import { changedReview, isProposal, objectionToOne, objectionToPerson, propose } from './second-person.js';
import {
  aboutToSend,
  besides,
  type Change,
  end,
  follow,
  followedTransaction,
  hasBeenPaid,
  inDoubt,
  inPhase,
  isOfPayment,
  isOpen,
  isOver,
  matchedTransId,
  mayBePaid,
  noteOther,
  type Refusal,
  refuse,
  refusedUnless,
  resolutionRefused,
  whyPaid,
  withNoted,
  withOther,
  withOthers,
  withoutUnnamed,
} from './transitions.js';

/** A decision is refused if the provider has asked not to be called for longer than this, in ms. */
const MAX_QUIET_MS = 60_000;

/** How many times links are expired for one decision before it is refused. */
const MAX_ROUNDS = 2;

/** Why a decision is refused without asking the provider; `undefined` when it has to be asked. */
export function objectionTo(payment: PaymentState, resolution: Resolution, now: number): Refusal | undefined {
  const { phase } = payment;
  if (phase.kind === 'deciding') return resolutionRefused('another decision is being checked; try again in a moment');
  if (phase.kind !== 'review') {
    return { type: 'NotUnderReview', words: 'the payment is not under review' };
  }
  const refusal =
    objectionToNumber(phase, resolution) ??
    objectionToPerson(phase, resolution) ??
    objectionToSending(phase, resolution) ??
    objectionToHaste(payment, resolution, now) ??
    (isProposal(payment, phase, resolution) ? undefined : objectionToQuiet(payment, now));
  return refusal && withAmount(payment, resolution, refusal);
}

/** Who may insist on a match is told what would have moved. */
function withAmount(payment: PaymentState, { decision }: Resolution, refusal: Refusal): Refusal {
  const transactionAmount = otherAmountOf(payment, matchedTransId(decision));
  return refusal.force === undefined || transactionAmount === undefined ? refusal : { ...refusal, transactionAmount };
}

function objectionToNumber(phase: Review, { review }: Resolution): Refusal | undefined {
  return review === phase.number ? undefined : resolutionRefused(changedReview(phase));
}

function objectionToSending({ pursuit, held, why }: Review, { decision }: Resolution): Refusal | undefined {
  if (decision.action !== 'resend') return undefined;
  const followed = followedBy(pursuit);
  if (followed !== undefined) {
    return resolutionRefused(`the provider has accepted it as ${followed.transId}: it can't be sent again`);
  }
  if (held) {
    return resolutionRefused(`the provider has a transaction for this payment: match it, or fail the payment (${why})`);
  }
  return pursuit === undefined ? resolutionRefused(ENDED_ONCE) : undefined;
}

const ENDED_ONCE = "the payment has already ended once: it can't be sent again";

/** A refusal for an objection that the operator can overrule, beside what the decision overrules already. */
function overrulable(words: string, { force }: Resolution, objection: Objection, insist?: string): Refusal {
  return refusedUnless(words, allOf(force, [objection]), insist);
}

/** The transactions that notifications name, and of which the provider has yet to say what they are. */
function openIn(payment: PaymentState, now: number): readonly TransId[] {
  const { reports, others } = payment;
  const ownId = transIdOf(payment);
  const isShown = ({ transId, unknown }: Report) => unknown > 0 && others.some((other) => other.transId === transId);
  const isOver = ({ transId }: Report) => transId === ownId && reportedPaidUntil(payment, transId, now) === undefined;
  return reports.open.filter((report) => !isShown(report) && !isOver(report)).map(({ transId }) => transId);
}

/**
 * Those and others that the provider hasn't confirmed to be what a notification says. A decision asks about the own one
 * itself.
 */
function allNamedIn(payment: PaymentState, now: number): readonly Named[] {
  const ownId = transIdOf(payment);
  const named = namedIn(payment).filter((transId) => transId !== ownId);
  return [...named, ...ownReportedPaid(payment, now)];
}

/**
 * Why a decision that is being checked comes too early. Who insists has not seen what a notification says meanwhile.
 */
function objectionToNews(payment: PaymentState, { resolution, inView }: Deciding, now: number): Refusal | undefined {
  const haste = objectionToHaste(payment, resolution, now);
  if (haste !== undefined) return haste;
  const [named] = newsFor(payment, resolution, now).filter((transId) => !inView.includes(transId));
  return named === undefined
    ? undefined
    : resolutionRefused(`a notification has named ${named} for this payment since this was decided; decide again`);
}

/**
 * Money could go out twice for whatever is named, and be lost to a `fail` for what is called paid; a match loses
 * nothing.
 */
function newsFor(payment: PaymentState, { decision }: Resolution, now: number): readonly Named[] {
  switch (decision.action) {
    case 'resend':
      return allNamedIn(payment, now);
    case 'fail':
      return [...allReportedPaid(payment, now), ...namedIn(payment).filter((one) => one === UNNAMED)];
    case 'match':
      return [];
  }
}

/**
 * Why it is too early to decide: the provider's list can lag behind, and a notification can be ahead of it, even one
 * that comes while a decision is being checked. `force` overrides it.
 */
function objectionToHaste(payment: PaymentState, resolution: Resolution, now: number): Refusal | undefined {
  const { decision, force } = resolution;
  const named: readonly Named[] = decision.action === 'match' ? openIn(payment, now) : allNamedIn(payment, now);
  const allNamed = named.filter((one) => one !== matchedTransId(decision));
  const [first] = allNamed;
  if (first !== undefined && !overrules(force, 'reported_transaction')) {
    // No force expires such a link.
    if (
      decision.action === 'fail' &&
      payment.order.kind === 'link' &&
      first !== UNNAMED &&
      ownReportedPaid(payment, now).includes(first)
    ) {
      return resolutionRefused(`${whyPaid(payment, first)}; try again in a few minutes`);
    }
    const advice =
      first === UNNAMED || payment.reports.unconfirmed.includes(first)
        ? "hasn't said what it is: look for it in the provider's portal, and match it"
        : "hasn't confirmed that yet; try again in a few minutes";
    return overrulable(
      `a notification names ${allNamed.join(', ')} for this payment, and the provider ${advice}`,
      resolution,
      'reported_transaction',
    );
  }
  const from = decideFrom(payment);
  return decision.action === 'match' || now >= from || overrules(force, 'too_early')
    ? undefined
    : overrulable(
        `the provider may list a transaction late: decide after ${new Date(from).toISOString()}`,
        resolution,
        'too_early',
      );
}

function objectionToQuiet({ quietUntil }: PaymentState, now: number): Refusal | undefined {
  return quietUntil !== undefined && quietUntil > now + MAX_QUIET_MS
    ? resolutionRefused(
        `the provider has asked not to be called until ${new Date(quietUntil).toISOString()}; try again then`,
      )
    : undefined;
}

/**
 * Begins to check a decision: the provider is asked whether its records contradict it. The first of two people's is
 * only kept: what the provider says is asked when the second one decides.
 */
export function onDecide(payment: PaymentState, request: number, resolution: Resolution, now: number): Change {
  const refusal = objectionTo(payment, resolution, now);
  if (refusal !== undefined || payment.phase.kind !== 'review') {
    return refuse(payment, request, refusal ?? resolutionRefused('the payment is not under review'));
  }
  if (isProposal(payment, payment.phase, resolution)) {
    return propose(payment, payment.phase, request, resolution, now);
  }
  const isAboutTransaction = resolution.decision.action === 'match' || transIdOf(payment) !== undefined;
  const deciding: Deciding = {
    kind: 'deciding',
    review: payment.phase,
    resolution,
    request,
    next: isAboutTransaction ? 'status' : 'list',
    alive: [],
    moving: [],
    rounds: 0,
    inView: [...allNamedIn(payment, now), ...allReportedPaid(payment, now)],
    before: knownDifference(payment, matchedTransId(resolution.decision))?.words,
  };
  return { payment: inPhase(payment, deciding) };
}

/**
 * The transaction to ask about for a decision: the one that it names, or else the payment's own; after that, those that
 * stand in its way.
 */
export function askedAbout(payment: PaymentState, { resolution, matching }: Deciding): TransId | undefined {
  return matching?.open[0] ?? matchedTransId(resolution.decision) ?? transIdOf(payment);
}

/** Goes on with a decision after the answer about the status of its transaction. */
export function onStatusWhileDeciding(
  payment: PaymentState,
  deciding: Deciding,
  transId: TransId,
  answer: StatusAnswer,
  now: number,
): Change {
  const { decision } = deciding.resolution;
  const haste = objectionToNews(payment, deciding, now);
  if (deciding.matching !== undefined) {
    const matching = withHeard(deciding.matching, answer);
    if (haste !== undefined) return backNoting(payment, deciding, haste, matching.heard, now);
    return matching.open.length > 0
      ? asks(payment, { ...deciding, matching })
      : match(payment, { ...deciding, matching }, matching.transaction, now);
  }
  if (haste !== undefined) {
    const seen = answer.kind === 'found' ? ownOf(payment, answer.transaction) : [];
    return backNoting(payment, deciding, haste, seen, now);
  }
  if (answer.kind !== 'found') return withoutStatus(payment, deciding, transId, answer, now);
  const { status } = answer.transaction;
  if (decision.action === 'match') return match(payment, deciding, answer.transaction, now);
  if (!mayBeOwn(payment.order, answer.transaction)) return disowned(payment, deciding, transId);
  if (isOver(payment, status)) {
    return asks(payment, { ...deciding, next: 'list', alive: [], isUnanswered: false });
  }
  return status === 'SUCCESSFUL' || payment.order.kind !== 'link'
    ? back(payment, deciding, `the provider says that ${transId} is ${status}`)
    : asks(payment, { ...deciding, next: 'list', alive: [transId], moving: [...deciding.moving, transId] });
}

/**
 * The payment's transaction is another's, by what the provider says now: it ends nothing, and a `fail` has to be
 * forced.
 */
function disowned(payment: PaymentState, deciding: Deciding, transId: TransId): Change {
  const { resolution } = deciding;
  const words = knownDifference(payment, transId)?.words ?? `${transId} is another payment's`;
  return overrules(resolution.force, 'different_transaction')
    ? asks(payment, { ...deciding, next: 'list', alive: [], isUnanswered: false })
    : back(payment, deciding, overrulable(words, resolution, 'different_transaction'));
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
    return back(payment, deciding, isEnough ? overrulable(words, resolution, 'no_answer') : words);
  }
  if (decision.action === 'fail') {
    return asks(payment, { ...deciding, next: 'list', alive: [], isUnanswered: true });
  }
  const amount = otherAmountOf(payment, transId);
  const shown = { transId, status: 'SUCCESSFUL', ...(amount !== undefined && { amount }) } as const;
  const matched = match(inDoubt(payment), deciding, shown, now);
  return { ...matched, payment: unheard(matched.payment, transId) };
}

/** The provider has to speak of a transaction by whose earlier status the payment has ended. */
function unheard(payment: PaymentState, transId: TransId): PaymentState {
  const { phase } = payment;
  return phase.kind === 'ended' ? inPhase(payment, unprovenBy(phase, transId)) : payment;
}

/** What is known of the transactions that stand in the way of a match, after the answer about the first of them. */
function withHeard(matching: Matching, answer: StatusAnswer): Matching {
  const { heard, open } = matching;
  return {
    ...matching,
    heard: answer.kind === 'found' ? [...heard, answer.transaction] : heard,
    open: open.slice(1),
  };
}

/** Goes on with a `fail` or a `resend` after the answer to the look-up in the provider's list. */
export function onListedWhileDeciding(
  payment: PaymentState,
  deciding: Deciding,
  answer: ListAnswer,
  now: number,
): Change {
  const { resolution } = deciding;
  const { decision, force } = resolution;
  const haste = objectionToNews(payment, deciding, now);
  if (haste !== undefined) {
    const seen = answer.kind === 'listed' ? ownAmong(payment.order, answer.transactions) : [];
    return backNoting(payment, deciding, haste, seen, now);
  }
  if (answer.kind === 'refused' && decision.action === 'resend')
    return unlisted(payment, deciding, answer.message, now);
  if (answer.kind !== 'listed') {
    const words = "the provider's list can't be read at the moment; try again";
    if (decision.action !== 'fail' || deciding.alive.length > 0) return back(payment, deciding, words);
    return overrules(force, 'no_answer')
      ? failUnlessHidden(payment, deciding, [], now)
      : back(payment, deciding, overrulable(words, resolution, 'no_answer'));
  }
  const own = ownAmong(payment.order, answer.transactions);
  if (decision.action === 'resend') {
    const finding = findOwn(payment.order, answer.transactions);
    const known = shownBefore(payment);
    if (finding.kind === 'absent') {
      return known === undefined
        ? resend(payment, deciding, now)
        : back(payment, deciding, `${missing(known)}, or match it`);
    }
    return backNoting(
      payment,
      deciding,
      finding.kind === 'found'
        ? `the provider shows ${finding.transaction.transId} (${finding.transaction.status}) for this payment: match it`
        : finding.reason,
      own,
      now,
    );
  }
  const disputed = payment.differences?.find(({ field }) => field === 'names');
  if (disputed !== undefined && !overrules(force, 'different_transaction'))
    return backNoting(payment, deciding, overrulable(disputed.words, resolution, 'different_transaction'), own, now);
  const moving = own.filter(({ status }) => !isOver(payment, status));
  const shown = moving.map(({ transId, status }) => `${transId} (${status})`).join(', ');
  const alive = [...new Set([...deciding.alive, ...moving.map(({ transId }) => transId)])];
  const isPaid =
    moving.some(({ status }) => status === 'SUCCESSFUL') || alive.some((transId) => mayBePaid(payment, transId, now));
  if (alive.length === 0) return failUnlessHidden(payment, deciding, own, now);
  if (isPaid || payment.order.kind !== 'link' || deciding.rounds >= MAX_ROUNDS) {
    const reported = alive.find((transId) => reportedPaidUntil(payment, transId, now) !== undefined);
    const words =
      reported === undefined || moving.some(({ status }) => status === 'SUCCESSFUL')
        ? `the provider shows ${shown || alive.join(', ')} for this payment`
        : `${whyPaid(payment, reported)}; try again in a few minutes`;
    return backNoting(payment, deciding, words, own, now);
  }
  // The list may not be there to be read again afterwards.
  const others = moving.filter(({ transId }) => transId !== transIdOf(payment));
  const noted = others.length === 0 ? payment : withOthers(payment, others);
  return asks(noted, { ...deciding, next: 'expire', alive, moving: [...deciding.moving, ...alive] });
}

/** What the provider has shown: nothing is sent beside it. A link that has ended stands in nobody's way. */
function shownBefore(payment: PaymentState): OtherTransaction | undefined {
  const { others, order } = payment;
  return others.find(({ status }) => order.kind !== 'link' || !isOver(payment, status));
}

/**
 * A `resend` where the provider refuses to list the payment. That may be its word that it has none, or that something
 * is wrong with the question: by itself it proves nothing. An operator who has looked elsewhere may insist, but not
 * before the list would show what was taken, nor while anything names a transaction.
 */
function unlisted(payment: PaymentState, deciding: Deciding, message: string, now: number): Change {
  const { resolution } = deciding;
  const known = shownBefore(payment);
  if (known !== undefined) return back(payment, deciding, `${missing(known)}, or match it`);
  const [named] = allNamedIn(payment, now);
  if (named !== undefined) return back(payment, deciding, `a notification names ${named} for this payment`);
  const from = decideFrom(payment);
  const words = `the provider refuses to list the payment (${message}), so it isn't known whether it has a transaction: look in its portal`;
  if (now < from) return back(payment, deciding, `${words}, and decide after ${new Date(from).toISOString()}`);
  return overrules(resolution.force, 'no_answer')
    ? resend(payment, deciding, now)
    : back(payment, deciding, overrulable(words, resolution, 'no_answer'));
}

/** Goes on after an attempt to expire a link, whatever its result. After the last one, the provider is asked again. */
export function onExpiredWhileDeciding(payment: PaymentState, deciding: Deciding, transId: TransId): Change {
  const alive = deciding.alive.filter((one) => one !== transId);
  if (alive.length > 0) return asks(payment, { ...deciding, alive });
  const next = transIdOf(payment) === undefined ? 'list' : 'status';
  return asks(payment, { ...deciding, alive, next, rounds: deciding.rounds + 1 });
}

function asks(payment: PaymentState, deciding: Deciding): Change {
  return { payment: inPhase(payment, deciding) };
}

/** Refuses the decision; the review stays as it was. */
function back(payment: PaymentState, { review, request, resolution }: Deciding, objection: string | Refusal): Change {
  const refusal = typeof objection === 'string' ? resolutionRefused(objection) : objection;
  const isSame = review.number === resolution.review;
  const kept = isSame ? review : { ...review, proposed: undefined };
  return refuse(inPhase(payment, kept), request, withAmount(payment, resolution, refusal));
}

/** As {@link back}, but keeps what the provider has shown meanwhile: a further transaction begins a new review. */
function backNoting(
  payment: PaymentState,
  deciding: Deciding,
  objection: string | Refusal,
  own: readonly Transaction[],
  now: number,
): Change {
  const { payment: before, replies } = back(payment, deciding, objection);
  const ownId = transIdOf(payment);
  const { held, pursuit } = deciding.review;
  if (ownId === undefined && !held) {
    if (own.length === 0 || pursuit?.kind !== 'searching') return { payment: before, replies };
    // The search itself will find a single transaction: it is kept in mind until then, for a list may leave it out
    // again.
    if (findOwn(payment.order, own).kind === 'found') return { payment: withNoted(before, own), replies };
    // What the search would put in review is noted now.
    return { payment: onListed(before, pursuit, { kind: 'listed', transactions: own }, now), replies };
  }
  const others = own.filter(({ transId }) => transId !== ownId);
  return { payment: others.reduce((known, other) => noteOther(known, other, now), before), replies };
}

/**
 * Carries out a `fail`, unless something could still move money, for all that is known, and the provider doesn't list
 * it now.
 */
function failUnlessHidden(payment: PaymentState, deciding: Deciding, own: readonly Transaction[], now: number): Change {
  const { resolution } = deciding;
  const shown = deciding.moving.find((transId) => !hasEnded(payment, transId, own));
  if (shown !== undefined) {
    const words = `the provider has shown ${shown} since this was decided, and not that it has come to its end; try again`;
    return back(payment, deciding, words);
  }
  const hidden = payment.others.filter((other) => isHidden(payment, other, own));
  return hidden.length === 0 || overrules(resolution.force, 'missing_transaction')
    ? fail(payment, deciding, own, now)
    : back(payment, deciding, overrulable(hidden.map(missing).join('; '), resolution, 'missing_transaction'));
}

/** Whether the provider has last shown a transaction as one that has moved no money, and never will. */
function hasEnded(payment: PaymentState, transId: TransId, own: readonly Transaction[]): boolean {
  const known = [...own, ...payment.others, ...(payment.shown ? [payment.shown] : [])];
  const last = known.find((one) => one.transId === transId);
  return last !== undefined && isOver(payment, last.status);
}

/** Whether a further transaction that isn't over is missing from the list. */
function isHidden(payment: PaymentState, { transId, status }: OtherTransaction, own: readonly Transaction[]): boolean {
  return !isOver(payment, status) && !own.some((one) => one.transId === transId);
}

function missing({ transId, status }: OtherTransaction): string {
  return `${transId} was ${status} when last heard of, and is missing from what the provider lists now; try again`;
}

/** Refuses a decision that is being checked, because the run ends: the operator has to make it again. */
export function putOff(payment: PaymentState, deciding: Deciding, now: number): Change {
  const words = 'the payment is being handed over to a new run; try again';
  const { matching } = deciding;
  if (matching === undefined) return back(payment, deciding, words);
  const seen = [...ownOf(payment, matching.transaction), ...matching.heard];
  return backNoting(payment, deciding, words, seen, now);
}

/** The transaction if it is this payment's; otherwise nothing. */
function ownOf(payment: PaymentState, transaction: Transaction): Transaction[] {
  return isOfPayment(payment, transaction) ? [transaction] : [];
}

function match(payment: PaymentState, deciding: Deciding, transaction: Transaction, now: number): Change {
  const { transId } = transaction;
  // What was shown of it counts, though the answer leaves that out.
  const difference = knownDifference(payment, transId);
  const wrong = difference?.words;
  if (difference?.field === 'externalId' || difference?.field === 'names')
    return back(payment, deciding, difference.words);
  const { before } = deciding;
  if (wrong !== undefined && before !== undefined && before !== wrong) {
    return back(payment, deciding, `it has changed since this was decided: ${wrong}; decide again`);
  }
  const objection = objectionToTransaction(payment, deciding.resolution, transaction, wrong);
  if (objection !== undefined) {
    return backNoting(payment, deciding, objection, ownOf(payment, transaction), now);
  }
  const tolerant = wrong === undefined ? payment : { ...payment, tolerated: wrong };
  // The list may not have been read since the request. It is read at the end, in case the payment was accepted twice.
  const isUnread = deciding.review.pursuit?.kind === 'searching';
  const doubtful = isUnread ? inDoubt(tolerant) : tolerant;
  const heard = deciding.matching?.heard ?? [];
  const others = heard.reduce(withOther, withAbandoned(doubtful, transId));
  const known = follow(markJudged(others), { transId }, now);
  const open = isOver(payment, transaction.status) ? known.others.filter((one) => isOpen(known, one)) : [];
  const [first] = open;
  if (first !== undefined) {
    // What was heard of the others may be out of date, and nobody else asks about them while a review is held.
    const mayHaveEnded = deciding.matching === undefined && open.every(({ status }) => status !== 'SUCCESSFUL');
    if (mayHaveEnded) {
      const ids = open.map((one) => one.transId);
      return asks(payment, { ...deciding, matching: { transaction, heard, open: ids } });
    }
    const seen = isOfPayment(payment, transaction) ? [transaction, ...heard] : heard;
    return backNoting(payment, deciding, besides(transId, transaction.status, first), seen, now);
  }
  const seen = [...ownOf(payment, transaction), ...heard];
  return carryOut(payment, deciding, applyTransaction(known, transaction, now), seen, now);
}

/**
 * The objection to a transaction that differs from the order, and then to one that was never this payment's, and that
 * the provider assigns to no payment.
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
  if (wrong !== undefined && !overrules(force, 'different_transaction')) return differs(wrong, resolution);
  if (isOfPayment(payment, transaction) || overrules(force, 'unassigned_transaction')) return undefined;
  return overrulable(
    `the provider doesn't say whose transaction ${transaction.transId} is`,
    resolution,
    'unassigned_transaction',
    MATCH_ANYWAY,
  );
}

function differs(words: string, resolution: Resolution): Refusal {
  return overrulable(words, resolution, 'different_transaction', MATCH_ANYWAY);
}

const MATCH_ANYWAY = '; match it anyway';

/**
 * Ends the payment as FAILED: no money has moved, according to the provider and the operator. It is refused, even with
 * `force`, if the provider has ever shown a transaction as SUCCESSFUL. A difference that the operator has seen doesn't
 * begin another review; a transaction that can still move money does, as soon as the provider shows it again.
 */
function fail(payment: PaymentState, deciding: Deciding, own: readonly Transaction[], now: number): Change {
  const moved = payment.others.find(({ status }) => status === 'SUCCESSFUL') ?? movedOwn(payment, deciding, own);
  if (moved !== undefined) {
    return back(payment, deciding, `${whyPaid(payment, moved.transId)}: match it`);
  }
  const ownId = transIdOf(payment);
  const difference = knownDifference(payment, ownId);
  // A link can still be paid after FAILED.
  const unpaid = payment.order.kind === 'link' ? 'EXPIRED' : 'FAILED';
  // What has ended is kept in mind, too: an old answer may show it as it was.
  const seen = withNoted(
    payment,
    own.filter(({ transId }) => transId !== ownId),
  );
  const doubtful: PaymentState = {
    ...inDoubt(markJudged(seen, (other) => (isOpen(payment, other) ? unpaid : other.status))),
    tolerated: difference?.words ?? payment.tolerated ?? deciding.review.why,
  };
  const { by, approval } = resolvedBy(deciding, now);
  const reason = `decided by ${approval === undefined ? by : `${by} and ${approval.by}`}: no money has moved`;
  const unproven = unshown(payment, deciding, own);
  const outcome = { status: 'FAILED', reason, failureCode: 'decided_by_operator', unproven } as const;
  return carryOut(payment, deciding, end(doubtful, outcome, now), own, now);
}

/**
 * The payment's own transaction, if it was SUCCESSFUL once, and the provider has said nothing of it for this decision.
 */
function movedOwn(payment: PaymentState, { isUnanswered }: Deciding, own: readonly Transaction[]) {
  const followed = followedTransaction(payment);
  const isShown = own.some(({ transId }) => transId === followed?.transId);
  const isPaid = followed !== undefined && hasBeenPaid(payment, followed.transId);
  return isPaid && isUnanswered && !isShown ? followed : undefined;
}

/** The transactions that could still move money, and of which the provider has said nothing for this decision. */
function unshown(payment: PaymentState, deciding: Deciding, own: readonly Transaction[]): TransId[] {
  const ownId = transIdOf(payment);
  const isOpen = ownId !== undefined && deciding.isUnanswered;
  const isUnshown = isOpen && !own.some(({ transId }) => transId === ownId);
  const hidden = payment.others.filter((other) => isHidden(payment, other, own));
  return [...(isUnshown ? [ownId] : []), ...hidden.map(({ transId }) => transId)];
}

function resend(payment: PaymentState, deciding: Deciding, now: number): Change {
  const { pursuit } = deciding.review;
  if (pursuit?.kind !== 'searching') {
    return back(payment, deciding, ENDED_ONCE);
  }
  return carryOut(payment, deciding, aboutToSend(payment, 'operator', pursuit.doubt), [], now);
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
  const objection = objectionToOne(payment, deciding);
  if (objection !== undefined) return backNoting(payment, deciding, objection, seen, now);
  return {
    payment: { ...withoutUnnamed(decided), resolved: resolvedBy(deciding, now) },
    replies: [{ request: deciding.request, kind: 'done' }],
  };
}

/** A decision that two people have made is the first one's, with the second's approval. */
function resolvedBy({ resolution, review: { proposed } }: Deciding, now: number): Resolved {
  if (proposed === undefined) return { ...resolution, at: now };
  const { by, why } = resolution;
  return { ...proposed, at: now, approval: { by, why } };
}

/** Keeps the transaction that the payment followed so far as a further one, so that its changes are still noticed. */
function withAbandoned(payment: PaymentState, matchedId: TransId): PaymentState {
  const own = followedTransaction(payment);
  if (own === undefined || own.transId === matchedId) return payment;
  const status = payment.shown?.transId === own.transId ? payment.shown.status : own.status;
  const abandoned: OtherTransaction = { transId: own.transId, status, judged: status };
  return {
    ...inDoubt(payment),
    others: [...payment.others.filter(({ transId }) => transId !== own.transId), abandoned],
  };
}

/**
 * Marks further transactions as seen by the operator, and left: for what they are, or for what the decision says that
 * they are.
 */
function markJudged(payment: PaymentState, judgedAs = ({ status }: OtherTransaction) => status): PaymentState {
  return { ...payment, others: payment.others.map((other) => ({ ...other, judged: judgedAs(other) })) };
}
