import type { Answer, MessageKind, Outcome, Payment } from './payment.js';

/*
 * The book: what stands in PostgreSQL of one payment.
 */

/** Names a state of the row that something is to be done for; no other ever has the same. */
export type Token = number;

export interface Row extends Payment {
  /** Grows with each turn. */
  readonly version: number;
  /** The token of what is to be done at the provider. */
  readonly asked?: Token | undefined;
  /** When something is due, though nobody rings. */
  readonly wakeAt?: number | undefined;
}

/** An attempt's fence. */
export interface Fence {
  readonly attempt: number;
  /** The hand that wrote it. */
  readonly by: number;
  /** The attempt has left by then, by the clocks of its hand, or never does. */
  readonly leavesBy: number;
  readonly outcome?: Outcome | undefined;
  /** A turn has taken its outcome. */
  readonly isTaken: boolean;
  /** The list was read before it was written; nothing depends on this. */
  readonly isAfterList: boolean;
}

export interface Message {
  readonly kind: MessageKind;
  /** The latest review when it was written. */
  readonly review: number;
  readonly reply?: 'done' | 'refused' | undefined;
}

export interface Book {
  readonly row: Row;
  readonly fences: readonly Fence[];
  readonly inbox: readonly Message[];
  /** `recorded`: the book has gone back; `open`: the payment knows it; `looked`: a person has decided on it since. */
  readonly gap: 'none' | 'recorded' | 'open' | 'looked';
}

/** What a turn is taken with. */
export type Input =
  /** A run begins: whatever was under way is nobody's. */
  | { readonly kind: 'begin' }
  /** A bell, a timer. */
  | { readonly kind: 'news' }
  /** What was to be done under a token, has been. */
  | { readonly kind: 'done'; readonly token: Token; readonly done: Done };

export type Done =
  | Answer
  | { readonly kind: 'shown' }
  /** The outcome stands in the fence. */
  | { readonly kind: 'sent' }
  /** Somebody has completed the activity by hand, and says that nothing was sent. */
  | { readonly kind: 'told' }
  /** Nobody knows what has become of it: its worker is lost, or another has its fence. */
  | { readonly kind: 'doubted' };

/** What may be written for a payment beside its turns. */
export type Waker = 'message' | 'outcome' | 'gap';
