import type { PaymentEvent } from '../../src/payments/machine/events.js';
import type { Step } from '../../src/payments/machine/machine.js';
import { isDisputed } from '../../src/payments/machine/matching.js';
import { type PaymentState, transIdOf } from '../../src/payments/words/payment-state.js';
import type { ProviderStatus, Transaction } from '../../src/payments/words/transaction.js';
import type { Violation } from './invariants.js';
import { WRONG_AMOUNT } from './setting.js';
import { isUnsettled, type OpenRequest, type Shown, type Situation, transactionOf } from './situation.js';

/** The payment's transactions as the provider has shown them, including those in an answer. */
interface ShownNow {
  readonly all: readonly Shown[];
  /** It shows a further transaction that can move money or has moved it, or one with a new status. */
  readonly news: boolean;
  /** All that it shows was in view when a decision was made, and goes with the outcome. */
  readonly isKnown: boolean;
}

/** Keeps the known transactions of the payment after an event. */
export function shownBy({ book, payment, provider }: Situation, event: PaymentEvent): ShownNow {
  const disputed = transactionsIn(event)
    .filter((one) => isDisputed(payment.order, one))
    .map(({ transId }) => transId);
  const ownId = transIdOf(payment);
  const isAside = payment.phase.kind === 'deciding';
  let all = heardOf(book.shown, event);
  let news = false;
  let isKnown = true;
  for (const { transId, status: said, amount, externalId } of transactionsIn(event)) {
    if (disputed.includes(transId) && !book.disputed.includes(transId)) isKnown = false;
    if (transactionOf(provider, transId) === undefined) continue;
    const known = all.find((one) => one.transId === transId);
    // A link that somebody has tried to pay isn't CREATED again: that is an old answer.
    const isOld = payment.order.kind === 'link' && said === 'CREATED' && known !== undefined;
    const status = isOld ? known.status : said;
    const isNamed = event.kind === 'listed' || event.kind === 'sent' || externalId !== undefined;
    if (!isNamed && known === undefined && transId !== ownId) continue;
    const mayBeGiven = transId === ownId || transactionOf(provider, transId)?.isGiven === true;
    const isOpen = book.final && book.isFailed && isUnsettled(payment.order, mayBeGiven, status);
    const isContradiction = isOpen || (transId === ownId && book.final && status !== book.status);
    // A decision that no money has moved goes with whatever will never move any.
    const isSettled = book.final && book.isFailed && cannotMoveMoney(payment, status) && amount !== WRONG_AMOUNT;
    if (!isSettled && (known?.decided !== status || known.status !== status || known.isAside || isContradiction))
      isKnown = false;
    const isWrong = known?.isWrong === true || amount === WRONG_AMOUNT;
    // The answers that were decided on may have left out its amount.
    if (isWrong && known?.isWrong !== true) isKnown = false;
    if ((known !== undefined || transId !== ownId) && isNews(payment, transId === ownId, known, status)) news = true;
    // The outcome may go by an answer that didn't say whose it is.
    const wasPaid = known?.isPaid === true || (transId === ownId && book.status === 'SUCCESSFUL');
    const isPaid = status === 'SUCCESSFUL' || (wasPaid && !cannotMoveMoney(payment, status));
    const isSame = known?.status === status && known.isOpen === isOpen && known.isPaid === (isPaid || undefined);
    if (isSame && known.isWrong === isWrong && known.isAside === isAside) continue;
    const now: Shown = {
      transId,
      status,
      ...(isPaid && { isPaid }),
      isWrong,
      isAside,
      isOpen,
      isHeard: known?.isHeard,
      decided: known?.decided,
    };
    all = [...all.filter((one) => one !== known), now].sort(byId);
  }
  return { all, news, isKnown };
}

/** Updates earlier transactions: whether they were asked about, and whether a list leaves them out now. */
function heardOf(shown: readonly Shown[], event: PaymentEvent): readonly Shown[] {
  if (event.kind === 'status' && (event.answer.kind === 'unknown' || event.answer.kind === 'found')) {
    return shown.map((one) =>
      one.transId === event.transId ? { ...one, isLeftOut: undefined, isHeard: true as const } : one,
    );
  }
  if (event.kind !== 'listed' || event.answer.kind !== 'listed') return shown;
  const { transactions } = event.answer;
  return shown.map(({ isHeard, ...one }) => {
    const isListed = transactions.some(({ transId }) => transId === one.transId);
    return { ...one, isLeftOut: isListed || isHeard ? undefined : (true as const) };
  });
}

/** Lists the transactions that an answer shows. */
export function transactionsIn(event: PaymentEvent): readonly Transaction[] {
  if (event.kind === 'listed' && event.answer.kind === 'listed') return event.answer.transactions;
  if (event.kind === 'expired' && event.answer.kind === 'expired') return [event.answer.transaction];
  if (event.kind === 'sent' && event.outcome.kind === 'ambiguous') return event.outcome.shown ?? [];
  return event.kind === 'status' && event.answer.kind === 'found' ? [event.answer.transaction] : [];
}

/** Reports whether a transaction with this status has moved no money, and never will. */
export function cannotMoveMoney({ order }: Pick<PaymentState, 'order'>, status: ProviderStatus): boolean {
  return status === (order.kind === 'link' ? 'EXPIRED' : 'FAILED');
}

function isNews({ order }: PaymentState, isOwn: boolean, known: Shown | undefined, status: ProviderStatus): boolean {
  if (known === undefined) return status === 'SUCCESSFUL' || isUnsettled(order, false, status);
  // An old answer is no news.
  const isOld = known.isPaid ? !cannotMoveMoney({ order }, status) : order.kind === 'link' && status === 'CREATED';
  // A link that nobody has, and that nobody was seen to pay, is no evidence of anything.
  const isMoving = isOwn || isUnsettled(order, false, status) || isUnsettled(order, false, known.status);
  const isUntried = order.kind === 'link' && known.status === 'CREATED' && status === 'EXPIRED';
  return status !== known.status && isMoving && !isOld && !isUntried;
}

/** Marks the transactions that a decision had in view, and the one that the payment went by, or goes by now. */
export function decided(
  shown: readonly Shown[],
  { view, kind }: OpenRequest,
  { payment }: Situation,
): readonly Shown[] {
  const ownId = transIdOf(payment);
  const all = shown.map((one): Shown => {
    const seen = view.find(({ transId }) => transId === one.transId) ?? (kind === 'match' ? one : undefined);
    const isAside = one.isAside || one.transId === ownId;
    const inView = seen?.isPaid ? 'SUCCESSFUL' : seen?.status;
    return { ...one, isAside, isOpen: false, decided: inView ?? one.decided };
  });
  if (ownId === undefined || all.some(({ transId }) => transId === ownId)) return all;
  // An operator had matched it by an answer that didn't say whose it is.
  const status = payment.lastShown?.transId === ownId ? payment.lastShown.status : 'CREATED';
  const unseen: Shown = {
    transId: ownId,
    status,
    isWrong: false,
    isAside: true,
    isOpen: false,
    decided: status,
  };
  return [...all, unseen].sort(byId);
}

function byId(one: Shown, other: Shown): number {
  return one.transId < other.transId ? -1 : 1;
}

/** In a review, nothing is sent undecided, and new evidence makes it another review. */
export function checkReview(
  { book, payment }: Situation,
  step: Step,
  news: boolean,
  isDecided: boolean,
  violations: Violation[],
): void {
  if (book.status !== 'REVIEW') return;
  if (step.todo.kind === 'send' && !isDecided) {
    violations.push({ invariant: 'reviewSends', what: 'it is sent in review, and nobody has decided so' });
  }
  const after = step.payment;
  if (news && after.phase.kind === 'review' && after.phase.number === payment.reviews) {
    violations.push({
      invariant: 'decisions',
      what: 'the provider has shown something else, and the review is still the same',
    });
  }
}

/** Checks that an ended payment stays ended when all that was shown has been decided on, or is its outcome. */
export function checkJudged(
  { book, payment }: Situation,
  event: PaymentEvent,
  { payment: after }: Step,
  isKnown: boolean,
  violations: Violation[],
): void {
  if (payment.phase.kind !== 'ended' || after.phase.kind === 'ended' || !isKnown) return;
  const isAnswer =
    (event.kind === 'listed' && event.answer.kind === 'listed' && event.answer.transactions.length > 0) ||
    (event.kind === 'status' && event.answer.kind === 'found');
  if (isAnswer && book.shown.length > 0) {
    violations.push({
      invariant: 'judgedOnce',
      what: 'it is under review again for what a decision has judged',
    });
  }
}
