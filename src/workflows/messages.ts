import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Resolution } from '../payments/decision.js';
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
export const WORKFLOW_TYPES = ['collectByLink', 'collectDirect', 'payOut', 'reopenPayment'] as const;
export type PaymentWorkflowType = (typeof WORKFLOW_TYPES)[number];

/** The one argument of every payment workflow. */
export interface PaymentInput {
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  /** Digest of the request's body: it tells a repeated Idempotency-Key with another body. */
  readonly fingerprint: string;
  /** The API request that started the payment. */
  readonly requestId: string;
  /** Where the previous run left off, after a continue-as-new or when an ended payment is opened again. */
  readonly carried?: PaymentState | undefined;
}

/** A payment as it stands. */
export interface PaymentResult {
  readonly payment: Payment;
  /** The provider's words when it rejected the initiation; nothing was ever started there. */
  readonly rejection?: string | undefined;
}

/**
 * What a payment workflow returns: beside the payment, the state that `reopenPayment` is started with (as `carried`)
 * when something comes in for a payment that has ended.
 */
export interface EndedPayment extends PaymentResult {
  readonly state: PaymentState;
}

/** Who asks for the initiation's outcome. */
interface InitiationRequest {
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
export const outcomeUpdate = defineUpdate<PaymentResult, []>('outcome');

/**
 * Expires a link now, or withdraws a payment of which nothing was sent yet; answers with what became of it. Rejected
 * with `NotALink`, `NotExpirable` or `NotInitiated`.
 */
export const expireUpdate = defineUpdate<PaymentResult, []>('expire');

/** Asks the provider now, within the status budget; answers with what it said. A final payment is left alone. */
export const refreshUpdate = defineUpdate<PaymentResult, []>('refresh');

/**
 * Compares a final payment with the provider's records once more, for an operator who doubts it: what contradicts the
 * outcome brings it under review. Rejected with `NotChecked` when the provider's list can't be read. A payment that
 * isn't final is refreshed.
 */
export const recheckUpdate = defineUpdate<PaymentResult, []>('recheck');

/**
 * Carries out an operator's decision, after checking it against what the provider says at this moment. Rejected with
 * `NotUnderReview`, or with `ResolutionRefused` and the reason in words.
 */
export const resolveUpdate = defineUpdate<PaymentResult, [Resolution]>('resolve');

/** Delivers a notification again, whatever became of it before. Rejected with `NoSuchNotification`. */
export const resendNotificationUpdate = defineUpdate<PaymentResult, [number]>('resendNotification');

/** What the merchant has been notified of, or is still to be notified of. */
export const notificationsQuery = defineQuery<readonly PaymentNotification[]>('notifications');

/** A notification of the provider that matches no payment we know; `at` is ISO 8601. */
export interface UnmatchedNotification extends Hint {
  readonly at: string;
  readonly externalId?: string | undefined;
}

/** The workflow that keeps them, one for all; it is started with the first. */
export const UNMATCHED_WORKFLOW = { type: 'keepUnmatched', id: 'unmatched-notifications' } as const;
export const unmatchedSignal = defineSignal<[UnmatchedNotification]>('unmatched');
export const unmatchedQuery = defineQuery<readonly UnmatchedNotification[]>('unmatched');

/** Type of the ApplicationFailure that a repeated request with another body is rejected with. */
export const FINGERPRINT_MISMATCH = 'FingerprintMismatch';

/**
 * The task queue of slow deliveries to the merchant: apart from the payments', so that a dead endpoint never holds up
 * a request that moves money.
 */
export function notificationsQueue(paymentsQueue: string): string {
  return `${paymentsQueue}-notifications`;
}
