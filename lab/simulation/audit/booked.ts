import type { Entry } from '../../../sandbox/entry.js';

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

/** Statuses in words. */
export function inWords(transactions: readonly Booked[]): string {
  const word = ({ status, isStray }: Booked) => (isStray ? `${status} (stray)` : status);
  return transactions.map(word).join(', ') || 'nothing';
}
