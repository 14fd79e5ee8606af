import type { PaymentOrder } from '../payments/words/order.js';
import type { Payment } from '../payments/words/payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { EndedState, PaymentResult } from '../workflows/messages.js';

/** A payment to be recorded: its state at the end of its latest run, or when it was last read before. */
export interface NewRecord extends PaymentRun {
  /** `undefined` when it couldn't be read. Its existence is recorded all the same. */
  readonly content: KeptPayment | undefined;
}

/** A payment as it is recorded for good. */
export interface PaymentRecord extends PaymentRun {
  /** `undefined` when it couldn't be read, or can't be read now. */
  readonly content: RecordContent | undefined;
  /** The payer's personal data was erased from it. */
  readonly isErased: boolean;
}

/** A run of a payment's workflow, as Temporal's index has it; times in ms since the epoch. */
export interface PaymentRun {
  readonly id: PaymentId;
  readonly merchant: string;
  readonly indexed: IndexedFields;
  readonly runId: string;
  readonly startedAt: number;
  /** Time of the run's end, in ms since the epoch; `undefined` while it is open. */
  readonly closedAt: number | undefined;
  /** An operator stopped it, or it failed: it left no state, and can't go on. */
  readonly stopped: boolean;
}

/** The fields that payments can be searched by. */
export type IndexedFields = Pick<
  Payment,
  'kind' | 'status' | 'final' | 'amount' | 'amountPaid' | 'transId' | 'externalId' | 'userId' | 'refundOf'
> & {
  readonly createdAt: number;
  /** Time at which a held payout was released. */
  readonly releasedAt?: number | undefined;
};

/**
 * A payment as it is kept, encrypted, as JSON with a version (`v`): its state, its timeline, and the request that
 * started it. The payment that the API shows follows from the state.
 */
export interface KeptPayment extends EndedState {
  readonly requestId: string;
  /** The digest of the request's body. It follows from the phone number, too, and is gone when that is erased. */
  readonly fingerprint?: string | undefined;
}

/** A payment as it is kept, and as the API shows it. */
export interface RecordContent extends KeptPayment, PaymentResult {}

/** Returns a payer's identifiers: a phone number as nine digits, an e-mail address in lower case. */
export function payersOf({ state: { order } }: KeptPayment): string[] {
  const phone = order.kind === 'link' ? order.refundTo : order.phone;
  return [phone, order.email?.toLowerCase()].flatMap((one) => (one ? [one] : []));
}

/** A mobile operator's reference that payments can be looked for by. The provider limits it in no way. */
export const REFERENCE = /^[!-~]{1,200}$/;

/** Returns the mobile operator's reference, if payments can be looked for by it. */
export function referenceOf({ state }: KeptPayment): string | undefined {
  const { financialTransId } = state.facts;
  return financialTransId !== undefined && REFERENCE.test(financialTransId) ? financialTransId : undefined;
}

/**
 * Removes the payer's identity: phone, name, e-mail address, message, metadata, the address to return to and the
 * merchant's identifier of the customer. The amount, the time, the medium and the order stay, and so do the references
 * of the provider and the mobile operator.
 */
export function withoutPayer(record: NewRecord): NewRecord {
  const { content, indexed } = record;
  return {
    ...record,
    indexed: { ...indexed, userId: undefined },
    content: content && {
      ...content,
      fingerprint: undefined,
      state: { ...content.state, order: anonymous(content.state.order) },
    },
  };
}

function anonymous(order: PaymentOrder): PaymentOrder {
  const kept = { id: order.id, amount: order.amount, externalId: order.externalId, metadata: {} };
  if (order.kind === 'payout') {
    return { ...kept, kind: order.kind, medium: order.medium, orderedBy: order.orderedBy, refundOf: order.refundOf };
  }
  return order.kind === 'link'
    ? { ...kept, kind: order.kind, expiresInMs: order.expiresInMs }
    : { ...kept, kind: order.kind, phone: '', medium: order.medium };
}

/** Puts a payment in REVIEW whose workflow was stopped, or is gone: without an outcome, a person must look. */
export function inReviewUnlessFinal(payment: Payment): Payment {
  if (payment.final) return payment;
  return { ...payment, status: 'REVIEW', reason: 'The payment was stopped before its outcome was known' };
}
