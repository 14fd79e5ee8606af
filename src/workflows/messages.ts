import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
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
export const WORKFLOW_TYPES = ['collectByLink', 'collectDirect', 'payOut'] as const;
export type PaymentWorkflowType = (typeof WORKFLOW_TYPES)[number];

/** The one argument of every payment workflow. */
export interface PaymentInput {
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  /** Digest of the request's body: the same Idempotency-Key with another body is told apart by it. */
  readonly fingerprint: string;
  /** The API request that started the payment. */
  readonly requestId: string;
  /** Where the previous run left off, after a continue-as-new. */
  readonly carried?: PaymentState | undefined;
}

/** What a payment workflow ends with. */
export interface PaymentResult {
  readonly payment: Payment;
  /** The provider's words when it rejected the initiation; nothing was ever started there. */
  readonly rejection?: string | undefined;
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

/** Types of the ApplicationFailures that an update is rejected with. */
export const FINGERPRINT_MISMATCH = 'FingerprintMismatch';
export const NOT_A_LINK = 'NotALink';
export const NOT_EXPIRABLE = 'NotExpirable';
export const NOT_INITIATED = 'NotInitiated';
