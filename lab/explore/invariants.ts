import type { PaymentOrder } from '../../src/payments/words/order.js';
import type { PaymentEventType, PaymentStatus } from '../../src/payments/words/payment.js';
import type { TransId } from '../../src/payments/words/payment-id.js';
import { isFinalPayment, type PaymentState, statusOf, transIdOf } from '../../src/payments/words/payment-state.js';
import type { ProviderStatus } from '../../src/payments/words/transaction.js';
import { isUnsettled, type OwnTransaction, type Shown, type Situation, transactionOf } from './situation.js';

/** The rules that hold in every state, each checked against the model's own truth and records. */
export const INVARIANTS = {
  sends: 'a request that left, or may have left, was decided: by the order, once by the policy, or by an operator',
  sendBy:
    'nothing is sent on the order once its time is over, which counts from the order, or from the later of a date and an approval',
  noDouble:
    'no money is sent while a transaction of the payment exists that can move or has moved it, unless an operator has insisted',
  readFirst:
    'a request is made again only right after the list was read, and not when a notification has named a transaction since, nor after one that names the payment alone while the provider shows none and nobody has decided; never while one is shown that names the payment and another',
  inFlight: 'an ended payment is never sent',
  failedTruth: 'FAILED and EXPIRED are said only when no transaction of the payment can move money, or has moved it',
  failedShown:
    'FAILED and EXPIRED are not said, even by force, once the provider has shown a transaction as SUCCESSFUL, unless it has shown since that it has moved no money',
  failedNamed:
    'FAILED and EXPIRED are not said by themselves while a notification names another transaction, before the provider was asked about it or its list was read, nor while one names the payment alone and the provider shows none, or one is shown that names the payment and another',
  expiredShown: 'no link is expired that the provider has shown to be paid',
  expiredReported: 'no link is expired for half an hour after the first notification that calls it paid',
  succeededTruth: "SUCCESSFUL is said only when the payment's own transaction is SUCCESSFUL",
  secondSeen:
    'what the provider has shown that contradicts the outcome is never forgotten without a decision made with it in view',
  toldFinal: 'after a final word, the merchant is next told payment.review, whatever is lost',
  reviewSends: 'nothing is sent in a review without a decision',
  notified: 'the merchant is notified of each change of status, in order, and of nothing else',
  statusLimit: 'no transaction is asked about more than six times within a minute',
  decisions: 'a decision takes effect only on the present review, and new evidence makes that another',
  secondPerson:
    'what takes two people is done only when two of them have decided the same on the present review, and neither has taken it back',
  held: 'no payout is sent before its date, nor before another person has approved it where it has to be, nor once somebody has rejected or withdrawn it or the time for its approval is over',
  approvals:
    'an approval is taken only in time, from another person than the one who ordered, and with the digest of what is sent; a payout ends as not approved only when somebody has rejected it, or nobody has approved it in time',
  heldSent: 'a transaction of a payout that nothing has released, as far as is known, brings a person',
  heldNamed: 'a notification about a payout that is held, or that was and is about to be sent, brings a person',
  refundCounts:
    'a refund counts for no less than its amount until it has ended without money, with nothing left to check; what makes it count for more changes the time of its last change',
  refundFree: 'a refund of which nothing has moved counts for nothing once it has ended',
  collected: 'no more can be refunded than the provider has collected',
  oneLink:
    'the merchant is given one link; before another is made the list is read, and those that it shows are expired',
  wayOut: 'every payment reaches an end, or a review that a decision can end, even if nobody answers',
  replies: 'each request gets one reply',
  asked: 'no answer comes that was not asked for',
  quiet: 'no question is asked while the provider has asked not to be called',
  patience:
    'what could not be sent is tried again for five minutes, or until it must be sent by, as a payout that was held is, and what waits for its list',
  linkEnd: 'the end of a link that the merchant was shown is never put off',
  judgedOnce: 'what a decision has judged does not come back',
  recheck: "a recheck reads the provider's records, and isn't answered as if all were well when they contradict FAILED",
  confirmed: `a notification that contradicts the outcome, or calls a transaction paid, is not dropped on the provider's first "unknown", or on its first other word`,
} as const;
export type Invariant = keyof typeof INVARIANTS;

export interface Violation {
  readonly invariant: Invariant;
  readonly what: string;
}

/** The payment as its merchant sees it. */
export interface View {
  readonly status: PaymentStatus;
  readonly final: boolean;
}

/** Reports whether the merchant was told an outcome. */
export function isFinalWord(told: PaymentEventType | undefined): boolean {
  return told === 'payment.succeeded' || told === 'payment.failed' || told === 'payment.expired';
}

export function viewOf(payment: PaymentState): View {
  return { status: statusOf(payment), final: isFinalPayment(payment) };
}

/** Returns the type of notification that a change visible to the merchant requires. */
export function expectedNotification(before: View, after: View): PaymentEventType | undefined {
  if (after.final ? before.final : before.status === after.status) return undefined;
  switch (after.status) {
    case 'SUCCESSFUL':
      return 'payment.succeeded';
    case 'EXPIRED':
      return 'payment.expired';
    case 'FAILED':
      return after.final ? 'payment.failed' : 'payment.attempt_failed';
    case 'REVIEW':
      return 'payment.review';
    default:
      return undefined;
  }
}

/** Reports whether a transaction can move money, or has moved it. Links that nobody was given can't be paid (A5). */
export function canMove(
  { kind }: Pick<PaymentOrder, 'kind'>,
  { status, isGiven }: Pick<OwnTransaction, 'status' | 'isGiven'>,
): boolean {
  if (status === 'SUCCESSFUL') return true;
  return kind === 'link' ? isGiven && status !== 'EXPIRED' : status !== 'FAILED';
}

/** Lists the rules that a situation breaks, independent of what led to it. */
export function violationsOf(situation: Situation): Violation[] {
  const { payment, book, todo, provider } = situation;
  // One that the book has lost has to be expired before.
  const isOut = ({ isEarlier, status, hasTurned }: OwnTransaction) =>
    isEarlier && (book.gap !== 'before' || status === 'EXPIRED' || hasTurned);
  const given = provider.transactions.filter((one) => one.isGiven && !isOut(one)).map(({ transId }) => transId);
  const violations: Violation[] =
    given.length > 1
      ? [{ invariant: 'oneLink', what: `the merchant was given the links of ${given.join(' and ')}` }]
      : [];
  if (!book.final) return violations;
  if (todo.kind === 'send') violations.push({ invariant: 'inFlight', what: 'an ended payment is sent' });
  violations.push(...outcomeViolations(situation, payment));
  if (todo.kind === 'end') violations.push(...endViolations(situation));
  return violations;
}

function outcomeViolations({ provider, book }: Situation, payment: PaymentState): Violation[] {
  const transId = transIdOf(payment);
  const violations: Violation[] = [];
  if (book.status === 'SUCCESSFUL') {
    const own = transId && transactionOf(provider, transId);
    if (own?.status !== 'SUCCESSFUL' && own?.hasTurned !== true) {
      violations.push({
        invariant: 'succeededTruth',
        what: `SUCCESSFUL by ${transId}, which is ${own?.status ?? 'not its own'}`,
      });
    }
  } else {
    for (const { transId: shownId, status, isPaid } of book.shown) {
      if (isPaid) {
        violations.push({
          invariant: 'failedShown',
          what: `${book.status}, and ${shownId} was shown SUCCESSFUL, and ${status} last`,
        });
      }
    }
    for (const one of provider.transactions) {
      const isExempt =
        // Whoever insists before the list was read answers for what was given in a time that is lost.
        (book.insisted === 'fail' && (one.isEarlier || !isOpenAgain(book.shown, one.transId))) ||
        (book.insisted === 'resend' && transId !== undefined) ||
        one.hasTurned ||
        (one.isEarlier && book.gap === undefined) ||
        isUnseenLater(one, book.shown);
      if (canMove(payment.order, one) && !isExempt) {
        violations.push({
          invariant: 'failedTruth',
          what: `${book.status}, and ${one.transId} is ${one.status}`,
        });
      }
    }
  }
  for (const shown of book.shown) {
    const own = transactionOf(provider, shown.transId);
    if (own !== undefined && isUnseenLater(own, book.shown)) continue;
    const what = forgotten(shown, transId, book.status, payment.order);
    if (what !== undefined) violations.push({ invariant: 'secondSeen', what });
  }
  return violations;
}

/**
 * Reports whether, after a decision that no money has moved, the provider showed that the transaction can still move
 * some.
 */
function isOpenAgain(shown: readonly Shown[], transId: TransId): boolean {
  return shown.some((one) => one.transId === transId && one.isOpen);
}

/** Reports whether the provider made a transaction by itself after the end: nobody can know before it is shown (A3). */
function isUnseenLater({ isLater, transId }: OwnTransaction, shown: readonly Shown[]): boolean {
  const known = shown.find((one) => one.transId === transId);
  return isLater && (known === undefined || known.isAside);
}

/** Reports whether nobody could know of a link when another was given: only a notification shows that it is paid. */
function isBesides({ isEarlier }: OwnTransaction, { gap }: Situation['book']): boolean {
  return isEarlier === true && gap !== 'before';
}

function decidedOf(shown: readonly Shown[], transId: TransId): ProviderStatus | undefined {
  return shown.find((one) => one.transId === transId)?.decided;
}

/** Finds shown transactions that contradict the outcome and that no decision has taken into account. */
function forgotten(
  { transId, status, isWrong, decided }: Shown,
  ownId: TransId | undefined,
  outcome: PaymentStatus,
  order: PaymentOrder,
): string | undefined {
  if (transId === ownId) {
    if (status === 'SUCCESSFUL' && outcome !== 'SUCCESSFUL' && decided !== 'SUCCESSFUL') {
      return `${outcome}, and ${transId} was shown to be SUCCESSFUL`;
    }
    return isWrong && decided === undefined && outcome === 'SUCCESSFUL'
      ? `SUCCESSFUL, and ${transId} was shown with a wrong amount`
      : undefined;
  }
  const isMoving = isUnsettled(order, false, status);
  const isDecided = status === 'SUCCESSFUL' ? decided === 'SUCCESSFUL' : decided !== undefined;
  return isMoving && !isDecided ? `${outcome}, and ${transId} was shown to be ${status}` : undefined;
}

/** Lists the rules that the end of a workflow breaks: nothing is checked after it. */
function endViolations({ provider, book, payment, now }: Situation): Violation[] {
  const violations: Violation[] = [];
  if (book.open.length > 0)
    violations.push({ invariant: 'replies', what: 'the workflow ends, and a request waits for its reply' });
  const report = book.reportedPaid.find(({ at }) => now < at + REPORTED_FOR_MS);
  if (report !== undefined) {
    violations.push({
      invariant: 'confirmed',
      what: `the workflow ends ${book.status}, ${(now - report.at) / 60_000} min after a notification has called ${report.transId} paid`,
    });
  }
  if (book.isUnnamed)
    violations.push({
      invariant: 'confirmed',
      what: `the workflow ends ${book.status}, and the list was not read since a notification named the payment alone`,
    });
  const transId = transIdOf(payment);
  for (const one of book.isFailed ? provider.transactions : []) {
    const isKnown = one.transId === transId || decidedOf(book.shown, one.transId) !== undefined;
    if (isKnown && canMove(payment.order, one) && !one.hasTurned) {
      violations.push({
        invariant: 'failedTruth',
        what: `the workflow ends ${book.status}, as a person decided, and ${one.transId} is ${one.status}`,
      });
    }
  }
  for (const one of provider.transactions) {
    if (one.transId === transId || decidedOf(book.shown, one.transId) !== undefined) continue;
    if (isBesides(one, book)) continue;
    if (canMove(payment.order, one) && !one.hasTurned) {
      violations.push({
        invariant: 'secondSeen',
        what: `the workflow ends, and nobody has seen ${one.transId}, which is ${one.status}`,
      });
    }
  }
  for (const one of provider.transactions) {
    if (isBesides(one, book)) continue;
    const shown = book.shown.find(({ transId: id }) => id === one.transId);
    const isPending = shown?.status === 'CREATED' || shown?.status === 'PENDING';
    if (one.transId !== transId && isPending && !shown?.isPaid && shown?.isLeftOut && canMove(payment.order, one)) {
      violations.push({
        invariant: 'secondSeen',
        what: `the workflow ends, and the list left out ${one.transId}, which was ${shown.status} before`,
      });
    }
  }
  for (const one of provider.transactions) {
    const shown = book.shown.find(({ transId: id }) => id === one.transId);
    const isContradiction = one.status === 'SUCCESSFUL' && book.status !== 'SUCCESSFUL';
    if (
      one.isNotified &&
      isContradiction &&
      book.unconfirmed < 4 &&
      provider.silent === 'no' &&
      shown?.decided !== 'SUCCESSFUL'
    ) {
      violations.push({
        invariant: 'confirmed',
        what: `the workflow ends ${book.status}, and the notification of ${one.transId} was dropped`,
      });
    }
  }
  return violations;
}

/** Lists the rules that sending now breaks. */
export function sendViolations({ provider, payment, book, now }: Situation, mayHaveLeft: boolean): Violation[] {
  const violations: Violation[] = [];
  if (payment.order.kind === 'link') {
    const unissued = book.unissued.filter((link) => transactionOf(provider, link)?.status !== 'EXPIRED');
    if (unissued.length > 0) {
      violations.push({
        invariant: 'oneLink',
        what: `another link is made, and ${unissued.join(', ')} was not expired`,
      });
    }
    if (!book.isSearched) {
      violations.push({
        invariant: 'oneLink',
        what: 'another link is made, and the list was not read before',
      });
    }
    return violations;
  }
  if (mayHaveLeft && provider.requests >= provider.decisionsToSend) {
    violations.push({
      invariant: 'sends',
      what: `request ${provider.requests + 1} leaves on ${provider.decisionsToSend} decisions`,
    });
  }
  const { phase } = payment;
  const isOrdered = phase.kind === 'sending' && phase.cause === 'order' && phase.ambiguity === undefined;
  const over = sendUntil({ payment, book });
  if (mayHaveLeft && isOrdered && now >= over) {
    violations.push({ invariant: 'sendBy', what: `it is sent ${now - over} ms after its time was over` });
  }
  const isRepeated = book.isThrottled === true || (phase.kind === 'sending' && phase.ambiguity !== undefined);
  if (isRepeated && (book.lookedAt !== now || book.isNamed)) {
    violations.push({
      invariant: 'readFirst',
      what: book.isNamed ? 'a notification has named a transaction' : 'the list was not read just before',
    });
  }
  const isTriedAgain = isRepeated || (phase.kind === 'sending' && phase.unsent !== undefined);
  if (isTriedAgain && book.isUnnamed)
    violations.push({ invariant: 'readFirst', what: 'a notification has named the payment' });
  if (book.isDisputed)
    violations.push({ invariant: 'readFirst', what: 'a transaction names the payment, and another' });
  const moving = provider.transactions.find((one) => canMove(payment.order, one));
  if (moving !== undefined && book.insisted === undefined) {
    violations.push({
      invariant: 'noDouble',
      what: `money is sent, and ${moving.transId} is ${moving.status}`,
    });
  }
  return violations;
}

/** Returns when the time to send what was ordered is over, by the model's own rule; in ms since the epoch. */
export function sendUntil({ payment, book }: Pick<Situation, 'payment' | 'book'>): number {
  const { order, terms, createdAt } = payment;
  const date = order.kind === 'payout' ? (order.sendAt ?? 0) : 0;
  return Math.max(createdAt, date, book.approvedAt ?? 0) + terms.sendByMs;
}

/** Lists the rules that asking the provider now breaks. */
export function questionViolations({ todo, book, now, provider }: Situation): Violation[] {
  const violations: Violation[] = [];
  if (now < book.quietUntil) {
    violations.push({
      invariant: 'quiet',
      what: `${todo.kind}, ${book.quietUntil - now} ms before the quiet is over`,
    });
  }
  if (todo.kind === 'expire') {
    const paid = book.shown.find(({ transId, isPaid }) => transId === todo.transId && isPaid);
    if (paid !== undefined)
      violations.push({ invariant: 'expiredShown', what: `${paid.transId} is expired, and was shown paid` });
    const report = book.reportedPaid.find(({ transId, at }) => transId === todo.transId && now < at + REPORTED_FOR_MS);
    if (report !== undefined)
      violations.push({
        invariant: 'expiredReported',
        what: `${report.transId} is expired, and a notification calls it paid`,
      });
  }
  if (todo.kind === 'askStatus') {
    const asked = provider.asked.filter(({ transId, at }) => transId === todo.transId && at > now - WINDOW_MS);
    if (asked.length >= CALLS_PER_WINDOW) {
      violations.push({
        invariant: 'statusLimit',
        what: `question ${asked.length + 1} about ${todo.transId} within a minute`,
      });
    }
  }
  return violations;
}

/** A notification may be ahead of the provider's records by this long, in ms. */
export const REPORTED_FOR_MS = 30 * 60_000;

/** The provider's limit, in its own words: "at most 6 requests per minute for a given transaction identifier". */
const CALLS_PER_WINDOW = 6;
const WINDOW_MS = 60_000;

/**
 * Assumptions of the exploration about the world. If one of them is false, the rules that lean on it may be broken,
 * however well the machine keeps them.
 */
export const ASSUMPTIONS = {
  A1: 'The list shows a transaction before a person may decide without insisting, and under the policy `resend` before the grace period is over (RESOLVE_AFTER, or AMBIGUOUS_GRACE, is longer than the lag of the list).',
  A2: 'A transaction that the list has not shown yet is not left out of it any more once its lag is over; one that it has shown, or that the provider has answered a request with, may be missing from a later answer. What was shown in a time that the book has lost counts as not shown yet.',
  A3: 'A request makes two transactions only when its answer was lost (a gateway tried it twice), and the list shows one as A1 has it, and both by RESOLVE_AFTER, or within a minute for payments without `listedAfterMs`. Where the first was SUCCESSFUL, the second is found after the end. One that it makes by itself later, of which no notification arrives, nobody knows of.',
  A4: 'Of a request that the provider answers with a 429 in its own form, the list shows the transaction within a minute, if there is one; or half as long after that as it may lag, where the provider rejects the request that repeats it.',
  A5: 'A link whose address nobody was given is not paid.',
  A6: 'The status and the list say what is or was true of a transaction: late, incomplete or not at all, but nothing made up; and a transaction is not called unknown a day after it was made. The exceptions are a final status that turns into SUCCESSFUL or PENDING later, and a SUCCESSFUL one that is taken back.',
  A7: 'Within one minute no more than three status questions about a transaction are lost with their workers.',
  A8: "An operator who insists on matching a transaction of which the provider does not say whose it is knows that it is this payment's.",
  A9: 'Of a request that was doubted while it was in flight, the list shows the transaction as late as A1 has it, and the time limit of the request later.',
} as const;

/** Writes the assumptions as a list, a line each, for docs/safety.md. */
export function describeAssumptions(): string {
  return Object.entries(ASSUMPTIONS)
    .map(([name, sentence]) => `- **${name}.** ${sentence}`)
    .join('\n');
}
