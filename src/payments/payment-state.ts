import type { Resolved } from './decision.js';
import { disagreement } from './disagreement.js';
import { isFinal } from './final.js';
import type { PaymentNotification } from './notification.js';
import type { PaymentOrder, PaymentTerms } from './order.js';
import type { PaymentStatus } from './payment.js';
import type { PaymentEventType } from './payment-event.js';
import type { TransId } from './payment-id.js';
import type { Medium, Transaction } from './transaction.js';
import { pollDelay, type Watch } from './watch.js';

/** An initiating POST of which nobody knows whether it was taken; times in ms since the epoch. */
export interface Ambiguity {
  readonly reason: string;
  readonly since: number;
  /** Look-ups made so far. */
  readonly lookUps: number;
  /** It was sent more than once: the one resend that the policy `resend` allows has been spent. */
  readonly resent: boolean;
  /** An operator wants it sent once more, if it still isn't found. */
  readonly approved?: boolean | undefined;
}

/** All that is known of a payment: plain data, so that a workflow can carry it from one run to the next. */
export interface PaymentState {
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  readonly status: PaymentStatus;
  /** Never goes back to false, and the status never changes once it is true. */
  readonly final: boolean;
  /** ms since the epoch, as are all times here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The first request for it has had an outcome, known or not: it is never sent as new again. */
  readonly begun: boolean;
  readonly initiatedAt?: number | undefined;
  /** When the link ends, as the merchant is told. */
  readonly expiresAt?: number | undefined;
  /** When to ask the provider to expire the link, and how often that was tried. */
  readonly expiry?: { readonly at: number; readonly tries: number } | undefined;
  readonly transId?: TransId | undefined;
  readonly link?: string | undefined;
  readonly medium?: Medium | undefined;
  /** XAF */
  readonly revenue?: number | undefined;
  readonly reason?: string | undefined;
  readonly financialTransId?: string | undefined;
  /** The provider's words when it rejected the initiation. */
  readonly rejection?: string | undefined;
  readonly ambiguity?: Ambiguity | undefined;
  readonly watch: Watch;
  /** A notification came in, and no look-up since has been answered. */
  readonly hinted: boolean;
  /** Transactions that notifications named and that the provider has yet to be asked about. */
  readonly claims: readonly TransId[];
  /** When the next of them may be asked about. */
  readonly claimsFrom?: number | undefined;
  /** Only a person can end the review: what the provider says of the payment's transaction doesn't settle it. */
  readonly held: boolean;
  readonly resolved?: Resolved | undefined;
  /** What the merchant was told, or is still to be told, oldest first. */
  readonly notifications: readonly PaymentNotification[];
}

/** What became of a payment, and what the merchant is to be told of it, if anything. */
export interface Change {
  readonly state: PaymentState;
  readonly event?: PaymentEventType | undefined;
}

/** A payment of which nothing was sent yet. */
export function openPayment(order: PaymentOrder, terms: PaymentTerms, now: number): PaymentState {
  return {
    order,
    terms,
    status: 'CREATED',
    final: false,
    createdAt: now,
    updatedAt: now,
    begun: false,
    watch: { spent: [], asked: 0, unanswered: 0, nextAt: now },
    hinted: false,
    claims: [],
    held: false,
    notifications: [],
  };
}

/** The provider has a transaction for the payment; a link's life begins. */
export function accepted(
  state: PaymentState,
  transaction: { readonly transId: TransId; readonly link?: string | undefined },
  now: number,
): Change {
  const { order, terms, ambiguity: _resolved, reason: _settled, rejection: _untrue, ...kept } = state;
  const lifetime = order.method === 'link' ? (order.expiresInMs ?? terms.linkLifetimeMs) : undefined;
  return {
    state: {
      ...kept,
      order,
      terms,
      status: 'CREATED',
      final: false,
      held: false,
      begun: true,
      transId: transaction.transId,
      claims: state.claims.filter((claim) => claim !== transaction.transId),
      link: transaction.link,
      initiatedAt: now,
      updatedAt: now,
      ...(lifetime !== undefined && { expiresAt: now + lifetime, expiry: { at: now + lifetime, tries: 0 } }),
      watch: {
        ...state.watch,
        asked: 0,
        unanswered: 0,
        nextAt: state.hinted ? now : now + pollDelay(0, terms),
      },
    },
  };
}

/** The provider refused to begin: no money will move. */
export function rejected(state: PaymentState, message: string, now: number): Change {
  return failed({ ...state, rejection: message }, message, now);
}

/** Nothing was begun at the provider, and we stop trying: no money will move. */
export function failed({ ambiguity: _over, ...state }: PaymentState, reason: string, now: number): Change {
  return {
    state: { ...state, begun: true, status: 'FAILED', final: true, held: false, reason, updatedAt: now },
    event: 'payment.failed',
  };
}

/**
 * Nobody knows whether the initiating POST was taken; it is looked for from now on. After a resend the grace period
 * begins anew; a link's is one for all its tries.
 */
export function ambiguous(state: PaymentState, reason: string, now: number): Change {
  const { ambiguity: before, order } = state;
  const since = before !== undefined && order.method === 'link' ? before.since : now;
  const ambiguity = { reason, since, lookUps: 0, resent: before !== undefined };
  return { state: { ...state, begun: true, ambiguity, updatedAt: now } };
}

/**
 * A person must look: the payment is not final, and nothing is sent for it until somebody decides. When it is `held`,
 * the provider's word on the payment's own transaction doesn't end the review either.
 */
export function underReview(state: PaymentState, reason: string, now: number, held = false): Change {
  if (state.final || state.held) return { state };
  const reviewed: PaymentState = { ...state, status: 'REVIEW', held, reason, updatedAt: now };
  return state.status === 'REVIEW' ? { state: reviewed } : { state: reviewed, event: 'payment.review' };
}

/**
 * What the provider's word on the payment's own transaction makes of the payment. A final payment stays as it is; a
 * transaction that isn't what was ordered, or a status that its kind can't have, goes to review.
 */
export function observed(state: PaymentState, transaction: Transaction, now: number): Change {
  if (state.final) return { state };
  const wrong = disagreement(state.order, transaction);
  if (wrong !== undefined) return underReview(state, wrong, now);

  if (state.held) return { state };

  const known = { ...state, ...facts(transaction) };
  if (isFinal(state.order, transaction.status)) return settled(known, transaction, now);
  if (state.status === 'REVIEW' || transaction.status === state.status) return { state: known };
  // CREATED after anything else is an old answer: an attempt that was made stays made.
  if (transaction.status === 'CREATED') return { state: known };
  const change = { state: { ...known, status: transaction.status, updatedAt: now } };
  return transaction.status === 'FAILED' ? { ...change, event: 'payment.attempt_failed' } : change;
}

function settled(state: PaymentState, transaction: Transaction, now: number): Change {
  const { reason: _past, ...kept } = state;
  const event = {
    SUCCESSFUL: 'payment.succeeded',
    FAILED: 'payment.failed',
    EXPIRED: 'payment.expired',
  } as const;
  const status = transaction.status as keyof typeof event;
  return {
    state: { ...kept, reason: transaction.reason, status, final: true, updatedAt: now },
    event: event[status],
  };
}

/** What the provider tells beside the status; what it leaves out stays as it was known. */
function facts({ medium, revenue, reason, financialTransId }: Transaction): Partial<PaymentState> {
  return {
    ...(medium && { medium }),
    ...(revenue !== undefined && { revenue }),
    ...(reason && { reason }),
    ...(financialTransId && { financialTransId }),
  };
}
