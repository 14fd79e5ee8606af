import { type PaymentRecord, recordOf } from '../simulation/payment-record.js';
import type { PlannedPayment } from '../simulation/plan/plan-payments.js';

/** What is known of one payment outside of Sanaga. */
export interface ChaosRecord extends PaymentRecord {
  /** When its link ends, in ms since the epoch; known with the link. */
  endsAt?: number | undefined;
  /** The final statuses that the API has shown: there must not be two. */
  readonly ends: Set<string>;
}

export function chaosRecordOf(planned: PlannedPayment): ChaosRecord {
  return { ...recordOf(planned), ends: new Set() };
}
