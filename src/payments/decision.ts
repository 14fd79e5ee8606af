import type { TransId } from './payment-id.js';

/** What an operator can decide on a payment under review. */
export type Decision =
  /** Send it to the provider once more: there is no transaction for it. */
  | { readonly action: 'resend' }
  /** No money has moved, and none will. */
  | { readonly action: 'fail' }
  /** This transaction is the payment's. */
  | { readonly action: 'match'; readonly transId: TransId };

/** A decision, and who made it on which review. */
export interface Resolution {
  readonly decision: Decision;
  /** The number of the review that it was made on: one that has changed since refuses it. */
  readonly review: number;
  /** The name of the operator's API key. */
  readonly by: string;
  readonly why: string;
  /** To be carried out before its time, and over a notification that the provider has yet to confirm. */
  readonly force: boolean;
}

/** A decision that was carried out, and when (ms since the epoch). */
export interface Resolved extends Resolution {
  readonly at: number;
  /** The second person, where the decision took two. */
  readonly approval?: Approval | undefined;
}

/** Who has made the same decision as somebody before, and why. */
export interface Approval {
  readonly by: string;
  readonly why: string;
}

/** A decision that waits for a second person, and when it was made (ms since the epoch). */
export interface Proposal extends Resolution {
  readonly at: number;
}

/** Voids the decision that waits for a second person, or takes back a `resend` that waits to be sent. */
export interface Rejection {
  /** The number of the review that it was made on. */
  readonly review: number;
  /** The name of the operator's API key: that of the decision itself, if it is withdrawn. */
  readonly by: string;
  readonly why: string;
}

/** A decision that was rejected or withdrawn before it was carried out, and when (ms since the epoch). */
export interface Rejected extends Omit<Rejection, 'review'> {
  readonly proposed: Proposal;
  readonly at: number;
}
