import { heeded, type PaymentRecord } from '../payment-record.js';

/**
 * Whether a person is to blame for what was said at a time: one who insisted, or who decided against the provider's
 * books where its answers hid them. What is so at the end is not excused, for the checks find it before.
 */
export function isExcused(record: PaymentRecord, time: number): boolean {
  return heeded(record).some(({ at, forced, isWrong }) => at <= time && (forced || isWrong));
}

/** The last word was a person's, who took another transaction for the payment's than the books would have. */
export function isOverruled(record: PaymentRecord): boolean {
  const last = heeded(record).at(-1);
  return last?.action === 'match' && last.isWrong;
}
