import type { TransId } from '../../src/payments/words/payment-id.js';
import type { ProviderStatus } from '../../src/payments/words/transaction.js';
import type { Approver, Foreign, RequestKind } from './setting.js';

/** The next event of a story, with the number of troubles that it uses up. */
export type Move = Happening & { readonly troubles?: number | undefined };

type Happening =
  | PostMove
  | StatusMove
  | ListMove
  | ExpiryMove
  | ResetCheckMove
  | { readonly kind: 'delivered'; readonly outcome: 'delivered' | 'failed' }
  | { readonly kind: 'time'; readonly to: number }
  | {
      readonly kind: 'notification';
      /** Unless it names the payment alone. */
      readonly transId?: TransId | undefined;
      readonly status: ProviderStatus;
      readonly truth?: ProviderStatus;
      /** The provider has made the transaction by itself, long after it took the payment's request. */
      readonly isDoubled?: true;
    }
  | {
      readonly kind: 'request';
      readonly request: RequestKind;
      readonly number?: number;
      /** Of a held payout: the provider or Temporal doesn't say whether it was sent before. */
      readonly isUnsure?: true;
    }
  /** `isOther`: the digest is that of another payout. */
  | { readonly kind: 'approve'; readonly by: Approver; readonly isOther?: true }
  | { readonly kind: 'rejectPayout'; readonly by: Approver; readonly isUnsure?: true }
  | DecideMove
  | { readonly kind: 'reject'; readonly review: number; readonly by: Person }
  | { readonly kind: 'handOver' }
  /** `forgets`: with the update, which Temporal had in memory alone. */
  | { readonly kind: 'workerLost'; readonly forgets?: true }
  /** Nothing happens, but this is the moment that the workflow will be reset to. */
  | { readonly kind: 'mark' }
  /** A reset to the start, to the marked moment, or to the workflow task after it. Signals since then come in again. */
  | { readonly kind: 'reset'; readonly to: 'start' | 'mark' | 'next' }
  | { readonly kind: 'answersAgain' };

/** The result of the request that is sent. */
export interface PostMove {
  readonly kind: 'post';
  readonly outcome:
    | 'accepted'
    | 'rejected'
    | 'unauthorized'
    | 'notSent'
    | 'unchecked'
    | 'ambiguous'
    /** The request isn't sent: the list, which is read right before, shows an earlier one. */
    | 'shown'
    /** The request isn't sent, and never will be: what it refunds doesn't stand, or its time is over. */
    | 'withheld'
    | 'throttled'
    /** The worker is lost; a link is made again. */
    | 'lost'
    /** The workflow is reset while the request is in flight: its answer comes to nobody. */
    | 'reset';
  /** Number of transactions that the provider has made from it. */
  readonly taken: 0 | 1 | 2;
  /** The list shows them late, the first of two alone, or none before the request is made again. */
  readonly isLate: boolean | 'first' | 'unseen';
  /** The list shows the first of two when `listedAfterMs` is over (A3). */
  readonly isApart?: true | undefined;
  readonly isWrong: boolean;
  /** Events that come in while the request is on its way. */
  readonly during?: DecideMove | { readonly kind: 'request'; readonly request: 'expire' } | undefined;
}

export type NoAnswer =
  /** An error, a time-out or garbage. `silence`: from now on. */
  | { readonly kind: 'unavailable'; readonly silence?: 'status' | 'all' | undefined }
  | { readonly kind: 'throttled' }
  | { readonly kind: 'unauthorized' }
  /** The worker is lost with the answer; the question is asked again. */
  | { readonly kind: 'lost' };

export interface StatusMove {
  readonly kind: 'status';
  /** Its status by now, if it has changed. */
  readonly truth?: ProviderStatus | undefined;
  readonly answer:
    | { readonly kind: 'found'; readonly status: ProviderStatus; readonly isBare: boolean }
    | { readonly kind: 'foreign'; readonly whose: Foreign }
    | { readonly kind: 'unknown' }
    /** The worker has asked as often as it may, in tasks that came to nothing, and doesn't ask. */
    | { readonly kind: 'heldBack' }
    | NoAnswer;
}

export interface ListMove {
  readonly kind: 'list';
  /** The one transaction that has changed by now. */
  readonly truth?: { readonly transId: TransId; readonly status: ProviderStatus } | undefined;
  readonly answer:
    | {
        readonly kind: 'listed';
        readonly without: readonly TransId[];
        readonly isBare: boolean;
        /** The list also shows a transaction that names this payment, and another. */
        readonly isDisputed?: true | undefined;
        /** It is shown with the status that it had before. */
        readonly older?: TransId | undefined;
      }
    | { readonly kind: 'refused' }
    | NoAnswer;
}

export interface ExpiryMove {
  readonly kind: 'expire';
  readonly truth?: ProviderStatus | undefined;
  readonly answer:
    | { readonly kind: 'expired' }
    | { readonly kind: 'alreadyExpired' }
    /** Not asked for: the workflow was reset, so the merchant may have the link. */
    | { readonly kind: 'mayBeGiven' }
    | { readonly kind: 'refused' }
    | NoAnswer;
}

/** Temporal's answer whether the workflow was reset. Its silence counts as if it may have been. */
export interface ResetCheckMove {
  readonly kind: 'resetCheck';
  readonly answer:
    | { readonly kind: 'reset' | 'notReset' }
    /** The worker is lost with the answer; the question is asked again. */
    | { readonly kind: 'lost' };
}

export interface DecideMove {
  readonly kind: 'decide';
  readonly action: 'resend' | 'fail' | 'match';
  readonly transId?: TransId | undefined;
  /** The review that it is made on. */
  readonly review: number;
  readonly force: boolean;
  readonly by: Person;
}

/** Operators, by the names of their keys. */
export type Person = 'ops' | 'second';
