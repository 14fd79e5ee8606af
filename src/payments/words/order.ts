import { PAYMENT_KINDS, type PaymentId, type PaymentKind } from './payment-id.js';
import { DAY_MS } from './time.js';
import type { Medium, PhoneMedium, ProviderStatus } from './transaction.js';

/** A collection's way to the payer: a hosted checkout page, or a request on the payer's phone. */
export type CollectionMethod = 'link' | 'direct';

interface OrderCommon {
  readonly id: PaymentId;
  /** XAF, an integer of at least the provider's minimum. */
  readonly amount: number;
  /** The merchant's own identifiers, given back as given. The provider is sent the payment's id in place of both. */
  readonly userId?: string | undefined;
  readonly externalId?: string | undefined;
  readonly message?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface LinkOrder extends OrderCommon {
  readonly kind: 'link';
  readonly email?: string | undefined;
  readonly redirectUrl?: string | undefined;
  /** ms from creation; at most the provider's 24 h. Absent: the setting LINK_LIFETIME. */
  readonly expiresInMs?: number | undefined;
  /** The phone number that the payer's money goes back to. The provider gives no number for a link. */
  readonly refundTo?: string | undefined;
}

export interface DirectOrder extends OrderCommon {
  readonly kind: 'direct';
  readonly phone: string;
  readonly medium?: PhoneMedium | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

export interface PayoutOrder extends OrderCommon {
  readonly kind: 'payout';
  /** Required unless the medium is `platform`. */
  readonly phone?: string | undefined;
  readonly medium?: Medium | undefined;
  readonly name?: string | undefined;
  /** Required when the medium is `platform`. */
  readonly email?: string | undefined;
  /** Another person has to approve it, whatever its amount. */
  readonly approval?: true | undefined;
  /** It isn't sent before this time, in ms since the epoch. */
  readonly sendAt?: number | undefined;
  /** The person who ordered it. While nobody is named, nobody can approve it. */
  readonly orderedBy?: string | undefined;
  /** Identifiers of this person's keys when it was ordered. */
  readonly orderedByKeys?: readonly string[] | undefined;
  /** The collection that it refunds. */
  readonly refundOf?: PaymentId | undefined;
  /** The reason for the refund, in the merchant's words. */
  readonly refundReason?: string | undefined;
}

/** A merchant's order: the whole of it, checked, before anything was sent. */
export type PaymentOrder = LinkOrder | DirectOrder | PayoutOrder;

export type OrderKind = PaymentOrder['kind'];

/** Reports whether nobody is left to whom money could be sent, or who could be asked: the payer's data was erased. */
export function isErased(order: PaymentOrder): boolean {
  if (order.kind === 'direct') return order.phone === '';
  return order.kind === 'payout' && order.phone === undefined && order.email === undefined;
}

/** Returns the provider's service that takes the order, which is the payment's `kind` in the API. */
export function serviceOf({ kind }: Pick<PaymentOrder, 'kind'>): Service {
  return kind === 'payout' ? 'payout' : 'collection';
}

/**
 * Reports whether the provider will never move a transaction on from this status. A link's payer may try again after
 * FAILED, so a link ends as SUCCESSFUL or EXPIRED; a direct payment and a payout end as SUCCESSFUL or FAILED.
 */
export function isFinal(order: Pick<PaymentOrder, 'kind'>, status: ProviderStatus): boolean {
  if (status === 'SUCCESSFUL') return true;
  return order.kind === 'link' ? status === 'EXPIRED' : status === 'FAILED';
}

/** Policy for an ambiguous money-moving POST without a transaction to be found: ask a person, or send once more. */
export type AmbiguousPolicy = 'review' | 'resend';

/** The settings of a payment, fixed when it starts, so that a change of settings never changes a running one. */
export interface PaymentTerms {
  /** Lifetime of a link in ms, when the order has none. */
  readonly linkLifetimeMs: number;
  /** Pause before the first poll, in ms. */
  readonly pollFirstMs: number;
  /** Longest pause between two polls, in ms. */
  readonly pollMaxMs: number;
  /** Time to look for a transaction after an ambiguous POST, in ms. */
  readonly ambiguousGraceMs: number;
  readonly ambiguousPolicy: AmbiguousPolicy;
  /** Time since the last send before a person may have it sent again or call it FAILED, in ms. */
  readonly resolveAfterMs: number;
  /**
   * Time since the last send until the provider's list shows all that was made of it, in ms: a payment in doubt isn't
   * called FAILED before. Absent: a minute.
   */
  readonly listedAfterMs?: number | undefined;
  /** Longest wait of a payment to be sent, while the provider refuses our credentials, in ms. */
  readonly sendByMs: number;
  /** Time limit of one call to the provider, in ms. */
  readonly providerTimeoutMs: number;
  /** A decision on a payout of more than this takes two people; XAF. Absent: none does. */
  readonly secondPersonAbove?: number | undefined;
  /** A payout of more than this waits for another person's approval; XAF. Absent: only where its order says so. */
  readonly approveAbove?: number | undefined;
  /** Longest wait for the approval, in ms. Absent: {@link APPROVAL_WITHIN_MS}. */
  readonly approvalWithinMs?: number | undefined;
  /** The desk's base address, for the link to the payment there in Temporal's Web UI. Absent: no link. */
  readonly deskUrl?: string | undefined;
}

/** What a payout waits for before it is sent: another person's approval, or its date. */
export const HELD_FOR = ['approval', 'date'] as const;
export type HeldFor = (typeof HELD_FOR)[number];

/** Longest wait for the approval of a payout whose terms don't say, in ms. */
const APPROVAL_WITHIN_MS = 7 * DAY_MS;

/** How far ahead the date of a payout may be, in ms. */
export const MAX_SEND_AHEAD_MS = 90 * DAY_MS;

/** Reports whether another person has to approve an order before it is sent. */
export function needsApproval(order: PaymentOrder, { approveAbove = Number.POSITIVE_INFINITY }: PaymentTerms): boolean {
  return order.kind === 'payout' && (order.approval === true || order.amount > approveAbove);
}

/** Returns the time by which a payout has to be approved that is held from a time on, in ms since the epoch. */
export function approveBy({ approvalWithinMs = APPROVAL_WITHIN_MS }: PaymentTerms, since: number): number {
  return since + approvalWithinMs;
}

/** Returns the time before which an order isn't sent, in ms since the epoch, if it names one. */
export function sendAtOf(order: PaymentOrder): number | undefined {
  return order.kind === 'payout' ? order.sendAt : undefined;
}

/** Returns the collection that an order refunds, if it does. */
export function refundOf(order: PaymentOrder): PaymentId | undefined {
  return order.kind === 'payout' ? order.refundOf : undefined;
}

/** The one of the merchant's two provider services that a kind of payment goes through. */
export type Service = PaymentKind;

export const SERVICES = PAYMENT_KINDS;
