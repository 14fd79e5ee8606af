import type { TransId } from './payment-id.js';

/** What an operator can decide on a payment under review. */
export type Decision =
  /** Send it to the provider once more: there is no transaction for it. */
  | { readonly action: 'resend' }
  /** No money has moved, and none will. */
  | { readonly action: 'fail' }
  /** This transaction is the payment's. */
  | { readonly action: 'match'; readonly transId: TransId };

/** A decision that was carried out: who made it, why, and when (ms since the epoch). */
export interface Resolved {
  readonly decision: Decision;
  readonly by: string;
  readonly why: string;
  readonly at: number;
}
