import type { PaymentEventType } from './payment-event.js';

/** A notification that the merchant has not acknowledged yet. */
export interface PendingNotification {
  /** 1 for the payment's first. The webhook-id is made from it, so it never changes. */
  readonly number: number;
  readonly type: PaymentEventType;
  /** ms since the epoch: when it happened. */
  readonly at: number;
  /** Deliveries tried so far. */
  readonly tries: number;
  /** ms since the epoch: when the next try is due. */
  readonly dueAt: number;
}
