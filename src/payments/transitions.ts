import type { Decision, Resolution } from './decision.js';
import type { DeliveryOutcome } from './notification.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from './outcome.js';
import type { TransId } from './payment-id.js';
import {
  type Check,
  type Doubt,
  type Ended,
  followedBy,
  type PaymentState,
  type Phase,
  type Pursuit,
  pursuitOf,
  type Review,
  type SendCause,
  transIdOf,
} from './payment-state.js';
import { backoff, bringForward, startPolling } from './polling.js';
import { isFinal, type ProviderStatus, type Transaction } from './transaction.js';

/** What can happen to a payment. `request` numbers those who wait for a reply. */
export type PaymentEvent =
  /** A run begins, whether of a new payment or of one that is carried on. */
  | { readonly kind: 'begin' }
  /** Something that was waited for is due. */
  | { readonly kind: 'time' }
  /** This run ends, and another carries the payment on: whatever waits is answered now. */
  | { readonly kind: 'handOver' }
  | NotificationEvent
  | AnswerEvent
  | RequestEvent
  | {
      readonly kind: 'redelivered';
      readonly number: number;
      readonly at: number;
      readonly outcome: DeliveryOutcome;
    };

/** The provider's notification. It proves nothing: it is only a reason to ask. */
export interface NotificationEvent {
  readonly kind: 'notification';
  readonly transId: TransId;
  readonly status: ProviderStatus;
}

/** What came of the one thing that the payment had to do. */
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
  | {
      readonly kind: 'delivered';
      readonly number: number;
      readonly at: number;
      readonly outcome: DeliveryOutcome;
    };

/** What merchants and operators ask of a payment. */
export type RequestEvent =
  /** Expires a link, or withdraws what was not sent yet. */
  | { readonly kind: 'expire'; readonly request: number }
  /** Asks the provider now, within the budget. */
  | { readonly kind: 'refresh'; readonly request: number }
  | { readonly kind: 'decide'; readonly request: number; readonly resolution: Resolution }
  /** Compares an ended payment with the provider's records once more. */
  | { readonly kind: 'recheck'; readonly request: number }
  | { readonly kind: 'resendNotification'; readonly request: number; readonly number: number };

/** The one thing that a payment has to do next. */
export type Todo =
  | { readonly kind: 'send'; readonly cause: SendCause }
  | { readonly kind: 'lookUp' }
  /** `isReport`: the transaction is one that a notification named. */
  | { readonly kind: 'askStatus'; readonly transId: TransId; readonly isReport: boolean }
  | { readonly kind: 'expire'; readonly transId: TransId }
  /** The first try, which holds up everything else for some seconds at most. */
  | { readonly kind: 'deliver'; readonly number: number; readonly at: number }
  /** A later try, beside everything else: its outcome comes as `redelivered`. */
  | { readonly kind: 'redeliver'; readonly number: number; readonly at: number; readonly tries: number }
  /** Nothing until then (ms since the epoch), or until something happens. */
  | { readonly kind: 'wait'; readonly until?: number | undefined; readonly summary: string }
  | { readonly kind: 'end' };

/** The answer to a request: the payment as it stands then, or why it was refused. */
export type Reply =
  | { readonly request: number; readonly kind: 'done' }
  | {
      readonly request: number;
      readonly kind: 'refused';
      readonly type: RefusalType;
      readonly words: string;
    };

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

/** Why something that was asked of a payment can't be done. */
export interface Refusal {
  readonly type: RefusalType;
  readonly words: string;
}

/** What an event makes of a payment, and who is answered. */
export interface Change {
  readonly payment: PaymentState;
  readonly replies?: readonly Reply[] | undefined;
}

/** The payment in another phase. */
export function inPhase(payment: PaymentState, phase: Phase): PaymentState {
  return { ...payment, phase };
}

/** Refuses a request; the payment stays as it is. */
export function refuse(payment: PaymentState, request: number, { type, words }: Refusal): Change {
  return { payment, replies: [{ request, kind: 'refused', type, words }] };
}

/** Answers a request at once. */
export function done(payment: PaymentState, request: number): Change {
  return { payment, replies: [{ request, kind: 'done' }] };
}

/**
 * The money, or the link, is about to be sent. A resend of money leaves a doubt behind that no answer settles for good:
 * the outcome is checked again afterwards.
 */
export function aboutToSend(payment: PaymentState, cause: SendCause, doubt: Doubt | undefined): PaymentState {
  const { sends, order } = payment;
  const isDoubtful = cause === 'operator' || (cause === 'policy' && order.method !== 'link');
  return {
    ...payment,
    sends: {
      ...sends,
      byPolicy: sends.byPolicy || cause === 'policy',
      isDoubtful: sends.isDoubtful || isDoubtful,
    },
    phase: { kind: 'sending', cause, doubt },
  };
}

/** The payment as one that may have been taken twice, whatever it ends with: its outcome is checked again afterwards. */
export function inDoubt(payment: PaymentState): PaymentState {
  return { ...payment, sends: { ...payment.sends, isDoubtful: true } };
}

/** The first pause before a look-up, in ms; it doubles from there. */
const FIRST_LOOK_UP_MS = 1_000;

/** The longest pause between look-ups within the grace period, in ms. */
const LOOK_UP_PAUSE_MAX_MS = 2 * 60 * 1000;

/** A doubt in words for a person. */
export function describeDoubt(reason: string): string {
  return `whether the provider took the payment isn't known (${reason})`;
}

/** When a doubt's grace period is over. */
export function graceEnd(payment: PaymentState, doubt: Doubt): number {
  return doubt.since + payment.terms.ambiguousGraceMs;
}

/**
 * The pause before look-up number `lookUps + 1`, in ms, never reaching past the end of the grace period. After that a
 * person has been asked; the payment may still turn up, so it is looked for on, slowly.
 */
export function lookUpDelay(payment: PaymentState, doubt: Doubt, lookUps: number, now: number): number {
  const grown = backoff(FIRST_LOOK_UP_MS, lookUps, LOOK_UP_PAUSE_MAX_MS);
  const left = graceEnd(payment, doubt) - now;
  return left > 0 ? Math.min(grown, left) : Math.max(grown, payment.terms.pollMaxMs);
}

/** Nobody knows whether the request was taken: its transaction is looked for from now on. */
export function search(payment: PaymentState, doubt: Doubt, now: number, lookUps = 0): PaymentState {
  const nextAt = now + lookUpDelay(payment, doubt, lookUps, now);
  return inPhase(payment, { kind: 'searching', doubt, lookUps, nextAt });
}

/** The provider has a transaction for the payment; a link's life begins, unless it had begun before. */
export function follow(
  payment: PaymentState,
  taken: { readonly transId: TransId; readonly link?: string | undefined },
  now: number,
): PaymentState {
  const { order, terms, facts, reports } = payment;
  const { transId } = taken;
  const isReported = reports.open.some((report) => report.transId === transId);
  const lifetime = order.method === 'link' ? (order.expiresInMs ?? terms.linkLifetimeMs) : undefined;
  const expiresAt = lifetime === undefined ? undefined : (facts.expiresAt ?? now + lifetime);
  return {
    ...payment,
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

/** The payment with the next question about its transaction brought forward, as far as the budget allows. */
export function askSoon(payment: PaymentState, now: number, hinted = false): PaymentState {
  const sooner = soonerIn(pursuitOf(payment.phase), hinted, now);
  return sooner === undefined ? payment : pursueOn(payment, sooner);
}

/** The payment with what goes on at the provider taken a step further, under review or not. */
export function pursueOn(payment: PaymentState, pursuit: Pursuit): PaymentState {
  const { phase } = payment;
  if (phase.kind === 'review') return inPhase(payment, { ...phase, pursuit });
  return phase.kind === 'deciding'
    ? inPhase(payment, { ...phase, review: { ...phase.review, pursuit } })
    : inPhase(payment, pursuit);
}

/** Least time between two look-ups, whoever asks for them, in ms. */
const LOOK_UP_PAUSE_MIN_MS = 10_000;

function soonerIn(pursuit: Pursuit | undefined, hinted: boolean, now: number): Pursuit | undefined {
  switch (pursuit?.kind) {
    case 'searching': {
      const earliest = Math.max(now, (pursuit.lastAt ?? 0) + LOOK_UP_PAUSE_MIN_MS);
      return { ...pursuit, nextAt: Math.min(pursuit.nextAt, earliest) };
    }
    case 'following':
      return { ...pursuit, polling: bringForward(pursuit.polling, hinted, now) };
    case 'closing':
      return { ...pursuit, of: { ...pursuit.of, polling: bringForward(pursuit.of.polling, hinted, now) } };
    default:
      return undefined;
  }
}

/**
 * Puts the payment under review. If it is already under review, new evidence gives the review a new number, and decisions on
 * the old one are refused. A held review stays held.
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

/** What the provider says contradicts the payment's outcome or its order: only a decision ends this review. */
export function holdForReview(payment: PaymentState, why: string, now: number): PaymentState {
  return review(payment, { why, held: true, pursuit: pursuitFor(payment, now) }, now);
}

/** What goes on for a payment, or would: an ended one's transaction is followed again once a person has decided so. */
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

const HOUR_MS = 60 * 60 * 1000;

/** When an outcome that is open to doubt is checked again, in ms after the end. */
export const CHECKS_AFTER_MS = [0, HOUR_MS, 24 * HOUR_MS] as const;

/** The payment's outcome is known. */
export function end(
  payment: PaymentState,
  outcome: Pick<Ended, 'status' | 'reason' | 'rejection'>,
  now: number,
): PaymentState {
  const isDoubtful = payment.sends.isDoubtful;
  return inPhase(payment, {
    kind: 'ended',
    ...outcome,
    transId: transIdOf(payment),
    checks: isDoubtful ? checksFrom(now) : [],
  });
}

/** The checks of an outcome that is open to doubt since `now`. */
export function checksFrom(now: number): Check[] {
  return CHECKS_AFTER_MS.map((after) => ({ at: now + after, next: 'list', tries: 0 }));
}

/** Whether a transaction moves money, has moved it, or still may. A link that nobody was given can't be paid. */
export function canMoveMoney({ order }: PaymentState, status: ProviderStatus): boolean {
  return order.method === 'link' ? status === 'SUCCESSFUL' || status === 'PENDING' : status !== 'FAILED';
}

/**
 * The payment with a further transaction of its own noted. Money may move twice: a person must look, unless one has
 * judged this very status of it.
 */
export function noteOther(
  payment: PaymentState,
  { transId, status }: Transaction,
  now: number,
): PaymentState {
  const known = payment.others.find((other) => other.transId === transId);
  if (known?.status === status && (known.isJudged || payment.phase.kind === 'review')) return payment;
  const isMoving = canMoveMoney(payment, status);
  const noted = {
    ...(isMoving ? inDoubt(payment) : payment),
    others: [
      ...payment.others.filter((other) => other.transId !== transId),
      { transId, status, isJudged: false },
    ].slice(-OTHERS_MAX),
  };
  if (!isMoving) return noted;
  return holdForReview(noted, `the provider has another transaction for it: ${transId} (${status})`, now);
}

/** Further transactions remembered. */
const OTHERS_MAX = 20;

/** The payment with transactions noted that a review is about: none of them is forgotten when another is matched. */
export function withOthers(payment: PaymentState, transactions: readonly Transaction[]): PaymentState {
  const added = transactions.map(({ transId, status }) => ({ transId, status, isJudged: false }));
  const kept = payment.others.filter(({ transId }) => !added.some((one) => one.transId === transId));
  return {
    ...inDoubt(payment),
    others: [...kept, ...added].slice(-OTHERS_MAX),
  };
}

/** Whether no money has moved with a transaction of this status, and none will. */
export function isOver(payment: PaymentState, status: ProviderStatus): boolean {
  return status === 'EXPIRED' || (status !== 'SUCCESSFUL' && isFinal(payment.order, status));
}

/** What a decision can name as the payment's transaction. */
export function matchedTransId(decision: Decision): TransId | undefined {
  return decision.action === 'match' ? decision.transId : undefined;
}

/** What is followed, in whichever phase. */
export function followedTransaction(payment: PaymentState) {
  return followedBy(pursuitOf(payment.phase));
}
