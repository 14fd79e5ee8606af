import type { Rejection, Resolution } from '../words/decision.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import type { ProviderStatus, Transaction } from '../words/transaction.js';

/** Anything that can happen to a payment. `request` numbers the requests that wait for a reply. */
export type PaymentEvent =
  /** A run of the payment's workflow begins, the first or a later one. */
  | { readonly kind: 'begin' }
  /** Something that was waited for is due. */
  | { readonly kind: 'time' }
  /** The book was found to have gone back at this time: it may have lost that its link was made, given and paid. */
  | { readonly kind: 'gap'; readonly at: number }
  | HintEvent
  /** A hint that names the payment, and no transaction. */
  | { readonly kind: 'hintWithoutTransaction'; readonly status?: ProviderStatus | undefined }
  /** Somebody who looks at the payment has the provider asked about its transaction: that decides nothing. */
  | { readonly kind: 'looked'; readonly transId: TransId }
  | AnswerEvent
  | RequestEvent;

/**
 * The provider's notification of a transaction, or the late report of a request that was doubted. It proves nothing; it
 * is only a reason to ask the provider.
 */
export interface HintEvent {
  readonly kind: 'hint';
  readonly transId: TransId;
  /** Missing when it doesn't say, or not in the provider's words. */
  readonly status?: ProviderStatus | undefined;
}

/** The result of the one thing that the payment had to do. */
export type AnswerEvent = Answered & {
  /** The transaction that a decision names is another payment's. */
  readonly taken?: Required<Pick<Transaction, 'transId' | 'takenBy'>> | undefined;
};

type Answered =
  | { readonly kind: 'sent'; readonly outcome: InitiationOutcome }
  | { readonly kind: 'listed'; readonly answer: ListAnswer }
  | {
      readonly kind: 'status';
      readonly transId: TransId;
      readonly answer: StatusAnswer;
      readonly isClaim: boolean;
    }
  | { readonly kind: 'expired'; readonly transId: TransId; readonly answer: ExpiryAnswer };

/** Who asks something of a payment. What comes from Temporal's own tools names nobody. */
export interface Actor<Role = 'merchant' | 'operator'> {
  readonly role: Role;
  /** The person whose API key it is. */
  readonly name?: string | undefined;
}

/** Who has an outcome checked: also the statement of its day. */
export type Checker = Actor<Actor['role'] | 'statement'>;

/** A person's approval of a held payout, and the digest of what is approved. */
export interface Approve {
  readonly by: string;
  /** Identifiers of this person's keys; once it is taken up, of all that may be or have been this person's. */
  readonly keys?: readonly string[] | undefined;
  /** The merchants' file didn't name this person when the payout was ordered. */
  readonly isNew?: true | undefined;
  readonly digest: string;
  /** When the person approved, in ms since the epoch: a worker may take it up later. */
  readonly at?: number | undefined;
}

/** Anything that merchants and operators ask of a payment. */
export type RequestEvent =
  /** Expires a link, or withdraws a payment that has not been sent, unless something of it may have left. */
  | {
      readonly kind: 'expire';
      readonly request: number;
      readonly by?: Actor | undefined;
      readonly mayHaveBeenSent?: boolean;
    }
  | ({ readonly kind: 'approve'; readonly request: number } & Approve)
  /** Stops a held payout. If something of it may have left all the same, the list is read first. */
  | {
      readonly kind: 'rejectPayout';
      readonly request: number;
      readonly by: string;
      readonly why: string;
      readonly mayHaveBeenSent?: boolean;
    }
  /** Asks the provider for the status now, within the budget. */
  | { readonly kind: 'refresh'; readonly request: number; readonly by?: Actor | undefined }
  | { readonly kind: 'decide'; readonly request: number; readonly resolution: Resolution }
  | { readonly kind: 'reject'; readonly request: number; readonly rejection: Rejection }
  /** Compares an ended payment with the provider's records once more. */
  | { readonly kind: 'recheck'; readonly request: number; readonly by?: Checker | undefined };
