import type { Force } from '../words/decision.js';
import type { PaymentState } from '../words/payment-state.js';

/** The answer to a request: the payment as it stands then, or why it was refused. */
export type Reply =
  | { readonly request: number; readonly kind: 'done' }
  | ({
      readonly request: number;
      readonly kind: 'refused';
    } & Refusal);

export const REFUSAL_TYPES = [
  'NotALink',
  'NotExpirable',
  'NotInitiated',
  'NotUnderReview',
  'ResolutionRefused',
  'NotHeld',
  'SamePerson',
  'OtherDigest',
  'NotChecked',
] as const;

export type RefusalType = (typeof REFUSAL_TYPES)[number];

/** Why a payment refuses a request. */
export interface Refusal {
  readonly type: RefusalType;
  readonly words: string;
  /** Objections that the request has to overrule to be taken. */
  readonly force?: Force | undefined;
  /** The amount of a match's transaction, where the provider has shown it to differ from the order; XAF. */
  readonly transactionAmount?: number | undefined;
}

/** Refuses a decision that can't be carried out as it is. */
export function resolutionRefused(words: string): Refusal {
  return { type: 'ResolutionRefused', words };
}

export const NOT_UNDER_REVIEW: Refusal = { type: 'NotUnderReview', words: 'the payment is not under review' };

/** Refuses a decision, unless the operator insists. @param insist how the reason goes on to say so */
export function refusedUnless(words: string, force: Force, insist = ', or override this'): Refusal {
  return { ...resolutionRefused(`${words}${insist} with "force": ${JSON.stringify(force)}`), force };
}

/** A payment after an event, and the replies to requests. */
export interface Change {
  readonly payment: PaymentState;
  readonly replies?: readonly Reply[] | undefined;
}

/** Refuses a request; the payment stays as it is. */
export function refuse(payment: PaymentState, request: number, refusal: Refusal): Change {
  return { payment, replies: [{ request, kind: 'refused', ...refusal }] };
}

/** Answers a request at once; the payment is as given. */
export function done(payment: PaymentState, request: number): Change {
  return { payment, replies: [{ request, kind: 'done' }] };
}
