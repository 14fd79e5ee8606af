import type { TransId } from './payment-id.js';

/** An operator's decision on a payment under review. */
export type Decision =
  /** Send it to the provider once more: there is no transaction for it. */
  | { readonly action: 'resend' }
  /** No money has moved, and none will. */
  | { readonly action: 'fail' }
  /** This transaction is the payment's. */
  | { readonly action: 'match'; readonly transId: TransId };

/** The actions of decisions. */
export const DECISION_ACTIONS = ['resend', 'fail', 'match'] as const satisfies readonly Decision['action'][];

/** Objections to a decision. An operator who knows more than Sanaga can see may overrule them. */
export const OBJECTIONS = [
  /** The provider may list a transaction late: an hour by default has to pass after the last request. */
  'too_early',
  /** A hint names a transaction that the provider has yet to say something of. */
  'reported_transaction',
  /** The list leaves out a transaction that could still move money when it was last seen. */
  'missing_transaction',
  /** The provider doesn't answer, or doesn't know the transaction. */
  'no_answer',
  /** The transaction is of another amount or kind than the order. */
  'different_transaction',
  /** The provider doesn't say whose the transaction is. */
  'unassigned_transaction',
] as const;

export type Objection = (typeof OBJECTIONS)[number];

/** Objections that a decision overrules: none, the named ones, or any that arise. */
export type Force = boolean | readonly Objection[];

/** Reports whether a decision is carried out over an objection. */
export function overrules(force: Force, objection: Objection): boolean {
  return typeof force === 'boolean' ? force : force.includes(objection);
}

/** Reports whether a decision overrules anything. */
export function isForced(force: Force): boolean {
  return typeof force === 'boolean' ? force : force.length > 0;
}

/** Reports whether one decision overrules all that another does. */
export function overrulesAllOf(force: Force, other: Force): boolean {
  if (other === true) return force === true;
  return other === false || other.every((objection) => overrules(force, objection));
}

/** Returns the objections that either overrules. A list has each objection once, in a fixed order. */
export function allOf(one: Force, other: Force): Force {
  if (one === true || other === true) return true;
  return OBJECTIONS.filter((objection) => overrules(one, objection) || overrules(other, objection));
}

/** A decision, and who made it on which review. */
export interface Resolution {
  readonly decision: Decision;
  /** The number of the review that it was made on: one that has changed since refuses it. */
  readonly review: number;
  /** The operator: the person whose API key it is. */
  readonly by: string;
  /** Identifiers of this person's keys. */
  readonly keys?: readonly string[] | undefined;
  readonly why: string;
  readonly force: Force;
}

/** A decision that was carried out, and when (ms since the epoch). */
export interface Resolved extends Resolution {
  readonly at: number;
  /** The second person, where the decision took two. */
  readonly approval?: Approval | undefined;
}

/** The second person's decision, which is the same as the first one's, and the reason. */
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
  /** The number of the review that it was made in. */
  readonly review: number;
  /** The operator: the one who made the decision, if it is withdrawn. */
  readonly by: string;
  readonly why: string;
}

/** A decision that was rejected or withdrawn before it was carried out, and when (ms since the epoch). */
export interface Rejected extends Omit<Rejection, 'review'> {
  readonly proposed: Proposal;
  readonly at: number;
}

/** Returns the transaction that a decision names; `undefined` if it names none. */
export function matchedTransId(decision: Decision): TransId | undefined {
  return decision.action === 'match' ? decision.transId : undefined;
}
