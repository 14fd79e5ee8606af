import type { Entry } from '../../sandbox/entry.js';
import type { SeenPayment } from '../actors/api-client.js';
import type { PaymentRecord } from '../payment-record.js';

/** What must hold, whatever happens; see docs/safety.md. */
export const INVARIANTS = [
  'doublePaid',
  'oversent',
  'lost',
  'wrongOutcome',
  'unnoticed',
  'unnotified',
  'notifiedWrong',
  'overLimit',
  'stuck',
] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** One way in which an invariant did not hold. */
export interface Violation {
  readonly invariant: Invariant;
  /** The payment's id, or what else it is about. */
  readonly about: string;
  readonly what: string;
}

/** A transaction in the provider's books, as far as its status is compared; wherever it was read. */
export type Booked = Pick<Entry, 'status'> & {
  /** The provider made it by itself, beside the one that it was asked for. */
  readonly isStray?: boolean | undefined;
};

/** All of a transaction that is compared at the end. */
export type BookedAtLast = Booked & {
  /** When it was made, in ms since the epoch. */
  readonly createdAt: number;
  readonly statusCalls: Pick<Entry['statusCalls'], 'throttled'>;
  /** Sanaga has acknowledged a notification that names it. */
  readonly isKnown?: boolean | undefined;
};

/** Everything there is to know about one payment at the end. */
export interface Case {
  readonly record: PaymentRecord;
  /** What the API shows at the end; `undefined` when it knows no such payment. */
  readonly shown: SeenPayment | undefined;
  /** The provider's transactions that were made for it. */
  readonly transactions: readonly BookedAtLast[];
  /** Requests for it that the provider got, but for those that it surely did not take. */
  readonly posts: number;
  /** More status questions within a minute than the provider takes, one text for each time. */
  readonly tooManyQuestions?: readonly string[] | undefined;
}

/** A violation found, before it is said whose. */
export type Found = Omit<Violation, 'about'>;

/** Statuses in words. */
export function inWords(transactions: readonly Booked[]): string {
  const word = ({ status, isStray }: Booked) => (isStray ? `${status} (stray)` : status);
  return transactions.map(word).join(', ') || 'nothing';
}

/** How often each invariant was broken. */
export function countByInvariant(violations: readonly Violation[]): Record<Invariant, number> {
  const count = (invariant: Invariant) => violations.filter((found) => found.invariant === invariant).length;
  const counts = INVARIANTS.map((invariant) => [invariant, count(invariant)]);
  return Object.fromEntries(counts) as Record<Invariant, number>;
}
