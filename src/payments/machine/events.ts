import type { Rejection, Resolution } from '../words/decision.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from '../words/outcome.js';
import type { TransId } from '../words/payment-id.js';
import type { ProviderStatus } from '../words/transaction.js';
import type { DeliveryOutcome } from './notification.js';

/** Anything that can happen to a payment. `request` numbers the requests that wait for a reply. */
export type PaymentEvent =
  /** A run begins, of a new payment or of one that another run has handed over. */
  | { readonly kind: 'begin' }
  /** Something that was waited for is due. */
  | { readonly kind: 'time' }
  /** This run ends, and another continues the payment: requests that wait are answered now. */
  | { readonly kind: 'handOver' }
  | HintEvent
  /** A hint that names the payment, and no transaction. */
  | { readonly kind: 'hintWithoutTransaction'; readonly status?: ProviderStatus | undefined }
  | AnswerEvent
  | RequestEvent
  | DeliveryEvent;

/** The provider's notification of a transaction. It proves nothing; it is only a reason to ask the provider. */
export interface HintEvent {
  readonly kind: 'hint';
  readonly transId: TransId;
  /** Missing when it doesn't say, or not in the provider's words. */
  readonly status?: ProviderStatus | undefined;
}

/** The end of a try to notify the merchant: the one that was due at `at`. */
export interface DeliveryEvent {
  readonly kind: 'delivered';
  readonly number: number;
  readonly at: number;
  readonly outcome: DeliveryOutcome;
}

/** The result of the one thing that the payment had to do. */
export type AnswerEvent =
  | { readonly kind: 'sent'; readonly outcome: InitiationOutcome }
  | { readonly kind: 'listed'; readonly answer: ListAnswer }
  | {
      readonly kind: 'status';
      readonly transId: TransId;
      readonly answer: StatusAnswer;
      readonly isClaim: boolean;
    }
  | { readonly kind: 'expired'; readonly transId: TransId; readonly answer: ExpiryAnswer }
  /** Whether an earlier run, of which this one knows nothing, may have given the payment's link to the merchant. */
  | { readonly kind: 'resetChecked'; readonly mayBeReset: boolean };

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
  /** Identifiers of this person's keys. */
  readonly keys?: readonly string[] | undefined;
  readonly digest: string;
  /** When the person approved, in ms since the epoch: a worker may take it up later. */
  readonly at?: number | undefined;
}

/** Anything that merchants and operators ask of a payment. */
export type RequestEvent =
  /**
   * Expires a link, or withdraws a payment that has not been sent. A run that was reset may have sent it all the same.
   */
  | {
      readonly kind: 'expire';
      readonly request: number;
      readonly by?: Actor | undefined;
      readonly mayHaveBeenSent?: boolean;
    }
  | ({ readonly kind: 'approve'; readonly request: number } & Approve)
  /** Stops a held payout. A run that was reset may have sent it all the same. */
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
  | { readonly kind: 'recheck'; readonly request: number; readonly by?: Checker | undefined }
  | {
      readonly kind: 'resendNotification';
      readonly request: number;
      readonly number: number;
      readonly by?: Actor | undefined;
    };
