import type { FailureCode } from './payment.js';
import type { TransId } from './payment-id.js';
import type { SearchedTransaction, Transaction } from './transaction.js';

/**
 * Outcome of an initiating POST (initiate-pay, direct-pay, payout), as far as anyone can know.
 *
 * - `accepted`: the provider answered 200 with a transaction.
 * - `rejected`: the provider refused it (4xx with its message): no money will move.
 * - `unauthorized`: the credentials or the service's permissions were refused (401, 403): no money will move, and
 *   every other payment would meet the same, so it is the operator's business and not the payment's failure.
 * - `throttled`: 429 in the provider's own form. It says that it didn't take the request; since its interface doesn't
 *   promise that, the payment is looked up before it is sent again.
 * - `notSent`: it never left (connection refused, DNS, no worker took it, held back while the provider hangs, or
 *   `isUnread`: the provider's list, which is read before, could not be, or nobody knows at the moment whether the book
 *   has gone back): safe to send again.
 * - `withheld`: nothing was sent, and nothing will be: its time is over, or the collection that it refunds doesn't
 *   stand. The provider's list showed nothing of it.
 * - `ambiguous`: time-out, reset, 5xx, 429 without the provider's error body, a body that can't be read: money may or
 *   may not move. Never send again without looking.
 */
export type InitiationOutcome =
  | { readonly kind: 'accepted'; readonly transId: TransId; readonly link?: string | undefined }
  | { readonly kind: 'rejected'; readonly message: string; readonly statusCode: number }
  | { readonly kind: 'unauthorized'; readonly message: string; readonly statusCode: number }
  | { readonly kind: 'throttled'; readonly reason: string; readonly retryAfterMs?: number | undefined }
  | {
      readonly kind: 'notSent';
      readonly reason: string;
      readonly isUnread?: true | undefined;
      readonly retryAfterMs?: number | undefined;
    }
  | {
      readonly kind: 'withheld';
      readonly failureCode: Extract<FailureCode, 'not_sent' | 'not_refundable'>;
      readonly reason: string;
    }
  | {
      readonly kind: 'ambiguous';
      readonly reason: string;
      /** Nothing was sent now: the provider's list already showed these for the payment. */
      readonly shown?: readonly Transaction[] | undefined;
      /** Whoever sends it is given up, and it may be on its way until this time, in ms since the epoch. */
      readonly leavesBy?: number | undefined;
    };

/** Reason why a question to the provider got no answer. Asking again does no harm. */
export type NoAnswer =
  | { readonly kind: 'unauthorized'; readonly message: string; readonly statusCode: number }
  | {
      readonly kind: 'throttled';
      readonly retryAfterMs?: number | undefined;
      /** The provider wasn't asked: the limit of questions is reached. */
      readonly isOurs?: true | undefined;
    }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** The answer of `GET /payment-status/{transId}`. `unknown`: the provider refused the id (4xx with its message). */
export type StatusAnswer =
  | { readonly kind: 'found'; readonly transaction: Transaction }
  | { readonly kind: 'unknown'; readonly message: string; readonly statusCode: number }
  | NoAnswer;

/** The answer of `GET /transaction/{userId}`. `refused`: a 4xx with its message. */
export type ListAnswer = Listing<Transaction>;

/** The answer of `GET /search`. */
export type SearchAnswer = Listing<SearchedTransaction>;

type Listing<Listed> =
  | { readonly kind: 'listed'; readonly transactions: readonly Listed[] }
  | { readonly kind: 'refused'; readonly message: string; readonly statusCode: number }
  | NoAnswer;

/** The provider's answer to `POST /expire-pay`. `alreadyExpired` counts as done; the status then decides. */
export type ExpiryAnswer =
  | { readonly kind: 'expired'; readonly transaction: Transaction }
  | { readonly kind: 'alreadyExpired' }
  | { readonly kind: 'refused'; readonly message: string; readonly statusCode: number }
  | NoAnswer;

/** The answer of `GET /balance`; XAF. */
export type BalanceAnswer =
  | {
      readonly kind: 'balance';
      readonly service: string;
      readonly balance: number;
      readonly currency: string;
    }
  | { readonly kind: 'refused'; readonly message: string; readonly statusCode: number }
  | NoAnswer;
