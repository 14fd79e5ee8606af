import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Decision } from '../payments/decision.js';
import type { PaymentNotification } from '../payments/notification.js';
import type { PaymentOrder, PaymentTerms } from '../payments/order.js';
import type { Payment } from '../payments/payment.js';
import type { TransId } from '../payments/payment-id.js';
import type { PaymentState } from '../payments/payment-state.js';
import type { ProviderStatus } from '../payments/transaction.js';

/**
 * What a payment's workflow can be told and asked: the contract between the front door and the workflows. The API
 * imports this file and no other of the workflows.
 */

/** The workflow types, by the names that Temporal knows them by. */
export const WORKFLOW_TYPES = ['collectByLink', 'collectDirect', 'payOut', 'reconcileLate'] as const;
export type PaymentWorkflowType = (typeof WORKFLOW_TYPES)[number];

/** The one argument of every payment workflow. */
export interface PaymentInput {
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  /** Digest of the request's body: the same Idempotency-Key with another body is told apart by it. */
  readonly fingerprint: string;
  /** The API request that started the payment. */
  readonly requestId: string;
  /** Where the previous run left off, after a continue-as-new or when an ended payment is opened again. */
  readonly carried?: PaymentState | undefined;
}

/** What a payment workflow ends with. */
export interface PaymentResult {
  readonly payment: Payment;
  /** The provider's words when it rejected the initiation; nothing was ever started there. */
  readonly rejection?: string | undefined;
}

/**
 * What a payment workflow returns: beside the payment, the state that `reconcileLate` is started with (as `carried`)
 * when something comes in for a payment that has ended.
 */
export interface EndedPayment extends PaymentResult {
  readonly state: PaymentState;
}

/** Who asks for the initiation's outcome. */
export interface InitiationRequest {
  readonly fingerprint: string;
}

export interface InitiationReply extends PaymentResult {
  /** The request that started the payment: the caller's own when the payment is new, another's when it is repeated. */
  readonly requestId: string;
}

/** A provider's notification, or a piece of it: never a fact, only a reason to ask the provider. */
export interface Hint {
  readonly transId: TransId;
  readonly status: ProviderStatus;
}

/** The payment as the workflow knows it. */
export const paymentQuery = defineQuery<PaymentResult>('payment');

/** Wakes the payment to ask the provider. */
export const hintSignal = defineSignal<[Hint]>('hint');

/**
 * Answers when the provider's answer to the initiation is known. Sent with the start; its update id is the
 * fingerprint, so that repetitions of a request cost no event. Rejected with {@link FINGERPRINT_MISMATCH} when the
 * body is another one than the payment was started with.
 */
export const initiationUpdate = defineUpdate<InitiationReply, [InitiationRequest]>('initiation');

/**
 * Answers when the payment is final; earlier, with the payment as it stands, only when the workflow continues as
 * new. All who wait share one update id, so that any number of them costs as much as one.
 */
export const settledUpdate = defineUpdate<PaymentResult, []>('settled');

/** Expires the link now; answers with what became of it. Rejected with {@link NOT_A_LINK} or {@link NOT_EXPIRABLE}. */
export const expireUpdate = defineUpdate<PaymentResult, []>('expire');

/** Asks the provider now, within the status budget; answers with what it said. */
export const refreshUpdate = defineUpdate<PaymentResult, []>('refresh');

/** An operator's decision on a payment under review, and who made it and why. */
export interface Resolution {
  readonly decision: Decision;
  /** The name of the operator's API key. */
  readonly by: string;
  readonly why: string;
}

/**
 * Carries out an operator's decision, after checking it against what the provider says at this moment. Rejected with
 * {@link NOT_UNDER_REVIEW}, or with {@link RESOLUTION_REFUSED} and the reason in words.
 */
export const resolveUpdate = defineUpdate<PaymentResult, [Resolution]>('resolve');

/** Delivers a notification again, whatever became of it before. Rejected with {@link NO_SUCH_NOTIFICATION}. */
export const resendNotificationUpdate = defineUpdate<PaymentResult, [number]>('resendNotification');

/** What the merchant has been told, or is still to be told. */
export const notificationsQuery = defineQuery<readonly PaymentNotification[]>('notifications');

/** A notification of the provider that belongs to no payment we know; `at` is ISO 8601. */
export interface UnclaimedNotification extends Hint {
  readonly at: string;
  readonly externalId?: string | undefined;
}

/** The workflow that keeps them, one for all; it is started with the first. */
export const UNCLAIMED_WORKFLOW = { type: 'keepUnclaimed', id: 'unclaimed-notifications' } as const;
export const unclaimedSignal = defineSignal<[UnclaimedNotification]>('unclaimed');
export const unclaimedQuery = defineQuery<readonly UnclaimedNotification[]>('unclaimed');

/** Types of the ApplicationFailures that an update is rejected with. */
export const FINGERPRINT_MISMATCH = 'FingerprintMismatch';
export const NOT_A_LINK = 'NotALink';
export const NOT_EXPIRABLE = 'NotExpirable';
export const NOT_INITIATED = 'NotInitiated';
export const NOT_UNDER_REVIEW = 'NotUnderReview';
export const RESOLUTION_REFUSED = 'ResolutionRefused';
export const NO_SUCH_NOTIFICATION = 'NoSuchNotification';
