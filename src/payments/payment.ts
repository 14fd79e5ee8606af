import type { CURRENCY } from './limits.js';
import type { CollectionMethod } from './order.js';
import type { PaymentId, PaymentKind, TransId } from './payment-id.js';
import type { Medium, ProviderStatus } from './transaction.js';

/** The provider's statuses, and REVIEW: a person must look before anybody says more. */
export const PAYMENT_STATUSES = ['CREATED', 'PENDING', 'SUCCESSFUL', 'FAILED', 'EXPIRED', 'REVIEW'] as const;
export type PaymentStatus = ProviderStatus | 'REVIEW';

/** What an operator decided, who it was, and why. */
export interface PaymentResolution {
  readonly action: 'resend' | 'fail' | 'match';
  readonly transId?: TransId | undefined;
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

/** A payment as it stands, in the words of the merchant's API; times are ISO 8601 in UTC, amounts XAF. */
export interface Payment {
  readonly id: PaymentId;
  readonly object: 'payment';
  readonly kind: PaymentKind;
  readonly method?: CollectionMethod | undefined;
  readonly status: PaymentStatus;
  /** Nothing will change the status any more. A link's FAILED is a failed attempt, and not final. */
  readonly final: boolean;
  readonly amount: number;
  readonly currency: typeof CURRENCY;
  readonly link?: string | undefined;
  readonly transId?: TransId | undefined;
  readonly medium?: Medium | undefined;
  readonly revenue?: number | undefined;
  /** Why it failed or must be looked at, in words meant for the merchant. */
  readonly reason?: string | undefined;
  readonly financialTransId?: string | undefined;
  /** The operator's decision that ended the last review. */
  readonly resolution?: PaymentResolution | undefined;
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt?: string | undefined;
}
