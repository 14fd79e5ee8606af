import type { Decision, Force, Rejection, Resolution } from '../words/decision.js';
import { isFinal } from '../words/order.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import {
  type Check,
  type Doubt,
  type Facts,
  type Following,
  failureCodeOf,
  followedBy,
  isKnown,
  type OtherTransaction,
  type Outcome,
  type PaymentState,
  type Phase,
  type Pursuit,
  pursuitOf,
  type Review,
  type Searching,
  type SendCause,
  transIdOf,
  type Verifying,
} from '../words/payment-state.js';
import { HOUR_MS } from '../words/time.js';
import type { ProviderStatus, Transaction } from '../words/transaction.js';
import { ownerOf } from './matching.js';
import type { DeliveryOutcome } from './notification.js';
import { reportedPaidUntil } from './paid-reports.js';
import { backoff, bringForward, startPolling } from './polling.js';

/** What can happen to a payment. `request` numbers the requests that wait for a reply. */
export type PaymentEvent =
  /** A run begins, of a new payment or of one that another run has handed over. */
  | { readonly kind: 'begin' }
  /** Something that was waited for is due. */
  | { readonly kind: 'time' }
  /** This run ends, and another continues the payment: requests that wait are answered now. */
  | { readonly kind: 'handOver' }
  | NotificationEvent
  /** The provider has notified of the payment, and hasn't said of which transaction. */
  | { readonly kind: 'named'; readonly status?: ProviderStatus | undefined }
  | AnswerEvent
  | RequestEvent
  | DeliveryEvent;

/** The provider's notification. It proves nothing; it is only a reason to ask the provider. */
export interface NotificationEvent {
  readonly kind: 'notification';
  readonly transId: TransId;
  /** Missing when it doesn't say, or not in the provider's words. */
  readonly status?: ProviderStatus | undefined;
}

/** How a try to notify the merchant has ended: the one that was due at `at`. */
export interface DeliveryEvent {
  readonly kind: 'delivered';
  readonly number: number;
  readonly at: number;
  readonly outcome: DeliveryOutcome;
}

/** The result of the one thing that the payment had to do. */
export type AnswerEvent =
  | { readonly kind: 'sent'; readonly outcome: InitiationOutcome }
  | { readonly kind: 'listed'; readonly answer: ListAnswer }
  | {
      readonly kind: 'status';
      readonly transId: TransId;
      readonly answer: StatusAnswer;
      readonly isReport: boolean;
    }
  | { readonly kind: 'expired'; readonly transId: TransId; readonly answer: ExpiryAnswer }
  /** Whether an earlier run, of which this one knows nothing, may have given the payment's link to the merchant. */
  | { readonly kind: 'resetChecked'; readonly mayBeReset: boolean };

/** Who asks something of a payment. What comes from Temporal's own tools names nobody. */
export interface Actor<Role = 'merchant' | 'operator'> {
  readonly role: Role;
  /** The name of the API key. */
  readonly name?: string | undefined;
}

/** Who has an outcome checked: also the statement of its day. */
export type Checker = Actor<Actor['role'] | 'statement'>;

/** What merchants and operators ask of a payment. */
export type RequestEvent =
  /**
   * Expires a link, or withdraws a payment that has not been sent. A run that was reset may have sent it all the same.
   */
  | {
      readonly kind: 'expire';
      readonly request: number;
      readonly by?: Actor | undefined;
      readonly mayHaveBeenSent?: boolean;
    }
  /** Asks the provider for the status now, within the budget. */
  | { readonly kind: 'refresh'; readonly request: number; readonly by?: Actor | undefined }
  | { readonly kind: 'decide'; readonly request: number; readonly resolution: Resolution }
  | { readonly kind: 'reject'; readonly request: number; readonly rejection: Rejection }
  /** Compares an ended payment with the provider's records once more. */
  | { readonly kind: 'recheck'; readonly request: number; readonly by?: Checker | undefined }
  | {
      readonly kind: 'resendNotification';
      readonly request: number;
      readonly number: number;
      readonly by?: Actor | undefined;
    };

/** The one thing that a payment has to do next. */
export type Todo =
  | { readonly kind: 'send'; readonly cause: SendCause }
  | { readonly kind: 'lookUp' }
  /** `isReport`: the transaction is one that a notification named. */
  | { readonly kind: 'askStatus'; readonly transId: TransId; readonly isReport: boolean }
  /** Of an orphan, a link that was made and given to nobody, as far as the payment knows. */
  | { readonly kind: 'expire'; readonly transId: TransId; readonly isOrphan?: true }
  /**
   * Asks Temporal whether the workflow may have been reset, before a payment ends of which this run has given no link.
   */
  | { readonly kind: 'checkReset' }
  /** Begins a try to notify the merchant, in parallel to everything else. Its outcome comes as `delivered`. */
  | { readonly kind: 'deliver'; readonly number: number; readonly at: number; readonly tries: number }
  /** Nothing until this time (ms since the epoch), or until an event comes. */
  | { readonly kind: 'wait'; readonly until?: number | undefined; readonly summary: string }
  | { readonly kind: 'end' };

/** The answer to a request: the payment as it stands then, or why it was refused. */
export type Reply =
  | { readonly request: number; readonly kind: 'done' }
  | ({
      readonly request: number;
      readonly kind: 'refused';
    } & Refusal);

export const REFUSAL_TYPES = [
  'NotALink',
  'NotExpirable',
  'NotInitiated',
  'NotUnderReview',
  'ResolutionRefused',
  'NoSuchNotification',
  'NotChecked',
] as const;
export type RefusalType = (typeof REFUSAL_TYPES)[number];

/** Why a payment refuses a request. */
export interface Refusal {
  readonly type: RefusalType;
  readonly words: string;
  /** What the request has to overrule to be taken. */
  readonly force?: Force | undefined;
  /** Of a match: what its transaction is of, where the provider has shown it to differ from the order; XAF. */
  readonly transactionAmount?: number | undefined;
}

/** A decision of operators that can't be carried out as it is. */
export function resolutionRefused(words: string): Refusal {
  return { type: 'ResolutionRefused', words };
}

export const NOT_UNDER_REVIEW: Refusal = { type: 'NotUnderReview', words: 'the payment is not under review' };

/** As {@link resolutionRefused}, where the operator may insist. @param insist how the reason goes on to say so */
export function refusedUnless(words: string, force: Force, insist = ', or override this'): Refusal {
  return { ...resolutionRefused(`${words}${insist} with "force": ${JSON.stringify(force)}`), force };
}

/** A payment after an event, and the replies to requests. */
export interface Change {
  readonly payment: PaymentState;
  readonly replies?: readonly Reply[] | undefined;
}

/** The payment in another phase. */
export function inPhase(payment: PaymentState, phase: Phase): PaymentState {
  return { ...payment, phase };
}

/** Refuses a request; the payment stays as it is. */
export function refuse(payment: PaymentState, request: number, refusal: Refusal): Change {
  return { payment, replies: [{ request, kind: 'refused', ...refusal }] };
}

/** Answers a request at once; the payment is as given. */
export function done(payment: PaymentState, request: number): Change {
  return { payment, replies: [{ request, kind: 'done' }] };
}

/**
 * The payment is about to be sent. After a resend of money, no answer can rule out that it was accepted twice: the
 * outcome is checked again afterwards.
 */
export function aboutToSend(payment: PaymentState, cause: SendCause, doubt: Doubt | undefined): PaymentState {
  const { sends, order } = payment;
  const isDoubtful = cause === 'operator' || (cause === 'policy' && order.kind !== 'link');
  return {
    ...payment,
    sends: {
      ...sends,
      byPolicy: sends.byPolicy || cause !== 'order',
      isDoubtful: sends.isDoubtful || isDoubtful,
    },
    phase: { kind: 'sending', cause, doubt },
  };
}

/** Marks the payment as possibly accepted twice: whatever its outcome, it is checked again afterwards. */
export function inDoubt(payment: PaymentState): PaymentState {
  return { ...payment, sends: { ...payment.sends, isDoubtful: true } };
}

/** What a notification says of a transaction that it doesn't name has been examined, or decided over. */
export function withoutUnnamed(payment: PaymentState): PaymentState {
  const { isNamed: _over, ...reports } = payment.reports;
  return { ...payment, reports };
}

/** Whether a transaction is this payment's: the provider says so, or has done so before. */
export function isOfPayment(payment: PaymentState, transaction: Transaction): boolean {
  return isKnown(payment, transaction.transId) || ownerOf(payment.order.id, transaction) === 'payment';
}

/** The first pause before a look-up, in ms; it doubles from there. */
const FIRST_LOOK_UP_MS = 1_000;

/** The longest pause between look-ups within the grace period, in ms. */
const MAX_LOOK_UP_PAUSE_MS = 2 * 60 * 1000;

/** A doubt as a reason for an operator. */
export function describeDoubt(reason: string): string {
  return `it isn't known whether the provider accepted the payment (${reason})`;
}

/** When the grace period of a doubt is over, in ms since the epoch. */
export function graceEnd(payment: PaymentState, { since }: Pick<Doubt, 'since'>): number {
  return since + payment.terms.ambiguousGraceMs;
}

/**
 * The pause before look-up number `lookUps + 1`, in ms. It never extends beyond the end of the grace period. After
 * that, an operator has been asked, and look-ups go on slowly, because the transaction may still appear.
 */
export function lookUpDelay(
  payment: PaymentState,
  doubt: { readonly since: number },
  lookUps: number,
  now: number,
): number {
  const grown = backoff(FIRST_LOOK_UP_MS, lookUps, MAX_LOOK_UP_PAUSE_MS);
  const left = graceEnd(payment, doubt) - now;
  return left > 0 ? Math.min(grown, left) : Math.max(grown, payment.terms.pollMaxMs);
}

/** Starts to look for the transaction of a request that the provider may have accepted. */
export function search(payment: PaymentState, doubt: Doubt, now: number, lookUps = 0): PaymentState {
  const nextAt = now + lookUpDelay(payment, doubt, lookUps, now);
  return inPhase(withEarlierRun(payment, doubt), { kind: 'searching', doubt, lookUps, nextAt });
}

/** Remembers that an earlier run may have given a link to the merchant. */
export function withEarlierRun(payment: PaymentState, { isReset }: Doubt): PaymentState {
  return isReset ? { ...payment, sends: { ...payment.sends, isReset } } : payment;
}

/** Starts to follow a transaction. The lifetime of a link begins with its first transaction. */
export function follow(
  payment: PaymentState,
  taken: { readonly transId: TransId; readonly link?: string | undefined },
  now: number,
): PaymentState {
  const { order, terms, reports } = payment;
  const { transId } = taken;
  const before = transIdOf(payment);
  const facts = before === undefined || before === transId ? payment.facts : sharedFacts(payment.facts);
  const isReported = reports.open.some((report) => report.transId === transId);
  const lifetime = order.kind === 'link' ? (order.expiresInMs ?? terms.linkLifetimeMs) : undefined;
  const expiresAt = lifetime === undefined ? undefined : (facts.expiresAt ?? now + lifetime);
  const known = payment.others.find((other) => other.transId === transId);
  return {
    ...(known === undefined ? payment : withShown(payment, transId, known.status)),
    facts: {
      ...facts,
      expiresAt,
      link: taken.link === undefined ? facts.link : { url: taken.link, transId },
    },
    reports: { ...reports, open: reports.open.filter((report) => report.transId !== transId) },
    others: payment.others.filter((other) => other.transId !== transId),
    phase: {
      kind: 'following',
      transId,
      since: now,
      status: 'CREATED',
      polling: startPolling(isReported, terms, now),
      end: expiresAt === undefined ? undefined : { at: expiresAt, tries: 0 },
    },
  };
}

/**
 * How long after a request the provider's list is first believed to show all that was made of it, in ms. The provider
 * gives no figure: this is several times what its list may usually lag.
 */
export const LISTED_AFTER_MS = 60_000;

/**
 * Starts to verify that no money has moved, unless that is under way: the payment ends when the list shows no other
 * transaction.
 */
export function verify(payment: PaymentState, of: Following, outcome: Verifying['outcome'], now: number): PaymentState {
  if (pursuitOf(payment.phase)?.kind === 'verifying') return payment;
  const listedAt = (payment.sends.lastAt ?? payment.createdAt) + LISTED_AFTER_MS;
  return pursueOn(payment, {
    kind: 'verifying',
    of: outcome.status === 'FAILED' ? { ...of, status: 'FAILED' } : of,
    shown: of.status,
    outcome,
    since: now,
    lookUps: 0,
    nextAt: Math.max(now, listedAt),
  });
}

/** Remembers what the provider has shown of the transaction that the payment goes by. An old answer is none. */
export function withShown(payment: PaymentState, transId: TransId, status: ProviderStatus): PaymentState {
  const known = payment.shown?.transId === transId ? payment.shown : undefined;
  const latest = latestOf(payment, known, status);
  if (known?.status === latest) return payment;
  const wasPaid = known?.wasPaid === true || latest === 'SUCCESSFUL';
  return { ...payment, shown: { transId, status: latest, ...(wasPaid && { wasPaid }) } };
}

/** What stays known when a payment goes on with another transaction: nothing that was said of the one before. */
function sharedFacts({ link, expiresAt }: Facts): Facts {
  return { link, expiresAt };
}

/** Brings the next call to the provider forward, as far as the budget allows. */
export function askSoon(payment: PaymentState, now: number, hinted = false): PaymentState {
  const sooner = soonerIn(pursuitOf(payment.phase), hinted, now);
  return sooner === undefined ? payment : pursueOn(payment, sooner);
}

/** Replaces the payment's pursuit, under review or not. */
export function pursueOn(payment: PaymentState, pursuit: Pursuit): PaymentState {
  const { phase } = payment;
  if (phase.kind === 'review') return inPhase(payment, { ...phase, pursuit });
  return phase.kind === 'deciding'
    ? inPhase(payment, { ...phase, review: { ...phase.review, pursuit } })
    : inPhase(payment, pursuit);
}

/** The shortest pause between two look-ups, whatever the reason for them, in ms. */
const LOOK_UP_PAUSE_MIN_MS = 10_000;

function soonerIn(pursuit: Pursuit | undefined, hinted: boolean, now: number): Pursuit | undefined {
  switch (pursuit?.kind) {
    case 'searching':
      return lookUpSooner(pursuit, now);
    case 'verifying':
      // The first look-up is as soon as it may be.
      return pursuit.lastAt === undefined ? pursuit : lookUpSooner(pursuit, now);
    case 'following':
      return { ...pursuit, polling: bringForward(pursuit.polling, hinted, now) };
    case 'closing':
      return { ...pursuit, of: { ...pursuit.of, polling: bringForward(pursuit.of.polling, hinted, now) } };
    default:
      return undefined;
  }
}

function lookUpSooner<Looked extends Searching | Verifying>(pursuit: Looked, now: number): Looked {
  const earliest = Math.max(now, (pursuit.lastAt ?? 0) + LOOK_UP_PAUSE_MIN_MS);
  return { ...pursuit, nextAt: Math.min(pursuit.nextAt, earliest) };
}

/**
 * Puts the payment under review. If it already is, new evidence gives the review a new number, so that decisions on the
 * old one are refused. A held review stays held.
 */
export function review(
  payment: PaymentState,
  { why, held, pursuit }: Pick<Review, 'why' | 'held' | 'pursuit'>,
  now: number,
): PaymentState {
  const { phase, reviews } = payment;
  const before = phase.kind === 'review' ? phase : undefined;
  if (before !== undefined && before.why === why && before.held === held) {
    return inPhase(payment, { ...before, pursuit });
  }
  return {
    ...payment,
    reviews: reviews + 1,
    phase: {
      kind: 'review',
      number: reviews + 1,
      why,
      since: before?.since ?? now,
      held: held || (before?.held ?? false),
      pursuit,
    },
  };
}

/** Puts the payment under a review that only a decision ends: the provider contradicts its outcome or its order. */
export function holdForReview(payment: PaymentState, why: string, now: number): PaymentState {
  return review(payment, { why, held: true, pursuit: pursuitFor(payment, now) }, now);
}

/** The payment's pursuit; for an ended payment, to follow its transaction again if an operator decides so. */
function pursuitFor({ phase, createdAt, terms }: PaymentState, now: number): Pursuit | undefined {
  if (phase.kind !== 'ended') return pursuitOf(phase);
  if (phase.transId === undefined) return undefined;
  return {
    kind: 'following',
    transId: phase.transId,
    since: createdAt,
    status: 'CREATED',
    polling: startPolling(false, terms, now),
  };
}

/** When an outcome in doubt is checked again, in ms after the end. */
export const CHECKS_AFTER_MS = [0, HOUR_MS, 24 * HOUR_MS] as const;

/** Ends the payment. */
export function end(
  payment: PaymentState,
  outcome: Outcome,
  now: number,
  unheard: readonly TransId[] = [],
): PaymentState {
  const known = openOther(payment) === undefined ? payment : inDoubt(payment);
  const checks = known.sends.isDoubtful ? checksFrom(now) : [];
  const unsaid = payment.reports.unconfirmed.filter((named) => payment.others.some(({ transId }) => transId === named));
  const unproven = [...new Set([...unheard, ...unsaid])];
  return inPhase(known, { kind: 'ended', ...outcome, transId: transIdOf(payment), checks, unproven });
}

/** The checks of an outcome that is in doubt since `now`. */
export function checksFrom(now: number): Check[] {
  return CHECKS_AFTER_MS.map((after) => ({ at: now + after, tries: 0 }));
}

/** Whether a transaction has moved money or still can. A link that nobody was given can't be paid. */
export function canMoveMoney({ order }: PaymentState, status: ProviderStatus): boolean {
  return order.kind === 'link'
    ? status === 'SUCCESSFUL' || status === 'PENDING'
    : status !== 'FAILED' && status !== 'EXPIRED';
}

/**
 * Notes a further transaction of the payment. Because money may move twice, the payment goes under review, unless an
 * operator has already seen the transaction with this status.
 */
export function noteOther(payment: PaymentState, { transId, status }: Transaction, now: number): PaymentState {
  const known = payment.others.find((other) => other.transId === transId);
  const latest = latestOf(payment, known, status);
  if (known?.status === latest && payment.phase.kind === 'review' && payment.phase.held) return payment;
  const noted = withOther(payment, { transId, status });
  const isFailed = failureCodeOf(payment) === 'decided_by_operator';
  // After a reset, the merchant may have been given any link.
  const mayBeGiven = payment.sends.isReset === true || payment.facts.link?.transId === transId;
  const mayBePaid = mayBeGiven && !isOver(payment, latest) && (known === undefined || isFailed);
  if ((!canMoveMoney(payment, latest) && !mayBePaid) || known?.judged === latest) return noted;
  return holdForReview(
    inDoubt(noted),
    `the provider has another transaction for this payment: ${transId} (${latest})`,
    now,
  );
}

/** Keeps a further transaction in mind. With the status that a decision has judged, it stays judged. */
export function withOther(payment: PaymentState, { transId, status }: Transaction): PaymentState {
  const known = payment.others.find((other) => other.transId === transId);
  const latest = latestOf(payment, known, status);
  if (known?.status === latest) return payment;
  const changed: OtherTransaction = { ...known, transId, status: latest };
  return {
    ...payment,
    others: remembered(payment, [...payment.others.filter((other) => other !== known), changed]),
  };
}

/** The further transactions that are remembered: all that can move money, and the latest of the rest. */
function remembered(payment: PaymentState, others: readonly OtherTransaction[]): readonly OtherTransaction[] {
  const spare = others.filter((other) => !isOpen(payment, other)).slice(0, Math.max(0, others.length - MAX_OTHERS));
  return spare.length === 0 ? others : others.filter((other) => !spare.includes(other));
}

/**
 * What is known of a further transaction after an answer that may be an old one. Nothing but being over comes after
 * SUCCESSFUL, and a link that somebody has tried to pay isn't CREATED again.
 */
export function latestOf(
  payment: PaymentState,
  known: Pick<OtherTransaction, 'status'> | undefined,
  status: ProviderStatus,
): ProviderStatus {
  if (known === undefined) return status;
  const isOld =
    (known.status === 'SUCCESSFUL' && !isOver(payment, status)) ||
    (payment.order.kind === 'link' && status === 'CREATED');
  return isOld ? known.status : status;
}

/**
 * Whether the provider has shown this transaction of the payment as SUCCESSFUL: what it shows it as now may be an old
 * answer.
 */
export function hasBeenPaid({ others, shown }: PaymentState, transId: TransId): boolean {
  const known = others.find((other) => other.transId === transId);
  return known?.status === 'SUCCESSFUL' || (shown?.transId === transId && shown.wasPaid === true);
}

/**
 * Whether a transaction may have been paid: the provider has shown it so, or a notification says so, and may yet be
 * confirmed.
 */
export function mayBePaid(payment: PaymentState, transId: TransId, now: number): boolean {
  return hasBeenPaid(payment, transId) || reportedPaidUntil(payment, transId, now) !== undefined;
}

/** Why a transaction may have been paid, though the provider doesn't say so now. */
export function whyPaid(payment: PaymentState, transId: TransId): string {
  return hasBeenPaid(payment, transId)
    ? `the provider has shown ${transId} (SUCCESSFUL) for this payment`
    : `a notification says that ${transId} has been paid, and the provider hasn't confirmed that yet`;
}

/**
 * Whether a further transaction has moved money, or can still move it, for all that is known. Of links that nobody is
 * paying, only those count that a decision has left, and after a reset all: the merchant may have been given one of
 * them.
 */
export function isOpen(payment: PaymentState, { status, judged }: OtherTransaction): boolean {
  const mayBeGiven = judged !== undefined || payment.sends.isReset === true;
  return canMoveMoney(payment, status) || (mayBeGiven && !isOver(payment, status));
}

/** A further transaction that has moved money, or can still move it. */
export function openOther(payment: PaymentState): OtherTransaction | undefined {
  return payment.others.find((other) => isOpen(payment, other));
}

/** Why a transaction that has moved no money doesn't end the payment. */
export function besides(transId: TransId, status: ProviderStatus, open: OtherTransaction): string {
  return `${transId} is ${status}, but the provider has another transaction for this payment: ${open.transId} (${open.status})`;
}

/** How many further transactions are remembered, unless more of them can move money. */
const MAX_OTHERS = 20;

/** Notes the transactions that a review is about, so that the others are remembered when one of them is matched. */
export function withOthers(payment: PaymentState, transactions: readonly Transaction[]): PaymentState {
  return withNoted(inDoubt(payment), transactions);
}

/** Keeps transactions of the payment in mind. */
export function withNoted(payment: PaymentState, transactions: readonly Transaction[]): PaymentState {
  const added = transactions.map(({ transId, status }): OtherTransaction => {
    const known = payment.others.find((other) => other.transId === transId);
    return { ...known, transId, status: latestOf(payment, known, status) };
  });
  const kept = payment.others.filter(({ transId }) => !added.some((one) => one.transId === transId));
  return { ...payment, others: remembered(payment, [...kept, ...added]) };
}

/** Whether a transaction with this status has moved no money, and never will. */
export function isOver(payment: PaymentState, status: ProviderStatus): boolean {
  return status === 'EXPIRED' || (status !== 'SUCCESSFUL' && isFinal(payment.order, status));
}

/** The transaction that a decision names; `undefined` if it names none. */
export function matchedTransId(decision: Decision): TransId | undefined {
  return decision.action === 'match' ? decision.transId : undefined;
}

/** The transaction that is followed, in any phase. */
export function followedTransaction(payment: PaymentState) {
  return followedBy(pursuitOf(payment.phase));
}
