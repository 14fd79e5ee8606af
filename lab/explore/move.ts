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
      /** Something of it may have left. */
      readonly isUnsure?: true;
    }
  /** `isOther`: the digest is that of another payout. */
  | { readonly kind: 'approve'; readonly by: Approver; readonly isOther?: true }
  | { readonly kind: 'rejectPayout'; readonly by: Approver; readonly isUnsure?: true }
  | DecideMove
  | { readonly kind: 'reject'; readonly review: number; readonly by: Person }
  /** A request that was doubted reports that the provider has taken it as this transaction. */
  | { readonly kind: 'lateReport'; readonly transId: TransId }
  /** It is found that the book went back, and may lack a link; perhaps while a request for another is on its way. */
  | { readonly kind: 'gap'; readonly isInFlight?: true }
  | { readonly kind: 'answersAgain' };

/** The result of the request that is sent. */
export interface PostMove {
  readonly kind: 'post';
  readonly outcome:
    | 'accepted'
    | 'rejected'
    | 'unauthorized'
    | 'notSent'
    /** The list couldn't be read before. */
    | 'unread'
    | 'ambiguous'
    /** The request isn't sent: the list, which is read right before, shows an earlier one. */
    | 'shown'
    /** The request isn't sent, and never will be: what it refunds doesn't stand, or its time is over. */
    | 'withheld'
    | 'throttled'
    /** Its run is lost after the fence: the attempt is doubted, and may report late. */
    | 'doubted';
  /** Number of transactions that the provider has made from it. */
  readonly taken: 0 | 1 | 2;
  /** The list shows them late, the first of two alone, or none before the request is made again. */
  readonly isLate: boolean | 'first' | 'unseen';
  /** The list shows the first of two when `listedAfterMs` is over (A3). */
  readonly isApart?: true | undefined;
  readonly isWrong: boolean;
}

export type NoAnswer =
  /** An error, a time-out or garbage. `silence`: from now on. */
  | { readonly kind: 'unavailable'; readonly silence?: 'status' | 'all' | undefined }
  | { readonly kind: 'throttled' }
  | { readonly kind: 'unauthorized' }
  /** The run is lost with the answer, or `times` have asked in vain: the question is asked again. */
  | { readonly kind: 'lost'; readonly times?: number | undefined };

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
    | { readonly kind: 'refused' }
    | NoAnswer;
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
