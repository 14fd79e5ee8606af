import type { Status } from '../../sandbox/entry.js';
import type { SeenPayment } from '../people/api-client.js';
import { effectiveDecisions, type ObservedPayment } from '../people/observed-payment.js';
import type { PlannedOrder } from '../plan/planned-payment.js';
import type { BookedStatus, FinalTransaction } from '../world/provider-books.js';
import type { Booked } from './booked.js';

/** The rules that always hold; see docs/safety.md. */
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
  'misbooked',
  'unapproved',
  'early',
  'stopped',
  'overRefunded',
] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** The clocks of two processes on one machine may differ by this, in ms. */
export const MAX_CLOCK_SKEW_MS = 50;

/** One way in which an invariant did not hold. */
export interface Violation {
  readonly invariant: Invariant;
  /** The payment's id, or what else it is about. */
  readonly about: string;
  readonly what: string;
}

/** Everything that is known about one payment at the end. */
export interface AuditCase {
  readonly record: ObservedPayment;
  /** The payment as the API shows it at the end; `undefined` when it knows none. */
  readonly shown: SeenPayment | undefined;
  /** The provider's transactions that were made for it. */
  readonly transactions: readonly FinalTransaction[];
  /** Requests for it that the provider got, but for those that it surely did not take. */
  readonly posts: number;
  /** Time of the first of them, in ms since the epoch, where it is known. */
  readonly sentAt?: number | undefined;
  /** More status questions within a minute than the provider takes, one text for each time. */
  readonly tooManyQuestions?: readonly string[] | undefined;
  readonly booked: Booked;
  /** A book that went back has lost some of its course. */
  readonly isLost?: boolean | undefined;
  /**
   * It has lost the order itself. Asked for again, it is another one to it, and the provider's list, which may hide
   * what was sent, is all that is left to tell.
   */
  readonly isForgotten?: boolean | undefined;
}

/** A violation, without the payment that it is about. */
export type Finding = Omit<Violation, 'about'>;

/** Counts the violations of each invariant. */
export function countByInvariant(violations: readonly Violation[]): Record<Invariant, number> {
  const count = (invariant: Invariant) => violations.filter((found) => found.invariant === invariant).length;
  const counts = INVARIANTS.map((invariant) => [invariant, count(invariant)]);
  return Object.fromEntries(counts) as Record<Invariant, number>;
}

/**
 * Reports whether the provider's books allow a payment to have ended with a status. A stray transaction may never
 * become known: it can be the paid one, but contradicts nothing.
 */
export function agrees(way: PlannedOrder['way'], said: string, books: readonly BookedStatus[]): boolean {
  const own = books.filter(({ isStray }) => !isStray);
  const has = (status: Status, among = own) => among.some((booked) => booked.status === status);
  switch (said) {
    case 'SUCCESSFUL':
      return has('SUCCESSFUL', [...books]);
    case 'EXPIRED':
      return way === 'link' && has('EXPIRED') && !has('SUCCESSFUL');
    case 'FAILED':
      // A link that nobody was given may lie about unpaid; what was sent to a phone must have failed.
      return way === 'link' ? !has('SUCCESSFUL') : own.every(({ status }) => status === 'FAILED');
    default:
      return false;
  }
}

/**
 * Reports whether a person is responsible for a status at a time: by forcing a decision, or by deciding against the
 * provider's books where its answers hid them. The final outcome isn't excused: the later checks have to correct it.
 */
export function isExcused(record: ObservedPayment, time: number): boolean {
  return effectiveDecisions(record).some(({ at, forced, isWrong }) => at <= time && (forced || isWrong));
}

/** The last word was a person's, who took another transaction for the payment's than the books would have. */
export function isOverruled(record: ObservedPayment): boolean {
  const last = effectiveDecisions(record).at(-1);
  return last?.action === 'match' && last.isWrong;
}
