import type { PaymentId } from '../payments/words/payment-id.js';

/** A payment's place in a list: by its creation (ms since the epoch), then by its id. */
export interface Place {
  readonly createdAt: number;
  readonly id: PaymentId;
}

/** Orders places, newest first. */
export function compareNewest(one: Place, other: Place): number {
  return other.createdAt - one.createdAt || compareIds(one, other);
}

/** Orders places, oldest first. */
export function compareOldest(one: Place, other: Place): number {
  return one.createdAt - other.createdAt || compareIds(one, other);
}

/** Comparisons of places, by the order of a list. */
export const COMPARE = { 'newest first': compareNewest, 'oldest first': compareOldest } as const;

function compareIds(one: Place, other: Place): number {
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
