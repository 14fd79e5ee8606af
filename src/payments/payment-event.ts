/** What a merchant is told of, by the names of the notifications. */
export const PAYMENT_EVENT_TYPES = [
  'payment.succeeded',
  'payment.failed',
  'payment.expired',
  'payment.attempt_failed',
  'payment.review',
] as const;
export type PaymentEventType = (typeof PAYMENT_EVENT_TYPES)[number];
