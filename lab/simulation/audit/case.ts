import type { SeenPayment } from '../actors/api-client.js';
import type { PaymentRecord } from '../payment-record.js';
import type { BookedAtLast } from './booked.js';

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

/** How often each invariant was broken. */
export function countByInvariant(violations: readonly Violation[]): Record<Invariant, number> {
  const count = (invariant: Invariant) => violations.filter((found) => found.invariant === invariant).length;
  const counts = INVARIANTS.map((invariant) => [invariant, count(invariant)]);
  return Object.fromEntries(counts) as Record<Invariant, number>;
}
